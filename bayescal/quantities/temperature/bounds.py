"""What theory says of class-wise temperature scaling: the excess risk of few rows."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from bayescal.core.errors import InputError
from bayescal.core.priors import check_mass, check_positive
from bayescal.core.quantity import Bound
from bayescal.quantities.temperature.loss import ALPHA_MAX, ALPHA_MIN

HALF_BRIER_LIPSCHITZ: Final = float(np.sqrt(2))
"""Lipschitz constant of half the Brier score in the probabilities, in the Euclidean norm."""
_LOSS = (
    "rows are independent, logits are bounded in norm, and the loss of a row lies in [0, 1] and is "
    "Lipschitz in its probabilities, as half the Brier score is; log loss is not bounded, and a "
    "calibration error is no loss of single rows"
)


class Bounds(NamedTuple):
    """Bounds of the population loss of class-wise temperature scaling.

    Parameters
    ----------
    excess : Bound
        Of the loss above that of the best numbers, over all rows.
    class_excess : Bound
        The same in each predicted class, each calibrated apart; infinite without `p_min`.
    rows_needed : Bound
        Rows from which `excess` holds.
    """

    excess: Bound
    class_excess: Bound
    rows_needed: Bound


def bounds(
    n: int,
    n_classes: int,
    *,
    logit_norm: float,
    gamma: float = np.inf,
    p_min: float | None = None,
    lipschitz: float = HALF_BRIER_LIPSCHITZ,
    alpha_min: float = ALPHA_MIN,
    alpha_max: float = ALPHA_MAX,
    delta: float = 0.1,
) -> Bounds:
    """Bound what class-wise temperature scaling loses to having `n` rows.

    Parameters
    ----------
    n : int, at least 1
        Labelled rows.
    n_classes : int, at least 2
        Classes.
    logit_norm : float, above 0
        Largest Euclidean norm of a row's logits, L_f.
    gamma : float, at least 0, default infinity
        Largest difference of a class's number from the shared one. More than half the range of the
        numbers is no constraint, and counts as half of it, the most that the theorem allows.
    p_min : float, in (0, 1], optional
        Least probability of a predicted class.
    lipschitz : float, above 0, default sqrt(2)
        Lipschitz constant of the loss, L_c; by default that of half the Brier score.
    alpha_min, alpha_max : float, above 0
        Range of the shared number.
    delta : float, in (0, 1), default 0.1
        Probability that a bound fails.

    Returns
    -------
    Bounds
        Infinite where the theory says nothing: with fewer rows than its proof needs.

    Raises
    ------
    InputError
        If a number lies outside its range.

    Notes
    -----
    Theorem 4.1, with ``w = sqrt(n) L_f L_c`` and ``r = alpha_max - alpha_min``: the bound is
    ``8 sqrt(log(2 / delta) / n) + 4 sqrt(s / n)`` with ``s = log(1 + 4 r w)`` if ``8 gamma w <= 1``
    and ``s = log(r / (2 gamma)) + (K + 1) log(8 gamma w)`` otherwise.

    The proof needs ``n >= 3 log |A'| + 3 log(2 / delta)`` for the cover A', which the theorem does
    not state: with fewer rows Bernstein's inequality has another exponent. The text below the
    theorem prints 8 / w' for the limit of the first case; 1 / (8 w) of the theorem is right.

    Corollary 4.2 bounds each predicted class by ``6 sqrt(log(1 + 4 r w) / (p_min n)) + 12
    sqrt(log(2 / delta) / (p_min n))`` with probability ``1 - K (delta + exp(-p_min n / 8))``; here
    delta is divided so that this is 1 - delta. The condition of the theorem has to hold for
    ``p_min n / 2`` rows. The paper's remark that it bounds max-ECE does not follow, as a
    calibration error is no mean over rows.

    References
    ----------
    .. [1] Y. Zhao, J. Chen and S. Oymak, "On the Role of Dataset Quality and Heterogeneity in Model
       Confidence", 2020, Theorem 4.1, Corollary 4.2, appendices B.3 and B.4.
       https://arxiv.org/abs/2002.09831

    Examples
    --------
    >>> from bayescal.quantities.temperature.bounds import bounds
    >>> found = bounds(100_000, 10, logit_norm=5, gamma=0.5, alpha_min=0.1, alpha_max=10)
    >>> round(found.excess.value, 3), round(found.rows_needed.value)
    (0.172, 316)
    """
    for name, value in (("logit_norm", logit_norm), ("lipschitz", lipschitz)):
        check_positive(value, name)
    check_mass(delta, "delta")
    if n < 1 or n_classes < 2 or not gamma >= 0 or not 0 < alpha_min < alpha_max < np.inf:
        raise InputError(
            "n must be at least 1, n_classes at least 2, gamma at least 0, and 0 < alpha_min < "
            f"alpha_max; got {n}, {n_classes}, {gamma}, {alpha_min} and {alpha_max}."
        )
    if p_min is not None and not 0 < p_min <= 1:
        raise InputError(f"p_min must lie in (0, 1]; got {p_min}. Pass the rarest class's share.")
    width = alpha_max - alpha_min
    limit = min(gamma, width / 2)
    unit = float(np.sqrt(n)) * logit_norm * lipschitz
    needed = rows_needed(n, n_classes, limit, width, unit, delta)
    size = _cover_term(n_classes, limit, width, unit)
    value = 8 * np.sqrt(np.log(2 / delta) / n) + 4 * np.sqrt(size / n)
    return Bounds(
        Bound(
            float(value) if n >= needed else np.inf,
            f"loss above that of the best numbers, with probability {1 - delta:g}",
            _LOSS,
        ),
        Bound(
            _class_excess(n, n_classes, width, logit_norm * lipschitz, p_min, delta),
            "loss above that of the best number in each predicted class calibrated apart, with "
            f"probability {1 - delta:g}",
            f"{_LOSS}; every class is predicted with at least the least observed share",
        ),
        Bound(needed, "labelled rows from which the bound of the loss holds", "none"),
    )


def rows_needed(
    n: int, n_classes: int, gamma: float, width: float, unit: float, delta: float
) -> float:
    """Rows that the proof of Theorem 4.1 needs, with the cover that it takes for `n` rows."""
    # In steps of the cover, whose spacing is 1 / (4 unit).
    of_classes = n_classes * np.log(max(1, 8 * gamma * unit))
    cover = of_classes + np.log(max(1, 4 * width * unit))
    return float(3 * cover + 3 * np.log(2 / delta))


def _cover_term(n_classes: int, gamma: float, width: float, unit: float) -> float:
    if 8 * gamma * unit <= 1:
        return float(np.log1p(4 * width * unit))
    return float(np.log(width / (2 * gamma)) + (n_classes + 1) * np.log(8 * gamma * unit))


def _class_excess(
    n: int, n_classes: int, width: float, lipschitz: float, p_min: float | None, delta: float
) -> float:
    """Corollary 4.2, with the failure probability divided among the classes."""
    if p_min is None:
        return np.inf
    each = delta / n_classes - np.exp(-p_min * n / 8)
    if each <= 0:
        return np.inf
    unit = float(np.sqrt(n)) * lipschitz
    held = p_min * n / 2
    if held < rows_needed(int(held), 1, 0.0, width, float(np.sqrt(held)) * lipschitz, each):
        return np.inf
    size = np.log1p(4 * width * unit) / (p_min * n)
    return float(6 * np.sqrt(size) + 12 * np.sqrt(np.log(2 / each) / (p_min * n)))
