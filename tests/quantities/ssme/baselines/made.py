"""Scores that the tests of the baselines share."""

from dataclasses import replace

import numpy as np

import bayescal as bc
from bayescal.quantities.ssme.data import panel_of


def simulated(n_obs=300, n_labeled=40, n_classes=2, n_classifiers=3, seed=1):
    """Scores of noisy classifiers, with the labels of the first rows known; and all labels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n_obs)
    y[:n_classes] = np.arange(n_classes)
    logits = 1.5 * np.eye(n_classes)[y] + rng.normal(size=(n_classifiers, n_obs, n_classes))
    probs = np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)
    known = [*map(int, y[:n_labeled]), *[None] * (n_obs - n_labeled)]
    return stacked(probs, known), y


def stacked(probs, y_true):
    """Scores of classifiers named by their place."""
    probs = np.asarray(probs)
    columns = probs[..., 1] if probs.shape[2] == 2 else probs
    names = {f"c{m}": column for m, column in enumerate(columns)}
    classes = list(range(probs.shape[2]))
    return bc.Scores.stack(names, y_true=y_true, classes=None if len(classes) == 2 else classes)


def unlabeled(scores):
    """The panel of scores, without any label."""
    panel = panel_of(scores)
    return replace(panel, y=np.full_like(panel.y, -1))
