"""What theory says of PU-ECE: bias, number of bins, a wrong class prior, and generalization."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bayescal.core.bins.bin_counts import STRATEGIES, Strategy, check_edges, check_n_bins
from bayescal.core.checks import check_choice
from bayescal.core.errors import InputError
from bayescal.core.quantity import Bound
from bayescal.quantities.pu_ece.estimator import check_class_prior

_SCAR = "positives are a random sample of all positives, independent of the unlabelled rows"
_FIXED = f"{_SCAR}; the bins were not chosen with the scores; the class prior is right"
_DENSITY = f"{_SCAR}; scores have a density (no ties); the class prior is right"
_LIPSCHITZ = "E[Y | f] is {:g}-Lipschitz in f"
_LN2 = math.log(2)


class Bounds(NamedTuple):
    """Bounds of PU-ECE.

    Parameters
    ----------
    total_bias : Bound
        Of E |ECE - TCE|, the distance from the true calibration error.
    statistical_bias : Bound
        Of E |ECE - TCE(f_I)|, the part due to having few rows.
    binning_bias : Bound
        Of E |TCE - TCE(f_I)|, the part due to wide bins.
    deviation : Bound
        Of |ECE - TCE(f_I)|, with probability 1 - delta.
    class_prior_error : Bound
        Of the change of ECE for each unit that the class prior is off.
    optimal_n_bins : Bound
        The number of bins of the optimal order.
    """

    total_bias: Bound
    statistical_bias: Bound
    binning_bias: Bound
    deviation: Bound
    class_prior_error: Bound
    optimal_n_bins: Bound


def bounds(
    n_positive: int,
    n_unlabeled: int,
    class_prior: float,
    n_bins: int = 15,
    strategy: Strategy = "quantile",
    lipschitz: float = 1.0,
    delta: float = 0.1,
) -> Bounds:
    """Bound the bias of PU-ECE.

    Parameters
    ----------
    n_positive, n_unlabeled : int
        Numbers of rows.
    class_prior : float, in (0, 1)
        Share of positives among the unlabelled, pi.
    n_bins : int, default 15
        Number of bins B; not used when `strategy` gives the edges.
    strategy : {"uniform", "quantile"} or array-like of shape (bin + 1,), default "quantile"
        Bins of equal width (UWB), of equal mass of the unlabelled scores (UMB), or fixed edges.
    lipschitz : float, default 1.0
        Lipschitz constant L of the curve E[Y | f]. A calibrated classifier has 1.
    delta : float, default 0.1
        How improbable it may be that `deviation` fails.

    Returns
    -------
    Bounds
        Each with its kind and its assumption in words. A bias above 1 is vacuous.

    Raises
    ------
    InputError
        If a number lies outside its range.

    Notes
    -----
    The bounds are those of Theorems 1 and 2 of [1]_ in order; their constants are derived here.
    Write ``A_b = pi nP_b / nP - (1 / nU) sum f`` for the term of bin b, and
    ``V = pi**2 / nP + 1 / nU``.

    *Fixed bins.* Each A_b is unbiased, and ``|ECE - TCE(f_I)| <= sum_b |A_b - E A_b|``, the largest
    over all 2**B sign vectors s of ``sum_b s_b (A_b - E A_b)``. Each of those is a sum of nP terms
    in ``[-pi, pi] / nP`` and nU terms in ``[-1, 1] / nU``: sub-Gaussian with variance proxy V
    (Hoeffding). The maximal inequality gives ``sqrt(2 V B ln 2)`` in expectation, the union bound
    ``sqrt(2 V (B ln 2 + ln(1 / delta)))`` with probability 1 - delta. The binning bias is at most
    ``(1 + L)`` times the widest bin [2]_.

    *Bins of equal mass.* Given the edges, positives and the rows inside the bins are independent
    draws as before, with scores in [0, 1] instead of signed ones: the variance proxy is
    ``pi**2 / nP + 1 / (4 nU)``. What is left is the distance between the bins' masses P and their
    shares of rows. Any union of bins has a Beta(k, nU + 1 - k) mass, whose variance proxy is at
    most ``1 / (4 (nU + 2))`` [3]_, so that ``sum_b |P_b - E P_b|`` is at most
    ``m = sqrt(2 B ln 2 / (nU + 2))`` in expectation. At most ``2 B / nU`` is added by the rows on
    the edges and by ``E P_b`` not being a multiple of 1 / nU. The binning bias is at most
    ``(1 + L) sum_b P_b width_b <= (1 + L) (1 / B + 3 / nU + m)``. With probability 1 - delta, both
    deviations hold with ``B ln 2 + ln(2 / delta)`` in place of ``B ln 2``.

    *A wrong class prior.* As ``sum_b nP_b / nP = 1``, ECE changes by no more than the class prior:
    ``|ECE(pi) - ECE(pi')| <= |pi - pi'|`` (Theorem 2).

    References
    ----------
    .. [1] "Estimating Expected Calibration Error for Positive-Unlabeled Learning", Transactions on
       Machine Learning Research, 2025, Theorems 1 and 2, Corollary 1.
       https://openreview.net/forum?id=SvoBtLIrPZ
    .. [2] F. Futami and M. Fujisawa, "Information-theoretic Generalization Analysis for Expected
       Calibration Error", NeurIPS 2024, Theorem 3. https://arxiv.org/abs/2405.15709
    .. [3] O. Marchal and J. Arbel, "On the sub-Gaussianity of the Beta and Dirichlet
       distributions", Electronic Communications in Probability 22, 2017.
       https://arxiv.org/abs/1705.00048

    Examples
    --------
    >>> from bayescal.quantities.pu_ece.bounds import bounds
    >>> found = bounds(1000, 10_000, class_prior=0.5, n_bins=14, strategy="uniform")
    >>> round(found.total_bias.value, 4), found.optimal_n_bins.value
    (0.2253, 15)
    """
    variance = _variance(n_positive, n_unlabeled, class_prior)
    _check_rest(lipschitz, delta)
    by_mass = isinstance(strategy, str) and strategy == "quantile"
    n_bins, width = _bins(n_bins, strategy)
    spent = n_bins * _LN2
    if by_mass:
        mass = math.sqrt(2 * spent / (n_unlabeled + 2))
        statistical = _by_mass(n_positive, n_unlabeled, class_prior, n_bins, spent)
        binning = (1 + lipschitz) * (width + 3 / n_unlabeled + mass)
        likely = spent + math.log(2 / delta)
        deviation = _by_mass(n_positive, n_unlabeled, class_prior, n_bins, likely)
    else:
        statistical = math.sqrt(2 * variance * spent)
        binning = (1 + lipschitz) * width
        deviation = math.sqrt(2 * variance * (spent + math.log(1 / delta)))
    rows = _DENSITY if by_mass else _FIXED
    curve = f"{rows}; {_LIPSCHITZ.format(lipschitz)}"
    return Bounds(
        Bound(binning + statistical, "upper bound of E |ECE - TCE|", curve),
        Bound(statistical, "upper bound of E |ECE - TCE of the binned classifier|", rows),
        Bound(binning, "upper bound of |TCE - TCE of the binned classifier|, on average", curve),
        Bound(
            deviation,
            "upper bound of |ECE - TCE of the binned classifier| with probability "
            f"{1 - delta:g} or more",
            rows,
        ),
        Bound(1.0, "upper bound of the change of ECE per unit of the class prior", _SCAR),
        Bound(
            optimal_n_bins(n_positive, n_unlabeled, class_prior),
            "number of bins of the optimal order, ceil((pi^2 / nP + 1 / nU)^(-1/3))",
            curve,
        ),
    )


def optimal_n_bins(n_positive: int, n_unlabeled: int, class_prior: float) -> int:
    """Give the number of bins of the order that makes the total bias least.

    Parameters
    ----------
    n_positive, n_unlabeled : int
        Numbers of rows.
    class_prior : float, in (0, 1)
        Share of positives among the unlabelled.

    Returns
    -------
    int
        ``(pi**2 / nP + 1 / nU)**(-1/3)``, rounded up.

    Raises
    ------
    InputError
        If a number lies outside its range.

    References
    ----------
    .. [1] "Estimating Expected Calibration Error for Positive-Unlabeled Learning", Transactions on
       Machine Learning Research, 2025, Corollary 1. https://openreview.net/forum?id=SvoBtLIrPZ

    Examples
    --------
    >>> from bayescal.quantities.pu_ece.bounds import optimal_n_bins
    >>> optimal_n_bins(100, 1000, class_prior=0.5)
    7
    """
    variance = _variance(n_positive, n_unlabeled, class_prior)
    # The floating cube root of a cube may come out just above it.
    return math.ceil(round(float(variance ** (-1 / 3)), 9))


def generalization_gap(
    n_positive: int, n_unlabeled: int, class_prior: float, fcmi: float, n_bins: int = 15
) -> Bound:
    """Bound how much better a classifier looks on the rows that it was trained on.

    Parameters
    ----------
    n_positive, n_unlabeled : int
        Numbers of training rows, on which PU-ECE is computed as well.
    class_prior : float, in (0, 1)
        Share of positives among the unlabelled.
    fcmi : float, at least 0
        Functional conditional mutual information of the training algorithm, in nats.
    n_bins : int, default 15
        Number of fixed bins B.

    Returns
    -------
    Bound
        Of ``E |ECE on new rows - ECE on the training rows|``.

    Raises
    ------
    InputError
        If a number lies outside its range.

    Notes
    -----
    Theorem 3 of [1]_ in order; the constant is derived here. Of each pair of rows a coin U chooses
    which is trained on. Given all scores of both, the gap is at most the largest over 2**B sign
    vectors of a sum that is centred in U, with terms in ``[-2 pi, 2 pi] / nP`` and
    ``[-2, 2] / nU``: variance proxy ``4 V``, ``V = pi**2 / nP + 1 / nU``. Scores that depend on U
    cost their mutual information with it (Donsker-Varadhan), which gives
    ``sqrt(8 V (fCMI + B ln 2))``; with every label known that is Theorem 4 of [2]_.

    References
    ----------
    .. [1] "Estimating Expected Calibration Error for Positive-Unlabeled Learning", Transactions on
       Machine Learning Research, 2025, Theorem 3. https://openreview.net/forum?id=SvoBtLIrPZ
    .. [2] F. Futami and M. Fujisawa, "Information-theoretic Generalization Analysis for Expected
       Calibration Error", NeurIPS 2024, section 4. https://arxiv.org/abs/2405.15709

    Examples
    --------
    >>> from bayescal.quantities.pu_ece.bounds import generalization_gap
    >>> round(generalization_gap(1000, 10_000, 0.5, fcmi=0.0, n_bins=10).value, 4)
    0.1393
    """
    variance = _variance(n_positive, n_unlabeled, class_prior)
    if not fcmi >= 0:
        raise InputError(f"fcmi must be >= 0; got {fcmi}. Pass it in nats.")
    return Bound(
        math.sqrt(8 * variance * (fcmi + check_n_bins(n_bins) * _LN2)),
        "upper bound of E |ECE on new rows - ECE on the training rows|",
        f"{_FIXED}; fCMI is {fcmi:g} nats",
    )


def fcmi_of_vc(n: int, vc_dimension: int) -> float:
    """Bound the functional conditional mutual information by a VC dimension.

    Parameters
    ----------
    n : int
        Number of training rows, positive and unlabelled.
    vc_dimension : int
        VC dimension d of the classifiers that the training chooses from, at most ``2 n``.

    Returns
    -------
    float
        ``d ln(2 e n / d)`` nats.

    Raises
    ------
    InputError
        If a number lies outside its range.

    Notes
    -----
    Mutual information is at most the logarithm of the number of ways in which the class can label
    the 2 n rows of the pairs, which Sauer's lemma bounds. It is that of the labels predicted; for
    scores, d is the dimension of the class of their graphs (the pseudo-dimension).

    References
    ----------
    .. [1] "Estimating Expected Calibration Error for Positive-Unlabeled Learning", Transactions on
       Machine Learning Research, 2025, Corollary 2. https://openreview.net/forum?id=SvoBtLIrPZ

    Examples
    --------
    >>> from bayescal.quantities.pu_ece.bounds import fcmi_of_vc
    >>> round(fcmi_of_vc(1000, 3), 2)
    22.51
    """
    if not 1 <= vc_dimension <= 2 * n:
        raise InputError(
            f"vc_dimension must lie between 1 and 2 n = {2 * n}; got {vc_dimension}. "
            "Pass the number of parameters of a linear classifier."
        )
    return vc_dimension * math.log(2 * math.e * n / vc_dimension)


def _by_mass(n_positive: int, n_unlabeled: int, pi: float, n_bins: int, spent: float) -> float:
    """Deviation for bins of equal mass, `spent` nats for the signs and for being improbable."""
    rows = pi**2 / n_positive + 1 / (4 * n_unlabeled)
    return (
        math.sqrt(2 * rows * spent)
        + math.sqrt(2 * spent / (n_unlabeled + 2))
        + 2 * n_bins / n_unlabeled
    )


def _variance(n_positive: int, n_unlabeled: int, class_prior: float) -> float:
    """Check the sizes; ``pi**2 / nP + 1 / nU``."""
    check_class_prior(class_prior)
    for n, name in ((n_positive, "n_positive"), (n_unlabeled, "n_unlabeled")):
        if not isinstance(n, int | np.integer) or n < 1:
            raise InputError(f"{name} must be a whole number of rows >= 1; got {n!r}.")
    return class_prior**2 / n_positive + 1 / n_unlabeled


def _bins(n_bins: int, strategy: Strategy) -> tuple[int, float]:
    """Number of bins, and the width that the binning bias goes by."""
    if isinstance(strategy, str):
        check_choice(strategy, STRATEGIES, "strategy")
        return check_n_bins(n_bins), 1 / check_n_bins(n_bins)
    edges = check_edges(strategy)
    return len(edges) - 1, float(np.diff(edges).max())


def _check_rest(lipschitz: float, delta: float) -> None:
    if not lipschitz >= 0:
        raise InputError(f"lipschitz must be >= 0; got {lipschitz!r}. Pass 1 if in doubt.")
    if not 0 < delta < 1:
        raise InputError(f"delta must lie between 0 and 1; got {delta!r}. Pass 0.1, say.")
