"""Calibration errors as Deterministics of a PyMC model that has label rates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from bayescal.core.functionals import (
    bin_mean,
    calibration_gap,
    expected_calibration_error,
    maximum_calibration_error,
)
from bayescal.curves.cells import Problem, pad


def mass_of_rows(problem: Problem, size: int) -> Any:
    """Add the shares of the population in each cell, given the rows alone, (cell,)."""
    count = pad(problem.cells.count, size)
    gamma = pm.Gamma("gamma", np.maximum(count, 1), 1, dims="cell") * (count > 0)
    return gamma / gamma.sum()


def add_errors(problem: Problem, rate: Any, mass: Any, size: int) -> None:
    """Add label rates and gaps of the bins, and the calibration errors, to the model in context."""
    n_bins = problem.bins.n_bins
    score = pm.Data("mean_score", pad(problem.cells.mean_score, size), dims="cell")
    member = pm.Data("membership", pad(problem.membership(), size, n_bins), dims=("cell", "bin"))
    support = pm.Data("support", pad(problem.support(), size, n_bins), dims=("cell", "bin"))
    bin_mass = mass @ member
    weight = mass + member @ pt.eq(bin_mass, 0)
    label_rate = bin_mean(weight, rate, support)
    confidence = bin_mean(weight, score, support)
    pm.Deterministic("label_rate", label_rate, dims="bin")
    pm.Deterministic("gap", calibration_gap(label_rate, confidence), dims="bin")
    pm.Deterministic("ece", expected_calibration_error(bin_mass, label_rate, confidence))
    pm.Deterministic("tce", expected_calibration_error(mass, rate, score))
    pm.Deterministic("mce", maximum_calibration_error(bin_mass, label_rate, confidence))
