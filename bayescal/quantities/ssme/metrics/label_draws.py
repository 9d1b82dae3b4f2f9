"""Labels drawn from their probabilities, and metrics averaged over them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayescal.core.checks import MOST_DRAWN, check_whole
from bayescal.core.quantity import Floats
from bayescal.quantities.ssme.data import Panel
from bayescal.quantities.ssme.metrics.metrics import (
    Metrics,
    join,
    mean_of_defined,
    metrics,
    subgroup_metrics,
)

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
    if n_draws is None:
        return measured(panel, prob_label, ece=ece, by_group=by_group)
    check_whole(n_draws, "n_draws", most=MOST_DRAWN)
    size = max(1, _BLOCK // prob_label.size)
    counts = [min(size, n_draws - start) for start in range(0, n_draws, size)]
    parts = [
        measured(panel, draw_labels(prob_label, count, rng), ece=ece, by_group=by_group)
        for count in counts
    ]
    return mean_over_draws(join(parts, np.concatenate))


def measured(
    panel: Panel,
    q: Floats,
    weights: Floats | None = None,
    *,
    ece: str | None = None,
    errors_q: Floats | None = None,
    by_group: bool = True,
) -> Metrics:
    """Metrics of a panel's classifiers; in every group, where there are groups."""
    if not by_group or panel.group is None:
        return metrics(panel.probs, q, weights, ece=ece, errors_q=errors_q)
    return subgroup_metrics(
        panel.probs, q, panel.group, len(panel.groups), weights, ece=ece, errors_q=errors_q
    )


def draw_labels(prob: Floats, n_draws: int, rng: np.random.Generator) -> Floats:
    """Draw labels as one-hot rows, (draw, obs, class)."""
    return labels_at(prob, rng.random((n_draws, len(prob))))


def labels_at(prob: Floats, uniform: Floats) -> Floats:
    """Labels that uniform random numbers fall on, as one-hot rows, (..., obs, class)."""
    place = classes_at(prob, uniform)
    # Class by class in memory, as metrics take them.
    return (
        np.stack([place == k for k in range(prob.shape[-1])])
        .astype(np.float64)
        .transpose(*range(1, place.ndim + 1), 0)
    )


def classes_at(prob: Floats, uniform: Floats) -> NDArray[np.intp]:
    """The same as places of the classes, (..., obs)."""
    # Class by class, as NumPy is slow on the sums of a short axis.
    bound = np.zeros(prob.shape[:-1])
    place = np.zeros(np.broadcast_shapes(bound.shape, uniform.shape), dtype=np.intp)
    # The last bound is left out: rounding could put it below a uniform number.
    for k in range(prob.shape[-1] - 1):
        bound += prob[..., k]
        place += uniform >= bound
    return place


def with_known_labels(panel: Panel, prob_label: Floats) -> Floats:
    """Put certainty where labels are known."""
    prob = np.array(prob_label, dtype=np.float64)
    prob[..., panel.labeled, :] = panel.known
    return prob


def mean_over_draws(found: Metrics) -> Metrics:
    """Average over draws, leaving out draws in which a metric does not exist."""
    return Metrics._make(map(mean_of_defined, found))
