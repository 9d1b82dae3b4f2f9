"""What theory says of class-wise temperature scaling: what few rows leave open."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from bayescal.core.checks import check_number, check_whole
from bayescal.core.quantity import Bound
from bayescal.quantities.temperature.loss import ALPHA_MAX, ALPHA_MIN, check_alpha_bounds

HALF_BRIER_LIPSCHITZ: Final = float(np.sqrt(2))
"""Lipschitz constant of half the Brier score in the probabilities, in the Euclidean norm."""
_LOSS = (
    "rows are independent, logits are bounded in norm, and the loss of a row lies in [0, 1] and is "
    "Lipschitz in its probabilities, as half the Brier score is; log loss is not bounded, and a "
    "calibration error is no loss of single rows"
)


class Bounds(NamedTuple):
    """Bounds of the population loss of class-wise temperature scaling."""

    excess: Bound
    class_excess: Bound
    deviation: Bound
    class_deviation: Bound


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
        Those of a class are infinite without `p_min`, and where the corollary gives no probability.

    Raises
    ------
    InputError
        If a number lies outside its range.

    Notes
    -----
    Theorem 4.1, with ``w = sqrt(n) L_f L_c`` and ``r = alpha_max - alpha_min``: the bound is
    ``8 sqrt(log(2 / delta) / n) + 4 sqrt(s / n)`` with ``s = log(1 + 4 r w)`` if ``8 gamma w <= 1``
    and ``s = log(r / (2 gamma)) + (K + 1) log(8 gamma w)`` otherwise.

    It holds for every n. The proof takes ``n >= 3 log |A'| + 3 log(2 / delta)`` for the cover A';
    with fewer rows the bound is at least ``sqrt(16 / 3)``, more than a loss in [0, 1] can differ.
    The text below the theorem prints 8 / w' for the limit of the first case; 1 / (8 w) of the
    theorem is right. Equations (B.10) and (B.11) of the proof bound the difference between rows and
    population for all numbers at once, by half of it: `deviation`, which numbers fitted by log loss
    have too. No calibrator here minimises half the Brier score, so that `excess` is for those of
    one's own.

    Corollary 4.2 bounds each predicted class by ``6 sqrt(log(1 + 4 r w) / (p_min n)) + 12
    sqrt(log(2 / delta) / (p_min n))`` with probability ``1 - K (delta + exp(-p_min n / 8))``; here
    delta is divided so that this is 1 - delta. The paper sets the loss to the ECE and concludes
    that this bounds max-ECE; it does not follow, as a calibration error is no loss of single rows.

    References
    ----------
    .. [1] Y. Zhao, J. Chen and S. Oymak, "On the Role of Dataset Quality and Heterogeneity in Model
       Confidence", 2020, Theorem 4.1, Corollary 4.2, appendices B.3 and B.4.
       https://arxiv.org/abs/2002.09831

    Examples
    --------
    >>> from bayescal.quantities.temperature.bounds import bounds
    >>> found = bounds(100_000, 10, logit_norm=5, gamma=0.5, alpha_min=0.1, alpha_max=10)
    >>> round(found.excess.value, 3), round(found.deviation.value, 3)
    (0.172, 0.086)
    """
    for name, value in (("logit_norm", logit_norm), ("lipschitz", lipschitz)):
        check_number(value, name, "(0, inf)")
    check_number(delta, "delta", "(0, 1)")
    check_whole(n, "n")
    check_whole(n_classes, "n_classes", 2)
    check_number(gamma, "gamma", "[0, inf]", "Pass math.inf for no limit.")
    check_alpha_bounds(alpha_min, alpha_max)
    if p_min is not None:
        check_number(p_min, "p_min", "(0, 1]", "Pass the rarest class's share.")
    width = alpha_max - alpha_min
    unit = float(np.sqrt(n)) * logit_norm * lipschitz
    size = _cover_term(n_classes, min(gamma, width / 2), width, unit)
    excess = float(8 * np.sqrt(np.log(2 / delta) / n) + 4 * np.sqrt(size / n))
    of_class = _class_excess(n, n_classes, width, unit, p_min, delta)
    surely = f"with probability {1 - delta:g}"
    each = "in each predicted class calibrated apart"
    shares = f"{_LOSS}; every class is predicted with at least the least observed share"
    apart = (
        "difference between the mean loss of the rows and that of the population, of any numbers"
    )
    return Bounds(
        Bound(excess, f"loss above that of the best numbers, {surely}", _LOSS),
        Bound(of_class, f"loss above that of the best number {each}, {surely}", shares),
        Bound(excess / 2, f"{apart}, {surely}", _LOSS),
        Bound(of_class / 2, f"{apart}, in each predicted class, {surely}", shares),
    )


def _cover_term(n_classes: int, gamma: float, width: float, unit: float) -> float:
    if 8 * gamma * unit <= 1:
        return float(np.log1p(4 * width * unit))
    return float(np.log(width / (2 * gamma)) + (n_classes + 1) * np.log(8 * gamma * unit))


def _class_excess(
    n: int, n_classes: int, width: float, unit: float, p_min: float | None, delta: float
) -> float:
    """Corollary 4.2, with the failure probability divided among the classes."""
    if p_min is None:
        return np.inf
    each = delta / n_classes - np.exp(-p_min * n / 8)
    if each <= 0:
        return np.inf
    size = np.log1p(4 * width * unit) / (p_min * n)
    return float(6 * np.sqrt(size) + 12 * np.sqrt(np.log(2 / each) / (p_min * n)))
