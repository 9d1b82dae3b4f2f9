"""Credal sets of class probabilities from Venn-Abers predictors: intervals, decisions, learning.

Names load on first use. They are listed once, in ``__init__.pyi``.
"""

from __future__ import annotations

from bayescal.core.quantity import (
    CELLS,
    CURVE,
    CURVE_DRAWS,
    DATA,
    ROW,
    Reference,
    Variable,
    lazy_names,
    named,
    undrawn,
)

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)

NAME = "credal"
TITLE = "Venn-Abers predictors and credible bounds of class probabilities"
ESTIMAND = (
    "prob: the probability of the label given its score, P(Y = 1 | score), or of each class given "
    "the score of that class. prob_lower, prob_upper: the same after pseudo-observations of the "
    "other label, and of this one. decision, admissible: the class decided on, and those that "
    "cannot be ruled out, under the bounds. proper: whether class probabilities lie between them."
)
_BY_CLASS = ("label_class",)
_BY_ROW = ("obs", "label_class")
VARIABLES: tuple[Variable, ...] = (
    Variable(
        "prob",
        "class probability",
        _BY_ROW,
        ROW,
        point="prob",
        meaning="The share of the class among all rows of the population with this score.",
    ),
    *named("prob_lower", "prob_upper", "admissible", dims=_BY_ROW, role=ROW),
    *named("decision", "proper", dims=("obs",), role=ROW),
    *undrawn("p0", "p1", "target_score", dims=_BY_ROW),
    *undrawn("improper", "target_row", dims=("obs",)),
    *named("intercept", dims=_BY_CLASS, full="middle of the curve"),
    *named("description", dims=_BY_CLASS),
    *named("curve", role=DATA, full="calibration curve"),
    *named("weight", dims=("label_class", "spline"), full="rise of the curve"),
    *named("increment", dims=("label_class", "step"), full="steps"),
    *named("rate", dims=("label_class", "cell"), full="label rates"),
    *(one._replace(dims=(*_BY_CLASS, *one.dims)) for one in (*CELLS, *CURVE_DRAWS)),
    *named("node_rate", dims=("label_class", "node"), role=CURVE),
    *named("never_errs", dims=("label_class", "end")),
    # A parameter's densities are summed over its dims.
    *undrawn(*(f"log_prior/{name}" for name in ("intercept", "weight", "increment", "rate"))),
    *undrawn("mean_rate", "rate_spread", dims=_BY_CLASS),
    *undrawn(
        "model_average/weight", "model_average/nuts_draws", dims=("label_class", "description")
    ),
    *undrawn("cell_rank", dims=("label_class", "cell")),
    *undrawn(
        *("selected_gap", "prevalence_lower", "prevalence_upper"),
        *("merged_regret", "least_width"),
        dims=_BY_CLASS,
    ),
    *undrawn("calibration_score", dims=("calibration", "label_class")),
    *undrawn(
        *("calibration_label", "calibration_rows", "calibration_weight"), dims=("calibration",)
    ),
    *undrawn("all_target_scores", dims=("target", "label_class")),
)
REFERENCES: tuple[Reference, ...] = (
    Reference(
        "self-learning",
        'V. M. Bordini, S. Destercke and B. Quost, "Self-Learning from Pairwise Credal Labels", '
        "ECAI 2024. https://hal.science/hal-04886134",
        "Credal sets from Venn-Abers predictors (Algorithm 1), discounting (8) and (9), projection "
        "(7), self-learning, Algorithms 2-4.",
    ),
    Reference(
        "ivap",
        'V. Vovk, I. Petej and V. Fedorova, "Large-scale probabilistic predictors with and without '
        'guarantees of validity", NeurIPS 2015. https://arxiv.org/abs/1511.00213',
        "Inductive Venn-Abers predictors, section 2; merged probabilities, section 4.",
    ),
    Reference(
        "walley",
        'P. Walley, "Inferences from Multinomial Data: Learning about a Bag of Marbles", Journal '
        "of the Royal Statistical Society B 58(1), 1996. "
        "https://doi.org/10.1111/j.2517-6161.1996.tb02065.x",
        "Imprecise Dirichlet model: bounds by pseudo-observations.",
    ),
    Reference(
        "ramsay",
        'J. O. Ramsay, "Monotone Regression Splines in Action", Statistical Science 3(4), 1988. '
        "https://doi.org/10.1214/ss/1177012761",
        "I-splines of the rising curve.",
    ),
)
