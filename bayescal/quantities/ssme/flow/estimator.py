"""SSME-NF: metrics under labels that a flow with a mixture of normals finds likely."""

from __future__ import annotations

from numpy.typing import ArrayLike

from bayescal.core.checks import generator
from bayescal.core.scores import Scores
from bayescal.quantities.ssme.baselines.ensemble import mean_score
from bayescal.quantities.ssme.data import Panel, panel_of
from bayescal.quantities.ssme.estimator import Estimate, check_prior
from bayescal.quantities.ssme.flow.gaussian_em import fit_normals
from bayescal.quantities.ssme.flow.normalizing_flow import FlowSettings, latent_points
from bayescal.quantities.ssme.kde.alr import alr
from bayescal.quantities.ssme.metrics.label_draws import expected_metrics


def estimate_flow(
    scores: Scores | Panel,
    *,
    settings: FlowSettings | None = None,
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
    settings : FlowSettings, optional
        Size of the flow and its training; by default 10 couplings of 3 layers of 128 units.
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
    The flow is trained on the mean score as label probability, known labels in place; then EM fits
    a normal to each class where the flow takes the rows. Computations of the flow are in single
    precision on the CPU.

    References
    ----------
    .. [1] D. Shanmugam, S. Sadhuka, M. Raghavan, J. Guttag, B. Berger and E. Pierson, "Evaluating
       multiple models using labeled and unlabeled data", 2025, section 4.
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
    start = mean_score(panel)
    points = latent_points(alr(panel.probs), start, settings or FlowSettings(), seed)
    fit = fit_normals(points, start, panel.known, panel.labeled, prior)
    rng = generator(seed)
    return Estimate(*expected_metrics(panel, fit.prob_label, n_draws, rng, ece=ece), *fit)
