"""Credal sets of class probabilities from Venn-Abers predictors: intervals, decisions, learning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from bayescal.core.lazy import lazy_names
from bayescal.core.room import Reference

# Bound here, once: the module of the same name would take the name when something loads it first.
from bayescal.quantities.credal.bounds import bounds

if TYPE_CHECKING:
    from bayescal.quantities.credal.calibrator import VennAbersCalibrator
    from bayescal.quantities.credal.credal_sets import expectation, probability, reachable
    from bayescal.quantities.credal.credible import CredibleSets, credible_sets
    from bayescal.quantities.credal.cross_venn_abers import (
        CrossVennAbers,
        fit_cross_venn_abers,
        merge_folds,
    )
    from bayescal.quantities.credal.decisions import (
        e_admissible,
        interval_dominance,
        maximin,
        zero_one,
    )
    from bayescal.quantities.credal.discounting import discount
    from bayescal.quantities.credal.estimator import Estimate, estimate
    from bayescal.quantities.credal.fitting import cases, describe, pairing
    from bayescal.quantities.credal.intervals import is_proper
    from bayescal.quantities.credal.ivap import InductiveVennAbers, fit_ivap, merged
    from bayescal.quantities.credal.label_sets import LabelSets
    from bayescal.quantities.credal.model import build_model
    from bayescal.quantities.credal.multiclass import OneVsRest, fit_one_vs_rest
    from bayescal.quantities.credal.network import NetworkClassifier
    from bayescal.quantities.credal.priors import (
        ImpreciseDirichlet,
        IncrementIsotonic,
        MonotoneCurve,
        Priors,
    )
    from bayescal.quantities.credal.projection import divergence, project
    from bayescal.quantities.credal.pseudo_labels import credal_labels, hard_labels, soft_labels
    from bayescal.quantities.credal.self_learning import SelfLearningSettings
    from bayescal.quantities.credal.self_learning_rows import SelfLearningRows
    from bayescal.quantities.credal.self_learning_run import SelfLearned, self_learn
    from bayescal.quantities.credal.simulating import replicate
    from bayescal.quantities.credal.size import imprecision

NAME = "credal"
TITLE = "Venn-Abers predictors and credible bounds of class probabilities"
ESTIMAND = (
    "prob: the probability of the label given its score, P(Y = 1 | score), or of each class given "
    "the score of that class. prob_lower, prob_upper: the same after imagined observations of the "
    "other label, and of this one. decision, admissible: the class decided on, and those that "
    "cannot be ruled out, under the bounds. proper: whether class probabilities lie between them."
)
REFERENCES: tuple[Reference, ...] = (
    Reference(
        "self-learning",
        'C. Rodriguez, V. M. Bordini, S. Destercke and B. Quost, "Self Learning using Venn-Abers '
        'predictors", COPA 2023, PMLR 204. https://proceedings.mlr.press/v204/rodriguez23a.html',
        "Credal sets from Venn-Abers predictors, discounting (8) and (9), projection (7), "
        "self-learning, Algorithms 2-4.",
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
        "Imprecise Dirichlet model: bounds by imagined observations.",
    ),
    Reference(
        "ramsay",
        'J. O. Ramsay, "Monotone Regression Splines in Action", Statistical Science 3(4), 1988. '
        "https://doi.org/10.1214/ss/1177012761",
        "I-splines of the rising curve.",
    ),
)
DIMS: Mapping[str, tuple[str, ...]] = {
    "prob": ("obs", "label_class"),
    "prob_lower": ("obs", "label_class"),
    "prob_upper": ("obs", "label_class"),
    "p0": ("obs", "label_class"),
    "p1": ("obs", "label_class"),
    "improper": ("obs",),
    "proper": ("obs",),
    "decision": ("obs",),
    "admissible": ("obs", "label_class"),
    "intercept": ("label_class",),
    "weight": ("label_class", "spline"),
    "increment": ("label_class", "step"),
    "rate": ("label_class", "cell"),
    "events": ("label_class", "cell"),
    "cell_count": ("label_class", "cell"),
    "cell_rank": ("label_class", "cell"),
    "cell_score": ("label_class", "cell"),
    "target_score": ("obs", "label_class"),
    "target_row": ("obs",),
    "selected_gap": ("label_class",),
    "prevalence_lower": ("label_class",),
    "prevalence_upper": ("label_class",),
    "merged_regret": ("label_class",),
    "least_width": ("label_class",),
    "log_prior/intercept": (),
    "log_prior/weight": (),
    "log_prior/increment": (),
    "log_prior/rate": (),
}
WATCHED = ("prob",)

_HOME = {
    "CredibleSets": "credible",
    "CrossVennAbers": "cross_venn_abers",
    "Estimate": "estimator",
    "ImpreciseDirichlet": "priors",
    "IncrementIsotonic": "priors",
    "InductiveVennAbers": "ivap",
    "LabelSets": "label_sets",
    "MonotoneCurve": "priors",
    "NetworkClassifier": "network",
    "OneVsRest": "multiclass",
    "Priors": "priors",
    "SelfLearned": "self_learning_run",
    "SelfLearningRows": "self_learning_rows",
    "SelfLearningSettings": "self_learning",
    "VennAbersCalibrator": "calibrator",
    "build_model": "model",
    "cases": "fitting",
    "credal_labels": "pseudo_labels",
    "credible_sets": "credible",
    "describe": "fitting",
    "discount": "discounting",
    "divergence": "projection",
    "e_admissible": "decisions",
    "estimate": "estimator",
    "expectation": "credal_sets",
    "fit_cross_venn_abers": "cross_venn_abers",
    "fit_ivap": "ivap",
    "fit_one_vs_rest": "multiclass",
    "hard_labels": "pseudo_labels",
    "imprecision": "size",
    "interval_dominance": "decisions",
    "is_proper": "intervals",
    "maximin": "decisions",
    "merge_folds": "cross_venn_abers",
    "merged": "ivap",
    "pairing": "fitting",
    "probability": "credal_sets",
    "project": "projection",
    "reachable": "credal_sets",
    "replicate": "simulating",
    "self_learn": "self_learning_run",
    "soft_labels": "pseudo_labels",
    "zero_one": "decisions",
}

__all__ = [
    "DIMS",
    "ESTIMAND",
    "NAME",
    "REFERENCES",
    "TITLE",
    "WATCHED",
    "CredibleSets",
    "CrossVennAbers",
    "Estimate",
    "ImpreciseDirichlet",
    "IncrementIsotonic",
    "InductiveVennAbers",
    "LabelSets",
    "MonotoneCurve",
    "NetworkClassifier",
    "OneVsRest",
    "Priors",
    "SelfLearned",
    "SelfLearningRows",
    "SelfLearningSettings",
    "VennAbersCalibrator",
    "bounds",
    "build_model",
    "cases",
    "credal_labels",
    "credible_sets",
    "describe",
    "discount",
    "divergence",
    "e_admissible",
    "estimate",
    "expectation",
    "fit_cross_venn_abers",
    "fit_ivap",
    "fit_one_vs_rest",
    "hard_labels",
    "imprecision",
    "interval_dominance",
    "is_proper",
    "maximin",
    "merge_folds",
    "merged",
    "pairing",
    "probability",
    "project",
    "reachable",
    "replicate",
    "self_learn",
    "soft_labels",
    "zero_one",
]

__getattr__, __dir__ = lazy_names(globals(), _HOME)
