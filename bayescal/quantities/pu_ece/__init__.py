"""Expected calibration error from positive and unlabelled rows: estimate, bounds and posterior."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayescal.core.lazy import lazy_names
from bayescal.core.quantity import Reference

# Bound here, once: the module of the same name would take the name when something loads it first.
from bayescal.quantities.pu_ece.bounds import bounds

if TYPE_CHECKING:
    from bayescal.core.calibration_curve.smooth_curve import SmoothCurve
    from bayescal.quantities.pu_ece.bounds import fcmi_of_vc, generalization_gap, optimal_n_bins
    from bayescal.quantities.pu_ece.class_prior import estimate_class_prior
    from bayescal.quantities.pu_ece.classifier import PUClassifier
    from bayescal.quantities.pu_ece.command import COMMAND
    from bayescal.quantities.pu_ece.estimator import Estimate, estimate
    from bayescal.quantities.pu_ece.mixture_tce import tce_from_logits
    from bayescal.quantities.pu_ece.model import build_model
    from bayescal.quantities.pu_ece.plan import plan
    from bayescal.quantities.pu_ece.priors import IndependentBins, MixtureBins, PriorDraws, Priors
    from bayescal.quantities.pu_ece.risk import nnpu_risk, upu_risk

NAME = "pu_ece"
TITLE = "Expected calibration error from positive and unlabelled rows"
ESTIMAND = (
    "tce: the mean over the unlabelled population of |P(Y = 1 | score) - score|. ece: the same "
    "after scores and labels are averaged within bins. mce: the largest such gap of a bin. "
    "class_prior: the share of positives in that population."
)
KIND = "errors"
REFERENCES: tuple[Reference, ...] = (
    Reference(
        "pu-ece",
        '"Estimating Expected Calibration Error for Positive-Unlabeled Learning", Transactions on '
        "Machine Learning Research, 2025. https://openreview.net/forum?id=SvoBtLIrPZ",
        "PU-ECE and its bins, section 3.1; number of bins, Corollary 1; bias, Theorem 1; error of "
        "the class prior, Theorem 2; generalization, Theorem 3 and Corollary 2.",
    ),
    Reference(
        "prentice-pyke",
        'R. L. Prentice and R. Pyke, "Logistic disease incidence models and case-control studies", '
        "Biometrika 66(3), 1979. https://doi.org/10.1093/biomet/66.3.403",
        "Likelihood of a curve from samples taken by outcome.",
    ),
    Reference(
        "garg",
        'S. Garg, Y. Wu, A. J. Smola, S. Balakrishnan and Z. C. Lipton, "Mixture Proportion '
        'Estimation and PU Learning: A Modern Approach", NeurIPS 2021. '
        "https://arxiv.org/abs/2111.00980",
        "Best bin estimation of the class prior, Algorithm 1.",
    ),
    Reference(
        "kiryo",
        "R. Kiryo, G. Niu, M. C. du Plessis and M. Sugiyama, "
        '"Positive-Unlabeled Learning with Non-Negative Risk Estimator", NeurIPS 2017. '
        "https://arxiv.org/abs/1703.00593",
        "Risk estimators uPU and nnPU, Eqs. (3) and (6).",
    ),
    Reference(
        "rubin",
        'D. B. Rubin, "The Bayesian Bootstrap", Annals of Statistics 9(1), 1981. '
        "https://doi.org/10.1214/aos/1176345338",
        "Posterior of the unlabelled scores' distribution.",
    ),
)
_HOME = {
    "COMMAND": "command",
    "plan": "plan",
    "Estimate": "estimator",
    "IndependentBins": "priors",
    "MixtureBins": "priors",
    "PUClassifier": "classifier",
    "PriorDraws": "priors",
    "Priors": "priors",
    "SmoothCurve": "priors",
    "build_model": "model",
    "estimate": "estimator",
    "estimate_class_prior": "class_prior",
    "fcmi_of_vc": "bounds",
    "generalization_gap": "bounds",
    "nnpu_risk": "risk",
    "optimal_n_bins": "bounds",
    "tce_from_logits": "mixture_tce",
    "upu_risk": "risk",
}

__all__ = [
    "COMMAND",
    "ESTIMAND",
    "KIND",
    "NAME",
    "REFERENCES",
    "TITLE",
    "Estimate",
    "IndependentBins",
    "MixtureBins",
    "PUClassifier",
    "PriorDraws",
    "Priors",
    "SmoothCurve",
    "bounds",
    "build_model",
    "estimate",
    "estimate_class_prior",
    "fcmi_of_vc",
    "generalization_gap",
    "nnpu_risk",
    "optimal_n_bins",
    "plan",
    "tce_from_logits",
    "upu_risk",
]

__getattr__, __dir__ = lazy_names(globals(), _HOME)
