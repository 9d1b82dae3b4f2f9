"""Cells of scores: order, sums that add up, and rows gathered exactly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescal.core.bins import score_cells
from bayescal.core.bins.binning import count_into
from bayescal.core.bins.score_cells import (
    N_CELLS,
    WIDEST,
    CellSums,
    Gathered,
    Split,
    before_rounding,
    cell_of,
)
from bayescal.core.rounding import round_scores

EDGES = [
    0.0,
    5e-324,
    2.0**-30,
    0.25,
    np.nextafter(0.5, 0),
    0.5,
    np.nextafter(0.5, 1),
    1 - 2.0**-53,
    1.0,
]
unit = st.floats(0, 1) | st.sampled_from(EDGES)


def made(n=500, decimals=None, seed=0):
    rng = np.random.default_rng(seed)
    score = rng.beta(0.4, 0.5, n)
    score = score if decimals is None else score.round(decimals)
    return score, (rng.random(n) < score).astype(np.uint8)


def parts(score, event, n=3):
    return list(zip(np.array_split(score, n), np.array_split(event, n), strict=True))


@given(st.lists(unit, min_size=2, max_size=30))
def test_cells_rise_with_the_score(values):
    found = cell_of(np.sort(values))
    assert (np.diff(found) >= 0).all()
    assert found[0] >= 0
    assert found[-1] < N_CELLS


def test_the_first_and_the_last_cell_hold_what_is_outside():
    assert cell_of(np.array([-1e-7, -0.0, 0.0])).tolist() == [0, 0, 0]
    assert cell_of(np.array([1.0, 1 + 1e-7])).tolist() == [N_CELLS - 1, N_CELLS - 1]


def test_no_cell_is_wider_than_said():
    score = np.linspace(0, 1, 1_000_001)
    _, first = np.unique(cell_of(score), return_index=True)
    last = np.append(first[1:], len(score)) - 1
    # The nearest scores of two cells are a step apart.
    assert (score[last] - score[first]).max() <= WIDEST < (score[last] - score[first]).max() + 2e-6


@given(st.lists(unit | st.floats(0, 1e-3).map(lambda gap: 1 - gap), min_size=1, max_size=30))
def test_rounding_moves_no_score_out_of_the_cells_before_it(values):
    score = np.array(values)
    for before, after in zip(cell_of(score), cell_of(round_scores(score)), strict=True):
        cells = np.zeros(N_CELLS, bool)
        cells[after] = True
        assert before_rounding(cells)[before]


def test_a_cell_is_narrow_wherever_scores_gather():
    score = np.array([0.3, 1e-3, 1e-6, 1 - 1e-3, 1 - 1e-6])
    near = np.minimum(score, 1 - score)
    assert (cell_of(score + 2e-4 * near) > cell_of(score)).all()


@pytest.mark.parametrize("decimals", [None, 1])
def test_sums_of_parts_add_up(decimals):
    score, event = made(decimals=decimals)
    whole = CellSums.of([(score, event)])
    first, *others = (CellSums.of([part]) for part in parts(score, event))
    for other in others:
        first = first.plus(other)
    np.testing.assert_array_equal(first.count, whole.count)
    np.testing.assert_allclose(first.score, whole.score, rtol=1e-13)
    cell = cell_of(score)
    for k in (0, 1):
        np.testing.assert_array_equal(
            whole.count[:, k], np.bincount(cell[event == k], None, N_CELLS)
        )


@pytest.mark.parametrize("most", [1, 1 << 22])
def test_gathered_rows_are_those_of_the_cells_wanted(most, monkeypatch):
    monkeypatch.setattr(score_cells, "_GATHERED", most)
    score, event = made(decimals=2)
    wanted = np.zeros(N_CELLS, bool)
    wanted[cell_of(score[:40])] = True
    whole = Gathered.of([(score, event)], wanted)
    first, *others = (Gathered.of([part], wanted) for part in parts(score, event))
    for other in others:
        first = first.plus(other)
    held = wanted[cell_of(score)]
    values, counts = np.unique(np.stack([score[held], event[held]]), axis=1, return_counts=True)
    for found in (whole, first):
        np.testing.assert_array_equal(found.score, values[0])
        np.testing.assert_array_equal(found.event, values[1])
        np.testing.assert_array_equal(found.count, counts)


@pytest.mark.parametrize("closed", ["right", "left"])
@pytest.mark.parametrize("decimals", [None, 1])
def test_ranks_and_bins_are_those_of_all_rows(decimals, closed):
    score, event = made(decimals=decimals)
    sums = CellSums.of(parts(score, event))
    ranks = np.array([1, 77, 250, 499, 500])
    edges = np.array([0, 0.1, 0.1, 0.45, 0.9, 1.0])
    wanted = np.zeros(N_CELLS, bool)
    wanted[sums.of_ranks(ranks)] = True
    wanted[cell_of(edges)] = True
    split = Split(sums, wanted, Gathered.of(parts(score, event), wanted))
    np.testing.assert_array_equal(split.scores_of(ranks), np.sort(score)[ranks - 1])
    found, expected = split.count(edges, closed, "edges"), count_into(score, event, edges, closed)
    np.testing.assert_array_equal(found.count, expected.count)
    np.testing.assert_array_equal(found.positives, expected.positives)
    np.testing.assert_allclose(found.mean_score, expected.mean_score, rtol=1e-12)


def test_negative_zero_is_zero():
    rows = np.array([-0.0, 0.0]), np.array([0, 0], np.uint8)
    found = Gathered.of([rows], np.ones(N_CELLS, bool))
    assert found.count.tolist() == [2]
