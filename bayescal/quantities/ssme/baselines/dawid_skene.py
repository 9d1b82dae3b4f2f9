"""Dawid-Skene: classifiers as annotators whose errors are independent given the label."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bayescal.core.checks import MOST_DRAWN, check_number, check_whole
from bayescal.core.quantity import Floats
from bayescal.core.scores import Scores
from bayescal.quantities.ssme.baselines.imputed import imputed_metrics
from bayescal.quantities.ssme.data import Panel, panel_of
from bayescal.quantities.ssme.metrics.label_draws import with_known_labels
from bayescal.quantities.ssme.metrics.metrics import Metrics


class Annotators(NamedTuple):
    """What EM finds of the labels and of the classifiers."""

    prob_label: Floats  # (obs, class); labelled rows are one-hot
    class_prior: Floats
    confusion: Floats  # (classifier, class, class): each prediction (last) given the label, or 0
    n_iter: int
    converged: bool  # whether class prior and confusion stopped changing


def dawid_skene(
    scores: Scores,
    *,
    reading: str = "soft",
    max_iter: int = 100,
    tol: float = 1e-5,
    n_draws: int = 500,
    seed: int = 0,
) -> Metrics:
    """Measure under the labels that the model of Dawid and Skene gives, known labels held.

    Parameters
    ----------
    scores : Scores
        Scores of one or several classifiers; labels may be missing altogether.
    reading : {"soft", "drawn", "hard"}, default "soft"
        The probabilities as weights, labels drawn from them, or the most probable label.
    max_iter : int, default 100
        Most iterations of EM.
    tol : float, default 1e-5
        EM stops when class prior and confusion change by less, summed over their entries.
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
        If an option is none of those allowed.

    Notes
    -----
    A classifier annotates a row with its most probable class. Classifiers trained on the same data
    err together, which the model takes for being right together: accuracies come out too high.
    Without labels it needs three classifiers or more to know which of them is right. The paper does
    not say how probabilities are read; it matters little, as nearly all are close to 0 or 1. In one
    place it has classifiers annotate with the most probable class, in another with those above
    1 / K, of which three classes can get two from one classifier.

    References
    ----------
    .. [1] A. P. Dawid and A. M. Skene, "Maximum Likelihood Estimation of Observer Error-Rates Using
       the EM Algorithm", Applied Statistics 28(1), 1979, equations 2.3 to 2.5 and 3.1.
    .. [2] D. Shanmugam et al., "Evaluating multiple models using labeled and unlabeled data",
       2025, appendix B.2. https://arxiv.org/abs/2501.11866

    Examples
    --------
    >>> import bayescal as bc
    >>> from bayescal.quantities.ssme.baselines.dawid_skene import dawid_skene
    >>> y_prob = {"a": [0.2, 0.9, 0.6], "b": [0.1, 0.8, 0.7], "c": [0.3, 0.7, 0.4]}
    >>> dawid_skene(bc.Scores.stack(y_prob, y_true=[0, 1, None])).accuracy.round(2)
    array([1.  , 1.  , 0.67])
    """
    panel = panel_of(scores)
    found = annotators(panel, max_iter=max_iter, tol=tol)
    return imputed_metrics(panel, found.prob_label, reading, n_draws=n_draws, seed=seed)


def annotators(panel: Panel, *, max_iter: int = 100, tol: float = 1e-5) -> Annotators:
    """Fit the model of Dawid and Skene by EM, known labels held."""
    check_whole(max_iter, "max_iter", most=MOST_DRAWN)
    check_number(tol, "tol", "[0, inf)", "Pass 1e-5, say.")
    votes = np.eye(panel.n_classes)[panel.probs.argmax(axis=2)]
    prob = with_known_labels(panel, votes.mean(axis=0))
    prior, confusion = _maximize(votes, prob)
    for iteration in range(1, max_iter + 1):
        prob = with_known_labels(panel, _expect(votes, prior, confusion))
        before = prior, confusion
        prior, confusion = _maximize(votes, prob)
        change = max(np.abs(prior - before[0]).sum(), np.abs(confusion - before[1]).sum())
        if change < tol:
            return Annotators(prob, prior, confusion, iteration, True)
    return Annotators(prob, prior, confusion, max_iter, False)


def _maximize(votes: Floats, prob: Floats) -> tuple[Floats, Floats]:
    """Class prior and confusion given probabilities of the labels, equations 2.3 and 2.4."""
    counts = np.einsum("ik,mij->mkj", prob, votes)
    total = counts.sum(axis=2, keepdims=True)
    return prob.mean(axis=0), np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)


def _expect(votes: Floats, prior: Floats, confusion: Floats) -> Floats:
    """Probabilities of the labels given class prior and confusion, equation 2.5."""
    # A class with a zero somewhere is impossible for the row; some class is always possible, as
    # every row had its share in the confusion.
    with np.errstate(divide="ignore"):
        log_prior, log_confusion = np.log(prior), np.log(confusion)
    # Sums, not a product of matrices: zero votes times minus infinity are not a number.
    given = np.stack(
        [rates.T[vote.argmax(axis=1)] for rates, vote in zip(log_confusion, votes, strict=True)]
    )
    log_prob = log_prior + given.sum(axis=0)
    prob = np.exp(log_prob - log_prob.max(axis=1, keepdims=True))
    return np.asarray(prob / prob.sum(axis=1, keepdims=True))
