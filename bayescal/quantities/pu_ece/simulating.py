"""Data as the model says they arise, with what is true of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from bayescal.core.bin_counts import BinCounts
from bayescal.quantities.pu_ece.case import PUCase
from bayescal.quantities.pu_ece.curve import Curve
from bayescal.quantities.pu_ece.problem import PUProblem

type Floats = NDArray[np.float64]


def replicate(case: PUCase, rng: np.random.Generator) -> tuple[PUCase, dict[str, Floats]]:
    """Draw parameters from the prior, and counts from the model.

    Parameters
    ----------
    case : PUCase
        Under a curve the rows of each cell stay, and which of them are positives gives way; under
        bins both samples give way.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    case : PUCase
        The same cells with new counts.
    values : dict of str to ndarray
        What gave them: ``tce``, ``ece``, ``mce``, ``class_prior``, ``label_rate`` and ``gap``.

    Notes
    -----
    The curve's model is conditional on the rows of each cell, positive and unlabelled, and on the
    shares of the unlabelled rows, which the data fix: positives are drawn given both.
    """
    draws = {name: v[None] for name, v in case.rates.prior_draws(1, rng).items()}
    values = {name: v[0, 0] for name, v in case.quantities(draws, rng).items()}
    if isinstance(case.rates, Curve):
        at = case.rates.logit_positive(draws)[0, 0]
        positive = rng.binomial(case.problem.total, expit(at))
        return PUCase.of(case.problem.relabelled(positive), case.priors), values
    cells = case.problem.cells
    r, q = draws["positive_mass"][0, 0], case.rates.masses(draws, rng)[0, 0]
    unlabeled = _counted(cells, rng.multinomial(cells.n, q / q.sum()))
    problem = replace(case.problem.unlabeled, cells=unlabeled, bins=unlabeled)
    positive = rng.multinomial(case.problem.n_positive, r / r.sum())
    return PUCase.of(PUProblem.of(problem, positive), case.priors), values


def _counted(cells: BinCounts, count: NDArray[np.int64]) -> BinCounts:
    return replace(cells, count=count, positives=np.zeros_like(count))
