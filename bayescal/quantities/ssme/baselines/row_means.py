"""Metrics that are a mean over rows: what PPI++ and active testing can estimate."""

from __future__ import annotations

import numpy as np

from bayescal.core.checks import check_choice, shown
from bayescal.core.errors import InputError
from bayescal.core.quantity import Floats
from bayescal.quantities.ssme.data import Panel
from bayescal.quantities.ssme.metrics.metrics import ROW_MEANS, row_values

GUESSES = ("self", "ensemble")


def check_row_mean(metric: str) -> None:
    """Check that a metric is a mean over rows."""
    if not isinstance(metric, str) or metric not in ROW_MEANS:
        raise InputError(
            f"metric must be a mean over rows, one of {', '.join(map(repr, ROW_MEANS))}; got "
            f"{shown(metric)}. ECE, MCE, AUC and AUPRC are no means over rows: take another method."
        )


def guessed_values(panel: Panel, metric: str, guess: str) -> Floats:
    """Value of a metric in each row that is expected without its label, (classifier, obs)."""
    check_choice(guess, GUESSES, "guess")
    believed = panel.probs if guess == "self" else panel.probs.mean(axis=0, keepdims=True)
    return np.asarray((row_values(panel.probs, metric) * believed).sum(axis=2))


def observed_values(panel: Panel, metric: str) -> Floats:
    """Value of a metric in each labelled row, (classifier, labelled)."""
    rows = np.flatnonzero(panel.labeled)
    values = row_values(panel.probs[:, rows], metric)
    return np.asarray(values[:, np.arange(len(rows)), panel.y[rows]])
