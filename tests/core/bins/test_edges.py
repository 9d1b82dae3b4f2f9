"""Where edges lie: the papers' definitions, read literally."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescal.core.bins.edges import bin_edges, check_edges, quantile_ranks, refine, strategy_name
from bayescal.core.errors import InputError


def umb(score, n_bins):
    """u_b is the floor(n b / B)-th smallest score; the 0-th is the left end."""
    ordered = [0.0, *sorted(float(s) for s in score)]
    inner = [ordered[math.floor(len(score) * b / n_bins)] for b in range(1, n_bins)]
    return [0.0, *inner, 1.0]


@given(st.lists(st.floats(0, 1, width=32), min_size=1, max_size=50), st.integers(1, 60))
def test_quantile_edges_are_the_order_statistics_of_the_paper(score, n_bins):
    assert bin_edges(np.array(score), n_bins, "quantile").tolist() == umb(score, n_bins)


def test_quantile_edges_of_float32_are_those_floats():
    score = np.array([0.1, 0.2, 0.7, 0.9], np.float32)
    assert bin_edges(score, 2, "quantile")[1] == float(np.float32(0.2))


def test_uniform_edges_are_the_nearest_floats_to_the_fractions():
    assert bin_edges(np.empty(0), 10, "uniform").tolist() == [b / 10 for b in range(11)]


def test_ranks_are_exact_where_a_float_quotient_is_not():
    n = 10**16 + 1
    assert quantile_ranks(n, 3).tolist() == [n // 3, 2 * n // 3]


def test_given_edges_are_taken_as_they_are():
    assert bin_edges(np.empty(0), 99, [0, 0.5, 0.5, 1]).tolist() == [0, 0.5, 0.5, 1]
    assert strategy_name([0, 1]) == "edges"
    assert strategy_name("uniform") == "uniform"


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([0.1, 1], "must run from 0 to 1; got 0.1 to 1"),
        ([0, 0.9], "must run from 0 to 1; got 0 to 0.9"),
        ([0, 0.6, 0.5, 1], "must not decrease; got 0.5 after 0.6 at position 2"),
        ([0, math.nan, 1], "must not decrease; got nan after 0"),
        ([0], "at least two numbers"),
        ([[0, 1]], r"at least two numbers; got shape \(1, 2\)"),
    ],
)
def test_bad_edges(edges, message):
    with pytest.raises(InputError, match=message):
        check_edges(edges)


@pytest.mark.parametrize("n_bins", [0, -3, 2.5, "many", None])
def test_bad_number_of_bins(n_bins):
    with pytest.raises(InputError, match="n_bins must be a whole number >= 1; got"):
        bin_edges(np.array([0.5]), n_bins, "uniform")


def test_unknown_strategy():
    with pytest.raises(InputError, match="strategy must be one of 'uniform', 'quantile'"):
        bin_edges(np.array([0.5]), 3, "equal")


def test_refine_keeps_a_doubled_end_only_where_it_is_closed():
    doubled = [0, 0, 0.4, 1, 1]
    assert refine(doubled, [0, 0.5, 1], "right").tolist() == [0, 0, 0.4, 0.5, 1]
    assert refine([0, 0.5, 1], doubled, "left").tolist() == [0, 0.4, 0.5, 1, 1]
    assert refine([0, 0.5, 0.5, 1], [0, 0.2, 1]).tolist() == [0, 0.2, 0.5, 1]
