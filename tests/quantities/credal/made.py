"""Calibration splits, and bounds of class probabilities, made at random."""

import numpy as np

import bayescal as bc


def binary(n=60, target=5, seed=1, truth="logistic"):
    return bc.datasets.credal.truth(truth).split(n, target, seed)


def multiclass(n=90, target=6, classes=3, seed=1):
    rng = np.random.default_rng(seed)
    prob = rng.dirichlet(np.ones(classes), n + target)
    label = (prob[:n].cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    return bc.CalibrationSplit(
        calibration=bc.Scores(y_true=label, y_prob=prob[:n]), target=prob[n:]
    )


def random_classes(n, n_classes, seed, concentration=1.0):
    """Scores of several classes, and labels drawn from them."""
    rng = np.random.default_rng(seed)
    score = rng.dirichlet(np.full(n_classes, concentration), n)
    label = (score.cumsum(axis=1) < rng.random(n)[:, None]).sum(axis=1).clip(max=n_classes - 1)
    return score, label


def problem(data, prior):
    """Problem of all target rows under a prior."""
    from bayescal.quantities.credal.data import Problem
    from bayescal.quantities.credal.posterior import cells_of

    return Problem.of(data, np.arange(data.n_target), cells_of(prior, data.n_calibration))


def random_bounds(n, n_classes, seed, kind="proper"):
    """Bounds of shape (n, n_classes): around a probability vector, or with sums to one side."""
    rng = np.random.default_rng(seed)
    if kind == "proper":
        # Some zeros and ones among them, as Venn-Abers predictors give.
        centre = rng.dirichlet(np.full(n_classes, rng.choice([0.2, 1.0])), n)
        width = rng.random((n, 1)) * rng.random((n, n_classes))
        lower = centre - width * rng.random((n, n_classes))
        upper = centre + width * rng.random((n, n_classes))
        return lower.clip(0, 1), upper.clip(0, 1)
    scale = {"above": 1.02 + rng.random(n), "below": 0.98 * rng.random(n)}[kind]
    sums = rng.dirichlet(np.ones(n_classes), n) * scale[:, None]
    width = rng.random((n, 1)) ** 2 * rng.random((n, n_classes))
    if kind == "above":
        lower = np.minimum(sums, 1)
        kept = lower.sum(axis=1) > 1.001
        return lower[kept], (lower + width).clip(0, 1)[kept]
    upper = np.minimum(sums, 1)
    return (upper - width).clip(0, 1), upper
