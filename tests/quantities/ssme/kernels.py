"""Kernel sums written out pair by pair, for the tests of every way to take them."""

import numpy as np
from scipy.stats import norm


def by_hand(coords, widths, weight, leave_one_out=False):
    """Sums of products of normal densities."""
    n, n_classes = weight.shape
    found = np.zeros((n, n_classes))
    for i in range(n):
        for k in range(n_classes):
            density = norm.pdf(coords, coords[i], widths[k]).prod(axis=1)
            if leave_one_out:
                density[i] = 0
            found[i, k] = density @ weight[:, k]
    return found


def contrasts(log_sums):
    """What is meant: classes of a row against each other."""
    return log_sums - log_sums[:, :1]


def made(n=60, d=2, k=3, seed=0, spread=1.0):
    rng = np.random.default_rng(seed)
    return spread * rng.normal(size=(n, d)), rng.dirichlet(np.ones(k), n)
