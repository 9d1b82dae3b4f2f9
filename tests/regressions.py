"""Regressions on binomial counts, for tests of the Gaussian approximation."""

import numpy as np

from bayescal.curves.cells import BinomialCells
from bayescal.inference.direct import Regression


def binomial_regression(offset, design, count, positives) -> Regression:
    return Regression(offset, design, BinomialCells(np.asarray(count), np.asarray(positives)))
