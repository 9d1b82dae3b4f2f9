"""Expected calibration error from fully labelled rows: estimate, bounds and posterior.

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
    DATA,
    SHARED_ROWS,
    Reference,
    Variable,
    lazy_names,
    named,
    undrawn,
)

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)

NAME = "ece"
TITLE = "Expected calibration error"
ESTIMAND = (
    "tce: the mean over the population of |P(Y = 1 | score) - score|. ece: the same after scores "
    "and labels are averaged within bins. mce: the largest such gap of a bin."
)
VARIABLES: tuple[Variable, ...] = (
    *CALIBRATION_ERRORS,
    *CALIBRATION_CURVE,
    *BINS,
    *CELLS,
    *AVERAGE,
    *CURVE_DRAWS,
    *SHARED_ROWS,
    *undrawn("positives", dims=("bin",)),
    *undrawn("gap_direction", dims=("cell",)),
    *named("coef", dims=("basis",), full="calibration curve"),
    *named("rate", dims=("padded_bin",), full="label rates"),
    *named("common", role=DATA, full="common curve"),
    *named("concentration"),
)
REFERENCES: tuple[Reference, ...] = (
    Reference(
        "pu-ece",
        'Anonymous authors, "Estimating Expected Calibration Error for Positive-Unlabeled '
        'Learning", under review for Transactions on Machine Learning Research, 2025. '
        "https://openreview.net/forum?id=SvoBtLIrPZ",
        "Binned ECE, Eq. (1); uniform-width and uniform-mass bins, section 2.2.2; order of the "
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
