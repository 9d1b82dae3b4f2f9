"""Priors of label rates, one file each, joined with data."""

from __future__ import annotations

from bayescal.curves.cells import Problem
from bayescal.curves.priors import CurveAverage
from bayescal.curves.smooth import Smooth
from bayescal.quantities.ece.models.base import LabelModel
from bayescal.quantities.ece.models.hierarchical_bins import Hierarchical
from bayescal.quantities.ece.models.independent_bins import Independent
from bayescal.quantities.ece.priors import HierarchicalBins, IndependentBins, Priors, SmoothCurve


def label_model(problem: Problem, priors: Priors) -> LabelModel:
    """Join a problem and the one prior of its label rates."""
    match priors.label_rate:
        case CurveAverage():
            raise TypeError("an average has several priors; see Average")
        case SmoothCurve() as prior:
            return Smooth.of(problem, prior)
        case IndependentBins() as prior:
            return Independent(problem, prior)
        case HierarchicalBins() as prior:
            return Hierarchical(problem, prior)
