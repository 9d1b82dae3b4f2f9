"""Priors of label rates, one file each, joined with data."""

from __future__ import annotations

from bayescal.core.calibration_curve.smooth_curve import SmoothCurve
from bayescal.quantities.pu_ece.data import PUProblem
from bayescal.quantities.pu_ece.models.base import LabelModel
from bayescal.quantities.pu_ece.models.mixture_bins import Bins
from bayescal.quantities.pu_ece.models.smooth_curve import Curve
from bayescal.quantities.pu_ece.priors import Priors


def label_model(problem: PUProblem, priors: Priors) -> LabelModel:
    """Join a problem and its priors."""
    if isinstance(priors.label_rate, SmoothCurve):
        return Curve.of(problem, priors.label_rate, priors.class_prior)
    return Bins.of(problem, priors.label_rate, priors.class_prior)
