"""From draws of the labels' probabilities to draws of every metric."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.quantities.ssme.data import Problem
from bayescal.quantities.ssme.metrics.calibration_draws import calibration_errors
from bayescal.quantities.ssme.metrics.label_draws import labels_at, with_known_labels
from bayescal.quantities.ssme.metrics.metrics import Metrics, metrics, subgroup_metrics
from bayescal.quantities.ssme.models.base import Draws, Floats, LabelModel

BINNED = ("ece", "mce")
"""Metrics that are taken under the probabilities of the labels."""

# Numbers held at once: 8 MB each of the arrays over draws, rows and classes.
_BLOCK = 1 << 20


class Evaluated(NamedTuple):
    """Draws of metrics, and of the labels' probabilities if they were asked for.

    Parameters
    ----------
    metrics : dict of str to ndarray of shape (chain, draw, classifier) or (..., group)
        By name.
    prob_label : ndarray of shape (chain, draw, obs, class), float32, or None
        Probabilities of the labels, known ones certain.
    """

    metrics: dict[str, Floats]
    prob_label: NDArray[np.float32] | None


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
    found: list[dict[str, Floats]] = []
    kept: list[NDArray[np.float32]] = []
    for part in _blocks(flat, int(np.prod(shape)), problem.panel.probs[0].size):
        prob = model.label_probs(part)
        found.append(_of_draws(problem, prob, rng, ece))
        if keep_labels:
            kept.append(with_known_labels(problem.panel, prob).astype(np.float32))
    values = {
        name: np.concatenate([block[name] for block in found]).reshape(
            *shape, *found[0][name].shape[1:]
        )
        for name in Metrics._fields
    }
    labels = np.concatenate(kept) if keep_labels else None
    return Evaluated(values, None if labels is None else labels.reshape(*shape, *labels.shape[1:]))


def _blocks(flat: Draws, n: int, size: int) -> Iterator[Draws]:
    step = max(1, _BLOCK // size)
    for start in range(0, n, step):
        yield {name: value[start : start + step] for name, value in flat.items()}


def _of_draws(
    problem: Problem, prob: Floats, rng: np.random.Generator, ece: str | None
) -> dict[str, Floats]:
    """Metrics of a few draws, (draw, classifier) or (draw, classifier, group)."""
    weight = rng.standard_exponential(prob.shape[:2]) * problem.weight
    known = with_known_labels(problem.panel, prob)
    labels = labels_at(known, rng.random(prob.shape[:2]))
    drawn = _measured(problem, labels, weight, ece)._asdict()
    return {**drawn, **dict(zip(BINNED, _gaps(problem, prob, weight, ece), strict=True))}


def _measured(problem: Problem, q: Floats, weight: Floats, ece: str | None) -> Metrics:
    panel = problem.panel
    if panel.group is None:
        return metrics(panel.probs, q, weight, ece=ece)
    return subgroup_metrics(panel.probs, q, panel.group, len(panel.groups), weight, ece=ece)


def _gaps(problem: Problem, prob: Floats, weight: Floats, ece: str | None) -> tuple[Floats, Floats]:
    """Calibration errors, (draw, classifier) or (draw, classifier, group)."""
    panel = problem.panel
    if panel.group is None:
        return calibration_errors(panel.probs, prob, weight, ece)
    parts = []
    for g in range(len(panel.groups)):
        rows = np.flatnonzero(panel.group == g)
        if not rows.size:
            nothing = np.full((len(prob), panel.n_classifiers), np.nan)
            parts.append((nothing, nothing))
            continue
        probs = panel.probs[:, rows]
        parts.append(calibration_errors(probs, prob[:, rows], weight[:, rows], ece))
    errors, largest = (np.stack(values, axis=-1) for values in zip(*parts, strict=True))
    return errors, largest
