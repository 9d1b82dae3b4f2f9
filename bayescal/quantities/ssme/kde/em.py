"""EM for a mixture of kernel densities, one a class, in which some labels are known."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from bayescal.core.quantity import Floats
from bayescal.quantities.ssme.kde.kernels import Kernel
from bayescal.quantities.ssme.kde.settings import KDESettings
from bayescal.quantities.ssme.metrics.label_draws import draw_labels


class Fit(NamedTuple):
    """What EM ends with."""

    prob_label: Floats  # (obs, class): of a labeled row its label
    class_prior: Floats  # of the last epoch
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
) -> Fit:
    """Alternate between class densities and label probabilities.

    Notes
    -----
    With weights ``w_jk = lambda_j q_jk``, lambda_j that of the settings for labeled rows and 1
    else, f_k(s) = sum_j w_jk N(s; s_j, h_k^2 I) / sum_j w_jk, q_ik is proportional to
    pi_k f_k(s_i), and pi_k = sum_j w_jk / sum_j lambda_j, which maximises the weighted objective of
    [2]_, section 4. (The update of its appendix E.3 is that for weights of 1.) A drawn prior is
    the share of labels drawn, not weighted, as in the published code, which does not weigh the
    densities of the first epoch either.

    With one bandwidth for all classes pi_k and sum_j w_jk cancel: an epoch sets q to the rows of
    K w, each divided by its sum, and puts the known labels back. That is label propagation with
    clamped labels [1]_, which knows neither prior nor density. A prior that is given or drawn does
    not cancel. An unlabeled row that no class's density reaches keeps its probabilities.

    References
    ----------
    .. [1] X. Zhu and Z. Ghahramani, "Learning from labeled and unlabeled data with label
       propagation", Carnegie Mellon University, CMU-CALD-02-107, 2002, section 2.
    .. [2] D. Shanmugam et al., "Evaluating multiple models using labeled and unlabeled data",
       2025, section 4 and appendix E.3. https://arxiv.org/abs/2501.11866
    """
    q = start.copy()
    q[labeled] = known
    row_weight = np.where(labeled, settings.labeled_weight, 1.0)
    alike = np.ones(len(q))
    drawn = settings.prior_update == "drawn"
    in_prior = alike if drawn else row_weight
    in_densities = q
    prior = np.average(q, axis=0, weights=in_prior) if class_prior is None else class_prior
    for epoch in range(1, settings.max_epochs + 1):
        # The first epoch's prior is that of the labels started from, whichever way it is updated.
        if class_prior is None and epoch > 1:
            counted = draw_labels(q, 1, rng)[0] if drawn else q
            prior = np.average(counted, axis=0, weights=in_prior)
        counted_as = row_weight if epoch > 1 or settings.weighted_start else alike
        raw = expect(kernel, in_densities * counted_as[:, np.newaxis], prior, q)
        updated = raw.copy()
        updated[labeled] = known
        change = float(np.abs(updated - q).max())
        q = updated
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
