"""Scores that the tests of the quantity share."""

import numpy as np

import bayescal as bc


def binary(n=200, m=3, n_labeled=20, seed=0, group=None):
    """Overlapping calibrated-like scores of m classifiers; the first rows are labeled."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=n)
    logit = 1.5 * (2 * truth - 1) + rng.normal(size=(m, n))
    prob = 1 / (1 + np.exp(-logit))
    label = [int(y) if i < n_labeled else None for i, y in enumerate(truth)]
    scores = {f"c{j}": prob[j] for j in range(m)}
    return bc.Scores.stack(scores, y_true=label, group=group), truth


def multiclass(n=200, m=3, k=4, n_labeled=20, seed=0):
    """The same for k classes."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(k, size=n)
    logit = 2.0 * np.eye(k)[truth] + rng.normal(size=(m, n, k))
    prob = np.exp(logit)
    prob /= prob.sum(axis=2, keepdims=True)
    label = [int(y) if i < n_labeled else None for i, y in enumerate(truth)]
    return bc.Scores.stack({f"c{j}": prob[j] for j in range(m)}, y_true=label), truth
