"""The labels that a classifier gives: a class, probabilities, or a set of probabilities."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayescal.core.columns import to_doubles
from bayescal.core.errors import InputError
from bayescal.core.quantity import Floats
from bayescal.quantities.credal.self_learning.label_sets import LabelSets, from_labels
from bayescal.quantities.credal.sets.discounting import discount
from bayescal.quantities.credal.venn_abers.one_vs_rest import fit_one_vs_rest


def hard_labels(prob: Floats) -> LabelSets:
    """Label each row with its most probable class (Algorithm 3).

    Parameters
    ----------
    prob : ndarray of shape (obs, class), in [0, 1]
        Predicted probabilities.

    Returns
    -------
    LabelSets
        One corner of the simplex a row; of equally probable classes the first.

    Raises
    ------
    InputError
        If they are no probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal.quantities.credal.self_learning.pseudo_labels import hard_labels
    >>> hard_labels(np.array([[0.3, 0.7]])).upper.tolist()
    [[0.0, 1.0]]
    """
    points = _checked(prob)
    return from_labels(points.argmax(axis=1), np.arange(points.shape[1]))


def soft_labels(prob: Floats) -> LabelSets:
    """Label each row with its predicted probabilities (Algorithm 4).

    Parameters
    ----------
    prob : ndarray of shape (obs, class), in [0, 1]
        Predicted probabilities.

    Returns
    -------
    LabelSets
        One point a row, which sums to 1 to the last digit also where float32 did not.

    Raises
    ------
    InputError
        If they are no probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal.quantities.credal.self_learning.pseudo_labels import soft_labels
    >>> soft_labels(np.array([[0.3, 0.7]])).upper.tolist()
    [[0.3, 0.7]]
    """
    points = _checked(prob)
    points = points / points.sum(axis=1, keepdims=True)
    return LabelSets(points, points)


def credal_labels(
    prob: Floats,
    calibration_prob: Floats,
    *,
    calibration_label: NDArray[np.int64],
    relation: str = ">",
) -> LabelSets:
    """Label each row with the credal set of Venn-Abers predictors (Algorithm 2).

    Parameters
    ----------
    prob : ndarray of shape (obs, class), in [0, 1]
        Predicted probabilities of the rows to label.
    calibration_prob : ndarray of shape (calibration, class), in [0, 1]
        Predicted probabilities of the rows held back.
    calibration_label : ndarray of shape (calibration,)
        Their labels, as columns of `prob`.
    relation : {">", ">="}, default ">"
        Which sets are discounted: see `discount`.

    Returns
    -------
    LabelSets
        One set a row: for each class the two values p0 and p1 of its inductive Venn-Abers
        predictor against the rest, discounted where no probabilities lie between them.

    Raises
    ------
    InputError
        If they are no probabilities, labels do not fit them, or the relation is another.

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal.quantities.credal.self_learning.pseudo_labels import credal_labels
    >>> calibration_prob = np.array([[0.8, 0.2], [0.3, 0.7], [0.9, 0.1], [0.2, 0.8]])
    >>> label = np.array([0, 1, 0, 1])
    >>> found = credal_labels([[0.6, 0.4]], calibration_prob, calibration_label=label)
    >>> found.lower.round(3).tolist()
    [[0.0, 0.0]]
    """
    bounds = fit_one_vs_rest(calibration_prob, label=calibration_label).predict(_checked(prob))
    return LabelSets(*discount(*bounds, relation=relation))


def _checked(prob: Floats) -> Floats:
    """Check predicted probabilities, (obs, class)."""
    found = to_doubles(prob, "prob")
    if found.ndim != 2 or found.shape[1] < 2:
        raise InputError(
            f"prob must have shape (obs, class), with two classes or more; got {found.shape}. "
            "Pass what predict_proba returns."
        )
    if not ((found >= 0) & (found <= 1)).all() or not found.sum(axis=1).all():
        raise InputError("prob must lie in [0, 1], with a sum above 0 in each row; it does not.")
    return found
