"""The paper's calibration error without bins: gaps at every score under the fitted mixture."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bayescal.core.checks import generator
from bayescal.core.quantity import Floats
from bayescal.core.scores import Scores
from bayescal.quantities.ssme.data import Panel, panel_of
from bayescal.quantities.ssme.kde.alr import alr
from bayescal.quantities.ssme.kde.em import Fit, expect
from bayescal.quantities.ssme.kde.fitting import fit_panel
from bayescal.quantities.ssme.kde.kernels import kernel_of
from bayescal.quantities.ssme.kde.settings import KDESettings, settings_of


def estimate_unbinned_ece(
    scores: Scores | Panel,
    *,
    settings: str | KDESettings = "paper",
    class_prior: ArrayLike | None = None,
    seed: int = 0,
) -> Floats:
    """Estimate every classifier's calibration error by SSME-KDE without bins and label draws.

    Parameters
    ----------
    scores : Scores or Panel
        Scores of one or several classifiers, some or all labels missing.
    settings : {"paper", "release"} or KDESettings, default "paper"
        As for `estimate`.
    class_prior : array-like of shape (class,), optional
        Probability of each class, if known; otherwise it is learned.
    seed : int, default 0
        Same seed, same estimate.

    Returns
    -------
    ndarray of shape (classifier,), in [0, 1]
        Mean gap between the probability of the predicted class and its conditional probability.

    Raises
    ------
    InputError
        If an option is out of range or unknown.

    Notes
    -----
    The mean over all rows of ``|P(y = k | p_j) - p_jk|``, with p_j the probabilities of classifier
    j and k its predicted class; of two classes that is the gap of the positive score. The joint
    density of all scores gives P(y | p_j) exactly: Gaussian kernels lose the other classifiers'
    coordinates by leaving them out. With one bandwidth it is a kernel average of the label
    probabilities over classifier j's own log ratios.

    The paper names this form and uses the binned one. A narrow kernel follows single labels, whose
    noise counts as error, so that the estimate is biased upwards where the binned one is less so.

    References
    ----------
    .. [1] D. Shanmugam, S. Sadhuka, M. Raghavan, J. Guttag, B. Berger and E. Pierson, "Evaluating
       multiple models using labeled and unlabeled data", 2025, appendix E.2.
       https://arxiv.org/abs/2501.11866

    Examples
    --------
    >>> import bayescal as bc
    >>> from bayescal.quantities.ssme.unbinned_error import estimate_unbinned_ece
    >>> scores = bc.Scores(y_true=[0, 1, None], y_prob=[0.2, 0.9, 0.6])
    >>> estimate_unbinned_ece(scores).shape
    (1,)
    """
    panel, chosen = panel_of(scores), settings_of(settings)
    fit, widths = fit_panel(panel, chosen, class_prior, generator(seed))
    return np.array(
        [_mean_gap(panel.select(m), fit, widths, chosen) for m in range(panel.n_classifiers)]
    )


def _mean_gap(panel: Panel, fit: Fit, widths: Floats, settings: KDESettings) -> float:
    """Mean gap of a single classifier under the joint fit."""
    kernel = kernel_of(alr(panel.probs, settings.reference), widths, settings.leave_one_out)
    row_weight = np.where(panel.labeled, settings.labeled_weight, 1.0)[:, np.newaxis]
    given_score = expect(kernel, fit.prob_label * row_weight, fit.class_prior, fit.prob_label)
    probs = panel.probs[0]
    rows, predicted = np.arange(len(probs)), probs.argmax(axis=1)
    return float(np.abs(given_score - probs)[rows, predicted].mean())
