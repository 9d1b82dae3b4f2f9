"""Metrics that are a mean over rows: what PPI++ and active testing can estimate."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayescal.core.checks import check_choice
from bayescal.core.errors import InputError
from bayescal.quantities.ssme.data import Panel

type Floats = NDArray[np.float64]

ROW_MEANS = ("accuracy", "log_loss", "brier")
GUESSES = ("self", "ensemble")
# A probability of 0 given to what happened: as far as float64 can be from it.
_EPSILON = float(np.finfo(np.float64).eps)


def row_values(probs: Floats, metric: str) -> Floats:
    """Value of a metric in each row for each label that the row could have."""
    check_row_mean(metric)
    n_classes = probs.shape[2]
    if metric == "accuracy":
        return np.asarray(np.eye(n_classes)[probs.argmax(axis=2)])
    if metric == "log_loss":
        return np.asarray(-np.log(np.clip(probs, _EPSILON, 1 - _EPSILON)))
    squares = (probs**2).sum(axis=2, keepdims=True) - 2 * probs + 1
    return np.asarray(squares / 2 if n_classes == 2 else squares)


def check_row_mean(metric: str) -> None:
    """Check that a metric is a mean over rows."""
    if metric not in ROW_MEANS:
        raise InputError(
            f"metric must be a mean over rows, one of {', '.join(map(repr, ROW_MEANS))}; got "
            f"{metric!r}. ECE, MCE, AUC and AUPRC are not means over rows: take another method."
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
