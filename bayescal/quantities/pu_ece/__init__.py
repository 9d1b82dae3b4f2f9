"""Expected calibration error from positive and unlabelled rows: estimate, bounds and posterior.

Names load on first use. They are listed once, in ``__init__.pyi``.
"""

from __future__ import annotations

from bayescal.core.quantity import (
    AVERAGE,
    BINS,
    CALIBRATION_CURVE,
    CALIBRATION_ERRORS,
    CELLS,
    CURVE_DRAWS,
    Reference,
    Variable,
    lazy_names,
    named,
    undrawn,
)

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)

NAME = "pu_ece"
TITLE = "Expected calibration error from positive and unlabelled rows"
ESTIMAND = (
    "tce: the mean over the unlabelled population of |P(Y = 1 | score) - score|. ece: the same "
    "after scores and labels are averaged within bins. mce: the largest such gap of a bin. "
    "class_prior: the share of positives in that population."
)
VARIABLES: tuple[Variable, ...] = (
    *CALIBRATION_ERRORS,
    *CALIBRATION_CURVE,
    *BINS,
    *CELLS,
    *AVERAGE,
    *CURVE_DRAWS,
    Variable(
        "class_prior",
        "class prior",
        point="class_prior",
        meaning="The share of positives among the unlabelled rows.",
    ),
    *undrawn(*("exceeds_one", "positive_mass", "negative_mass", "positive_count"), dims=("bin",)),
    *named("coef", dims=("basis",), full="calibration curve"),
    *undrawn(
        *("sensitivity/class_prior", "sensitivity/ece", "envelope_lower", "envelope_upper"),
        *("sensitivity/tce_lower", "sensitivity/tce_mean", "sensitivity/tce_upper"),
        dims=("class_prior_point",),
    ),
)
REFERENCES: tuple[Reference, ...] = (
    Reference(
        "pu-ece",
        'Anonymous authors, "Estimating Expected Calibration Error for Positive-Unlabeled '
        'Learning", under review for Transactions on Machine Learning Research, 2025. '
        "https://openreview.net/forum?id=SvoBtLIrPZ",
        "True calibration error, section 2.2.1; PU-ECE and its bins, sections 2.2.2 and 3.1; bias, "
        "Theorem 1; number of bins, Corollary 1 and section 5.1; error of "
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
