"""Majority-Vote: the classifiers' predictions, weighted by their accuracy on the labelled rows."""

from __future__ import annotations

from typing import Final

import numpy as np

from bayescal.core.checks import check_choice
from bayescal.core.errors import InputError
from bayescal.core.quantity import Floats
from bayescal.core.scores import Scores
from bayescal.quantities.ssme.baselines.imputed import check_labels, imputed_metrics
from bayescal.quantities.ssme.data import Panel, panel_of
from bayescal.quantities.ssme.metrics.metrics import Metrics

VOTES: Final = ("most-probable", "threshold")


def majority_vote(
    scores: Scores,
    *,
    reading: str = "hard",
    votes: str = "most-probable",
    n_draws: int = 500,
    seed: int = 0,
) -> Metrics:
    """Measure under the label that most classifiers predict, each as heavy as it is accurate.

    Parameters
    ----------
    scores : Scores
        Scores of one or several classifiers; one labelled row or more.
    reading : {"hard", "soft", "drawn"}, default "hard"
        The label with most votes (the first of equals), the shares of votes as weights, or labels
        drawn from these shares.
    votes : {"most-probable", "threshold"}, default "most-probable"
        A classifier votes for its most probable class, or for every class to which it gives more
        than 1 / K of K classes. Of two classes both are the same.
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
        If no row is labelled, if no classifier is right on any labelled row (all weights are 0), or
        if an option is none of those allowed.

    Notes
    -----
    The paper's classifiers vote by threshold, weighted "in proportion to" their accuracy; it does
    not say how the weighted average is read. Of its published sets of predictions, hard labels give
    its errors on toxic comments, and the most probable class with drawn labels those on MultiNLI;
    the threshold does not, of which three classes can get two votes of one classifier.

    References
    ----------
    .. [1] D. Shanmugam et al., "Evaluating multiple models using labeled and unlabeled data",
       2025, appendix B.2. https://arxiv.org/abs/2501.11866

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
    check_choice(votes, VOTES, "votes")
    return imputed_metrics(panel, vote_shares(panel, votes), reading, n_draws=n_draws, seed=seed)


def vote_shares(panel: Panel, votes: str = "most-probable") -> Floats:
    """Share of the accuracy-weighted votes for each class, (obs, class)."""
    vote = panel.probs.argmax(axis=2)
    weight = (vote[:, panel.labeled] == panel.y[panel.labeled]).mean(axis=1)
    if not weight.any():
        raise InputError(
            "Majority-Vote weights classifiers by their accuracy on labelled rows; got 0 for all "
            f"{panel.n_classifiers} on {panel.n_labeled} rows. Label more rows."
        )
    given = np.eye(panel.n_classes)[vote]
    if votes == "threshold":
        above = (panel.probs > 1 / panel.n_classes).astype(np.float64)
        # Only equal probabilities leave none above.
        given = np.where(above.any(axis=2, keepdims=True), above, given)
    total = np.tensordot(weight, given, axes=1)
    return np.asarray(total / total.sum(axis=1, keepdims=True))
