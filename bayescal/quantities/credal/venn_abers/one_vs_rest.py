"""Venn-Abers predictors of several classes, each class against the rest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.checks import check_rows, check_same_length
from bayescal.core.columns import to_numpy
from bayescal.core.errors import InputError
from bayescal.quantities.credal.venn_abers.ivap import InductiveVennAbers, Pair, fit_ivap


@dataclass(frozen=True, slots=True, eq=False)
class OneVsRest:
    """Fitted inductive Venn-Abers predictors, one for each class.

    Parameters
    ----------
    predictors : tuple of InductiveVennAbers
        Of each class against the rest.
    """

    predictors: tuple[InductiveVennAbers, ...]

    def predict(self, score: ArrayLike) -> Pair:
        """Look up both probabilities of each class.

        Parameters
        ----------
        score : array-like of shape (obs, class), finite
            Scores of new rows.

        Returns
        -------
        Pair
            Each of shape (obs, class): lower and upper probability of each class. A row may be
            improper, with no probabilities between them that sum to 1 (see `credal_sets`).

        Raises
        ------
        InputError
            If a score is not finite, or there are other than the calibration's classes.
        """
        values = _table(score)
        if values.shape[1] != len(self.predictors):
            raise InputError(
                f"score must have a column for each of the {len(self.predictors)} classes; got "
                f"{values.shape[1]}. Pass the scores of the same classifier."
            )
        found = [one.predict(values[:, k]) for k, one in enumerate(self.predictors)]
        return Pair(*(np.stack(columns, axis=1) for columns in zip(*found, strict=True)))


def fit_one_vs_rest(
    score: ArrayLike, *, label: ArrayLike, rows: ArrayLike | None = None
) -> OneVsRest:
    """Fit an inductive Venn-Abers predictor to each class against the rest.

    Parameters
    ----------
    score : array-like of shape (obs, class), finite
        Scores of calibration rows, a column a class; at least two.
    label : array-like of shape (obs,), int
        The column of each row's class. A class that no row has gets p0 = 0 everywhere, and a p1
        that is the larger the fewer rows there are.
    rows : array-like of shape (obs,), int, at least 1, optional
        How many rows each row stands for, by default one.

    Returns
    -------
    OneVsRest
        The fits.

    Raises
    ------
    InputError
        If a score is not finite, a label is no column, or lengths differ.

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal.quantities.credal.venn_abers.one_vs_rest import fit_one_vs_rest
    >>> score = np.array([[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.1, 0.8]])
    >>> lower, upper = fit_one_vs_rest(score, label=[0, 1, 2]).predict(score[:1])
    >>> lower.tolist(), upper.tolist()
    ([[0.5, 0.0, 0.0]], [[1.0, 0.5, 0.3333333333333333]])
    """
    values = _table(score)
    codes = to_numpy(label, "label")
    check_rows(len(values), "score")
    n_classes = values.shape[1]
    whole = codes.ndim == 1 and codes.dtype.kind in "iu"
    if not whole or ((codes < 0) | (codes >= n_classes)).any():
        got = f"{codes.min()} to {codes.max()}" if whole and len(codes) else f"dtype {codes.dtype}"
        raise InputError(
            f"label must hold the column of each row's class, 0 to {n_classes - 1}; got {got}. "
            "Pass y_true of Scores, or the place of each label among the classes."
        )
    check_same_length(len(codes), "label", len(values), "score")
    return OneVsRest(
        tuple(fit_ivap(values[:, k], label=codes == k, rows=rows) for k in range(n_classes))
    )


def _table(score: ArrayLike) -> NDArray[np.floating]:
    values = to_numpy(score, "score")
    if values.ndim != 2 or values.shape[1] < 2:
        raise InputError(
            "score must have shape (obs, class) with at least two classes; got shape "
            f"{values.shape}. For one score a row use fit_ivap."
        )
    return values
