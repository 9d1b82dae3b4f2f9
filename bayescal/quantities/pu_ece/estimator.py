"""The paper's number: binned calibration error from positives and unlabelled rows."""

from __future__ import annotations

from typing import NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from bayescal.core import functionals
from bayescal.core.bin_counts import BinCounts
from bayescal.core.binning import Binning, BinningFields, count_into
from bayescal.core.checks import check_data, check_number, check_whole
from bayescal.core.columns import Floats
from bayescal.quantities.pu_ece.data import PUScores

type Value = np.float64 | NDArray[np.float64]


class Estimate(NamedTuple):
    """Point estimates, each with a leading dim ``classifier`` where there is more than one.

    Parameters
    ----------
    ece : float or ndarray of shape (...)
        PU-ECE, at least 0.
    mce : float or ndarray of shape (...)
        Largest absolute gap of a bin that holds an unlabelled row.
    label_rate : ndarray of shape (..., bin)
        ``class_prior * positive_mass / bin_mass``: what the two samples make the share of positives
        among the unlabelled rows of the bin. It may exceed 1; NaN in a bin without unlabelled rows.
    exceeds_one : ndarray of shape (..., bin), bool
        Where it does: noise, a class prior too large, or positives that are no random sample.
    gap : ndarray of shape (..., bin)
        `label_rate` less `confidence`; NaN in a bin without unlabelled rows.
    confidence : ndarray of shape (..., bin)
        Mean score of each bin's unlabelled rows; the midpoint of an empty one.
    bin_mass : ndarray of shape (..., bin)
        Share of the unlabelled rows in each bin.
    positive_mass : ndarray of shape (..., bin)
        Share of the positives in each bin.
    count : ndarray of shape (..., bin), int64
        Unlabelled rows in each bin.
    positive_count : ndarray of shape (..., bin), int64
        Positives in each bin.
    bin_edges : ndarray of shape (..., bin + 1)
        Edges of the bins.
    """

    ece: Value
    mce: Value
    label_rate: Floats
    exceeds_one: NDArray[np.bool_]
    gap: Floats
    confidence: Floats
    bin_mass: Floats
    positive_mass: Floats
    count: NDArray[np.int64]  # type: ignore[assignment]  # the result schema's name; hides tuple's
    positive_count: NDArray[np.int64]
    bin_edges: Floats


def estimate(
    data: PUScores,
    binning: Binning | None = None,
    *,
    class_prior: float,
    **fields: Unpack[BinningFields],
) -> Estimate:
    """Estimate the calibration error from positives and unlabelled rows, by bins.

    Parameters
    ----------
    data : PUScores
        Positive and unlabelled scores.
    binning : Binning, optional
        Bins, cut on the unlabelled scores; by default 15 of equal mass.
    class_prior : float, in (0, 1)
        Share of positives among the unlabelled.
    **fields
        `n_bins`, `strategy` and `closed` of a `Binning`, instead of `binning`.
        ``n_bins="optimal"`` is `bayescal.pu_ece.optimal_n_bins`.

    Returns
    -------
    Estimate
        A named tuple. The cost is that of binning both samples.

    Notes
    -----
    The estimand is that of `bayescal.ece.estimate`, the sum over bins of
    ``|P(Y = 1, bin) - E[f; bin]|``. With ``P(Y = 1, bin) = pi P(bin | Y = 1)`` it becomes::

        ECE_PU = sum_b | pi nP_b / nP - (1 / nU) sum_{unlabelled u in b} f(u) |

    which needs no division by what a bin holds, and counts a bin that holds positives only. The
    experiments of [1]_ use bins of equal width, ``n_bins="optimal", strategy="uniform"``.

    References
    ----------
    .. [1] The PU-ECE paper, section 3.1 (bins of equal width as in section 2.2.2).
       https://openreview.net/forum?id=SvoBtLIrPZ

    Examples
    --------
    >>> import bayescal as bc
    >>> from bayescal.quantities.pu_ece.estimator import estimate
    >>> pu = bc.PUScores(positive=[0.6, 0.8], unlabeled=[0.25, 0.25, 0.75, 0.75])
    >>> found = estimate(pu, class_prior=0.4, n_bins=2, strategy="uniform")
    >>> round(float(found.ece), 12), found.label_rate.tolist()
    (0.15, [0.0, 0.8])
    """
    check_data(data, (PUScores,), "pu_ece", "PUScores(positive=..., unlabeled=...)")
    bins = resolved(Binning.of(binning, **fields), data, class_prior)
    cases = []
    for positive, unlabeled in zip(data.positive, data.unlabeled, strict=True):
        edges = bins.edges(unlabeled)
        rows, positives = (
            count_into(score, np.zeros(len(score), np.uint8), edges, bins.closed)
            for score in (unlabeled, positive)
        )
        cases.append(of_counts(rows, positives.count, class_prior))
    if len(cases) == 1:
        return cases[0]
    return Estimate._make(np.stack(values) for values in zip(*cases, strict=True))


def of_counts(bins: BinCounts, positive_count: NDArray[np.int64], class_prior: float) -> Estimate:
    """Estimate from the counts of one classifier's unlabelled rows and positives by bin."""
    count, confidence = bins.count, bins.mean_score
    mass, positive_mass = count / count.sum(), positive_count / positive_count.sum()
    joint = class_prior * positive_mass
    # A bin of positives only has a share of them but no rate: the error is that of the shares.
    rate = joint / np.where(count > 0, mass, 1)
    label_rate = np.where(count > 0, rate, np.nan)
    return Estimate(
        ece=functionals.expected_calibration_error(1, joint, mass * confidence),
        mce=functionals.maximum_calibration_error(mass, rate, confidence),
        label_rate=label_rate,
        exceeds_one=label_rate > 1 + 1e-12,  # by more than rounding
        gap=functionals.calibration_gap(label_rate, confidence),
        confidence=confidence,
        bin_mass=mass,
        positive_mass=positive_mass,
        count=count,
        positive_count=positive_count,
        bin_edges=bins.edges,
    )


def resolved(binning: Binning, data: PUScores, class_prior: float) -> Binning:
    """Choose the number of bins where it follows the rows."""
    return binning.resolve(effective_rows(data.n_positive, data.n_unlabeled, class_prior))


def effective_rows(n_positive: int, n_unlabeled: int, class_prior: float) -> float:
    """Labelled rows that both samples are worth in theory: 1 / (pi^2 / nP + 1 / nU)."""
    check_class_prior(class_prior)
    for n, name in ((n_positive, "n_positive"), (n_unlabeled, "n_unlabeled")):
        check_whole(n, name)
    return 1 / (class_prior**2 / n_positive + 1 / n_unlabeled)


def check_class_prior(class_prior: float) -> None:
    """Check that a class prior is a share that leaves both classes in."""
    remedy = "Pass the share of positives among the unlabelled rows."
    check_number(class_prior, "class_prior", "(0, 1)", remedy)
