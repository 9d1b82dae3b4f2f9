"""What labels alone would give: bounds of their error, and the sample size of equal error."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bayescal.core.checks import check_number, check_whole, checked_numbers, shown
from bayescal.core.columns import to_doubles
from bayescal.core.errors import InputError
from bayescal.core.intake import finite_numbers
from bayescal.core.quantity import Bound, Floats
from bayescal.core.text import surely

_RANDOM = "labelled rows are drawn independently from the target population"


class Bounds(NamedTuple):
    """Bounds of the error of an accuracy."""

    labeled_accuracy: Bound  #: Of one accuracy.
    labeled_best: Bound  #: Of all accuracies at once.


def bounds(n_labeled: int, n_classifiers: int = 1, delta: float = 0.1) -> Bounds:
    """Bound the error of accuracies measured on the labelled rows alone.

    Parameters
    ----------
    n_labeled : int
        Number of labelled rows.
    n_classifiers : int, default 1
        Number of classifiers.
    delta : float, in (0, 1), default 0.1
        Probability that the bound fails.

    Returns
    -------
    Bounds
        Bounds with their assumptions; 1 where there are no labels.

    Notes
    -----
    Hoeffding's inequality, ``sqrt(log(2 / delta) / (2 n))``, and the same with ``delta`` shared by
    all classifiers. What the unlabelled rows add has no such bound: it rests on the model.

    References
    ----------
    .. [1] W. Hoeffding, JASA 58, 1963, Theorem 2. https://doi.org/10.1080/01621459.1963.10500830

    Examples
    --------
    >>> import bayescal as bc
    >>> round(bc.ssme.bounds(100).labeled_accuracy.value, 3)
    0.122
    """
    check_whole(n_labeled, "n_labeled", 0)
    check_whole(n_classifiers, "n_classifiers")
    check_number(delta, "delta", "(0, 1)", "Pass 0.1, say.")
    return Bounds(
        Bound(
            _hoeffding(n_labeled, delta),
            f"of |accuracy on the labels - accuracy|, with probability {surely(delta)}",
            _RANDOM,
        ),
        Bound(
            _hoeffding(n_labeled, delta, n_classifiers),
            f"of the same for every classifier at once, with probability {surely(delta)}",
            _RANDOM,
        ),
    )


def _hoeffding(n: int, delta: float, means: int = 1) -> float:
    """Half-width of Hoeffding's interval of a mean in [0, 1], or of several at once, at most 1."""
    # A difference of logarithms, as a quotient by a tiny delta is infinite.
    surprise = math.log(2 * means) - math.log(delta)
    return 1.0 if n == 0 else min(1.0, math.sqrt(surprise / (2 * n)))


def effective_sample_size(error: float, sizes: Sequence[int], labeled_error: Floats) -> int:
    """Number of labels with which labelled rows alone err as much; appendix B.4 of the paper.

    Parameters
    ----------
    error : float
        Mean absolute error of a method.
    sizes : sequence of int
        Numbers of labels.
    labeled_error : ndarray of shape (size,)
        Mean absolute error of labelled rows alone with that many labels.

    Returns
    -------
    int
        The size whose error is nearest, the smaller of equals. An error below all of them gives the
        size of the least error, so that the largest size stands for itself and all beyond.

    Raises
    ------
    InputError
        If an error is no finite number >= 0, a size is no whole number, or lengths differ.

    Examples
    --------
    >>> import bayescal as bc
    >>> bc.ssme.effective_sample_size(0.021, [20, 50, 100], [0.05, 0.03, 0.02])
    100
    """
    values = np.atleast_1d(to_doubles(labeled_error, "labeled_error"))
    checked_numbers(sizes, "sizes", "[1, inf)")
    sizes = [check_whole(size, "each of sizes") for size in sizes]
    check_number(error, "error", "[0, inf)", "Pass a mean absolute error.")
    if values.shape != (len(sizes),) or not ((values >= 0) & np.isfinite(values)).all():
        raise InputError(
            f"labeled_error must have a finite value >= 0 for each of {len(sizes)} sizes; got "
            f"{shown(labeled_error)}. Leave out sizes without one."
        )
    return min(zip(np.abs(values - error), sizes, strict=True))[1]


def rescaled_error(error: float | Floats, labeled_error: float | Floats) -> Floats:
    """Mean absolute error relative to that of labelled rows alone; section 5.3 of the paper.

    Parameters
    ----------
    error : float or ndarray
        Mean absolute error of a method.
    labeled_error : float or ndarray
        That of labelled rows alone, on the same splits; above 0.

    Returns
    -------
    ndarray
        The quotient, below 1 where the method is nearer to the truth (the paper's RMAE).

    Raises
    ------
    InputError
        If an error is negative or not finite, or one of labelled rows alone is 0.
    """
    found, base = finite_numbers(error, "error"), finite_numbers(labeled_error, "labeled_error")
    # The tiniest numbers have lost their digits.
    if not base.size or base.min() < np.finfo(np.float64).tiny:
        raise InputError(
            f"the error of labelled rows alone must be above 0; got {shown(labeled_error)}. "
            "Average over more splits."
        )
    if (found < 0).any():
        raise InputError(f"error must be >= 0; got {shown(error)}. Pass mean absolute errors.")
    try:
        with np.errstate(over="ignore"):
            quotient = found / base
    except ValueError as error:
        raise InputError(
            f"error and labeled_error must be of the same splits; got shapes {found.shape} and "
            f"{base.shape}. Pass one number each, or arrays of one shape."
        ) from error
    return finite_numbers(quotient, "error / labeled_error")
