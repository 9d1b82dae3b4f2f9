"""Metrics averaged over labels that are drawn from their probabilities."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayescal.core.errors import InputError
from bayescal.quantities.ssme.baselines.imputed import draw_labels, mean_over_draws
from bayescal.quantities.ssme.metrics import Metrics, metrics, subgroup_metrics
from bayescal.quantities.ssme.panel import Panel

# Labels held at once: 256 MB, as sorting the scores anew for each block costs more than drawing.
_BLOCK = 1 << 25


def expected_metrics(
    panel: Panel,
    prob_label: NDArray[np.float64],
    n_draws: int | None,
    rng: np.random.Generator,
    *,
    ece: str | None = None,
    by_group: bool = False,
) -> Metrics:
    """Average metrics over label draws, or take them under the probabilities themselves.

    Parameters
    ----------
    panel : Panel
        Class probabilities by classifier.
    prob_label : ndarray of shape (obs, class)
        Probability of each label of each row.
    n_draws : int or None
        Number of draws; None for none.
    rng : numpy.random.Generator
        Source of chance.
    ece : str, optional
        Convention of the calibration errors.
    by_group : bool, default False
        Whether to take the metrics group by group.

    Returns
    -------
    Metrics
        Of shape (classifier,) or (classifier, group). Draws in which a metric is undefined are left
        out of its mean; it is NaN if it is undefined in all.

    Raises
    ------
    InputError
        If `n_draws` is below 1.

    Notes
    -----
    Accuracy, log loss and Brier score have the same expectation both ways.
    """

    def measured(q: NDArray[np.float64]) -> Metrics:
        if by_group and panel.group is not None:
            return subgroup_metrics(panel.probs, q, panel.group, len(panel.groups), ece=ece)
        return metrics(panel.probs, q, ece=ece)

    if n_draws is None:
        return measured(prob_label)
    if n_draws < 1:
        raise InputError(f"n_draws must be at least 1, or None; got {n_draws}. Pass 500, say.")
    size = max(1, _BLOCK // prob_label.size)
    counts = [min(size, n_draws - start) for start in range(0, n_draws, size)]
    parts = [measured(draw_labels(prob_label, count, rng)) for count in counts]
    return mean_over_draws(Metrics._make(np.concatenate(v) for v in zip(*parts, strict=True)))
