"""A linear model, or one hidden layer, trained by L-BFGS on any smooth loss of its outputs.

For losses that scikit-learn lacks: of sets of probabilities, of positive and unlabelled rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from scipy.optimize import minimize

from bayescal.core.checks import (
    MOST_DRAWN,
    check_number,
    check_whole,
)
from bayescal.core.quantity import Floats

type Layers = list[Floats]
"""Weights and intercepts, layer by layer: two arrays of a linear model, else four."""
type Loss = Callable[..., tuple[float, Sequence[Floats]]]
"""From the outputs for each table of rows to the loss and its slopes in these outputs."""

_OUT_OF_ITERATIONS: Final = 1
# What SciPy allows unless the iterations need more.
_EVALUATIONS: Final = 15_000


class Trained(NamedTuple):
    """Where L-BFGS stopped: weights, loss with its penalty, and whether it was still falling."""

    weights: Layers
    objective: float
    unfinished: bool
    n_iter: int


def check_settings(hidden: int, least_hidden: int, alpha: float, max_iter: int) -> None:
    """Check the parameters that the classifiers share."""
    for value, least, name in ((hidden, least_hidden, "hidden"), (max_iter, 1, "max_iter")):
        check_whole(value, name, least, most=MOST_DRAWN)
    check_number(alpha, "alpha", "[0, inf)", "Pass 0.001, say.")


def first_weights(features: int, hidden: int, outputs: tuple[int, ...], rng: Any) -> Layers:
    """Draw weights of unit variance per output; one output has the shape ()."""
    intercept = np.zeros(outputs or 1)
    if not hidden:
        return [np.zeros((features, *outputs)), intercept]
    return [
        rng.normal(0, features**-0.5, (features, hidden)),
        np.zeros(hidden),
        rng.normal(0, hidden**-0.5, (hidden, *outputs)),
        intercept,
    ]


def forward(weights: Layers, x: Floats) -> Floats:
    """Outputs for rows, (obs, ...)."""
    return _layers(weights, x)[0]


def penalty(weights: Layers, alpha: float) -> float:
    """Half the sum of the squared weights times alpha; intercepts are left out."""
    return alpha / 2 * float(sum((w**2).sum() for w in weights[::2]))


def train(
    loss: Loss, tables: Sequence[Floats], start: Layers, alpha: float, max_iter: int
) -> Trained:
    """Minimise a loss of the outputs for some tables of rows, plus the penalty."""
    shapes = [part.shape for part in start]
    found = minimize(
        lambda flat: objective(loss, tables, _split(flat, shapes), alpha),
        _joined(start),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": max_iter, "maxfun": max(_EVALUATIONS, 2 * max_iter)},
    )
    unfinished = found.status == _OUT_OF_ITERATIONS
    return Trained(_split(found.x, shapes), float(found.fun), unfinished, int(found.nit))


def objective(
    loss: Loss, tables: Sequence[Floats], weights: Layers, alpha: float
) -> tuple[float, Floats]:
    """Penalised loss, and its gradient in all weights as one vector."""
    outputs, inner = zip(*(_layers(weights, x) for x in tables), strict=True)
    value, slopes = loss(*outputs)
    by_table = [_backward(weights, *side) for side in zip(tables, inner, slopes, strict=True)]
    gradient = [sum(parts) for parts in zip(*by_table, strict=True)]
    for place in range(0, len(weights), 2):
        gradient[place] = gradient[place] + alpha * weights[place]
    return value + penalty(weights, alpha), _joined(gradient)


def _layers(weights: Layers, x: Floats) -> tuple[Floats, Floats]:
    """Outputs, and what goes into the last layer."""
    inner = x if len(weights) == 2 else np.tanh(x @ weights[0] + weights[1])
    return inner @ weights[-2] + weights[-1], inner


def _backward(weights: Layers, x: Floats, inner: Floats, slope: Floats) -> Layers:
    """Gradient in each array of the weights, from the slopes in the outputs."""
    last = [inner.T @ slope, np.atleast_1d(slope.sum(axis=0))]
    if len(weights) == 2:
        return last
    by_output = np.outer(slope, weights[-2]) if slope.ndim == 1 else slope @ weights[-2].T
    by_inner = by_output * (1 - inner**2)
    return [x.T @ by_inner, by_inner.sum(axis=0), *last]


def _joined(parts: Sequence[Any]) -> Floats:
    return np.concatenate([part.ravel() for part in parts])


def _split(flat: Floats, shapes: Sequence[tuple[int, ...]]) -> Layers:
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
    cut = np.split(flat, ends[:-1])
    return [part.reshape(shape) for part, shape in zip(cut, shapes, strict=True)]
