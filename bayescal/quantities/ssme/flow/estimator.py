"""SSME-NF: metrics under labels that a flow with a mixture of normals finds likely."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bayescal.core.checks import check_seed, generator
from bayescal.core.quantity import Floats
from bayescal.core.scores import Scores
from bayescal.quantities.ssme.baselines.ensemble import mean_score
from bayescal.quantities.ssme.data import Panel, panel_of
from bayescal.quantities.ssme.estimator import Estimate
from bayescal.quantities.ssme.flow.base import FixedBase, JointBase
from bayescal.quantities.ssme.flow.gaussian_em import fit_normals, label_probs, normals_of
from bayescal.quantities.ssme.flow.normalizing_flow import check_coordinates, latent_points
from bayescal.quantities.ssme.flow.settings import FlowSettings, settings_of
from bayescal.quantities.ssme.kde.alr import alr
from bayescal.quantities.ssme.kde.em import Fit
from bayescal.quantities.ssme.kde.fitting import check_prior
from bayescal.quantities.ssme.metrics.label_draws import expected_metrics, with_known_labels


def estimate_flow(
    scores: Scores | Panel,
    *,
    settings: str | FlowSettings = "paper",
    class_prior: ArrayLike | None = None,
    n_draws: int | None = 500,
    ece: str | None = None,
    seed: int = 0,
) -> Estimate:
    """Estimate every classifier's metrics by SSME-NF.

    Parameters
    ----------
    scores : Scores or Panel
        Scores of several classifiers or classes, some or all labels missing.
    settings : {"paper", "joint"} or FlowSettings, default "paper"
        What the paper's text says, normals without correlations that are trained with the flow, or
        choices of one's own.
    class_prior : array-like of shape (class,), optional
        Probability of each class, if known; otherwise it is learned.
    n_draws : int or None, default 500
        Number of label draws that metrics are averaged over; None for the metrics under the label
        probabilities themselves.
    ece : {"equal-mass", "equal-width", "top-label"}, each also with "-optimal", optional
        Convention of the calibration errors; see `metrics`.
    seed : int, default 0
        Same seed, same estimate (on one machine).

    Returns
    -------
    Estimate
        Metrics first, then the fit.

    Raises
    ------
    InputError
        If the extra ``flow`` is not installed, there is but one binary classifier, or an option is
        out of range.

    Notes
    -----
    Standardized log ratios s of all classifiers, of probabilities clipped to [1e-6, 1 - 1e-6] (a
    bound that the paper does not have), go through a flow T to a mixture of normals, one a
    class. By the paper, these normals are first fixed at the means and covariances of s, each row
    as much of a class as the mean score says (known labels in place), and T maximises the
    likelihood of section 4 for 300 epochs: labelled rows count with the density of their class,
    others with that of the mixture. Then T stays, and EM moves the normals for 700 epochs. The text
    says neither how s gives the first normals nor with which optimiser, batches or learning rate.

    With ``"joint"`` the normals, without correlations, are trained with the flow on the mean score
    as label probability, and EM for as long as anything changes, at most 50 epochs, starts from it.

    Computations of the flow are in single precision on the CPU.

    References
    ----------
    .. [1] D. Shanmugam, S. Sadhuka, M. Raghavan, J. Guttag, B. Berger and E. Pierson, "Evaluating
       multiple models using labeled and unlabeled data", 2025, section 4 and appendix C.
       https://arxiv.org/abs/2501.11866

    Examples
    --------
    >>> import bayescal as bc
    >>> from bayescal.quantities.ssme.flow.estimator import estimate_flow
    >>> scores = bc.Scores(y_true=[0, None], y_prob=[0.1, 0.8])
    >>> estimate_flow(scores)
    Traceback (most recent call last):
    ...
    bayescal.core.errors.InputError: a flow of coupling layers needs at least two coordinates; \
got one. Pass several classifiers or classes, or use SSME-KDE.
    """
    panel = panel_of(scores)
    prior = None if class_prior is None else check_prior(class_prior, panel.n_classes)
    check_seed(seed)
    fit = _fit(panel, settings_of(settings), prior, seed)
    rng = generator(seed)
    return Estimate(*expected_metrics(panel, fit.prob_label, n_draws, rng, ece=ece), *fit)


def _fit(panel: Panel, settings: FlowSettings, class_prior: Floats | None, seed: int) -> Fit:
    """Train the flow, then the normals that it leads to."""
    coords = alr(panel.probs, "last")
    check_coordinates(coords)
    spread = coords.std(axis=0)
    coords = (coords - coords.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    start = mean_score(panel)
    diagonal = settings.covariance == "diagonal"
    normals = normals_of(coords, start, diagonal=diagonal)
    if settings.base == "joint":
        points = latent_points(coords, JointBase(normals.mean, start), settings, seed)
    else:
        prior = start.mean(axis=0) if class_prior is None else class_prior
        possible = with_known_labels(panel, np.ones_like(start))
        points = latent_points(coords, FixedBase(normals, prior, possible), settings, seed)
        start = label_probs(points, normals, prior)
    return fit_normals(
        points,
        start,
        panel.known,
        panel.labeled,
        class_prior,
        diagonal=diagonal,
        max_epochs=settings.em_epochs,
        tolerance=settings.em_tolerance,
    )
