"""From draws of the labels' probabilities to draws of every metric."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.quantity import Draws, Floats
from bayescal.quantities.ssme.data import Problem
from bayescal.quantities.ssme.metrics.label_draws import labels_at, measured, with_known_labels
from bayescal.quantities.ssme.metrics.metrics import Metrics, join
from bayescal.quantities.ssme.models.base import LabelModel

# Numbers held at once: 8 MB each of the arrays over draws, rows and classes.
_BLOCK = 1 << 20


class Evaluated(NamedTuple):
    """Draws of metrics, and of the labels' probabilities where they are kept."""

    metrics: dict[str, Floats]  # by name, (chain, draw, classifier[, group])
    prob_label: NDArray[np.float32] | None  # (chain, draw, obs, class), known ones certain


def evaluate(
    problem: Problem,
    model: LabelModel,
    draws: Draws,
    rng: np.random.Generator,
    *,
    ece: str | None,
    keep_labels: bool = False,
) -> Evaluated:
    """Draw every metric.

    Notes
    -----
    The metric is that of the population the rows are from. A draw of it takes a draw of the model's
    coefficients, with it labels for the rows that have none, and Bayesian bootstrap weights for
    all rows. Calibration errors are taken under the probabilities of the labels, labeled rows
    included: drawn labels put noise in each bin, and the absolute gaps would turn it into error.
    """
    first = next(iter(draws.values()))
    shape = first.shape[:2]
    flat = {name: value.reshape(-1, *value.shape[2:]) for name, value in draws.items()}
    found: list[Metrics] = []
    kept: list[NDArray[np.float32]] = []
    for part in _blocks(flat, int(np.prod(shape)), problem.panel.probs[0].size):
        prob = model.label_probs(part)
        found.append(_of_draws(problem, prob, rng, ece))
        if keep_labels:
            kept.append(with_known_labels(problem.panel, prob).astype(np.float32))

    def in_chains[Scalar: np.generic](blocks: Sequence[NDArray[Scalar]]) -> NDArray[Scalar]:
        return np.concatenate(blocks).reshape(*shape, *blocks[0].shape[1:])

    values = join(found, in_chains)._asdict()
    return Evaluated(values, in_chains(kept) if keep_labels else None)


def _blocks(flat: Draws, n: int, size: int) -> Iterator[Draws]:
    step = max(1, _BLOCK // size)
    for start in range(0, n, step):
        yield {name: value[start : start + step] for name, value in flat.items()}


def _of_draws(problem: Problem, prob: Floats, rng: np.random.Generator, ece: str | None) -> Metrics:
    """Metrics of a few draws, (draw, classifier) or (draw, classifier, group)."""
    weight = rng.standard_exponential(prob.shape[:2]) * problem.weight
    known = with_known_labels(problem.panel, prob)
    labels = labels_at(known, rng.random(prob.shape[:2]))
    return measured(problem.panel, labels, weight, ece=ece, errors_q=prob)
