"""Metrics under labels that a baseline imputes: the step that most baselines share."""

from __future__ import annotations

import numpy as np

from bayescal.core.checks import check_choice, generator
from bayescal.core.errors import InputError
from bayescal.core.quantity import Floats
from bayescal.quantities.ssme.data import Panel
from bayescal.quantities.ssme.metrics.label_draws import expected_metrics, with_known_labels
from bayescal.quantities.ssme.metrics.metrics import Metrics, metrics

READINGS = ("hard", "soft", "drawn")


def imputed_metrics(
    panel: Panel, prob_label: Floats, reading: str, *, n_draws: int = 500, seed: int = 0
) -> Metrics:
    """Measure every classifier where labels that are not known are replaced by imputed ones."""
    check_choice(reading, READINGS, "reading")
    prob = with_known_labels(panel, prob_label)
    if reading == "drawn":
        return expected_metrics(panel, prob, n_draws, generator(seed))
    if reading == "hard":
        prob = np.eye(panel.n_classes)[prob.argmax(axis=1)]
    return metrics(panel.probs, prob)


def check_labels(panel: Panel, method: str, *, classes: int = 1) -> None:
    """Check that enough classes have a label for a method to be defined."""
    found = np.unique(panel.y[panel.labeled])
    if len(found) < classes:
        what = "a labelled row" if classes == 1 else f"labelled rows of {classes} classes or more"
        got = (
            f"all {panel.n_labeled} labels are {panel.classes[found[0]]!r}"
            if len(found)
            else f"none of {panel.n_obs} rows is labelled"
        )
        raise InputError(
            f"{method} needs {what}; {got}. Label more rows, or use a method that works without."
        )
