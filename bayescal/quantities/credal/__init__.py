"""Credal sets of class probabilities from Venn-Abers predictors: intervals, decisions, learning."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayescal.core.lazy import lazy_names
from bayescal.core.quantity import Reference

# Bound here, once: the module of the same name would take the name when something loads it first.
from bayescal.quantities.credal.bounds import bounds

if TYPE_CHECKING:
    from bayescal.quantities.credal.command import COMMAND
    from bayescal.quantities.credal.estimator import Estimate, estimate
    from bayescal.quantities.credal.model import build_model
    from bayescal.quantities.credal.plan import plan
    from bayescal.quantities.credal.priors import (
        ImpreciseDirichlet,
        IncrementIsotonic,
        MonotoneCurve,
        Priors,
    )
    from bayescal.quantities.credal.self_learning.algorithm import SelfLearningSettings
    from bayescal.quantities.credal.self_learning.data import SelfLearningRows
    from bayescal.quantities.credal.self_learning.label_sets import LabelSets
    from bayescal.quantities.credal.self_learning.network import NetworkClassifier
    from bayescal.quantities.credal.self_learning.pseudo_labels import (
        credal_labels,
        hard_labels,
        soft_labels,
    )
    from bayescal.quantities.credal.self_learning.run import SelfLearned, self_learn
    from bayescal.quantities.credal.sets.credal_sets import expectation, probability, reachable
    from bayescal.quantities.credal.sets.credible import CredibleSets, credible_sets
    from bayescal.quantities.credal.sets.decisions import (
        e_admissible,
        interval_dominance,
        maximin,
        zero_one,
    )
    from bayescal.quantities.credal.sets.discounting import discount
    from bayescal.quantities.credal.sets.imprecision import imprecision
    from bayescal.quantities.credal.sets.intervals import is_proper
    from bayescal.quantities.credal.sets.projection import divergence, project
    from bayescal.quantities.credal.venn_abers.calibrator import VennAbersCalibrator
    from bayescal.quantities.credal.venn_abers.cross import (
        CrossVennAbers,
        fit_cross_venn_abers,
        merge_folds,
    )
    from bayescal.quantities.credal.venn_abers.ivap import InductiveVennAbers, fit_ivap, merged
    from bayescal.quantities.credal.venn_abers.one_vs_rest import OneVsRest, fit_one_vs_rest

NAME = "credal"
TITLE = "Venn-Abers predictors and credible bounds of class probabilities"
ESTIMAND = (
    "prob: the probability of the label given its score, P(Y = 1 | score), or of each class given "
    "the score of that class. prob_lower, prob_upper: the same after imagined observations of the "
    "other label, and of this one. decision, admissible: the class decided on, and those that "
    "cannot be ruled out, under the bounds. proper: whether class probabilities lie between them."
)
KIND = "rows"
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
_HOME = {
    "COMMAND": "command",
    "plan": "plan",
    "CredibleSets": "sets.credible",
    "CrossVennAbers": "venn_abers.cross",
    "Estimate": "estimator",
    "ImpreciseDirichlet": "priors",
    "IncrementIsotonic": "priors",
    "InductiveVennAbers": "venn_abers.ivap",
    "LabelSets": "self_learning.label_sets",
    "MonotoneCurve": "priors",
    "NetworkClassifier": "self_learning.network",
    "OneVsRest": "venn_abers.one_vs_rest",
    "Priors": "priors",
    "SelfLearned": "self_learning.run",
    "SelfLearningRows": "self_learning.data",
    "SelfLearningSettings": "self_learning.algorithm",
    "VennAbersCalibrator": "venn_abers.calibrator",
    "build_model": "model",
    "credal_labels": "self_learning.pseudo_labels",
    "credible_sets": "sets.credible",
    "discount": "sets.discounting",
    "divergence": "sets.projection",
    "e_admissible": "sets.decisions",
    "estimate": "estimator",
    "expectation": "sets.credal_sets",
    "fit_cross_venn_abers": "venn_abers.cross",
    "fit_ivap": "venn_abers.ivap",
    "fit_one_vs_rest": "venn_abers.one_vs_rest",
    "hard_labels": "self_learning.pseudo_labels",
    "imprecision": "sets.imprecision",
    "interval_dominance": "sets.decisions",
    "is_proper": "sets.intervals",
    "maximin": "sets.decisions",
    "merge_folds": "venn_abers.cross",
    "merged": "venn_abers.ivap",
    "probability": "sets.credal_sets",
    "project": "sets.projection",
    "reachable": "sets.credal_sets",
    "self_learn": "self_learning.run",
    "soft_labels": "self_learning.pseudo_labels",
    "zero_one": "sets.decisions",
}

__all__ = [
    "COMMAND",
    "ESTIMAND",
    "KIND",
    "NAME",
    "REFERENCES",
    "TITLE",
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
    "credal_labels",
    "credible_sets",
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
    "plan",
    "probability",
    "project",
    "reachable",
    "self_learn",
    "soft_labels",
    "zero_one",
]

__getattr__, __dir__ = lazy_names(globals(), _HOME)
