"""What theory says of an accuracy measured on few labels, and of one measured under wrong ones."""

from __future__ import annotations

import math
from typing import NamedTuple

from bayescal.core.checks import check_number, check_whole
from bayescal.core.quantity import Bound

_RANDOM = "labeled rows are drawn independently from the population that is asked about"


class Bounds(NamedTuple):
    """Bounds of the error of an accuracy."""

    labeled_accuracy: Bound
    labeled_best: Bound


def bounds(n_labeled: int, n_classifiers: int = 1, delta: float = 0.1) -> Bounds:
    """Bound the error of accuracies measured on the labeled rows alone.

    Parameters
    ----------
    n_labeled : int
        Number of labeled rows.
    n_classifiers : int, default 1
        Number of classifiers.
    delta : float, in (0, 1), default 0.1
        Probability that the bound fails.

    Returns
    -------
    Bounds
        Bounds with their assumptions; 1 where there are no labels.

    Raises
    ------
    InputError
        If a number lies outside its range.

    Notes
    -----
    Hoeffding's inequality, ``sqrt(log(2 / delta) / (2 n))``, and the same with ``delta`` shared by
    all classifiers. What the unlabelled rows add has no such bound: it rests on the model.

    References
    ----------
    .. [1] W. Hoeffding, "Probability Inequalities for Sums of Bounded Random Variables", Journal of
       the American Statistical Association 58(301), 1963, Theorem 2.
       https://doi.org/10.1080/01621459.1963.10500830

    Examples
    --------
    >>> from bayescal.quantities.ssme.bounds import bounds
    >>> round(bounds(100).labeled_accuracy.value, 3)
    0.122
    """
    check_whole(n_labeled, "n_labeled", 0)
    check_whole(n_classifiers, "n_classifiers")
    check_number(delta, "delta", "(0, 1)", "Pass 0.1, say.")
    return Bounds(
        Bound(
            _hoeffding(n_labeled, delta),
            f"of |accuracy on the labels - accuracy|, with probability {1 - delta:g}",
            _RANDOM,
        ),
        Bound(
            _hoeffding(n_labeled, delta, n_classifiers),
            f"of the same for every classifier at once, with probability {1 - delta:g}",
            _RANDOM,
        ),
    )


def _hoeffding(n: int, delta: float, means: int = 1) -> float:
    """Half-width of Hoeffding's interval of a mean in [0, 1], or of several at once, at most 1."""
    # A difference of logarithms, as a quotient by a tiny delta is infinite.
    surprise = math.log(2 * means) - math.log(delta)
    return 1.0 if n == 0 else min(1.0, math.sqrt(surprise / (2 * n)))
