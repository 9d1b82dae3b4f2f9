"""The number of bins by the number of rows, from every way of asking for it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescal.core.bins.binning import Binning, bin_scores
from bayescal.core.bins.edges import optimal_number
from bayescal.core.errors import InputError
from bayescal.core.tasks import Task


@given(st.integers(1, 40_000))
def test_cubes_and_their_neighbours(root) -> None:
    assert optimal_number(root**3) == root
    assert optimal_number(root**3 + 1) == root + 1


def test_an_effective_number_may_be_off_by_rounding() -> None:
    assert optimal_number(1 / (0.25 / 500 + 1 / 2000)) == 10
    assert optimal_number(0.3) == 1


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize(("n", "expected"), [(1, 1), (8, 2), (9, 3), (1000, 10)])
def test_bins_of_scores_follow_their_number(strategy, n, expected) -> None:
    rng = np.random.default_rng(n)
    task = Task({}, rng.random(n), np.zeros(n, np.uint8))
    bins = bin_scores(task, n_bins="optimal", strategy=strategy)
    assert bins.n_bins == expected
    np.testing.assert_array_equal(
        bins.edges, bin_scores(task, n_bins=expected, strategy=strategy).edges
    )


def test_a_binning_is_resolved_once_the_rows_are_known() -> None:
    asked = Binning(n_bins="optimal", strategy="uniform", closed="left")
    assert asked.attrs["n_bins"] == "optimal"
    assert asked.resolve(27) == Binning(n_bins=3, strategy="uniform", closed="left")
    assert Binning(n_bins=7).resolve(27) == Binning(n_bins=7)
    edges = Binning(n_bins="optimal", strategy=[0, 0.5, 1])
    assert edges.resolve(10**6).n_bins == 2


def test_another_word_is_refused() -> None:
    with pytest.raises(InputError, match="n_bins must be a whole number >= 1; got 'best'"):
        Binning(n_bins="best")


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_weighted_rows_count_by_their_effective_number(strategy) -> None:
    rng = np.random.default_rng(3)
    weight = np.where(np.arange(1000) < 500, 1.0, 3.0)  # 2000^2 / 5000 = 800 effective rows
    task = Task({}, rng.random(1000), np.zeros(1000, np.uint8), weight=weight)
    assert bin_scores(task, n_bins="optimal", strategy=strategy).n_bins == 10  # 9^3 = 729
    alike = Task({}, task.score, task.event, weight=np.full(1000, 0.7))
    assert bin_scores(alike, n_bins="optimal", strategy=strategy).n_bins == 10
