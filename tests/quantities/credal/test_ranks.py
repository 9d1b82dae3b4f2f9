"""Ranks against those of SciPy; their ends, ties and cells."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from bayescal.quantities.credal.data import EmpiricalCDF, cell_of

SCORES = st.lists(st.integers(0, 20).map(lambda k: k / 20), min_size=1, max_size=40)


@given(SCORES)
def test_ranks_of_the_rows_are_mid_ranks(scores):
    score = np.array(scores)
    expected = (rankdata(score) - 0.5) / len(score)  # mid-ranks: half of the ties below
    np.testing.assert_allclose(EmpiricalCDF.of(score)(score), expected, rtol=1e-14)


@given(SCORES)
def test_ranks_rise_and_stay_inside(scores):
    rank = EmpiricalCDF.of(np.array(scores))(np.linspace(0, 1, 101))
    assert (np.diff(rank) >= 0).all()
    assert rank.min() >= 0
    assert rank.max() <= 1


def test_scores_beyond_all_rows_have_the_end_ranks():
    found = EmpiricalCDF.of(np.array([0.4, 0.6]))
    assert found(np.array([0.0, 0.5, 1.0])).tolist() == [0.0, 0.5, 1.0]


def test_cells_have_equal_widths_and_rank_1_the_last():
    assert cell_of(np.array([0.0, 0.24, 0.25, 0.99, 1.0]), 4).tolist() == [0, 0, 1, 3, 3]


def test_the_last_bit_decides_neither_on_ties_nor_on_cells():
    score = np.round(np.random.default_rng(3).random(100), 3)
    ranks = EmpiricalCDF.of(score)
    for side in (0, 1):
        moved = np.nextafter(score, side)
        np.testing.assert_array_equal(ranks(moved), ranks(score))
        np.testing.assert_array_equal(EmpiricalCDF.of(moved).rank, ranks.rank)
    # 0.29 * 100 falls one bit short of 29.
    assert cell_of(np.array([0.29]), 100).tolist() == [29]
