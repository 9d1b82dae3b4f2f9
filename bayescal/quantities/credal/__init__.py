"""Credal sets of class probabilities from Venn-Abers predictors: intervals, decisions, learning.

Names load on first use. They are listed once, in ``__init__.pyi``.
"""

from __future__ import annotations

import lazy_loader

from bayescal.core.quantity import Reference

# Not lazy: the module of the same name would take the name when something loads it first.
from bayescal.quantities.credal.bounds import bounds as bounds

__getattr__, _, __all__ = lazy_loader.attach_stub(__name__, __file__)
__all__ += ["ESTIMAND", "KIND", "NAME", "REFERENCES", "TITLE"]


def __dir__() -> list[str]:
    return __all__


NAME = "credal"
TITLE = "Venn-Abers predictors and credible bounds of class probabilities"
ESTIMAND = (
    "prob: the probability of the label given its score, P(Y = 1 | score), or of each class given "
    "the score of that class. prob_lower, prob_upper: the same after pseudo-observations of the "
    "other label, and of this one. decision, admissible: the class decided on, and those that "
    "cannot be ruled out, under the bounds. proper: whether class probabilities lie between them."
)
KIND = "rows"
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
