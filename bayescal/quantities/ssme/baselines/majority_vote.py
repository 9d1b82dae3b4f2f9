"""Majority-Vote: the classifiers' predictions, weighted by their accuracy on the labelled rows."""

from __future__ import annotations

import numpy as np

from bayescal.core.errors import InputError
from bayescal.core.quantity import Floats
from bayescal.core.scores import Scores
from bayescal.quantities.ssme.baselines.imputed import check_labels, imputed_metrics
from bayescal.quantities.ssme.data import Panel, panel_of
from bayescal.quantities.ssme.metrics.metrics import Metrics


def majority_vote(
    scores: Scores, *, reading: str = "hard", n_draws: int = 500, seed: int = 0
) -> Metrics:
    """Measure under the label that most classifiers predict, each as heavy as it is accurate.

    Parameters
    ----------
    scores : Scores
        Scores of one or several classifiers; one labelled row or more.
    reading : {"hard", "soft", "drawn"}, default "hard"
        The label with most votes (the first of equals), the shares of votes as weights, or labels
        drawn from these shares.
    n_draws : int, default 500
        Number of draws, for "drawn" only.
    seed : int, default 0
        Same seed, same draws.

    Returns
    -------
    Metrics
        Arrays of shape (classifier,); as for `imputed_metrics`.

    Raises
    ------
    InputError
        If no row is labelled, or if no classifier is right on any labelled row: all weights are 0.

    Notes
    -----
    A classifier votes for its most probable class. The paper says "in proportion to its accuracy"
    and does not say how the weighted average is read. Of its published sets of predictions, drawn
    labels give its errors on MultiNLI; on toxic comments hard labels give its errors of accuracy,
    and no reading those of ECE, AUC and AUPRC.

    References
    ----------
    .. [1] D. Shanmugam et al., "Evaluating multiple models using labeled and unlabeled data",
       NeurIPS 2025, appendix B.2. https://arxiv.org/abs/2501.11866

    Examples
    --------
    >>> import bayescal as bc
    >>> from bayescal.quantities.ssme.baselines.majority_vote import majority_vote
    >>> y_prob = {"a": [0.2, 0.9, 0.6, 0.4], "b": [0.1, 0.4, 0.3, 0.2]}
    >>> scores = bc.Scores.stack(y_prob, y_true=[0, 1, None, None])
    >>> majority_vote(scores).accuracy
    array([1. , 0.5])
    """
    panel = panel_of(scores)
    check_labels(panel, "Majority-Vote")
    return imputed_metrics(panel, vote_shares(panel), reading, n_draws=n_draws, seed=seed)


def vote_shares(panel: Panel) -> Floats:
    """Share of the accuracy-weighted votes for each class, (obs, class)."""
    vote = panel.probs.argmax(axis=2)
    weight = (vote[:, panel.labeled] == panel.y[panel.labeled]).mean(axis=1)
    if not weight.any():
        raise InputError(
            "Majority-Vote weights classifiers by their accuracy on labelled rows; got 0 for all "
            f"{panel.n_classifiers} on {panel.n_labeled} rows. Label more rows."
        )
    votes = np.eye(panel.n_classes)[vote]
    return np.asarray(np.tensordot(weight / weight.sum(), votes, axes=1))
