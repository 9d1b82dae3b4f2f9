"""The row to compare with: metrics if the mean score of all classifiers were the truth."""

from __future__ import annotations

import numpy as np

from bayescal.core.quantity import Floats
from bayescal.core.scores import Scores
from bayescal.quantities.ssme.data import Panel, panel_of
from bayescal.quantities.ssme.metrics.label_draws import with_known_labels
from bayescal.quantities.ssme.metrics.metrics import Metrics, metrics, subgroup_metrics


def ensemble(scores: Scores | Panel, *, ece: str | None = None) -> Metrics:
    """Take the mean score for the truth: metrics in expectation, without any fit.

    Parameters
    ----------
    scores : Scores or Panel
        Scores of one or several classifiers; labels may be missing.
    ece : {"equal-mass", "equal-width", "top-label"}, each also with "-optimal", optional
        Convention of the calibration errors.

    Returns
    -------
    Metrics
        Arrays of shape (classifier,).

    Raises
    ------
    InputError
        If the convention is unknown or needs two classes.

    Notes
    -----
    The probability of a label is its mean over classifiers; of a labeled row it is its label.
    Whatever is fitted has to do better than this.

    Examples
    --------
    >>> import bayescal as bc
    >>> from bayescal.quantities.ssme.baselines.ensemble import ensemble
    >>> scores = bc.Scores.stack({"a": [0.1, 0.8], "b": [0.3, 0.6]}, y_true=[0, None])
    >>> ensemble(scores).accuracy.round(3).tolist()
    [0.85, 0.85]
    """
    panel = panel_of(scores)
    return metrics(panel.probs, mean_score(panel), ece=ece)


def ensemble_by_group(scores: Scores | Panel, *, ece: str | None = None) -> Metrics:
    """The same in every group, (classifier, group); without groups, in one of all rows."""
    panel = panel_of(scores)
    group = np.zeros(panel.n_obs, dtype=np.int32) if panel.group is None else panel.group
    n_groups = max(1, len(panel.groups))
    return subgroup_metrics(panel.probs, mean_score(panel), group, n_groups, ece=ece)


def mean_score(panel: Panel) -> Floats:
    """Mean over classifiers, with known labels in place, (obs, class)."""
    return with_known_labels(panel, panel.probs.mean(axis=0))
