"""The member of a credal set nearest to given probabilities, in Kullback-Leibler terms."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.errors import InputError
from bayescal.quantities.credal.intervals import proper

type Floats = NDArray[np.float64]

FLOOR: Final = 1e-12
# Rows whose arrays stay in a core's cache together.
_BLOCK: Final = 4096


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
        The q of the set with the least ``KL(q || prob)``: the optimistic choice of (7), and the
        labels under which the classifier's loss is least.

    Raises
    ------
    InputError
        If a set is empty (see `discount`), or `prob` holds no probabilities of these classes.

    Notes
    -----
    ``q_k = clip(c prob_k, lower_k, upper_k)`` with the c that makes them sum to 1. The same q has
    the least ``KL(prob || q)``. The factor c is found by fixing variables: with c set by the free
    classes alone, either all that fall below their lower bound stay there, or all that rise above
    their upper one do, whichever outweighs the other. It takes K rounds at most.

    References
    ----------
    .. [1] J. Lienen and E. Hüllermeier, "Credal Self-Supervised Learning", NeurIPS 2021.
       https://arxiv.org/abs/2106.11853
    .. [2] G. R. Bitran and A. C. Hax, "Disaggregation and Resource Allocation Using Convex Knapsack
       Problems with Bounded Variables", Management Science 27(4), 1981.
       https://doi.org/10.1287/mnsc.27.4.431

    Examples
    --------
    >>> from bayescal.quantities.credal.projection import project
    >>> project([0.2, 0.3, 0.5], [0.4, 0, 0], [1, 1, 1]).round(3).tolist()
    [0.4, 0.225, 0.375]
    """
    low, high = proper(lower, upper)
    near = _probabilities(prob, low.shape)
    flat = [array.reshape(-1, low.shape[-1]) for array in (near, low, high)]
    found = np.empty_like(flat[0])
    for first in range(0, len(found), _BLOCK):
        # A row a class, so that sums over classes add whole rows of numbers.
        block = [array[first : first + _BLOCK].T.copy(order="C") for array in flat]
        np.maximum(block[0], FLOOR, out=block[0])
        found[first : first + _BLOCK] = _projected(*block).T
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
    >>> from bayescal.quantities.credal.projection import divergence
    >>> round(float(divergence([1, 0], [0.5, 0.5])), 6)
    0.693147
    """
    mine = np.asarray(p, dtype=np.float64)
    theirs = np.maximum(_probabilities(prob, mine.shape), FLOOR)
    _probabilities(mine, theirs.shape, "p")
    ratio = np.where(mine > 0, mine, theirs) / theirs
    return np.asarray((mine * np.log(ratio)).sum(axis=-1))


def _probabilities(prob: ArrayLike, shape: tuple[int, ...], name: str = "prob") -> Floats:
    values = np.asarray(prob, dtype=np.float64)
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


def _projected(near: Floats, low: Floats, high: Floats) -> Floats:
    """Project a block of shape (class, obs), by rounds until every row is done.

    A class is fixed by a weight of 0: at its lower bound, which is raised to the upper one where
    that is the end it stays at. Masks are factors, which NumPy applies far faster than it selects.
    The arrays are overwritten.
    """
    result, rows = np.empty_like(near), np.arange(near.shape[1])
    tolerance = 2 * len(near) * np.finfo(np.float64).eps
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
