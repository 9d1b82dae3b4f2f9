"""The member of a credal set nearest to given probabilities, in Kullback-Leibler terms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.columns import to_doubles
from bayescal.core.errors import InputError
from bayescal.core.quantity import Floats
from bayescal.quantities.credal.sets.intervals import proper

FLOOR: Final = 1e-12
# Rows whose arrays stay in a core's cache together.
_BLOCK: Final = 4096
# Newton steps, after which about one row in twenty is left to a slower way that always ends.
_STEPS: Final = 3


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
        The q of the set with the least ``KL(q || prob)``: the optimistic choice, (7) of [4]_, and
        the labels under which the classifier's loss is least.

    Raises
    ------
    InputError
        If a set is empty (see `discount`), or `prob` holds no probabilities of these classes.

    Notes
    -----
    ``q_k = clip(c prob_k, lower_k, upper_k)`` with the c that makes them sum to 1. The same q has
    the least ``KL(prob || q)``. The sum is piecewise linear in c, and a few Newton steps find most
    rows' c to rounding [3]_. For the others c is found by fixing variables [2]_: with c set by the
    free classes alone, either all that fall below their lower bound stay there, or all that rise
    above their upper one do, whichever outweighs the other. It takes K rounds at most.

    References
    ----------
    .. [1] J. Lienen and E. Hüllermeier, "Credal Self-Supervised Learning", NeurIPS 2021.
       https://arxiv.org/abs/2106.11853
    .. [2] G. R. Bitran and A. C. Hax, "Disaggregation and Resource Allocation Using Convex Knapsack
       Problems with Bounded Variables", Management Science 27(4), 1981.
       https://doi.org/10.1287/mnsc.27.4.431
    .. [3] R. Cominetti, W. F. Mascarenhas and P. J. S. Silva, "A Newton's method for the continuous
       quadratic knapsack problem", Mathematical Programming Computation 6(2), 2014.
       https://doi.org/10.1007/s12532-014-0066-y
    .. [4] V. M. Bordini, S. Destercke and B. Quost, "Self-Learning from Pairwise Credal Labels",
       ECAI 2024, section 2.4. https://hal.science/hal-04886134

    Examples
    --------
    >>> from bayescal.quantities.credal.sets.projection import project
    >>> project([0.2, 0.3, 0.5], [0.4, 0, 0], [1, 1, 1]).round(3).tolist()
    [0.4, 0.225, 0.375]
    """
    low, high = proper(lower, upper)
    near = _probabilities(prob, low.shape)
    flat = [array.reshape(-1, low.shape[-1]) for array in (near, low, high)]
    found, left = np.empty_like(flat[0]), []
    for first in range(0, len(found), _BLOCK):
        rows = slice(first, first + _BLOCK)
        held, open_rows = _by_newton(*_block(flat, rows))
        found[rows] = held.T
        left.append(first + open_rows)
    remaining = np.concatenate(left) if left else np.arange(0)
    if len(remaining):
        found[remaining] = _by_fixing(*_block(flat, remaining)).T
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

    Raises
    ------
    InputError
        If one of them holds no probabilities, or shapes differ.

    Examples
    --------
    >>> from bayescal.quantities.credal.sets.projection import divergence
    >>> round(float(divergence([1, 0], [0.5, 0.5])), 6)
    0.693147
    """
    mine = to_doubles(p, "p")
    theirs = np.maximum(_probabilities(prob, mine.shape), FLOOR)
    _probabilities(mine, theirs.shape, "p")
    ratio = np.where(mine > 0, mine, theirs) / theirs
    return np.asarray((mine * np.log(ratio)).sum(axis=-1))


def _probabilities(prob: ArrayLike, shape: tuple[int, ...], name: str = "prob") -> Floats:
    values = to_doubles(prob, name)
    if values.shape != shape:
        raise InputError(
            f"{name} must have a value for each bound; got shape {values.shape} for {shape}. "
            "Pass the probabilities of the same rows and classes."
        )
    if values.size and not (values.min() >= 0 and values.max() <= 1):
        wrong = ~((values >= 0) & (values <= 1))
        rule = "lie in [0, 1]" if np.isfinite(values[wrong]).all() else "be finite"
        raise InputError(
            f"{name} must {rule}; got {values[wrong][0]:.6g}. Pass probabilities, not logits."
        )
    return values


def _block(arrays: Sequence[Floats], rows: slice | NDArray[np.intp]) -> tuple[Floats, ...]:
    """Copy rows to shape (class, obs): sums over classes then add whole rows of numbers."""
    near, low, high = (array[rows].T.copy(order="C") for array in arrays)
    return np.maximum(near, FLOOR, out=near), low, high


def _by_newton(near: Floats, low: Floats, high: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """Project a block of shape (class, obs) by Newton steps on the factor.

    Returns the projections, and the places of the rows that are not done.
    """
    factor, rows = 1 / near.sum(axis=0), np.arange(near.shape[1])
    part: tuple[Floats, ...] = near, low, high
    for _ in range(_STEPS):
        scaled, held = _clipped(factor[rows], *part)
        surplus = held.sum(axis=0) - 1
        # The sum's slope is that of the classes between their bounds; without any there is no step.
        slope = np.einsum("kn,kn->n", part[0], held == scaled)
        factor[rows] -= np.divide(surplus, slope, out=np.zeros_like(slope), where=slope > 0)
        open_rows = np.flatnonzero(np.abs(surplus) > _rounding(len(near)))
        if 4 * len(open_rows) <= 3 * len(rows):
            rows = rows[open_rows]
            # Places are in range; saying so halves the time.
            part = tuple(array.take(open_rows, axis=1, mode="clip") for array in part)
    held = _clipped(factor, near, low, high)[1]
    return held, np.flatnonzero(np.abs(held.sum(axis=0) - 1) > _rounding(len(near)))


def _clipped(factor: Floats, near: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Scale probabilities, and cut them at their bounds: both before and after."""
    scaled = near * factor
    held = np.maximum(scaled, low)
    return scaled, np.minimum(held, high, out=held)


def _rounding(n_classes: int) -> float:
    """What sums over classes are known to."""
    return 2 * n_classes * float(np.finfo(np.float64).eps)


def _by_fixing(near: Floats, low: Floats, high: Floats) -> Floats:
    """Project a block of shape (class, obs), by rounds until every row is done.

    A class is fixed by a weight of 0: at its lower bound, which is raised to the upper one where
    that is the end it stays at. Masks are factors, which NumPy applies far faster than it selects.
    The arrays are overwritten.
    """
    result, rows = np.empty_like(near), np.arange(near.shape[1])
    tolerance = _rounding(len(near))
    held, scaled, factor = np.empty((3, *near.shape))
    mass = np.ones(near.shape[1])
    # Each round fixes a class of every row that is not done.
    for _ in range(len(near) + 1):
        total = near.sum(axis=0)
        total[total == 0] = 1
        np.multiply(near, mass / total, out=scaled)
        np.maximum(scaled, low, out=held)
        np.minimum(held, high, out=held)
        surplus = held.sum(axis=0) - 1
        open_rows = np.flatnonzero(np.abs(surplus) > tolerance)
        if 2 * len(open_rows) <= len(rows):
            result[:, rows] = held
            if not len(open_rows):
                break
            rows, surplus = rows[open_rows], surplus[open_rows]
            near, low, high, held, scaled = (
                array.take(open_rows, axis=1) for array in (near, low, high, held, scaled)
            )
            factor = np.empty_like(near)
        scaled -= held
        scaled *= np.sign(surplus)
        near *= np.greater_equal(scaled, 0, out=factor)
        np.equal(near, 0, out=factor)
        factor *= held
        np.maximum(low, factor, out=low)
        mass = 1 - factor.sum(axis=0)
    return result
