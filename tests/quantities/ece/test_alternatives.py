"""The sum over all segmentations against listing them, with a fine sum for each segment."""

from itertools import product

import numpy as np
import pytest
from scipy.special import logit, logsumexp
from scipy.stats import norm

import bayescal as bc
from bayescal.quantities.ece.calibrated import (
    BLOCKS,
    SCALE,
    START,
    log_bayes_factor_jump,
)
from bayescal.quantities.ece.models import label_model
from bayescal.quantities.ece.priors import Priors
from tests.quantities.ece.made import of_counts, problem

GRID = np.linspace(-10, 10, 20_001)


def log_likelihood(cells, offset):
    """Of each cell at each offset, (offset, cell)."""
    eta = logit(np.clip(cells.mean_score, 1e-9, 1 - 1e-9)) + np.atleast_1d(offset)[:, None]
    return cells.positives * eta - cells.count * np.logaddexp(0, eta)


def log_segment(cells, inside):
    """Half calibrated, half with one normal offset, integrated by a fine sum."""
    values = log_likelihood(cells, GRID)[:, inside].sum(axis=1) + norm.logpdf(GRID, 0, SCALE)
    integral = logsumexp(values) + np.log(GRID[1] - GRID[0])
    calibrated = log_likelihood(cells, 0.0)[0, inside].sum()
    return np.logaddexp(calibrated, integral) - np.log(2)


def by_listing(cells):
    """Log marginal likelihood over all 2^(cells - 1) ways to cut."""
    held = np.flatnonzero(cells.count)
    segments = {
        (first, last): log_segment(cells, held[first : last + 1])
        for first in range(len(held))
        for last in range(first, len(held))
    }
    total = -np.inf
    for cuts in product([False, True], repeat=len(held) - 1):
        value, first = 0.0, 0
        for place, cut in enumerate(cuts):
            value += np.log(START if cut else 1 - START)
            if cut:
                value += segments[first, place]
                first = place + 1
        total = np.logaddexp(total, value + segments[first, len(held) - 1])
    return total


@pytest.mark.parametrize(
    ("count", "positives", "score"),
    [
        ([7], [3], [0.4]),
        ([10, 10], [1, 9], [0.3, 0.8]),
        ([30, 20, 40, 25], [3, 12, 10, 25], [0.1, 0.3, 0.6, 0.9]),
        ([20, 0, 8, 100, 12, 0], [3, 0, 8, 40, 6, 0], [0.1, 0.2, 0.4, 0.6, 0.7, 0.9]),
        ([9, 9, 9, 9, 9, 9], [0, 9, 0, 9, 0, 9], [0.1, 0.2, 0.4, 0.6, 0.7, 0.9]),
        ([50, 50], [50, 0], [0.02, 0.97]),
    ],
)
def test_against_every_segmentation(count, positives, score):
    cells = of_counts(count, positives, score).cells
    # Nine nodes about the mode leave an error where a segment contradicts its scores outright.
    assert log_bayes_factor_jump(cells, 0.0) == pytest.approx(by_listing(cells), abs=2e-3)


def test_it_is_weighed_against_the_other_model():
    cells = of_counts([7, 9], [3, 5], [0.4, 0.6]).cells
    assert log_bayes_factor_jump(cells, -4.0) == log_bayes_factor_jump(cells, 0.0) + 4


def test_cells_beyond_fifty_are_joined_by_rows():
    """Two neighbours of a hundred cells make a block: only their sums matter to a level offset."""
    count, score = np.full(100, 10), np.full(100, 0.5)
    # All mean scores in the middle of one wide cell each; equal scores make cells alike.
    edges = np.concatenate([np.zeros(1), np.full(99, 0.5), np.ones(1)])
    one = np.tile([10, 0], 50)
    other = np.tile([5, 5], 50)
    found = [
        log_bayes_factor_jump(bc.BinCounts(edges, count, positives, score), 0.0)
        for positives in (one, other)
    ]
    assert BLOCKS == 50
    assert found[0] == pytest.approx(found[1], rel=1e-12)
    # Cut across blocks, the same rows are fifty jumps.
    jagged = bc.BinCounts(edges, count, np.tile([10, 10, 0, 0], 25), score)
    assert log_bayes_factor_jump(jagged, 0.0) > found[0] + 50


@pytest.mark.parametrize("n", [10_000, 100_000])
def test_a_jump_speaks_for_itself(n):
    factor = {}
    for name in ("jump", "over", "calibrated"):
        made = problem(name, n=n, n_bins=15)
        direct = label_model(made, Priors()).direct_draws(2000, np.random.default_rng(0))
        factor[name] = log_bayes_factor_jump(made.cells, direct.log_evidence)
    assert factor["jump"] > np.log(10)
    assert factor["over"] < 0


def test_empty_cells_do_not_matter():
    full = of_counts([7, 9], [3, 5], [0.3, 0.6]).cells
    edges = [0, 0.5, 0.5, 0.55, 1]
    cells = bc.BinCounts(edges, [7, 0, 0, 9], [3, 0, 0, 5], [0.3, 0.5, 0.52, 0.6])
    expected = log_bayes_factor_jump(full, 0.0)
    assert log_bayes_factor_jump(cells, 0.0) == pytest.approx(expected, rel=1e-12)


def test_a_hundred_million_rows_do_not_overflow():
    count = np.full(100, 10**6)
    score = (np.arange(100) + 0.5) / 100
    positives = (count * np.where(score > 0.6, score - 0.2, score)).astype(int)
    cells = of_counts(count, positives, score).cells
    best = positives * logit(positives / count) - count * np.log1p(positives / (count - positives))
    found = log_bayes_factor_jump(cells, float(best.sum()))
    assert np.isfinite(found)
    assert found < 0
