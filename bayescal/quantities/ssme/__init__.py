"""Evaluating several classifiers from few labels and many unlabelled scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from bayescal.core.lazy import lazy_names
from bayescal.core.room import Reference

# Bound here, once: modules of the same names would take the names when something loads it first.
from bayescal.quantities.ssme.bounds import bounds
from bayescal.quantities.ssme.ensemble import ensemble
from bayescal.quantities.ssme.metrics import Metrics, metrics, subgroup_metrics

if TYPE_CHECKING:
    from bayescal.quantities.ssme import baselines
    from bayescal.quantities.ssme.effective import effective_sample_size, rescaled_error
    from bayescal.quantities.ssme.estimator import (
        Estimate,
        estimate,
        estimate_by_group,
        estimate_each,
    )
    from bayescal.quantities.ssme.fitting import cases, describe, pairing
    from bayescal.quantities.ssme.flow import FlowSettings
    from bayescal.quantities.ssme.flow_estimator import FlowEstimate, estimate_flow
    from bayescal.quantities.ssme.model import build_model
    from bayescal.quantities.ssme.priors import GaussianMixture, Priors, StudentTMixture, Tilt
    from bayescal.quantities.ssme.simulating import replicate
    from bayescal.quantities.ssme.variant import Variant

NAME = "ssme"
TITLE = "Semi-supervised evaluation of several classifiers"
ESTIMAND = (
    "accuracy, auc, auprc, log_loss, brier: the metric of each classifier in the population that "
    "labeled and unlabelled rows are from. ece, mce: mean and largest gap between score and "
    "probability of the label over bins of the score."
)
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
DIMS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(_METRICS, ("classifier",)),
    **{f"yardsticks/{name}": ("method", "classifier") for name in _METRICS},
    "intercept": ("label_class",),
    "slope": ("label_class",),
    "weight": ("classifier",),
    "group_intercept": ("group", "label_class"),
    "group_slope": ("group",),
    "class_share": ("label_class",),
    "location": ("label_class", "dim"),
    "log_width": ("label_class", "dim"),
    "log_prior/intercept": (),
    "log_prior/slope": (),
    "log_prior/weight": (),
    "log_prior/group_intercept": (),
    "log_prior/group_slope": (),
    "log_prior/class_share": (),
    "log_prior/location": (),
    "log_prior/log_width": (),
    "class_prior": ("label_class",),
    "prob_label": ("obs", "label_class"),
    "label": ("label_row",),
}
WATCHED = _METRICS

_HOME = {
    "Estimate": "estimator",
    "FlowEstimate": "flow_estimator",
    "FlowSettings": "flow",
    "GaussianMixture": "priors",
    "Priors": "priors",
    "StudentTMixture": "priors",
    "Tilt": "priors",
    "Variant": "variant",
    "build_model": "model",
    "cases": "fitting",
    "describe": "fitting",
    "effective_sample_size": "effective",
    "estimate": "estimator",
    "estimate_by_group": "estimator",
    "estimate_each": "estimator",
    "estimate_flow": "flow_estimator",
    "pairing": "fitting",
    "replicate": "simulating",
    "rescaled_error": "effective",
}

__all__ = [
    "DIMS",
    "ESTIMAND",
    "NAME",
    "REFERENCES",
    "TITLE",
    "WATCHED",
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
    "cases",
    "describe",
    "effective_sample_size",
    "ensemble",
    "estimate",
    "estimate_by_group",
    "estimate_each",
    "estimate_flow",
    "metrics",
    "pairing",
    "replicate",
    "rescaled_error",
    "subgroup_metrics",
]

__getattr__, __dir__ = lazy_names(globals(), _HOME, ("baselines",))
