"""Reliability of the rows of each predicted class: confidence and accuracy by bin."""

from __future__ import annotations

import numpy as np

from bayescal.core.bins.binning import Binning
from bayescal.core.quantity import Floats
from bayescal.quantities.temperature.errors import bin_of
from bayescal.quantities.temperature.loss import Integers

STAGES = ("before", "after")
"""Dimension ``stage`` of a result: confidences before calibration, and after."""


def reliability(
    score: Floats, predicted: Integers, label: Integers, n_classes: int, binning: Binning
) -> dict[str, Floats]:
    """Labelled rows, their mean confidence and accuracy, (class, bin); NaN without rows."""
    known = np.flatnonzero(label >= 0)
    n_bins = len(binning.edges(score)) - 1
    cell = predicted[known] * n_bins + bin_of(score, binning)[known]

    def total(weights: Floats | None = None) -> Floats:
        held = np.bincount(cell, weights, n_classes * n_bins).astype(np.float64)
        return held.reshape(n_classes, n_bins)

    rows = total()
    with np.errstate(invalid="ignore"):
        return {
            "bin_rows": rows,
            "bin_confidence": total(score[known]) / rows,
            "bin_accuracy": total(predicted[known] == label[known]) / rows,
        }
