"""Improper bounds of class probabilities made proper by the least discounting."""

from __future__ import annotations

from typing import Final

from numpy.typing import ArrayLike

from bayescal.core.checks import check_choice
from bayescal.core.probability_intervals import ROUNDING, Interval, discounted
from bayescal.quantities.credal.sets.intervals import intervals

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
        equality, by ``relation=">="``). Bounds that were changed are reachable: each is the
        probability of its class in some member of the set.

    Raises
    ------
    InputError
        If the bounds are none (see `intervals`), a lower bound above its upper one, say, or the
        relation is another.

    Notes
    -----
    With ``w = upper - lower``, A and B the sums of lower and upper bounds:

    *A > 1*, linear programme (8): the least ``sum delta`` with ``0 <= delta <= lower`` for which
    no class's upper bound and the other lower bounds less delta exceed 1. Write t for 1 less the
    new sum of lower bounds: ``sum delta = A - 1 + t``, and ``upper_k - t`` is the least that the
    new lower bound of class k may be. Then t is the largest of ``max w`` and of
    ``(B_m - 1) / (m - 1)``, m = 2, ..., K, with B_m the sum of the m largest upper bounds; and
    delta_k is at most ``cap_k = lower_k - max(0, upper_k - t)``.

    *B < 1*, linear programme (9): the least ``sum epsilon`` with ``0 <= epsilon <= 1 - upper`` for
    which no class's lower bound and the other new upper bounds fall below 1. Likewise
    ``sum epsilon = 1 - B + t`` with t the larger of ``max w`` and ``(1 - A) / (K - 1)``, and
    epsilon_k is at most ``cap_k = min(1 - upper_k, t - w_k)``.

    Any shares below the caps with that sum solve the programme. Where the caps sum to more, because
    ``max w`` decides, the solution is not unique, and a solver's is an accident of the solver. Here
    each class then takes the same fraction of its cap.

    References
    ----------
    .. [1] V. M. Bordini, S. Destercke and B. Quost, "Self-Learning from Pairwise Credal Labels",
       ECAI 2024, Eqs. (8) and (9). https://hal.science/hal-04886134

    Examples
    --------
    Example 1 of [1]_, which prints 0.4 for the last bound, though its delta of 0.2 leaves 0.3:

    >>> from bayescal.quantities.credal.sets.discounting import discount
    >>> lower, upper = discount([0, 0.6, 0.5], [0.2, 0.7, 0.55])
    >>> lower.round(3).tolist()
    [0.0, 0.45, 0.3]
    """
    check_choice(relation, list(SLACK), "relation")
    return discounted(*intervals(lower, upper), SLACK[relation])
