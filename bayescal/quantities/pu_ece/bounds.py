"""What theory says of PU-ECE: bias, number of bins, a wrong class prior, and training rows."""

from __future__ import annotations

import math
from typing import NamedTuple

from bayescal.core import bin_edges
from bayescal.core.bin_edges import STRATEGIES, Strategy
from bayescal.core.checks import check_choice, check_number, check_whole
from bayescal.core.errors import InputError
from bayescal.core.quantity import Bound
from bayescal.core.text import counted, surely
from bayescal.quantities.pu_ece.estimator import effective_rows

_SCAR = "positives are a random sample of all positives, independent of the unlabelled rows"
_FIXED = f"{_SCAR}; the bins were not chosen with the scores; the class prior is right"
_DENSITY = f"{_SCAR}; scores have a density (no ties); the class prior is right"
_LIPSCHITZ = "E[Y | f] is {:g}-Lipschitz in f"
_LN2 = math.log(2)


class Bounds(NamedTuple):
    """Bounds of PU-ECE."""

    total_bias: Bound  #: Of ``E |ECE - TCE|``, Theorem 1.
    total_deviation: Bound  #: Of ``|ECE - TCE|`` with probability 1 - delta, Theorem 1.
    derived_total_bias: Bound  #: `total_bias` as derived in Notes.
    derived_total_deviation: Bound  #: `total_deviation` as derived in Notes.
    statistical_bias: Bound  #: The part that rows leave.
    binning_bias: Bound  #: The part that bins leave.
    deviation: Bound  #: Of ``|ECE - TCE of the bins|``, with probability 1 - delta.
    class_prior_error: Bound  #: Of the change of ECE per unit of the class prior.
    optimal_n_bins: Bound  #: Number of bins of the optimal order.
    least_bound_n_bins: Bound  #: Number with the least `total_bias`.


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
    n_positive, n_unlabeled : int, at least 1
        Numbers of rows; for bins of equal mass at least two unlabelled rows a bin.
    class_prior : float, in (0, 1)
        Share of positives among the unlabelled, pi.
    n_bins : int, default 15
        Number of bins B; not used when `strategy` gives the edges.
    strategy : {"uniform", "quantile"} or array-like of shape (bin + 1,), default "quantile"
        Bins of equal width (UWB), of equal mass of the unlabelled scores (UMB), or fixed edges.
    lipschitz : float, default 1.0
        Lipschitz constant L of the curve E[Y | f]. A calibrated classifier has 1.
    delta : float, default 0.1
        How improbable it may be that `total_deviation`, or `deviation`, fails.

    Returns
    -------
    Bounds
        Each with its kind and its assumption in words. A bias above 1 is vacuous.

    Raises
    ------
    InputError
        If a number lies outside its range, or the rows are fewer than Assumption 1 requires.

    Notes
    -----
    `total_bias` and `total_deviation` are Theorem 1 of [1]_ as printed. With
    ``V = pi**2 / nP + 1 / nU``, ``W = pi**2 / nP + 1 / (nU - B)`` and ``t = B ln 2``, with
    probability 1 - delta ``t = B ln 2 + ln(1 / delta)``, they are::

        UWB: (1 + L) / B + sqrt(2 V t)
        UMB: (1 + L) / B + (3 + 2 L) B / (nU - B) + sqrt(2 t) ((1 + L) / sqrt(nU - B) + sqrt(W))

    The others are derived here. ``A_b = pi nP_b / nP - (1 / nU) sum f`` is the term of bin b.

    *Fixed bins.* Each A_b is unbiased, and ``|ECE - TCE(f_I)| <= sum_b |A_b - E A_b|``, the largest
    over all 2**B sign vectors s of ``sum_b s_b (A_b - E A_b)``. Each of those is a sum of nP terms
    in ``[-pi, pi] / nP`` and nU terms in ``[-1, 1] / nU``: sub-Gaussian with variance proxy V
    (Hoeffding). The maximal inequality gives ``sqrt(2 V B ln 2)`` in expectation, the union bound
    ``sqrt(2 V (B ln 2 + ln(1 / delta)))`` with probability 1 - delta. The binning bias is at most
    ``(1 + L)`` times the widest bin [2]_. Their sum is Theorem 1 for UWB; for other
    edges, which the paper does not treat, it is proved here alone, and `total_bias` says so.

    *Bins of equal mass.* Given the edges, positives and the rows inside the bins are independent
    draws as before, with scores in [0, 1] instead of signed ones: the variance proxy is
    ``pi**2 / nP + 1 / (4 nU)``. What is left is the distance between the bins' masses P and their
    shares of rows. Any union of bins has a Beta(k, nU + 1 - k) mass, whose variance proxy is at
    most ``1 / (4 (nU + 2))`` [3]_, so that ``sum_b |P_b - E P_b|`` is at most
    ``m = sqrt(2 B ln 2 / (nU + 2))`` in expectation. At most ``2 B / nU`` is added by the rows on
    the edges and by ``E P_b`` not being a multiple of 1 / nU. The binning bias is at most
    ``(1 + L) sum_b P_b width_b <= (1 + L) (1 / B + 3 / nU + m)``. With probability 1 - delta, both
    deviations hold with ``B ln 2 + ln(2 / delta)`` in place of ``B ln 2``. For 100 to 10,000
    positives, 1,000 to 100,000 unlabelled rows, 5 to 40 bins and L up to 4 the total is .86 to 1.22
    times Theorem 1's: smaller where L is large and unlabelled rows are few.

    *A wrong class prior.* As ``sum_b nP_b / nP = 1``, ECE changes by no more than the class prior:
    ``|ECE(pi) - ECE(pi')| <= |pi - pi'|`` (Theorem 2), for any classifier, bins and rows.

    References
    ----------
    .. [1] The PU-ECE paper, section 3.2: Assumptions 1 to 3, Theorems 1 and 2, Corollary 1.
       https://openreview.net/forum?id=SvoBtLIrPZ
    .. [2] Futami and Fujisawa, NeurIPS 2024, Theorem 3. https://arxiv.org/abs/2405.15709
    .. [3] O. Marchal and J. Arbel, ECP 22, 2017. https://arxiv.org/abs/1705.00048

    Examples
    --------
    >>> from bayescal.quantities.pu_ece.bounds import bounds
    >>> found = bounds(1000, 10_000, class_prior=0.5, n_bins=14, strategy="uniform")
    >>> round(found.total_bias.value, 4), found.optimal_n_bins.value
    (0.2253, 15)
    """
    found = bounds_or_infinite(
        n_positive, n_unlabeled, class_prior, n_bins, strategy, lipschitz, delta
    )
    if _by_mass(strategy):
        _check_two_a_bin(n_unlabeled, n_bins)
    return found


def bounds_or_infinite(
    n_positive: int,
    n_unlabeled: int,
    class_prior: float,
    n_bins: int,
    strategy: Strategy,
    lipschitz: float = 1.0,
    delta: float = 0.1,
) -> Bounds:
    """Bound it as `bounds` does; infinite, not refused, with fewer rows than Theorem 1 requires."""
    n_bins, width = bin_edges.number_and_width(n_bins, strategy)
    _check_rest(lipschitz, delta)
    rows, by_mass = _Rows.of(n_positive, n_unlabeled, class_prior), _by_mass(strategy)
    spent, improbable = n_bins * _LN2, math.log(1 / delta)
    if by_mass:
        likely = spent + math.log(2 / delta)
        statistical, deviation = (rows.deviation_by_mass(n_bins, t) for t in (spent, likely))
        binning, widest = (
            (1 + lipschitz) * (width + 3 / n_unlabeled + math.sqrt(2 * t / (n_unlabeled + 2)))
            for t in (spent, likely)
        )
    else:
        statistical, deviation = (rows.deviation(t) for t in (spent, spent + improbable))
        binning = widest = (1 + lipschitz) * width
    total, unlikely = (
        rows.total(n_bins, width, by_mass, lipschitz, more) for more in (0.0, improbable)
    )
    sampled = _DENSITY if by_mass else _FIXED
    curve = f"{sampled}; {_LIPSCHITZ.format(lipschitz)}"
    printed = f"{curve}; n_unlabeled >= 2 n_bins" if by_mass else curve
    theorem = _source("Theorem 1", strategy)
    probably = f"with probability {surely(delta)} or more"
    binned = "TCE of the binned classifier"
    return Bounds(
        Bound(total, f"upper bound of E |ECE - TCE| ({theorem})", printed),
        Bound(unlikely, f"upper bound of |ECE - TCE| {probably} ({theorem})", printed),
        Bound(binning + statistical, "upper bound of E |ECE - TCE| (derived)", curve),
        Bound(widest + deviation, f"upper bound of |ECE - TCE| {probably} (derived)", curve),
        Bound(statistical, f"upper bound of E |ECE - {binned}|", sampled),
        Bound(binning, f"upper bound of |TCE - {binned}|, on average", curve),
        Bound(deviation, f"upper bound of |ECE - {binned}| {probably}", sampled),
        Bound(1.0, "upper bound of the change of ECE per unit of the class prior", _SCAR),
        Bound(
            optimal_n_bins(n_positive, n_unlabeled, class_prior),
            "number of bins of the optimal order, ceil((pi^2 / nP + 1 / nU)^(-1/3))",
            curve,
        ),
        Bound(
            rows.least_bound_n_bins(by_mass, lipschitz),
            f"number of bins of equal {'mass' if by_mass else 'width'} with the least upper bound "
            "of E |ECE - TCE| (Theorem 1)",
            printed,
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
        ``(pi**2 / nP + 1 / nU)**(-1/3)``, rounded up. It is what ``n_bins="optimal"`` stands for.

    Notes
    -----
    The order of Corollary 1 of [1]_, and of Corollary 2 for evaluation on training rows; 1 as its
    constant is the choice of section 5.1. At this number the expected total bias is ``O(V**(1/3))``
    with ``V = pi**2 / nP + 1 / nU``. `least_bound_n_bins` has the constant of the bound.

    References
    ----------
    .. [1] The PU-ECE paper, Corollaries 1 and 2. https://openreview.net/forum?id=SvoBtLIrPZ

    Examples
    --------
    >>> from bayescal.quantities.pu_ece.bounds import optimal_n_bins
    >>> optimal_n_bins(100, 1000, class_prior=0.5)
    7
    """
    return bin_edges.optimal_number(effective_rows(n_positive, n_unlabeled, class_prior))


def least_bound_n_bins(
    n_positive: int,
    n_unlabeled: int,
    class_prior: float,
    strategy: str = "quantile",
    lipschitz: float = 1.0,
) -> int:
    """Give the number of bins that makes the upper bound of the total bias least.

    Parameters
    ----------
    n_positive, n_unlabeled : int
        Numbers of rows; at least two unlabelled ones for bins of equal mass.
    class_prior : float, in (0, 1)
        Share of positives among the unlabelled.
    strategy : {"uniform", "quantile"}, default "quantile"
        Bins of equal width or of equal mass.
    lipschitz : float, default 1.0
        Lipschitz constant L of the curve E[Y | f].

    Returns
    -------
    int
        At least 1.

    Notes
    -----
    The bound of Theorem 1 of [1]_ is least for UWB where ``B**3 = 2 (1 + L)**2 / (V ln 2)``, with
    ``V = pi**2 / nP + 1 / nU``: the better neighbour is taken. That for UMB grows faster with B, so
    that its least one is not above that, nor above ``nU / 2``. Either falls with B, and then rises.

    References
    ----------
    .. [1] The PU-ECE paper, Theorem 1 and Corollary 1. https://openreview.net/forum?id=SvoBtLIrPZ

    Examples
    --------
    >>> from bayescal.quantities.pu_ece.bounds import least_bound_n_bins
    >>> [least_bound_n_bins(1000, 10_000, 0.5, name) for name in ("uniform", "quantile")]
    [32, 19]
    """
    check_choice(strategy, STRATEGIES, "strategy")
    _check_rest(lipschitz, 0.5)
    rows, by_mass = _Rows.of(n_positive, n_unlabeled, class_prior), strategy == "quantile"
    if by_mass:
        _check_two_a_bin(n_unlabeled, 1)
    return rows.least_bound_n_bins(by_mass, lipschitz)


class _Rows(NamedTuple):
    """Rows of both samples, and the class prior."""

    n_positive: int
    n_unlabeled: int
    class_prior: float

    @classmethod
    def of(cls, n_positive: int, n_unlabeled: int, class_prior: float) -> _Rows:
        """Check the numbers."""
        effective_rows(n_positive, n_unlabeled, class_prior)
        return cls(n_positive, n_unlabeled, class_prior)

    @property
    def variance(self) -> float:
        """V, which takes the place of one over the number of labelled rows."""
        return self.class_prior**2 / self.n_positive + 1 / self.n_unlabeled

    def deviation(self, spent: float) -> float:
        """Deviation for fixed bins, `spent` nats for the signs and for being improbable."""
        return math.sqrt(2 * self.variance * spent)

    def deviation_by_mass(self, n_bins: int, spent: float) -> float:
        """Deviation for bins of equal mass, as derived."""
        inside = self.class_prior**2 / self.n_positive + 1 / (4 * self.n_unlabeled)
        return (
            math.sqrt(2 * inside * spent)
            + math.sqrt(2 * spent / (self.n_unlabeled + 2))
            + 2 * n_bins / self.n_unlabeled
        )

    def total(
        self, n_bins: int, width: float, by_mass: bool, lipschitz: float, improbable: float = 0.0
    ) -> float:
        """Theorem 1 as printed; `improbable` is log(1 / delta)."""
        binning, root = (1 + lipschitz) * width, math.sqrt(2 * (n_bins * _LN2 + improbable))
        if not by_mass:
            return binning + root * math.sqrt(self.variance)
        free = self.n_unlabeled - n_bins
        if free < n_bins:
            return math.inf
        shares = math.sqrt(self.class_prior**2 / self.n_positive + 1 / free)
        masses = (1 + lipschitz) / math.sqrt(free)
        return binning + (3 + 2 * lipschitz) * n_bins / free + root * (masses + shares)

    def least_bound_n_bins(self, by_mass: bool, lipschitz: float) -> int:
        """Number of bins with the least total bias of Theorem 1."""
        least = math.ceil((2 * (1 + lipschitz) ** 2 / (self.variance * _LN2)) ** (1 / 3))
        most = min(least, self.n_unlabeled // 2) if by_mass else least
        return bin_edges.least_number(
            lambda n: self.total(n, 1 / n, by_mass, lipschitz), max(most, 1)
        )

    def generalization(self, fcmi: float, n_bins: int) -> float:
        """Root of Theorem 3."""
        return math.sqrt(8 * self.variance * (fcmi + n_bins * _LN2))


def _source(theorem: str, strategy: Strategy) -> str:
    """Say where a bound is from: the paper has bins of equal width and of equal mass only."""
    if isinstance(strategy, str):
        return theorem
    return f"derived: {theorem} for bins of equal width, with the widest bin in place of 1 / B"


def _by_mass(strategy: Strategy) -> bool:
    return isinstance(strategy, str) and strategy == "quantile"


def _check_two_a_bin(n_unlabeled: int, n_bins: int) -> None:
    if n_unlabeled < 2 * n_bins:
        raise InputError(
            f"bins of equal mass must have two unlabelled rows each or more (Assumption 1); got "
            f"n_unlabeled {n_unlabeled} for {counted(n_bins, 'bin')}. Take fewer bins, or "
            "strategy='uniform'."
        )


def _check_rest(lipschitz: float, delta: float) -> None:
    check_number(lipschitz, "lipschitz", "[0, 1e9]", "Pass 1 if in doubt.")
    check_number(delta, "delta", "(0, 1)", "Pass 0.1, say.")


def generalization_bias(
    n_positive: int,
    n_unlabeled: int,
    class_prior: float,
    fcmi: float,
    n_bins: int = 15,
    strategy: Strategy = "quantile",
    lipschitz: float = 1.0,
    fcmi_unlabeled: float | None = None,
) -> Bound:
    """Bound how far PU-ECE on the training rows is from the true calibration error.

    Parameters
    ----------
    n_positive, n_unlabeled : int
        Numbers of training rows, on which PU-ECE is computed as well.
    class_prior : float, in (0, 1)
        Share of positives among the unlabelled.
    fcmi : float, at least 0
        Functional conditional mutual information of the training algorithm, in nats.
    n_bins : int, default 15
        Number of bins B; not used when `strategy` gives the edges.
    strategy : {"uniform", "quantile"} or array-like of shape (bin + 1,), default "quantile"
        Bins of equal width (UWB), of equal mass of the unlabelled scores (UMB), or fixed edges.
    lipschitz : float, default 1.0
        Lipschitz constant L of the curve E[Y | f].
    fcmi_unlabeled : float, from 0 to `fcmi`, optional
        The same information of the unlabelled rows' scores alone, which bins of equal mass need;
        `fcmi` itself if not given, as it is never larger (data processing).

    Returns
    -------
    Bound
        Of ``E |TCE - ECE on the training rows|``.

    Notes
    -----
    Theorem 3 of [1]_ as printed. With ``V = pi**2 / nP + 1 / nU`` it is, for UWB::

        (1 + L) / B + sqrt(8 V (fCMI + B ln 2))

    and ``(1 + L) sqrt((8 / nU) (fCMI_U + B ln 2))`` more for UMB. By Corollary 2 the number of bins
    and the rate are those of Corollary 1, ``V**(-1/3)`` and ``V**(1/3)``, wherever fCMI is
    ``O(V**(-1/3))``. A class of finite VC dimension has ``fCMI = O(log(nP + nU))``, see
    `fcmi_of_vc`; metric entropy bounds it too [2]_. For fixed edges of one's own the widest bin
    takes the place of 1 / B: the binning bias is the only place where the widths enter.

    By section 4.3 of [1]_ ECE on many training rows may be nearer to TCE than on few evaluation
    rows, where the classifier generalises, fCMI being small: compare with `bounds`. The bound here
    has sqrt(8 V t) where that has sqrt(2 V t), so that by the bounds alone it takes more than four
    times the rows. `generalization_gap` is of another difference.

    References
    ----------
    .. [1] The PU-ECE paper, sections 4.2 and 4.3, Theorem 3 and Corollary 2.
       https://openreview.net/forum?id=SvoBtLIrPZ
    .. [2] Futami and Fujisawa, NeurIPS 2024, section 4. https://arxiv.org/abs/2405.15709

    Examples
    --------
    >>> from bayescal.quantities.pu_ece.bounds import fcmi_of_vc, generalization_bias
    >>> information = fcmi_of_vc(110_000, 3)
    >>> round(generalization_bias(10_000, 100_000, 0.5, information, n_bins=30).value, 4)
    0.329
    """
    rows = _Rows.of(n_positive, n_unlabeled, class_prior)
    n_bins, width = bin_edges.number_and_width(n_bins, strategy)
    _check_rest(lipschitz, 0.5)
    _check_fcmi(fcmi, math.inf, "fcmi")
    of_unlabeled = fcmi if fcmi_unlabeled is None else fcmi_unlabeled
    _check_fcmi(of_unlabeled, fcmi, "fcmi_unlabeled")
    found = (1 + lipschitz) * width + rows.generalization(fcmi, n_bins)
    if _by_mass(strategy):
        information = of_unlabeled + n_bins * _LN2
        found += (1 + lipschitz) * math.sqrt(8 / n_unlabeled * information)
    return Bound(
        found,
        f"upper bound of E |TCE - ECE on the training rows| ({_source('Theorem 3', strategy)})",
        f"{_DENSITY if _by_mass(strategy) else _FIXED}; {_LIPSCHITZ.format(lipschitz)}; "
        f"fCMI is {fcmi:g} nats",
    )


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

    Notes
    -----
    The root of Theorem 3 of [1]_ alone, for the difference of two estimates, where no bins are too
    wide and no curve need be smooth; derived here. Of each pair of rows a coin U chooses which is
    trained on. Given all scores of both, the gap is at most the largest over 2**B sign vectors of
    a sum that is centred in U, with terms in ``[-2 pi, 2 pi] / nP`` and ``[-2, 2] / nU``: variance
    proxy ``4 V``, ``V = pi**2 / nP + 1 / nU``. Scores that depend on U cost their mutual
    information with it (Donsker-Varadhan), which gives ``sqrt(8 V (fCMI + B ln 2))``; with every
    label known that is Theorem 4 of [2]_.

    References
    ----------
    .. [1] The PU-ECE paper, Theorem 3. https://openreview.net/forum?id=SvoBtLIrPZ
    .. [2] Futami and Fujisawa, NeurIPS 2024, section 4. https://arxiv.org/abs/2405.15709

    Examples
    --------
    >>> from bayescal.quantities.pu_ece.bounds import generalization_gap
    >>> round(generalization_gap(1000, 10_000, 0.5, fcmi=0.0, n_bins=10).value, 4)
    0.1393
    """
    rows = _Rows.of(n_positive, n_unlabeled, class_prior)
    _check_fcmi(fcmi, math.inf, "fcmi")
    return Bound(
        rows.generalization(fcmi, bin_edges.check_n_bins(n_bins)),
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

    Notes
    -----
    Mutual information is at most the logarithm of the number of ways in which the class can label
    the 2 n rows of the pairs, which Sauer's lemma bounds. It is that of the labels predicted; for
    scores, d is the dimension of the class of their graphs (the pseudo-dimension).

    References
    ----------
    .. [1] The PU-ECE paper, section 4.3. https://openreview.net/forum?id=SvoBtLIrPZ

    Examples
    --------
    >>> from bayescal.quantities.pu_ece.bounds import fcmi_of_vc
    >>> round(fcmi_of_vc(1000, 3), 2)
    22.51
    """
    remedy = "Pass the number of parameters of a linear classifier."
    check_whole(vc_dimension, "vc_dimension", 1, remedy, 2 * check_whole(n, "n"))
    return vc_dimension * math.log(2 * math.e * n / vc_dimension)


def _check_fcmi(value: float, most: float, name: str) -> None:
    check_number(value, name, "[0, inf)", "Pass it in nats.")
    if value > most:
        raise InputError(
            f"{name} must not exceed fcmi, {most:g}, as it is information on part of the scores; "
            f"got {value:g}. Leave it out if it is not known."
        )
