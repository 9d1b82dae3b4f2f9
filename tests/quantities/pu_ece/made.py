"""Problems that the tests of the quantity share."""

import numpy as np

from bayescal.core.bin_counts import BinCounts
from bayescal.core.binning import Binning
from bayescal.curves.cells import Problem
from bayescal.quantities.pu_ece.data import PUProblem, problems
from bayescal.quantities.pu_ece.priors import Priors
from bayescal.quantities.pu_ece.simulator import truth


def problem(name="over", size=(200, 1500), seed=1, n_bins=5, priors=None) -> PUProblem:
    """Rows of a simulated truth, counted."""
    data = truth(name).scores(size, seed)
    return problems(data, priors or Priors(0.5), Binning(n_bins))[0]


def of_counts(positive, unlabeled, mean_score) -> PUProblem:
    """Bins of equal width given outright, which are the cells."""
    edges = np.linspace(0, 1, len(unlabeled) + 1)
    bins = BinCounts(edges, unlabeled, np.zeros(len(unlabeled), int), mean_score)
    return PUProblem.of(Problem({"classifier": "made"}, bins, bins), np.asarray(positive))
