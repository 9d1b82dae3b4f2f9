"""Sets of probabilities between lower and upper bounds of each class."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.columns import to_doubles
from bayescal.core.errors import InputError
from bayescal.core.probability_intervals import Interval, tightened
from bayescal.core.quantity import Floats
from bayescal.quantities.credal.sets.intervals import proper


def reachable(lower: ArrayLike, upper: ArrayLike) -> Interval:
    """Tighten bounds to what the probabilities between them reach.

    Parameters
    ----------
    lower, upper : array-like of shape (..., class), in [0, 1]
        Bounds of proper sets.

    Returns
    -------
    Interval
        The least and the largest probability of each class in the set. The set is the same.

    Raises
    ------
    InputError
        If a set is empty, or the bounds are none.

    Notes
    -----
    ``lower_k <- max(lower_k, 1 - sum_{j != k} upper_j)``, and likewise the upper bounds [1]_.

    References
    ----------
    .. [1] L. M. de Campos, J. F. Huete and S. Moral, "Probability intervals: a tool for uncertain
       reasoning", International Journal of Uncertainty, Fuzziness and Knowledge-Based Systems 2(2),
       1994, section 3.

    Examples
    --------
    >>> from bayescal.quantities.credal.sets.credal_sets import reachable
    >>> reachable([0.2, 0.4], [1.0, 0.7])
    Interval(lower=array([0.3, 0.4]), upper=array([0.6, 0.7]))
    """
    return tightened(*proper(lower, upper))


def probability(event: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> Interval:
    """Bound the probability of an event over a credal set.

    Parameters
    ----------
    event : array-like of shape (class,), bool
        The classes that make up the event.
    lower, upper : array-like of shape (..., class), in [0, 1]
        Bounds of proper sets.

    Returns
    -------
    Interval
        Of shape (...). Both ends are attained.

    Raises
    ------
    InputError
        If a set is empty, or `event` does not fit the classes.

    Examples
    --------
    >>> from bayescal.quantities.credal.sets.credal_sets import probability
    >>> low, high = probability([True, True, False], [0.1, 0.2, 0.3], [0.5, 0.5, 0.4])
    >>> round(float(low), 12), round(float(high), 12)
    (0.6, 0.7)
    """
    low, high = proper(lower, upper)
    chosen = np.asarray(event)
    if chosen.dtype != np.bool_ or chosen.shape != low.shape[-1:]:
        raise InputError(
            f"event must hold true or false for each of the {low.shape[-1]} classes; got "
            f"dtype {chosen.dtype}, shape {chosen.shape}. Pass classes == label, say."
        )
    inside_low, inside_high = (bound[..., chosen].sum(axis=-1) for bound in (low, high))
    outside_low, outside_high = (bound[..., ~chosen].sum(axis=-1) for bound in (low, high))
    least = np.clip(1 - outside_high, inside_low, 1)
    return Interval(least, np.maximum(np.minimum(inside_high, 1 - outside_low), least))


def expectation(cost: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> Interval:
    """Bound the expectation of a cost over a credal set.

    Parameters
    ----------
    cost : array-like of shape (class,) or (action, class), finite
        Cost, or gain, of each class; of several actions at once.
    lower, upper : array-like of shape (..., class), in [0, 1]
        Bounds of proper sets.

    Returns
    -------
    Interval
        Of shape (...) or (..., action). Both ends are attained.

    Raises
    ------
    InputError
        If a set is empty, or `cost` is not finite or does not fit the classes.

    Notes
    -----
    The least expectation gives each class its lower bound, and what is left of 1 to the cheapest
    classes, each up to its upper bound: a linear programme with one constraint and bounds.

    Examples
    --------
    >>> from bayescal.quantities.credal.sets.credal_sets import expectation
    >>> low, high = expectation([0, 10], [0.2, 0.3], [0.7, 0.8])
    >>> round(float(low), 12), round(float(high), 12)
    (3.0, 8.0)
    """
    low, high = proper(lower, upper)
    table = costs(cost, low.shape[-1])
    least, largest = np.empty((2, *low.shape[:-1], len(table)))
    for action, row in enumerate(table):
        order = np.argsort(row, kind="stable")
        least[..., action] = _filled(low, high, order) @ row[order]
        largest[..., action] = _filled(low, high, order[::-1]) @ row[order[::-1]]
    largest = np.maximum(least, largest)
    if np.ndim(cost) == 1:
        return Interval(least[..., 0], largest[..., 0])
    return Interval(least, largest)


def costs(cost: ArrayLike, n_classes: int) -> Floats:
    """Check costs of actions, (action, class)."""
    table = to_doubles(cost, "cost")
    if table.ndim not in (1, 2) or table.shape[-1] != n_classes or not table.size:
        raise InputError(
            f"cost must have shape (class,) or (action, class) with {n_classes} classes; got "
            f"{table.shape}. Pass a row an action, a column a class."
        )
    if not np.isfinite(table).all():
        raise InputError("cost must be finite; got NaN or infinity. Pass a large cost instead.")
    return np.atleast_2d(table)


def _filled(low: Floats, high: Floats, order: NDArray[np.int64]) -> Floats:
    """Give each class its lower bound and the rest of 1 in this order, columns in this order."""
    least, slack = low[..., order], (high - low)[..., order]
    rest = 1 - low.sum(axis=-1, keepdims=True)
    before = np.cumsum(slack, axis=-1) - slack
    return np.asarray(least + np.clip(rest - before, 0, slack))
