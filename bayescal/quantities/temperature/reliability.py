"""Reliability of the rows of each predicted class: confidence and accuracy by bin."""

from __future__ import annotations

import numpy as np

from bayescal.core.quantity import Floats
from bayescal.quantities.temperature.class_errors import CellSums

STAGES = ("before", "after")
"""Dimension ``stage`` of a result: confidences before calibration, and after."""


def reliability(sums: CellSums) -> dict[str, Floats]:
    """Labelled rows, their mean confidence and accuracy, (class, bin); NaN without rows."""
    with np.errstate(invalid="ignore"):
        found = {
            "bin_rows": sums.labeled.astype(np.float64),
            "bin_confidence": sums.labeled_score / sums.labeled,
            "bin_accuracy": sums.correct / sums.labeled,
        }
    return {name: values.reshape(-1, sums.n_bins) for name, values in found.items()}
