"""Labels drawn from their probabilities, and metrics averaged over them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayescal.core.errors import InputError
from bayescal.quantities.ssme.data import Panel
from bayescal.quantities.ssme.metrics.metrics import Metrics, metrics, subgroup_metrics

type Floats = NDArray[np.float64]

# Labels held at once: 256 MB, as sorting the scores anew for each block costs more than drawing.
_BLOCK = 1 << 25


def expected_metrics(
    panel: Panel,
    prob_label: Floats,
    n_draws: int | None,
    rng: np.random.Generator,
    *,
    ece: str | None = None,
    by_group: bool = False,
) -> Metrics:
    """Average metrics over label draws, or take them under the probabilities themselves.

    Notes
    -----
    Accuracy, log loss and Brier score have the same expectation both ways.
    """

    def measured(q: Floats) -> Metrics:
        if by_group and panel.group is not None:
            return subgroup_metrics(panel.probs, q, panel.group, len(panel.groups), ece=ece)
        return metrics(panel.probs, q, ece=ece)

    if n_draws is None:
        return measured(prob_label)
    if not isinstance(n_draws, int | np.integer) or n_draws < 1:
        raise InputError(
            f"n_draws must be a whole number above 0, or None; got {n_draws!r}. Pass 500, say."
        )
    size = max(1, _BLOCK // prob_label.size)
    counts = [min(size, n_draws - start) for start in range(0, n_draws, size)]
    parts = [measured(draw_labels(prob_label, count, rng)) for count in counts]
    return mean_over_draws(Metrics._make(np.concatenate(v) for v in zip(*parts, strict=True)))


def draw_labels(prob: Floats, n_draws: int, rng: np.random.Generator) -> Floats:
    """Draw labels as one-hot rows, (draw, obs, class)."""
    return labels_at(prob, rng.random((n_draws, len(prob))))


def labels_at(prob: Floats, uniform: Floats) -> Floats:
    """Labels that uniform random numbers fall on, (draw, obs, class)."""
    # The last bound is left out: rounding could put it below a uniform number.
    bounds = np.cumsum(prob, axis=-1)[..., :-1]
    label = (uniform[..., np.newaxis] >= bounds).sum(axis=-1)
    return np.asarray(np.eye(prob.shape[-1])[label])


def with_known_labels(panel: Panel, prob_label: Floats) -> Floats:
    """Put certainty where labels are known."""
    prob = np.array(prob_label, dtype=np.float64)
    prob[..., panel.labeled, :] = np.eye(panel.n_classes)[panel.y[panel.labeled]]
    return prob


def mean_over_draws(found: Metrics) -> Metrics:
    """Average over draws, leaving out draws in which a metric does not exist."""

    def mean(values: Floats) -> Floats:
        exists = np.isfinite(values)
        total = np.where(exists, values, 0.0).sum(axis=0)
        number = exists.sum(axis=0)
        return np.where(number > 0, total / np.maximum(number, 1), np.nan)

    return Metrics(*(mean(values) for values in found))
