"""Calibration splits for tests of the posterior."""

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


def problem(data, prior):
    """Problem of all target rows under a prior."""
    from bayescal.quantities.credal.data import Problem
    from bayescal.quantities.credal.models.base import cells_of

    return Problem.of(data, np.arange(data.n_target), cells_of(prior))
