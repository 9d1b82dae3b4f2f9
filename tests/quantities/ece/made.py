"""Problems that the tests of the quantity share."""

import numpy as np

from bayescal.core.bin_counts import BinCounts
from bayescal.core.binning import Binning
from bayescal.curves.cells import Problem
from bayescal.quantities.ece.data import problem_of
from bayescal.quantities.ece.simulator import truth


def problem(name="over", n=300, seed=1, n_bins=5, *, fine=True, strategy="quantile") -> Problem:
    """Rows of a simulated truth, counted."""
    task = truth(name).scores(n, seed=seed).tasks()[0]
    return problem_of(task, fine, Binning(n_bins, strategy))


def of_counts(count, positives, mean_score, edges=None) -> Problem:
    """Bins given outright; equal widths unless edges are given."""
    if edges is None:
        edges = np.linspace(0, 1, len(count) + 1)
    bins = BinCounts(edges, count, positives, mean_score)
    return Problem({"classifier": "made"}, bins, bins)


def one_cell(count, positives, score) -> Problem:
    """A single bin that holds every row."""
    return of_counts([count], [positives], [score])


def on_grid(log_density, grid):
    """Weights of an even grid in proportion to a density, and the log of its integral."""
    weights = np.exp(log_density - log_density.max())
    integral = weights.sum() * (grid[1] - grid[0])
    return weights / weights.sum(), float(log_density.max() + np.log(integral))


def quantiles_on(grid, weights, levels):
    """Quantiles of a distribution on an even grid."""
    return grid[np.searchsorted(np.cumsum(weights), levels)]
