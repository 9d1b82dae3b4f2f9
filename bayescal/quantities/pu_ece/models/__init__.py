"""Priors of label rates, one file each, joined with data."""

from __future__ import annotations

from bayescal.core.calibration_curve.curve_average import CurveAverage
from bayescal.core.calibration_curve.smooth_curve import SmoothCurve
from bayescal.quantities.pu_ece.data import PUProblem
from bayescal.quantities.pu_ece.models.average import Average
from bayescal.quantities.pu_ece.models.base import LabelModel
from bayescal.quantities.pu_ece.models.mixture_bins import Bins
from bayescal.quantities.pu_ece.priors import Priors


def label_model(problem: PUProblem, priors: Priors) -> LabelModel | Average:
    """Join a problem and its priors; a smooth curve alone is an average over one description."""
    prior = priors.label_rate
    if isinstance(prior, SmoothCurve):
        prior = CurveAverage(curve=prior, rough=0, segments=0)
    if isinstance(prior, CurveAverage):
        return Average.of(problem, prior, priors.class_prior, priors.calibrated)
    return Bins.of(problem, prior, priors.class_prior)
