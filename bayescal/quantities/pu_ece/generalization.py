"""Theory of PU-ECE on training rows: Theorem 3 and what it bounds."""

from __future__ import annotations

import math

from bayescal.core.bins.edges import Strategy, check_n_bins
from bayescal.core.checks import check_number, check_whole
from bayescal.core.errors import InputError
from bayescal.core.quantity import Bound
from bayescal.quantities.pu_ece.bounds import (
    _DENSITY,
    _FIXED,
    _LIPSCHITZ,
    _LN2,
    _bins,
    _by_mass,
    _check_rest,
    _Rows,
    _source,
)


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

    Raises
    ------
    InputError
        If a number lies outside its range.

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
    .. [1] Anonymous authors, "Estimating Expected Calibration Error for Positive-Unlabeled
       Learning", under review for Transactions on Machine Learning Research, 2025, sections 4.2 and
       4.3, Theorem 3 and Corollary 2. https://openreview.net/forum?id=SvoBtLIrPZ
    .. [2] F. Futami and M. Fujisawa, "Information-theoretic Generalization Analysis for Expected
       Calibration Error", NeurIPS 2024, section 4. https://arxiv.org/abs/2405.15709

    Examples
    --------
    >>> from bayescal.quantities.pu_ece.generalization import fcmi_of_vc, generalization_bias
    >>> information = fcmi_of_vc(110_000, 3)
    >>> round(generalization_bias(10_000, 100_000, 0.5, information, n_bins=30).value, 4)
    0.329
    """
    rows, (n_bins, width) = (
        _Rows.of(n_positive, n_unlabeled, class_prior),
        _bins(n_bins, strategy),
    )
    _check_rest(lipschitz, 0.5)
    _check_fcmi(fcmi, math.inf, "fcmi")
    of_unlabeled = fcmi if fcmi_unlabeled is None else fcmi_unlabeled
    _check_fcmi(of_unlabeled, fcmi, "fcmi_unlabeled")
    found = (1 + lipschitz) * width + math.sqrt(8 * rows.variance * (fcmi + n_bins * _LN2))
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

    Raises
    ------
    InputError
        If a number lies outside its range.

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
    .. [1] Anonymous authors, "Estimating Expected Calibration Error for Positive-Unlabeled
       Learning", under review for Transactions on Machine Learning Research, 2025, Theorem 3.
       https://openreview.net/forum?id=SvoBtLIrPZ
    .. [2] F. Futami and M. Fujisawa, "Information-theoretic Generalization Analysis for Expected
       Calibration Error", NeurIPS 2024, section 4. https://arxiv.org/abs/2405.15709

    Examples
    --------
    >>> from bayescal.quantities.pu_ece.generalization import generalization_gap
    >>> round(generalization_gap(1000, 10_000, 0.5, fcmi=0.0, n_bins=10).value, 4)
    0.1393
    """
    variance = _Rows.of(n_positive, n_unlabeled, class_prior).variance
    _check_fcmi(fcmi, math.inf, "fcmi")
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
    .. [1] Anonymous authors, "Estimating Expected Calibration Error for Positive-Unlabeled
       Learning", under review for Transactions on Machine Learning Research, 2025, section 4.3.
       https://openreview.net/forum?id=SvoBtLIrPZ

    Examples
    --------
    >>> from bayescal.quantities.pu_ece.generalization import fcmi_of_vc
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
