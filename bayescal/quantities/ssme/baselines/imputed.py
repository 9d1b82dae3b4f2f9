"""Metrics under labels that a baseline imputes: the step that most baselines share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayescal.core.checks import check_choice
from bayescal.core.errors import InputError
from bayescal.quantities.ssme.metrics import Metrics, metrics
from bayescal.quantities.ssme.panel import Panel

type Floats = NDArray[np.float64]

READINGS = ("hard", "soft", "drawn")
# Numbers held at once by label draws: 32 MB.
_CHUNK = 4_000_000


def imputed_metrics(
    panel: Panel, prob_label: Floats, reading: str, *, n_draws: int = 500, seed: int = 0
) -> Metrics:
    """Measure every classifier where labels that are not known are replaced by imputed ones.

    Parameters
    ----------
    panel : Panel
        Scores and the labels that are known, which stay as they are.
    prob_label : ndarray of shape (obs, class)
        Probability of each label given to each row.
    reading : {"hard", "soft", "drawn"}
        What a probability is read as: the most probable label (the first of equals), the
        probability itself as a weight, or `n_draws` draws of labels, over which metrics are
        averaged.
    n_draws : int, default 500
        Number of draws, for "drawn" only.
    seed : int, default 0
        Same seed, same draws.

    Returns
    -------
    Metrics
        Arrays of shape (classifier,). AUC and AUPRC are nan if the labels imputed are all of one
        class, in every draw if labels are drawn.

    Raises
    ------
    InputError
        If `reading` or `n_draws` is not one of those allowed.
    """
    check_choice(reading, READINGS, "reading")
    prob = with_known_labels(panel, prob_label)
    if reading == "soft":
        return metrics(panel.probs, prob)
    if reading == "hard":
        return metrics(panel.probs, np.eye(panel.n_classes)[prob.argmax(axis=1)])
    check_count(n_draws, "n_draws")
    rng = np.random.default_rng(seed)
    size = max(1, _CHUNK // prob.size)
    counts = [min(size, n_draws - start) for start in range(0, n_draws, size)]
    parts = [metrics(panel.probs, draw_labels(prob, count, rng)) for count in counts]
    return mean_over_draws(Metrics(*(np.concatenate(part) for part in zip(*parts, strict=True))))


def with_known_labels(panel: Panel, prob_label: Floats) -> Floats:
    """Put certainty where labels are known.

    Parameters
    ----------
    panel : Panel
        Holds the known labels.
    prob_label : ndarray of shape (..., obs, class)
        Probabilities.

    Returns
    -------
    ndarray
        A copy in which labelled rows are one-hot.
    """
    prob = np.array(prob_label, dtype=np.float64)
    prob[..., panel.labeled, :] = np.eye(panel.n_classes)[panel.y[panel.labeled]]
    return prob


def draw_labels(prob: Floats, n_draws: int, rng: np.random.Generator) -> Floats:
    """Draw labels as one-hot rows.

    Parameters
    ----------
    prob : ndarray of shape (obs, class)
        Probability of each label.
    n_draws : int
        Number of draws.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray of shape (draw, obs, class)
        One-hot labels.
    """
    # The last bound is left out: rounding could put it below a uniform number.
    bounds = np.cumsum(prob, axis=1)[:, :-1]
    label = (rng.random((n_draws, len(prob), 1)) >= bounds).sum(axis=2)
    return np.asarray(np.eye(prob.shape[1])[label])


def mean_over_draws(found: Metrics) -> Metrics:
    """Average over draws, leaving out draws in which a metric does not exist.

    Parameters
    ----------
    found : Metrics
        Arrays of shape (draw, classifier).

    Returns
    -------
    Metrics
        Arrays of shape (classifier,); nan where a metric exists in no draw.
    """

    def mean(values: Floats) -> Floats:
        exists = np.isfinite(values)
        total = np.where(exists, values, 0.0).sum(axis=0)
        number = exists.sum(axis=0)
        return np.where(number > 0, total / np.maximum(number, 1), np.nan)

    return Metrics(*(mean(values) for values in found))


def check_labels(panel: Panel, method: str, *, classes: int = 1) -> None:
    """Check that enough classes have a label for a method to be defined.

    Parameters
    ----------
    panel : Panel
        Scores and labels.
    method : str
        What the message calls the method.
    classes : int, default 1
        How many classes must have a labelled row.

    Raises
    ------
    InputError
        If fewer have.
    """
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


def check_count(value: int, name: str) -> None:
    """Check that a number of draws or resamples is a whole number above 0.

    Parameters
    ----------
    value : int
        The number.
    name : str
        What the message calls it.

    Raises
    ------
    InputError
        If it is not.
    """
    if not isinstance(value, int | np.integer) or value < 1:
        raise InputError(f"{name} must be a whole number above 0; got {value!r}. Pass 500.")
