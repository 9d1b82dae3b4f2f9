"""Reliability of the rows of each predicted class: confidence and accuracy by bin."""

from __future__ import annotations

import numpy as np

from bayescal.core.quantity import Floats
from bayescal.quantities.temperature.class_errors import CellSums

STAGES = ("before", "after")
"""Dimension ``stage`` of a result: confidences before calibration, and after."""


def reliability(sums: CellSums) -> dict[str, Floats]:
    """Effective labelled rows, mean confidence and accuracy, (class, bin); NaN without rows."""
    with np.errstate(invalid="ignore"):
        found = {
            "bin_rows": sums.labeled * sums.per_weight,
            "bin_confidence": sums.labeled_score / sums.labeled,
            "bin_accuracy": sums.correct / sums.labeled,
        }
    return {name: values.reshape(-1, sums.n_bins) for name, values in found.items()}
