"""The paper's number: metrics under labels that a mixture of kernel densities finds likely."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.checks import generator
from bayescal.core.errors import InputError
from bayescal.core.quantity import Floats
from bayescal.core.scores import Scores
from bayescal.quantities.ssme.data import Panel, panel_of
from bayescal.quantities.ssme.kde.fitting import fit_panel
from bayescal.quantities.ssme.kde.settings import KDESettings, settings_of
from bayescal.quantities.ssme.metrics.label_draws import expected_metrics
from bayescal.quantities.ssme.metrics.metrics import Metrics, join


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
    scores: Scores | Panel,
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
    scores : Scores or Panel
        Scores of one or several classifiers, some or all labels missing.
    settings : {"paper", "release"} or KDESettings, default "paper"
        What the paper's text says, what its published code does, or choices of one's own.
    class_prior : array-like of shape (class,), optional
        Probability of each class, if known; otherwise it is learned.
    n_draws : int or None, default 500
        Number of label draws that metrics are averaged over; None for the metrics under the label
        probabilities themselves.
    ece : {"equal-mass", "equal-width", "top-label"}, each also with "-optimal", optional
        Convention of the calibration errors; see `metrics`.
    seed : int, default 0
        Same seed, same estimate.

    Returns
    -------
    Estimate
        Metrics first, then the fit.

    Raises
    ------
    InputError
        If an option is out of range or unknown.

    Notes
    -----
    The estimand is each metric of each classifier on the population that all rows come from. Class
    k has the density f_k of the log ratios s of all classifiers together, of probabilities clipped
    to [1e-6, 1 - 1e-6], a bound that the paper does not have; EM alternates between Gaussian kernel
    estimates of f_k and P(y_i = k | s_i), proportional to pi_k f_k(s_i), with known labels put
    back. See `fit_mixture` for what this comes down to with one bandwidth.

    A class without a label starts with the rows that the mean score gives it. Narrow kernels leave
    them there; kernels that reach far hand them to the classes that have labels, epoch by epoch.
    Without any label EM smooths the start, to equal probabilities at all rows if kernels reach far.
    Do not rely on the estimate in either case. With all labels known it is that of the labels.

    Above 5,000 rows kernels reach no further than the nearest neighbours (`NeighborKernel`), or of
    a single binary classifier are summed on a grid (`GridKernel`).

    References
    ----------
    .. [1] D. Shanmugam, S. Sadhuka, M. Raghavan, J. Guttag, B. Berger and E. Pierson, "Evaluating
       multiple models using labeled and unlabeled data", 2025, section 4 and appendix E.
       https://arxiv.org/abs/2501.11866
    .. [2] The published code. https://github.com/divyashan/SSME

    Examples
    --------
    >>> import numpy as np
    >>> import bayescal as bc
    >>> from bayescal.quantities.ssme.estimator import estimate
    >>> rng = np.random.default_rng(20)
    >>> score = rng.random(200)
    >>> label = [*(rng.random(20) < score[:20]).astype(int), *[None] * 180]
    >>> found = estimate(bc.Scores.stack({"a": score, "b": score**2}, y_true=label))
    >>> found.accuracy.shape, found.prob_label.shape
    ((2,), (200, 2))
    """
    panel = panel_of(scores)
    return _estimate(panel, settings, class_prior, n_draws, ece, seed, by_group=False)


def estimate_each(
    scores: Scores | Panel,
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

    Raises
    ------
    InputError
        As for `estimate`.

    Examples
    --------
    >>> import bayescal as bc
    >>> from bayescal.quantities.ssme.estimator import estimate_each
    >>> scores = bc.Scores.stack({"a": [0.1, 0.8, 0.9], "b": [0.2, 0.4, 0.7]}, y_true=[0, None, 1])
    >>> estimate_each(scores).prob_label.shape
    (2, 3, 2)
    """
    panel = panel_of(scores)
    cases = [
        _estimate(panel.select(m), settings, class_prior, n_draws, ece, seed, by_group=False)
        for m in range(panel.n_classifiers)
    ]
    measured = [Metrics._make(case[: len(Metrics._fields)]) for case in cases]
    fits = zip(*(case[len(Metrics._fields) :] for case in cases), strict=True)
    return Estimate(*join(measured, np.concatenate), *(np.stack(values) for values in fits))


def estimate_by_group(
    scores: Scores | Panel,
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

    Examples
    --------
    >>> import bayescal as bc
    >>> from bayescal.quantities.ssme.estimator import estimate_by_group
    >>> scores = bc.Scores(y_true=[0, None, 1], y_prob=[0.1, 0.8, 0.9], group=["u", "v", "v"])
    >>> estimate_by_group(scores).accuracy.shape
    (1, 2)
    """
    panel = panel_of(scores)
    if panel.group is None:
        raise InputError("scores must have groups; got none. Pass group= to Scores.")
    return _estimate(panel, settings, class_prior, n_draws, ece, seed, by_group=True)


def _estimate(
    panel: Panel,
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
    fit, widths = fit_panel(panel, settings_of(settings), class_prior, rng)
    found = expected_metrics(panel, fit.prob_label, n_draws, rng, ece=ece, by_group=by_group)
    return Estimate(*found, *fit, widths)
