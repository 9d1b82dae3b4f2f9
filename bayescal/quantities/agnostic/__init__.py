"""Calibration over all score intervals, costs of decisions and ROC curves from unlabelled rows.

Names load on first use. They are listed once, in ``__init__.pyi``.
"""

from __future__ import annotations

from bayescal.core.quantity import (
    AVERAGE,
    CALIBRATION_CURVE,
    CELLS,
    CURVE,
    CURVE_DRAWS,
    LESS,
    METRIC,
    MORE,
    SHARED_ROWS,
    Reference,
    Variable,
    lazy_names,
    named,
    undrawn,
)

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)

NAME = "agnostic"
TITLE = "Interval calibration measure"
ESTIMAND = (
    "c, the interval calibration error: the largest |E[f; p1 < f <= p2] - P(Y = 1, p1 < f <= p2)| "
    "over all score intervals. ks: the same over the intervals up to a score. auc: the area under "
    "the ROC curve. cost: the expected cost of a row under a decision rule; unlabeled_cost: the "
    "mean cost of the unlabelled rows."
)
_UNLABELED_COST = "Mean cost of the unlabelled rows under the decision rule."
_METRICS = (
    ("auc", "AUC", MORE, "Probability that a positive row has a higher score than a negative one."),
    (
        *("c", "c", LESS),
        "The largest difference of scores and positives summed over an interval of scores, as a "
        "share of all rows.",
    ),
    ("ks", "ks", LESS, "The same over intervals from 0 up to a score (Kolmogorov-Smirnov)."),
    ("cost", "cost", LESS, "Expected cost of a row under the decision rule."),
    ("unlabeled_auc", "AUC, unlabelled rows", None, "AUC of the unlabelled rows."),
    ("unlabeled_cost", "cost, unlabelled rows", None, _UNLABELED_COST),
)
_FULL = {"c": "interval calibration error (c)", "ks": "KS calibration error (ks)"}
VARIABLES: tuple[Variable, ...] = (
    *(
        Variable(name, title, (), METRIC, better, name, meaning, _FULL.get(name, ""))
        for name, title, better, meaning in _METRICS
    ),
    *CALIBRATION_CURVE,
    *named("fpr", "tpr", "unlabeled_fpr", "unlabeled_tpr", dims=("threshold",), role=CURVE),
    *undrawn(
        *("roc_threshold", "roc_straight", "positive_above", "negative_above"), dims=("threshold",)
    ),
    *CELLS,
    *AVERAGE,
    *CURVE_DRAWS,
    *SHARED_ROWS,
)
REFERENCES: tuple[Reference, ...] = (
    Reference(
        "gao",
        'Y. Gao, A. Parameswaran and J. Peng, "On the interpretability of conditional probability '
        'estimates in the agnostic setting", Electronic Journal of Statistics 11(2), 2017. '
        "https://doi.org/10.1214/17-EJS1376SI",
        "The measure, Definition 2; bounds, Theorem 2 and Claims 2 and 4; costs, Claim 1 and "
        "Eq. (2); isotonic regression, Claims 5 to 7; ROC curves, section 4.",
    ),
    Reference(
        "arrieta-ibarra",
        "I. Arrieta-Ibarra, P. Gujral, J. Tannen, M. Tygert and C. Xu, "
        '"Metrics of Calibration for Probabilistic Predictions", Journal of Machine Learning '
        "Research 23, 2022. https://jmlr.org/papers/v23/22-0658.html",
        "The same measure under the name ECCE-R, and ECCE-MAD.",
    ),
    Reference(
        "massart",
        'P. Massart, "The Tight Constant in the Dvoretzky-Kiefer-Wolfowitz Inequality", Annals of '
        "Probability 18(3), 1990. https://doi.org/10.1214/aop/1176990746",
        "The two-sided bound.",
    ),
    Reference(
        "montiel-olea",
        'J. L. Montiel Olea and M. Plagborg-Møller, "Simultaneous confidence bands: Theory, '
        'implementation, and an application to SVARs", Journal of Applied Econometrics 34(1), '
        "2019. https://doi.org/10.1002/jae.2656",
        "Simultaneous bands of ROC curves, Algorithm 2.",
    ),
)
