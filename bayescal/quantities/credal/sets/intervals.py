"""Lower and upper bounds of class probabilities, and whether probabilities lie between them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.columns import to_doubles
from bayescal.core.errors import InputError
from bayescal.core.probability_intervals import Interval, holds_any
from bayescal.core.quantity import Floats


def intervals(lower: ArrayLike, upper: ArrayLike) -> Interval:
    """Check bounds of class probabilities."""
    low, high = to_doubles(lower, "lower"), to_doubles(upper, "upper")
    if low.shape != high.shape:
        raise InputError(
            f"lower and upper must have the same shape; got {low.shape} and {high.shape}. "
            "Pass both bounds of the same rows and classes."
        )
    if low.ndim == 0 or low.shape[-1] < 2:
        raise InputError(
            f"there must be at least two classes, in the last dimension; got shape {low.shape}. "
            "For a binary score pass both classes: [1 - p1, p0] and [1 - p0, p1]."
        )
    # Three passes that a NaN fails too; what is wrong is looked for only when something is.
    if low.size and not (low.min() >= 0 and high.max() <= 1 and (low <= high).all()):
        _refuse(low, high)
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
        True unless the lower bounds sum to more than 1 or the upper ones to less, by more than
        rounding (1e-12).

    Raises
    ------
    InputError
        If the bounds are none (see `intervals`).

    Notes
    -----
    A sum of 1 leaves one probability vector, the bounds themselves: the set is not empty.

    Examples
    --------
    >>> from bayescal.quantities.credal.sets.intervals import is_proper
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
    place = [int(i) for i in np.unravel_index(int(wrong.argmax()), wrong.shape)]
    rows = f"row {place[0]}, " if len(place) > 1 else ""
    return f"{rows}class {place[-1]}"


def _refuse(low: Floats, high: Floats) -> None:
    for name, bound in (("lower", low), ("upper", high)):
        wrong = ~((bound >= 0) & (bound <= 1))
        if wrong.any():
            value = bound.flat[int(wrong.argmax())]
            rule = "lie in [0, 1]" if np.isfinite(value) else "be finite"
            raise InputError(
                f"{name} must {rule}; got {value:.6g} at {_where(wrong)}. "
                "Pass bounds of probabilities."
            )
    wrong = low > high
    first = int(wrong.argmax())
    raise InputError(
        f"lower must not exceed upper; got {low.flat[first]:.6g} and {high.flat[first]:.6g} "
        f"at {_where(wrong)}. Exchange the two, or pass p0 as lower and p1 as upper."
    )
