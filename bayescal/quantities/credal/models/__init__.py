"""Models of probability curves, one file a prior, and which of them a prior stands for."""

from __future__ import annotations

from bayescal.core.bins.optimal_number import optimal_number
from bayescal.quantities.credal.data import Cells, Problem, RankCells, ScoreCells
from bayescal.quantities.credal.models.averaged import Averaged
from bayescal.quantities.credal.models.base import LabelModel
from bayescal.quantities.credal.models.imprecise_dirichlet import Imprecise
from bayescal.quantities.credal.models.isotonic import Isotonic
from bayescal.quantities.credal.models.monotone import CELLS, Monotone
from bayescal.quantities.credal.models.nodes import MOST
from bayescal.quantities.credal.priors import (
    MOST_BINS,
    AveragedCurve,
    IncrementIsotonic,
    LabelRatePrior,
    MonotoneCurve,
)


def cells_of(prior: LabelRatePrior, rows: int) -> Cells:
    """Cells that a prior's model counts so many calibration rows in."""
    if isinstance(prior, AveragedCurve):
        return ScoreCells(MOST)
    if isinstance(prior, MonotoneCurve):
        return RankCells(CELLS)
    if isinstance(prior.bins, int):
        return RankCells(prior.bins)
    # Within what a prior may ask for by number.
    return RankCells(min(max(2, optimal_number(rows)), MOST_BINS))


def label_model(problem: Problem, prior: LabelRatePrior) -> LabelModel:
    """Join a problem and a prior."""
    if isinstance(prior, AveragedCurve):
        return Averaged(problem, prior)
    if isinstance(prior, MonotoneCurve):
        return Monotone.of(problem, prior)
    if isinstance(prior, IncrementIsotonic):
        return Isotonic(problem, prior)
    return Imprecise(problem, prior)
