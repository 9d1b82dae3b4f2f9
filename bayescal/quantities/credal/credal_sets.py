"""Sets of class probabilities between bounds: checked, discounted, projected on, measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import entr

from bayescal.core.checks import check_choice
from bayescal.core.columns import to_doubles, to_numpy
from bayescal.core.errors import InputError
from bayescal.core.intake import check_same_order
from bayescal.core.probability_intervals import ROUNDING, Interval, discounted, holds_any, tightened
from bayescal.core.quantity import Floats


def ordered(remedy: str, **bounds: ArrayLike) -> Interval:
    """Check that two bounds of probabilities, by their names, have one shape and are in order."""
    check_same_order(**bounds)
    low, high = (to_doubles(values, name) for name, values in bounds.items())
    one, other = bounds
    if low.shape != high.shape:
        raise InputError(
            f"{one} and {other} must have the same shape; got {low.shape} and {high.shape}. "
            f"{remedy}"
        )
    # Three passes that a NaN fails too; what is wrong is looked for only when something is.
    if low.size and not (low.min() >= 0 and high.max() <= 1 and (low <= high).all()):
        wrong = ~((low >= 0) & (low <= high) & (high <= 1))
        first = int(wrong.argmax())
        raise InputError(
            f"{one} and {other} must satisfy 0 <= {one} <= {other} <= 1; got {one} "
            f"{low.flat[first]:.6g} and {other} {high.flat[first]:.6g} at {_where(wrong)}. {remedy}"
        )
    return Interval(low, high)


def intervals(lower: ArrayLike, upper: ArrayLike) -> Interval:
    """Check bounds of class probabilities."""
    low, high = ordered(
        "Pass bounds of probabilities of the same rows and classes: p0 as lower, p1 as upper.",
        lower=lower,
        upper=upper,
    )
    if low.ndim == 0 or low.shape[-1] < 2:
        raise InputError(
            f"there must be at least two classes, in the last dimension; got shape {low.shape}. "
            "For a binary score pass both classes: [1 - p1, p0] and [1 - p0, p1]."
        )
    return Interval(low, high)


def is_proper(lower: ArrayLike, upper: ArrayLike) -> NDArray[np.bool_]:
    """Check whether there are probabilities between the bounds that sum to 1.

    Parameters
    ----------
    lower, upper : array-like of shape (..., class), in [0, 1]
        Bounds.

    Returns
    -------
    ndarray of shape (...), bool
        True unless lower bounds sum to more than 1 or upper ones to less, by over 1e-12.

    Notes
    -----
    A sum of 1 leaves one probability vector, the bounds themselves.

    Examples
    --------
    >>> from bayescal.quantities.credal.credal_sets import is_proper
    >>> bool(is_proper([0, 0, 1], [0.2, 0.3, 1])), bool(is_proper([0.2, 0.3, 0.6], [1, 1, 1]))
    (True, False)
    """
    low, high = intervals(lower, upper)
    return holds_any(low, high)


def proper(lower: ArrayLike, upper: ArrayLike) -> Interval:
    """Check that bounds leave probabilities that sum to 1."""
    low, high = intervals(lower, upper)
    empty = ~holds_any(low, high)
    if empty.any():
        first = np.unravel_index(int(empty.argmax()), empty.shape)
        where = f" at row {int(first[0])} ({int(empty.sum())} such rows)" if first else ""
        raise InputError(
            "lower bounds must sum to 1 or less and upper bounds to 1 or more; got sums "
            f"{low[first].sum():.12g} and {high[first].sum():.12g}{where}. "
            "Pass the bounds through discount() first."
        )
    return Interval(low, high)


def _where(wrong: NDArray[np.bool_]) -> str:
    """Row, and column where there are several; of a single row or set the place."""
    place = [int(i) for i in np.unravel_index(int(wrong.argmax()), wrong.shape)]
    return f"row {place[0]}, column {place[-1]}" if len(place) > 1 else f"place {sum(place)}"


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
    .. [1] L. M. de Campos, J. F. Huete and S. Moral, International Journal of Uncertainty,
       Fuzziness and Knowledge-Based Systems 2(2), 1994, section 3.

    Examples
    --------
    >>> from bayescal.quantities.credal.credal_sets import reachable
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
    >>> from bayescal.quantities.credal.credal_sets import probability
    >>> low, high = probability([True, True, False], [0.1, 0.2, 0.3], [0.5, 0.5, 0.4])
    >>> round(float(low), 12), round(float(high), 12)
    (0.6, 0.7)
    """
    low, high = proper(lower, upper)
    chosen = to_numpy(event, "event")
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
    >>> from bayescal.quantities.credal.credal_sets import expectation
    >>> low, high = expectation([0, 10], [0.2, 0.3], [0.7, 0.8])
    >>> round(float(low), 12), round(float(high), 12)
    (3.0, 8.0)
    """
    low, high = proper(lower, upper)
    table = costs(cost, low.shape[-1])
    least, largest = np.empty((2, *low.shape[:-1], len(table)))
    for action, row in enumerate(table):
        value, group = np.unique(row, return_inverse=True)  # Classes of one cost are as one.
        below, above = (each @ np.eye(len(value))[group] for each in (low, high))
        least[..., action] = _filled(below, above) @ value
        largest[..., action] = _filled(below[..., ::-1], above[..., ::-1]) @ value[::-1]
    largest = np.maximum(least, largest)
    if np.ndim(cost) == 1:
        return Interval(least[..., 0], largest[..., 0])
    return Interval(least, largest)


def costs(cost: ArrayLike, n_classes: int, least_dims: int = 1) -> Floats:
    """Check costs of actions, (action, class), or of one where it need not be in a table."""
    table = to_doubles(cost, "cost")
    if not least_dims <= table.ndim <= 2 or table.shape[-1] != n_classes or not table.size:
        one = "(class,) or " if least_dims == 1 else ""
        raise InputError(
            f"cost must have shape {one}(action, class) with {n_classes} classes; got "
            f"{table.shape}. Pass a row an action, a column a class, as zero_one(n_classes) has."
        )
    if not np.isfinite(table).all():
        raise InputError("cost must be finite; got NaN or infinity. Pass a large cost instead.")
    return np.atleast_2d(table)


def _filled(low: Floats, high: Floats) -> Floats:
    """Give each column its lower bound, and the rest of 1 in the order of the columns."""
    slack, rest = high - low, 1 - low.sum(axis=-1, keepdims=True)
    before = np.cumsum(slack, axis=-1) - slack
    return np.asarray(low + np.clip(rest - before, 0, slack))


SLACK: Final = {">": ROUNDING, ">=": -ROUNDING}
"""What a sum of lower bounds may pass 1 by, for each relation at which (8) is solved."""


def discount(lower: ArrayLike, upper: ArrayLike, *, relation: str = ">") -> Interval:
    """Widen bounds between which no probabilities sum to 1, as little as possible.

    Parameters
    ----------
    lower, upper : array-like of shape (..., class), in [0, 1]
        Bounds, proper or not.
    relation : {">", ">="}, default ">"
        Relation of the lower bounds' sum to 1 at which (8) is solved, and mirrored that of the
        upper ones' for (9). At equality one member is left, and the set is proper by the paper's
        definition; (8), (9) and Algorithm 2 print ``>=`` and ``<=``, which widen it nevertheless.

    Returns
    -------
    Interval
        Bounds of the same shape, all proper; those that were proper are not changed (but at
        equality, by ``relation=">="``). Changed bounds are reachable.

    Raises
    ------
    InputError
        If a lower bound exceeds its upper one, say, or the relation is another.

    Notes
    -----
    With ``w = upper - lower``, A and B the sums of lower and upper bounds:

    *A > 1*, linear programme (8): the least ``sum delta`` with ``0 <= delta <= lower`` for which no
    class's upper bound and the other lower bounds less delta exceed 1. With t the largest of ``max
    w`` and of ``(B_m - 1) / (m - 1)``, m = 2, ..., K, B_m the sum of the m largest upper bounds,
    ``sum delta = A - 1 + t``, and delta_k is at most ``cap_k = lower_k - max(0, upper_k - t)``.

    *B < 1*, linear programme (9), mirrored: ``sum epsilon = 1 - B + t`` with t the larger of
    ``max w`` and ``(1 - A) / (K - 1)``, and epsilon_k at most
    ``cap_k = min(1 - upper_k, t - w_k)``.

    Any shares below the caps with that sum solve the programme. Where the caps sum to more, the
    solution is not unique; each class then takes the same fraction of its cap.

    Examples
    --------
    Example 1 of the paper, which prints 0.4 for the last bound, though its delta of 0.2 leaves 0.3:

    >>> from bayescal.quantities.credal.credal_sets import discount
    >>> lower, upper = discount([0, 0.6, 0.5], [0.2, 0.7, 0.55])
    >>> lower.round(3).tolist()
    [0.0, 0.45, 0.3]
    """
    check_choice(relation, list(SLACK), "relation")
    return discounted(*intervals(lower, upper), SLACK[relation])


FLOOR: Final = 1e-12
# Rows whose arrays stay in a core's cache together.
_BLOCK: Final = 4096
# Newton steps of a block, after which about one row in twenty is left; then of these together.
_STEPS, _MOST_STEPS = 3, 200
# Factors by which probabilities from FLOOR to 1 stay below all bounds, and reach them.
_LEAST, _MOST = 1e-20, 2 / FLOOR


def project(prob: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> Floats:
    """Find the member of each credal set that probabilities are nearest to.

    Parameters
    ----------
    prob : array-like of shape (..., class), in [0, 1]
        Probabilities, such as a classifier's. A value below 1e-12 counts as 1e-12, as the
        divergence from 0 is infinite. They need not sum to 1: a factor changes nothing.
    lower, upper : array-like of shape (..., class), in [0, 1]
        Bounds of proper sets.

    Returns
    -------
    ndarray of shape (..., class)
        The q of the set with the least ``KL(q || prob)``: the optimistic choice, (7) of the paper,
        and the labels under which the classifier's loss is least.

    Raises
    ------
    InputError
        If a set is empty (see `discount`), or `prob` holds no probabilities of these classes.

    Notes
    -----
    ``q_k = clip(c prob_k, lower_k, upper_k)`` with the c that makes them sum to 1, found to
    rounding by a few Newton steps, or by bisection where one leaves what c is known to lie between
    [2]_. The same q has the least ``KL(prob || q)``.

    References
    ----------
    .. [1] J. Lienen and E. Hüllermeier, NeurIPS 2021. https://arxiv.org/abs/2106.11853
    .. [2] R. Cominetti et al., 2014. https://doi.org/10.1007/s12532-014-0066-y

    Examples
    --------
    >>> from bayescal.quantities.credal.credal_sets import project
    >>> project([0.2, 0.3, 0.5], [0.4, 0, 0], [1, 1, 1]).round(3).tolist()
    [0.4, 0.225, 0.375]
    """
    check_same_order(prob=prob, lower=lower)
    low, high = proper(lower, upper)
    near = _probabilities(prob, low.shape, "the bounds")
    near = np.maximum(near, FLOOR)
    flat = [array.reshape(-1, low.shape[-1]) for array in (near, low, high)]
    found, left = np.empty_like(flat[0]), []
    for first in range(0, len(found), _BLOCK):
        rows = slice(first, first + _BLOCK)
        held, open_rows = _by_newton(_block(flat, rows), _STEPS)
        found[rows] = held.T
        left.append(first + open_rows)
    remaining = np.concatenate([np.arange(0), *left])
    found[remaining] = _by_newton(_block(flat, remaining), _MOST_STEPS)[0].T
    return found.reshape(low.shape)


def divergence(p: ArrayLike, prob: ArrayLike) -> Floats:
    """Compute the Kullback-Leibler divergence of probabilities from others.

    Parameters
    ----------
    p : array-like of shape (..., class), in [0, 1]
        Probabilities; 0 contributes 0.
    prob : array-like of shape (..., class), in [0, 1]
        Probabilities to compare with; a value below 1e-12 counts as 1e-12.

    Returns
    -------
    ndarray of shape (...), in nats
        ``sum_k p_k log(p_k / prob_k)``; of the `project` of `prob`, the optimistic loss (7).
    """
    check_same_order(p=p, prob=prob)
    mine = to_doubles(p, "p")
    theirs = np.maximum(_probabilities(prob, mine.shape, "p"), FLOOR)
    _probabilities(mine, theirs.shape, "prob", "p")
    ratio = np.where(mine > 0, mine, theirs) / theirs
    return np.asarray((mine * np.log(ratio)).sum(axis=-1))


def _probabilities(prob: ArrayLike, shape: tuple[int, ...], of: str, name: str = "prob") -> Floats:
    values = to_doubles(prob, name)
    if values.shape != shape:
        raise InputError(
            f"{name} must be of the same rows and classes as {of}; got shape {values.shape} for "
            f"{shape}. Pass a value for each row and class."
        )
    if values.size and not (values.min() >= 0 and values.max() <= 1):
        wrong = ~((values >= 0) & (values <= 1))
        value = values.flat[int(wrong.argmax())]
        rule = "lie in [0, 1]" if np.isfinite(value) else "be finite"
        raise InputError(
            f"{name} must {rule}; got {value:.6g} at {_where(wrong)}. Pass probabilities, not "
            "logits."
        )
    return values


def _block(arrays: Sequence[Floats], rows: slice | NDArray[np.intp]) -> list[Floats]:
    """Copy rows to shape (class, obs): sums over classes then add whole rows of numbers."""
    return [array[rows].T.copy(order="C") for array in arrays]


def _by_newton(block: Sequence[Floats], steps: int) -> tuple[Floats, NDArray[np.intp]]:
    """Project a block, (class, obs), and find the places of the rows that are not done."""
    near, low, high = block
    found, rows = np.empty_like(near), np.arange(near.shape[1])
    factor = 1 / near.sum(axis=0)
    least, most = np.full_like(factor, _LEAST), np.full_like(factor, _MOST)
    # What sums over classes are known to.
    rounding = 2 * len(near) * np.finfo(np.float64).eps
    for step in range(steps + 1):
        scaled = near * factor
        held = np.maximum(scaled, low)
        np.minimum(held, high, out=held)
        surplus = held.sum(axis=0) - 1
        places = np.flatnonzero(np.abs(surplus) > rounding)
        if step == steps or len(places) < len(rows):
            found[:, rows] = held
            rows = rows[places]
            factor, surplus, least, most = (a[places] for a in (factor, surplus, least, most))
            # Places are in range; saying so halves the time.
            near, low, high, scaled, held = (
                array.take(places, axis=1, mode="clip") for array in (near, low, high, scaled, held)
            )
        if not len(rows):
            break
        np.copyto(least, factor, where=surplus < 0)
        np.copyto(most, factor, where=surplus > 0)
        # The sum's slope is that of the classes between their bounds.
        slope = np.einsum("kn,kn->n", near, held == scaled)
        with np.errstate(divide="ignore"):
            factor = factor - surplus / slope
        inside = (least < factor) & (factor < most)
        factor = np.where(inside, factor, np.sqrt(least * most))
    return found, rows


class Imprecision(NamedTuple):
    """Measures of how much credal sets leave open."""

    mean_width: Floats  #: Mean of upper less lower probability over classes, (...).
    max_width: Floats  #: Largest such width, (...).
    upper_entropy: Floats  #: Largest entropy of a member, in nats, (...).


def imprecision(lower: ArrayLike, upper: ArrayLike) -> Imprecision:
    """Measure how much a credal set leaves open.

    Parameters
    ----------
    lower, upper : array-like of shape (..., class), in [0, 1]
        Bounds of proper sets.

    Returns
    -------
    Imprecision
        Widths of the reachable bounds, and the largest entropy.

    Raises
    ------
    InputError
        If a set is empty, or the bounds are none.

    Notes
    -----
    The member of the largest entropy is the projection of equal probabilities.

    References
    ----------
    .. [1] J. Abellán and S. Moral, International Journal of Uncertainty, Fuzziness and
       Knowledge-Based Systems 11(5), 2003.

    Examples
    --------
    >>> from bayescal.quantities.credal.credal_sets import imprecision
    >>> found = imprecision([0.2, 0.4], [1.0, 0.7])
    >>> round(float(found.mean_width), 12), round(float(found.upper_entropy), 6)
    (0.3, 0.693147)
    """
    low, high = reachable(lower, upper)
    width = high - low
    flattest = project(np.full(low.shape, 1 / low.shape[-1]), low, high)
    return Imprecision(width.mean(axis=-1), width.max(axis=-1), entr(flattest).sum(axis=-1))
