"""Regressions on binomial counts, for tests of the Gaussian approximation."""

import numpy as np

from bayescal.inference.direct import BinomialCells, Regression


def binomial_regression(offset, design, count, positives) -> Regression:
    return Regression(offset, design, BinomialCells(np.asarray(count), np.asarray(positives)))
