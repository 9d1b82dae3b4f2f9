"""Cross Venn-Abers predictors: one inductive predictor a fold, merged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from bayescal.core.checks import check_choice, check_same_length
from bayescal.core.columns import to_doubles, to_numpy
from bayescal.core.errors import InputError
from bayescal.core.quantity import Floats
from bayescal.quantities.credal.venn_abers.ivap import (
    InductiveVennAbers,
    Pair,
    check_pair,
    fit_ivap,
)

LOSSES: Final = ("log", "square")


@dataclass(frozen=True, slots=True, eq=False)
class CrossVennAbers:
    """A fitted cross Venn-Abers predictor of binary labels.

    Parameters
    ----------
    predictors : tuple of InductiveVennAbers
        One a fold.
    """

    predictors: tuple[InductiveVennAbers, ...]

    def predict(self, score: ArrayLike) -> Pair:
        """Look up both probabilities of each fold.

        Parameters
        ----------
        score : array-like of shape (fold, obs), finite
            Scores of new rows, by the classifier that was trained without each fold.

        Returns
        -------
        Pair
            Each of shape (fold, obs); `merge_folds` merges them.

        Raises
        ------
        InputError
            If a score is not finite, or there is not one row of scores for each fold.
        """
        values = to_doubles(score, "score")
        if values.ndim != 2 or len(values) != len(self.predictors):
            raise InputError(
                f"score must have shape (fold, obs) with {len(self.predictors)} folds; got "
                f"{values.shape}. Pass the scores of each fold's classifier in the order of folds."
            )
        found = [one.predict(row) for one, row in zip(self.predictors, values, strict=True)]
        return Pair(*(np.stack(rows) for rows in zip(*found, strict=True)))


def fit_cross_venn_abers(score: ArrayLike, *, label: ArrayLike, fold: ArrayLike) -> CrossVennAbers:
    """Fit an inductive Venn-Abers predictor to each fold's rows.

    Parameters
    ----------
    score : array-like of shape (obs,), finite
        Score of each row by the classifier that was trained without its fold.
    label : array-like of shape (obs,)
        Labels, 0 or 1.
    fold : array-like of shape (obs,), int
        Fold of each row: 0, 1, ..., each with a row.

    Returns
    -------
    CrossVennAbers
        The fits, in the order of folds.

    Raises
    ------
    InputError
        If folds are not numbered so, or a column breaks a rule of `fit_ivap`.

    References
    ----------
    .. [1] V. Vovk, I. Petej and V. Fedorova, "Large-scale probabilistic predictors with and without
       guarantees of validity", NeurIPS 2015, section 3. https://arxiv.org/abs/1511.00213

    Examples
    --------
    >>> from bayescal.quantities.credal.venn_abers.cross import fit_cross_venn_abers, merge_folds
    >>> fitted = fit_cross_venn_abers([0.1, 0.9, 0.2, 0.8], label=[0, 1, 0, 1], fold=[0, 0, 1, 1])
    >>> merge_folds(*fitted.predict([[0.5], [0.85]])).round(3).tolist()
    [0.586]
    """
    folds, scores = to_numpy(fold, "fold"), to_numpy(score, "score")
    labels = to_numpy(label, "label")
    whole = folds.ndim == 1 and folds.dtype.kind in "iu" and len(folds) > 0
    numbers = np.unique(folds) if whole else folds
    if not whole or not np.array_equal(numbers, np.arange(len(numbers))):
        shown = numbers.tolist()[:6] if whole else f"dtype {folds.dtype}"
        raise InputError(
            f"fold must number the folds 0, 1, ..., each with a row; got {shown}. "
            "Pass the fold that each row was held out in."
        )
    check_same_length(len(folds), "fold", len(scores), "score")
    check_same_length(len(labels), "label", len(scores), "score")
    held_out = [folds == k for k in numbers]
    return CrossVennAbers(tuple(fit_ivap(scores[rows], label=labels[rows]) for rows in held_out))


def merge_folds(p0: ArrayLike, p1: ArrayLike, loss: str = "log") -> Floats:
    """Merge the probabilities of several folds into one.

    Parameters
    ----------
    p0, p1 : array-like of shape (fold, ...), in [0, 1]
        Probabilities of label 1 of each fold.
    loss : {"log", "square"}, default "log"
        The loss whose regret against the folds is least in the worst case.

    Returns
    -------
    ndarray of shape (...), in [0, 1]
        ``G(p1) / (G(1 - p0) + G(p1))`` for the log loss, with G the geometric mean over folds: its
        odds are the geometric mean of the folds' merged odds. ``mean(p1 + p0**2 / 2 - p1**2 / 2)``
        for the square loss. One fold's log merge is `merged`.

    Raises
    ------
    InputError
        If p0 exceeds p1, one of them is no probability, or the loss is unknown.

    References
    ----------
    .. [1] V. Vovk, I. Petej and V. Fedorova, NeurIPS 2015, section 4.
       https://arxiv.org/abs/1511.00213

    Examples
    --------
    >>> from bayescal.quantities.credal.venn_abers.cross import merge_folds
    >>> float(merge_folds([0.25], [0.75])), float(merge_folds([0.25], [0.75], loss="square"))
    (0.5, 0.5)
    """
    low, high = check_pair(p0, p1)
    check_choice(loss, LOSSES, "loss")
    if not low.ndim or not len(low):
        raise InputError(
            f"p0 and p1 must have shape (fold, ...) with at least one fold; got shape {low.shape}. "
            "Pass the probabilities of each fold."
        )
    if loss == "square":
        return np.asarray((high + (low**2 - high**2) / 2).mean(axis=0))
    with np.errstate(divide="ignore"):
        one, zero = (np.exp(np.log(p).mean(axis=0)) for p in (high, 1 - low))
    total = one + zero
    if (total == 0).any():
        raise InputError(
            "folds must not contradict each other with certainty; got p0 = 1 in one fold and "
            "p1 = 0 in another. Merge them with loss='square'."
        )
    return np.asarray(one / total)
