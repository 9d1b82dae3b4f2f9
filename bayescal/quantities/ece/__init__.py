"""Expected calibration error from fully labelled rows: estimate, bounds and posterior."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayescal.core.lazy import lazy_names
from bayescal.core.quantity import Reference

# Bound here, once: the module of the same name would take the name when something loads it first.
from bayescal.quantities.ece.bounds import bounds

if TYPE_CHECKING:
    from bayescal.core.calibration_curve.smooth_curve import SmoothCurve
    from bayescal.quantities.ece.bounds import least_bound_n_bins, optimal_n_bins
    from bayescal.quantities.ece.command import COMMAND
    from bayescal.quantities.ece.estimator import Estimate, estimate
    from bayescal.quantities.ece.model import build_model
    from bayescal.quantities.ece.plan import plan
    from bayescal.quantities.ece.priors import HierarchicalBins, IndependentBins, Priors

NAME = "ece"
TITLE = "Expected calibration error"
ESTIMAND = (
    "tce: the mean over the population of |P(Y = 1 | score) - score|. ece: the same after scores "
    "and labels are averaged within bins. mce: the largest such gap of a bin."
)
KIND = "errors"
REFERENCES: tuple[Reference, ...] = (
    Reference(
        "pu-ece",
        '"Estimating Expected Calibration Error for Positive-Unlabeled Learning", Transactions on '
        "Machine Learning Research, 2025. https://openreview.net/forum?id=SvoBtLIrPZ",
        "Binned ECE, Eq. (1); uniform-width and uniform-mass bins, section 3.1; order of the "
        "number of bins, Corollary 1 with every label known.",
    ),
    Reference(
        "futami-fujisawa",
        'F. Futami and M. Fujisawa, "Information-theoretic Generalization Analysis for Expected '
        'Calibration Error", NeurIPS 2024. https://arxiv.org/abs/2405.15709',
        "Bounds of the bias of the binned ECE.",
    ),
    Reference(
        "kumar",
        'A. Kumar, P. Liang and T. Ma, "Verified Uncertainty Calibration", NeurIPS 2019. '
        "https://arxiv.org/abs/1909.10155",
        "l2 calibration error and its debiased estimate, section 5.",
    ),
    Reference(
        "rubin",
        'D. B. Rubin, "The Bayesian Bootstrap", Annals of Statistics 9(1), 1981. '
        "https://doi.org/10.1214/aos/1176345338",
        "Posterior of the scores' distribution, and of what classifiers on the same rows share.",
    ),
)
_HOME = {
    "COMMAND": "command",
    "Estimate": "estimator",
    "HierarchicalBins": "priors",
    "IndependentBins": "priors",
    "Priors": "priors",
    "SmoothCurve": "priors",
    "build_model": "model",
    "estimate": "estimator",
    "least_bound_n_bins": "bounds",
    "optimal_n_bins": "bounds",
    "plan": "plan",
}

__all__ = [
    "COMMAND",
    "ESTIMAND",
    "KIND",
    "NAME",
    "REFERENCES",
    "TITLE",
    "Estimate",
    "HierarchicalBins",
    "IndependentBins",
    "Priors",
    "SmoothCurve",
    "bounds",
    "build_model",
    "estimate",
    "least_bound_n_bins",
    "optimal_n_bins",
    "plan",
]

__getattr__, __dir__ = lazy_names(globals(), _HOME)
