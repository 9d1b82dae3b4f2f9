"""Models of calibration curves, one file a prior, and which of them a prior stands for."""

from __future__ import annotations

from bayescal.quantities.credal.data import Problem
from bayescal.quantities.credal.models.base import LabelModel
from bayescal.quantities.credal.models.imprecise_dirichlet import Imprecise
from bayescal.quantities.credal.models.isotonic import Isotonic
from bayescal.quantities.credal.models.monotone import CELLS, Monotone
from bayescal.quantities.credal.priors import IncrementIsotonic, LabelRatePrior, MonotoneCurve


def cells_of(prior: LabelRatePrior) -> int:
    """Number of cells that a prior's model counts rows in."""
    return CELLS if isinstance(prior, MonotoneCurve) else prior.bins


def label_model(problem: Problem, prior: LabelRatePrior) -> LabelModel:
    """Join a problem and a prior."""
    if isinstance(prior, MonotoneCurve):
        return Monotone.of(problem, prior)
    if isinstance(prior, IncrementIsotonic):
        return Isotonic(problem, prior)
    return Imprecise(problem, prior)
