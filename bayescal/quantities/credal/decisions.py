"""Decisions from credal sets: which actions they recommend, and which they cannot rule out."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.checks import check_whole
from bayescal.core.columns import to_doubles
from bayescal.core.errors import InputError
from bayescal.core.probability_intervals import ROUNDING, Booleans, largest_somewhere
from bayescal.core.quantity import Floats
from bayescal.quantities.credal.credal_sets import costs, expectation, proper

_MOST_CLASSES = 10_000


def zero_one(n_classes: int) -> Floats:
    """Give the costs of naming a class: 0 if it is the true one, else 1.

    Parameters
    ----------
    n_classes : int
        Number of classes, at least 2.

    Returns
    -------
    ndarray of shape (action, class)
        Action k is to name class k.
    """
    check_whole(n_classes, "n_classes", 2, "Pass the number of classes.", _MOST_CLASSES)
    return 1 - np.eye(n_classes)


def maximin(cost: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> NDArray[np.int64]:
    """Choose the action whose worst expected cost is least.

    Parameters
    ----------
    cost : array-like of shape (action, class), finite
        Cost of each action if a class is the true one.
    lower, upper : array-like of shape (..., class), in [0, 1]
        Bounds of proper sets.

    Returns
    -------
    ndarray of shape (...), int
        The action; of equally good ones the first. In terms of gains, the one of the largest lower
        expectation.

    Raises
    ------
    InputError
        If a set is empty, or `cost` is not finite or does not fit the classes.

    References
    ----------
    .. [1] M. C. M. Troffaes, International Journal of Approximate Reasoning 45(1), 2007, section
       3.2. https://doi.org/10.1016/j.ijar.2006.06.001

    Examples
    --------
    >>> from bayescal.quantities.credal.decisions import maximin, zero_one
    >>> int(maximin(zero_one(3), [0.3, 0.4, 0.0], [0.6, 0.5, 0.3]))
    1
    """
    low, high = proper(lower, upper)
    table = _actions(cost, low.shape[-1])
    chosen = expectation(table, low, high).upper.argmin(axis=-1)
    return np.asarray(chosen)


def interval_dominance(cost: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> Booleans:
    """Keep the actions whose best expected cost is no worse than the worst one of any other.

    Parameters
    ----------
    cost, lower, upper
        As for `maximin`.

    Returns
    -------
    ndarray of shape (..., action), bool
        Which actions are kept: at least the `maximin` one, and all that are E-admissible.

    Raises
    ------
    InputError
        As for `maximin`.
    """
    low, high = proper(lower, upper)
    table = _actions(cost, low.shape[-1])
    best, worst = expectation(table, low, high)
    slack = ROUNDING * np.abs(table).max()
    return np.asarray(best <= worst.min(axis=-1, keepdims=True) + slack)


def e_admissible(cost: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> Booleans:
    """Keep the actions that are the best ones for some member of the set.

    Parameters
    ----------
    cost, lower, upper
        As for `maximin`.

    Returns
    -------
    ndarray of shape (..., action), bool
        Which actions are kept; at least one.

    Raises
    ------
    InputError
        As for `maximin`.

    Notes
    -----
    With `zero_one` costs, the most that a member can give class a is
    ``v = min(upper_a, 1 - sum_{k != a} lower_k)``: it is kept if no other lower bound exceeds v and
    ``v + sum_{k != a} min(upper_k, v) >= 1``. For two actions, the least expectation of the
    difference of costs decides. Other cases take a linear programme for each row and action that
    no other action beats on all of the set.

    Examples
    --------
    >>> from bayescal.quantities.credal.decisions import e_admissible, zero_one
    >>> e_admissible(zero_one(3), [0.3, 0.4, 0.0], [0.6, 0.5, 0.3]).tolist()
    [True, True, False]
    """
    low, high = proper(lower, upper)
    n_classes = low.shape[-1]
    table = _actions(cost, n_classes)
    if table.shape == (n_classes, n_classes) and (table == zero_one(n_classes)).all():
        return largest_somewhere(low, high)
    slack = ROUNDING * np.abs(table).max()
    kept = np.empty((*low.shape[:-1], len(table)), bool)
    for place, row in enumerate(table):
        # That no other one beats for every member of the set.
        kept[..., place] = (expectation(row - table, low, high).lower <= slack).all(axis=-1)
    if len(table) > 2:
        flat = kept.reshape(-1, len(table))
        sets = (low.reshape(-1, n_classes), high.reshape(-1, n_classes))
        for row in np.flatnonzero(flat.sum(axis=1) > 1):
            for action in np.flatnonzero(flat[row]):
                flat[row, action] = _best_somewhere(action, table, *(b[row] for b in sets))
        kept = flat.reshape(kept.shape)
    return kept


def _actions(cost: ArrayLike, n_classes: int) -> Floats:
    table = to_doubles(cost, "cost")
    if table.ndim != 2:
        raise InputError(
            f"cost must have shape (action, class); got {table.shape}. "
            "Pass a row an action, zero_one(n_classes) for naming a class."
        )
    return costs(table, n_classes)


def _best_somewhere(action: np.intp, table: Floats, low: Floats, high: Floats) -> bool:
    """Look for a member of one set for which an action costs no more than any other."""
    from scipy.optimize import linprog

    ahead = table[action] - np.delete(table, action, axis=0)
    found = linprog(
        np.zeros(len(low)),
        A_ub=ahead,
        b_ub=np.zeros(len(ahead)),
        A_eq=np.ones((1, len(low))),
        b_eq=[1.0],
        bounds=np.stack([low, high], axis=1),
        method="highs",
    )
    return bool(found.success)
