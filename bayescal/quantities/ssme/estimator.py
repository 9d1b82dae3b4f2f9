"""The paper's number: metrics under labels that a mixture of kernel densities finds likely."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax

from bayescal.core.checks import (
    MOST_DRAWN,
    check_choice,
    check_flag,
    check_number,
    check_whole,
    generator,
)
from bayescal.core.columns import to_doubles
from bayescal.core.errors import InputError
from bayescal.core.quantity import Floats
from bayescal.core.scores import Scores, predicted_class
from bayescal.quantities.ssme.data import (
    ScoreMatrix,
    draw_labels,
    weighted_matrix,
    with_known_labels,
)
from bayescal.quantities.ssme.kde import REFERENCES, RULES, Kernel, alr, bandwidth, kernel_of
from bayescal.quantities.ssme.metrics import Metrics, expected_metrics, join

CHOICES = {
    "reference": tuple(REFERENCES),
    "sharing": ("all", "class"),
    "start": ("draw", "mean"),
    "prior_update": ("expected", "drawn"),
}
# Beyond, powers of bandwidths and sums of weights overflow: kernels of all rows reached none.
_POSITIVE = "[1e-9, 1e9]"


@dataclass(frozen=True, slots=True, kw_only=True)
class KDESettings:
    """Choices of a fit of SSME-KDE.

    Parameters
    ----------
    reference : {"last", "first"}, default "last"
        Class whose logarithm is taken from those of the others. It matters with three classes or
        more: the paper's text has the last (appendix E.1), its published code the first.
    bandwidth : {"isj", "normal-reference"} or float, in [1e-9, 1e9], default "isj"
        Rule for the bandwidth (the least over coordinates), or the bandwidth itself.
    bandwidth_scale : float, in [1e-9, 1e9], default 1
        What the bandwidth is multiplied by.
    sharing : {"all", "class"}, default "all"
        One bandwidth from all rows for all classes, or one a class, from the rows whose label,
        known or drawn from the mean score, is that class.
    leave_one_out : bool, default False
        Whether a row is left out of the densities at its own place. With narrow kernels a row that
        is not left out mostly sees itself.
    labeled_weight : float, in [1e-9, 1e9], default 1
        Weight of a labelled row in the densities and in an expected class prior, against 1 of an
        unlabelled row: 1 / lambda_L of the paper's objective (section 4), whose lambda_L multiplies
        the unlabelled rows though the text calls it the weight of the labelled ones.
    weighted_start : bool, default True
        Whether labelled rows have their weight in the first epoch too; in the published code not.
    start : {"draw", "mean"}, default "draw"
        Labels of unlabelled rows to start from: drawn from the mean score, or that itself.
    prior_update : {"expected", "drawn"}, default "expected"
        A class prior to be learned is the mean label probability, or the share of labels drawn
        anew in each epoch (stochastic EM), in which every row counts once.
    clamp_densities : bool, default True
        Whether labelled rows enter the densities with their label; else with its probability.
    max_epochs : int, default 50
        Most epochs of EM.
    tolerance : float, default 1e-4
        EM has converged once no label probability changes by more; 0 runs all epochs.
    """

    reference: str = "last"
    bandwidth: str | float = "isj"
    bandwidth_scale: float = 1.0
    sharing: str = "all"
    leave_one_out: bool = False
    labeled_weight: float = 1.0
    weighted_start: bool = True
    start: str = "draw"
    prior_update: str = "expected"
    clamp_densities: bool = True
    max_epochs: int = 50
    tolerance: float = 1e-4

    def __post_init__(self) -> None:
        if isinstance(self.bandwidth, str):
            check_choice(self.bandwidth, tuple(RULES), "bandwidth")
        else:
            check_number(self.bandwidth, "bandwidth", _POSITIVE, "Pass 1, say.")
        for name in ("bandwidth_scale", "labeled_weight"):
            check_number(getattr(self, name), name, _POSITIVE, "Pass 1.")
        for name, choices in CHOICES.items():
            check_choice(getattr(self, name), choices, name)
        for name in ("leave_one_out", "clamp_densities", "weighted_start"):
            check_flag(getattr(self, name), name)
        check_whole(self.max_epochs, "max_epochs", most=MOST_DRAWN)
        check_number(self.tolerance, "tolerance", "[0, inf)", "Pass 1e-4, say.")


PAPER = KDESettings()
RELEASE = KDESettings(
    reference="first",
    bandwidth="normal-reference",
    bandwidth_scale=0.25,
    labeled_weight=10.0,
    weighted_start=False,
    prior_update="drawn",
    clamp_densities=False,
    max_epochs=20,
    tolerance=0.0,
)
NAMED = {"paper": PAPER, "release": RELEASE}


def settings_of[Settings](choice: str | Settings, named: Mapping[str, Settings]) -> Settings:
    """Look settings up by name."""
    kind = type(named["paper"])
    if isinstance(choice, kind):
        return choice
    check_choice(choice, tuple(named), f"settings, if not {kind.__name__},")
    return named[str(choice)]


class Estimate(NamedTuple):
    """Estimated metrics of each classifier, and the fit that they come from.

    Parameters
    ----------
    accuracy, ece, auc, auprc, mce, log_loss, brier : ndarray of shape (classifier,)
        As in `Metrics`.
    prob_label : ndarray of shape (obs, class)
        Probability of each label of each row; known labels are certain.
    class_prior : ndarray of shape (class,)
        Class prior, learned or given.
    n_iter : int
        Epochs of EM.
    converged : bool
        Whether EM stopped because nothing changed any more.
    bandwidth : ndarray of shape (class,), or None
        Bandwidth of each class's kernel; None of SSME-NF.
    """

    accuracy: Floats
    ece: Floats
    auc: Floats
    auprc: Floats
    mce: Floats
    log_loss: Floats
    brier: Floats
    prob_label: Floats
    class_prior: Floats
    n_iter: int | NDArray[np.int64]
    converged: bool | NDArray[np.bool_]
    bandwidth: Floats | None = None


def estimate(
    scores: Scores | ScoreMatrix,
    *,
    settings: str | KDESettings = "paper",
    class_prior: ArrayLike | None = None,
    n_draws: int | None = 500,
    ece: str | None = None,
    seed: int = 0,
) -> Estimate:
    """Estimate every classifier's metrics by SSME-KDE.

    Parameters
    ----------
    scores : Scores or ScoreMatrix
        Scores of one or several classifiers, some or all labels missing. Weighted rows count by
        their weights in densities, class prior and metrics; groups have no use here.
    settings : {"paper", "release"} or KDESettings, default "paper"
        What the paper's text says, what its published code does, or custom choices.
    class_prior : array-like of shape (class,), optional
        Probability of each class, if known; otherwise it is learned.
    n_draws : int or None, default 500
        Label draws that metrics are averaged over; None for those under the probabilities.
    ece : {"equal-mass", "equal-width", "top-label"}, each also with "-optimal", optional
        Convention of the calibration errors; see `metrics`.
    seed : int, default 0
        Same seed, same estimate.

    Returns
    -------
    Estimate
        Metrics first, then the fit.

    Notes
    -----
    The estimand is each metric of each classifier on the population that all rows come from. Class
    k has the density f_k of the log ratios s to the last class, of all classifiers together, of
    probabilities clipped to [1e-6, 1 - 1e-6], a bound that the paper does not have. Of three
    classes or more the estimate depends on which is last. EM alternates between Gaussian kernel
    estimates of f_k and P(y_i = k | s_i), proportional to pi_k f_k(s_i), with known labels put
    back; with one bandwidth for all classes it is label propagation with clamped labels.

    The paper's 50 epochs often end before EM has converged: of simulated scores of 3,000 rows with
    20 labels, 2,000 epochs move accuracies by .06 to .10. `KDESettings` has more.

    A class without a label starts with the rows that the mean score gives it: do not rely on that.
    With all labels known the estimate is that of the labels. Above 5,000 rows kernels reach only
    the nearest neighbours, or of a single binary classifier are summed on a grid.

    References
    ----------
    .. [1] D. Shanmugam et al., 2025, section 4 and appendix E. https://arxiv.org/abs/2501.11866
    .. [2] The published code. https://github.com/divyashan/SSME

    Examples
    --------
    >>> import numpy as np
    >>> import bayescal as bc
    >>> rng = np.random.default_rng(20)
    >>> score = rng.random(200)
    >>> label = [*(rng.random(20) < score[:20]).astype(int), *[None] * 180]
    >>> found = bc.ssme.estimate(bc.Scores.stack({"a": score, "b": score**2}, y_true=label))
    >>> found.accuracy.shape, found.prob_label.shape
    ((2,), (200, 2))
    """
    matrix = weighted_matrix(scores)
    return _estimate(matrix, settings, class_prior, n_draws, ece, seed, by_group=False)


def estimate_each(
    scores: Scores | ScoreMatrix,
    *,
    settings: str | KDESettings = "paper",
    class_prior: ArrayLike | None = None,
    n_draws: int | None = 500,
    ece: str | None = None,
    seed: int = 0,
) -> Estimate:
    """Estimate every classifier's metrics from its own scores alone (SSME-KDE-M).

    Parameters
    ----------
    scores, settings, class_prior, n_draws, ece, seed
        As for `estimate`.

    Returns
    -------
    Estimate
        Metrics as from `estimate`; what describes a fit has a leading dim ``classifier``.

    Examples
    --------
    >>> import bayescal as bc
    >>> scores = bc.Scores.stack({"a": [0.1, 0.8, 0.9], "b": [0.2, 0.4, 0.7]}, y_true=[0, None, 1])
    >>> bc.ssme.estimate_each(scores).prob_label.shape
    (2, 3, 2)
    """
    matrix = weighted_matrix(scores)
    cases = [
        _estimate(matrix.select(m), settings, class_prior, n_draws, ece, seed, by_group=False)
        for m in range(matrix.n_classifiers)
    ]
    measured = [Metrics._make(case[: len(Metrics._fields)]) for case in cases]
    fits = zip(*(case[len(Metrics._fields) :] for case in cases), strict=True)
    return Estimate(*join(measured, np.concatenate), *(np.stack(values) for values in fits))


def estimate_by_group(
    scores: Scores | ScoreMatrix,
    *,
    settings: str | KDESettings = "paper",
    class_prior: ArrayLike | None = None,
    n_draws: int | None = 500,
    ece: str | None = None,
    seed: int = 0,
) -> Estimate:
    """Estimate every classifier's metrics in every group, from one fit to all rows.

    Parameters
    ----------
    scores, settings, class_prior, n_draws, ece, seed
        As for `estimate`; `scores` has groups.

    Returns
    -------
    Estimate
        Metrics of shape (classifier, group); the rest as from `estimate`.

    Raises
    ------
    InputError
        As for `estimate`, and if there are no groups.
    """
    matrix = weighted_matrix(scores)
    if matrix.group is None:
        raise InputError("scores must have groups; got none. Pass group= to Scores.")
    return _estimate(matrix, settings, class_prior, n_draws, ece, seed, by_group=True)


def _estimate(
    matrix: ScoreMatrix,
    settings: str | KDESettings,
    class_prior: ArrayLike | None,
    n_draws: int | None,
    ece: str | None,
    seed: int,
    *,
    by_group: bool,
) -> Estimate:
    """Fit the mixture to all rows, and measure under its labels."""
    rng = generator(seed)
    fit, widths = fit_scores(matrix, settings_of(settings, NAMED), class_prior, rng)
    found = expected_metrics(matrix, fit.prob_label, n_draws, rng, ece=ece, by_group=by_group)
    return Estimate(*found, *fit, widths)


def estimate_unbinned_ece(
    scores: Scores | ScoreMatrix,
    *,
    settings: str | KDESettings = "paper",
    class_prior: ArrayLike | None = None,
    seed: int = 0,
) -> Floats:
    """Estimate every classifier's calibration error by SSME-KDE without bins and label draws.

    Appendix E.2 of the paper.

    Parameters
    ----------
    scores, settings, class_prior, seed
        As for `estimate`.

    Returns
    -------
    ndarray of shape (classifier,), in [0, 1]
        Mean gap between the probability of the predicted class and its conditional probability.

    Notes
    -----
    The mean over all rows of ``|P(y = k | p_j) - p_jk|``, with p_j the probabilities of classifier
    j and k its predicted class; of two classes that is the gap of the positive score. The joint
    density of all scores gives P(y | p_j) exactly, by leaving the other coordinates out. The paper
    names this form and uses the binned one, which is biased upwards less.
    """
    matrix, chosen = weighted_matrix(scores), settings_of(settings, NAMED)
    fit, widths = fit_scores(matrix, chosen, class_prior, generator(seed))
    return np.array(
        [_mean_gap(matrix.select(m), fit, widths, chosen) for m in range(matrix.n_classifiers)]
    )


def _mean_gap(matrix: ScoreMatrix, fit: Fit, widths: Floats, settings: KDESettings) -> float:
    """Mean gap of a single classifier under the joint fit."""
    kernel = kernel_of(alr(matrix.probs, settings.reference), widths, settings.leave_one_out)
    weight = matrix.row_weight * np.where(matrix.labeled, settings.labeled_weight, 1.0)
    of_rows = fit.prob_label * weight[:, np.newaxis]
    given_score = expect(kernel, of_rows, fit.class_prior, fit.prob_label)
    probs = matrix.probs[0]
    gap = np.abs(given_score - probs)[np.arange(len(probs)), predicted_class(probs)]
    return float(np.average(gap, weights=matrix.weight))


def fit_scores(
    matrix: ScoreMatrix,
    settings: KDESettings,
    class_prior: ArrayLike | None,
    rng: np.random.Generator,
) -> tuple[Fit, Floats]:
    """Fit the mixture; the bandwidths, (class,), are returned as well."""
    prior = None if class_prior is None else check_prior(class_prior, matrix.n_classes)
    coords = alr(matrix.probs, settings.reference)
    drawn = with_known_labels(matrix, draw_labels(matrix.probs.mean(axis=0), 1, rng)[0])
    start = drawn if settings.start == "draw" else matrix.probs.mean(axis=0)
    widths = _widths(coords, drawn, settings)
    kernel = kernel_of(coords, widths, settings.leave_one_out)
    rows = start, matrix.known, matrix.labeled
    return fit_mixture(kernel, *rows, settings, prior, rng, matrix.row_weight), widths


def _widths(coords: Floats, drawn: Floats, settings: KDESettings) -> Floats:
    """Bandwidth of each class, shape (class,)."""
    n_classes = drawn.shape[1]
    if not isinstance(settings.bandwidth, str):
        return np.full(n_classes, settings.bandwidth * settings.bandwidth_scale)
    shared = bandwidth(coords, settings.bandwidth, settings.bandwidth_scale)
    widths = np.full(n_classes, shared)
    if settings.sharing == "class":
        for k in range(n_classes):
            rows = coords[drawn[:, k] > 0]
            # Of one point, or of equal ones, no bandwidth can be had.
            if len(rows) and np.ptp(rows, axis=0).any():
                widths[k] = bandwidth(rows, settings.bandwidth, settings.bandwidth_scale)
    return widths


def check_prior(class_prior: ArrayLike, n_classes: int) -> Floats:
    """Check that a given class prior is one, (class,)."""
    prior = to_doubles(class_prior, "class_prior")
    if prior.shape != (n_classes,) or not (prior.min() > 0 and abs(prior.sum() - 1) < 1e-6):
        raise InputError(
            f"class_prior must hold {n_classes} probabilities above 0 that sum to 1; got "
            f"{class_prior!r}. Pass one for each class, in the order of classes."
        )
    return prior


class Fit(NamedTuple):
    """What EM ends with."""

    prob_label: Floats  # (obs, class): of a labelled row its label
    class_prior: Floats  # of these probabilities; a drawn one is that of the last epoch
    n_iter: int
    converged: bool  # whether the last epoch changed no probability by more than the tolerance


def fit_mixture(
    kernel: Kernel,
    start: Floats,
    known: Floats,
    labeled: NDArray[np.bool_],
    settings: KDESettings,
    class_prior: Floats | None,
    rng: np.random.Generator,
    sample_weight: Floats | None = None,
) -> Fit:
    """Alternate between class densities and label probabilities.

    With weights ``w_jk = lambda_j q_jk``, lambda_j that of the settings for labelled rows and 1
    else, times the row's sample weight, f_k(s) = sum_j w_jk N(s; s_j, h_k^2 I) / sum_j w_jk, q_ik
    is proportional to pi_k f_k(s_i), and pi_k = sum_j w_jk / sum_j lambda_j, which maximises the
    weighted objective of the paper's section 4 (the update of its appendix E.3 is that for weights
    of 1). A drawn prior is the share of labels drawn, not weighted by lambda, as in the published
    code, which does not weigh the densities of the first epoch either.

    With one bandwidth pi_k and sum_j w_jk cancel: an epoch sets q to the rows of K w, each divided
    by its sum, and puts the known labels back (label propagation, Zhu and Ghahramani 2002). A prior
    that is given or drawn does not cancel.
    """
    q = start.copy()
    q[labeled] = known
    alike = np.ones(len(q)) if sample_weight is None else sample_weight
    row_weight = np.where(labeled, settings.labeled_weight, 1.0) * alike
    drawn = settings.prior_update == "drawn"
    in_prior = alike if drawn else row_weight
    in_densities = q
    prior = np.average(q, axis=0, weights=in_prior) if class_prior is None else class_prior
    for epoch in range(1, settings.max_epochs + 1):
        # The first epoch's prior is that of the labels started from, whichever way it is updated.
        if class_prior is None and drawn and epoch > 1:
            prior = np.average(draw_labels(q, 1, rng)[0], axis=0, weights=in_prior)
        counted_as = row_weight if epoch > 1 or settings.weighted_start else alike
        raw = expect(kernel, in_densities * counted_as[:, np.newaxis], prior, q)
        updated = raw.copy()
        updated[labeled] = known
        change = float(np.abs(updated - q).max())
        q = updated
        if class_prior is None and not drawn:
            prior = np.average(q, axis=0, weights=in_prior)
        in_densities = q if settings.clamp_densities else raw
        if change <= settings.tolerance:
            return Fit(q, prior, epoch, True)
    return Fit(q, prior, settings.max_epochs, False)


def expect(kernel: Kernel, weight: Floats, prior: Floats, previous: Floats) -> Floats:
    """Label probabilities from densities and prior; rows that no density reaches keep theirs."""
    total = weight.sum(axis=0)
    mass = total - weight if kernel.leave_one_out else total[np.newaxis]
    with np.errstate(divide="ignore"):
        # Without mass the sum of kernels is 0 as well, and stays so.
        logs = kernel.log_sums(weight) - np.log(np.where(mass > 0, mass, 1.0)) + np.log(prior)
    reached = np.isfinite(logs).any(axis=1)
    found = previous.copy()
    found[reached] = softmax(logs[reached], axis=1)
    return found
