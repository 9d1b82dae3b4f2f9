"""Evaluating several classifiers from few labels and many unlabelled scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayescal.core.lazy import lazy_names
from bayescal.core.quantity import Reference
from bayescal.quantities.ssme.baselines.ensemble import ensemble

# Bound here, once: modules of the same names would take the names when something loads it first.
from bayescal.quantities.ssme.bounds import bounds
from bayescal.quantities.ssme.metrics.metrics import Metrics, metrics, subgroup_metrics

if TYPE_CHECKING:
    from bayescal.quantities.ssme import baselines
    from bayescal.quantities.ssme.command import COMMAND
    from bayescal.quantities.ssme.estimator import (
        Estimate,
        estimate,
        estimate_by_group,
        estimate_each,
    )
    from bayescal.quantities.ssme.flow.estimator import FlowEstimate, estimate_flow
    from bayescal.quantities.ssme.flow.normalizing_flow import FlowSettings
    from bayescal.quantities.ssme.kde.settings import Variant
    from bayescal.quantities.ssme.metrics.effective_sample_size import (
        effective_sample_size,
        rescaled_error,
    )
    from bayescal.quantities.ssme.model import build_model
    from bayescal.quantities.ssme.plan import plan
    from bayescal.quantities.ssme.priors import GaussianMixture, Priors, StudentTMixture, Tilt

NAME = "ssme"
TITLE = "Semi-supervised evaluation of several classifiers"
ESTIMAND = (
    "accuracy, auc, auprc, log_loss, brier: the metric of each classifier in the population that "
    "labeled and unlabelled rows are from. ece, mce: mean and largest gap between score and "
    "probability of the label over bins of the score."
)
KIND = "metrics"
REFERENCES: tuple[Reference, ...] = (
    Reference(
        "ssme",
        "D. Shanmugam, S. Sadhuka, M. Raghavan, J. Guttag, B. Berger and E. Pierson, "
        '"Evaluating multiple models using labeled and unlabeled data", 2025. '
        "https://arxiv.org/abs/2501.11866",
        "SSME-KDE, SSME-KDE-M and SSME-NF; baselines; effective sample size, appendix B.3.",
    ),
    Reference(
        "anderson",
        'J. A. Anderson, "Separate sample logistic discrimination", Biometrika 59(1), 1972. '
        "https://doi.org/10.1093/biomet/59.1.19",
        "Exponential tilt: densities given the class as tilts of the density of all scores.",
    ),
    Reference(
        "miller-dunson",
        'J. W. Miller and D. B. Dunson, "Robust Bayesian Inference via Coarsening", Journal of the '
        "American Statistical Association 114(527), 2019. "
        "https://doi.org/10.1080/01621459.2018.1469995",
        "Likelihood raised to a power, for a model that is not quite true.",
    ),
    Reference(
        "rubin",
        'D. B. Rubin, "The Bayesian Bootstrap", Annals of Statistics 9(1), 1981. '
        "https://doi.org/10.1214/aos/1176345338",
        "Posterior of the rows' distribution.",
    ),
)
_METRICS = Metrics._fields
_HOME = {
    "COMMAND": "command",
    "plan": "plan",
    "Estimate": "estimator",
    "FlowEstimate": "flow.estimator",
    "FlowSettings": "flow.normalizing_flow",
    "GaussianMixture": "priors",
    "Priors": "priors",
    "StudentTMixture": "priors",
    "Tilt": "priors",
    "Variant": "kde.settings",
    "build_model": "model",
    "effective_sample_size": "metrics.effective_sample_size",
    "estimate": "estimator",
    "estimate_by_group": "estimator",
    "estimate_each": "estimator",
    "estimate_flow": "flow.estimator",
    "rescaled_error": "metrics.effective_sample_size",
}

__all__ = [
    "COMMAND",
    "ESTIMAND",
    "KIND",
    "NAME",
    "REFERENCES",
    "TITLE",
    "Estimate",
    "FlowEstimate",
    "FlowSettings",
    "GaussianMixture",
    "Metrics",
    "Priors",
    "StudentTMixture",
    "Tilt",
    "Variant",
    "baselines",
    "bounds",
    "build_model",
    "effective_sample_size",
    "ensemble",
    "estimate",
    "estimate_by_group",
    "estimate_each",
    "estimate_flow",
    "metrics",
    "plan",
    "rescaled_error",
    "subgroup_metrics",
]

__getattr__, __dir__ = lazy_names(globals(), _HOME, ("baselines",))
