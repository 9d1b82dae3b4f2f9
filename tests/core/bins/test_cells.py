"""Cells of few distinct scores hold one each; of many, the ends of [0, 1] stand alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescal.core.bins.binning import bin_scores, fine_counts
from bayescal.core.bins.edges import bin_edges, cell_edges
from bayescal.core.tasks import Task

VALUES = st.one_of(
    st.floats(0, 1), st.sampled_from([0.0, 1.0, 0.1, 0.3, 5e-324, np.nextafter(1, 0)])
)
CLOSED = st.sampled_from(["right", "left"])


def rows(score, dtype=float):
    score = np.asarray(score, dtype)
    return Task({}, score, (np.arange(len(score)) % 3 == 0).astype(np.uint8))


def held(cells):
    return cells.count > 0


def check_one_score_a_cell(cells, task):
    values, place, count = np.unique(task.score + 0.0, return_inverse=True, return_counts=True)
    positives = np.bincount(place, task.event, len(values))
    assert cells.mean_score[held(cells)].tolist() == values.tolist()
    assert cells.count[held(cells)].tolist() == count.tolist()
    assert cells.positives[held(cells)].tolist() == positives.tolist()


@given(
    st.lists(VALUES, min_size=1, max_size=30),
    st.integers(1, 9),
    st.lists(VALUES, max_size=5),
    st.sampled_from(["quantile", "uniform", "given"]),
    CLOSED,
)
def test_few_scores_are_a_cell_each(score, repeats, inner, strategy, closed):
    task = rows(score * repeats)
    edges = np.array([0.0, *sorted(inner), 1.0])
    if strategy != "given":
        edges = bin_edges(task.score, 7, strategy)
    cells = fine_counts(task, edges, closed=closed)
    check_one_score_a_cell(cells, task)
    bins = bin_scores(task, strategy=edges, closed=closed)
    back = cells.merge(edges)
    np.testing.assert_array_equal(back.count, bins.count)
    np.testing.assert_array_equal(back.positives, bins.positives)
    np.testing.assert_allclose(back.mean_score, bins.mean_score, rtol=1e-12)
    np.testing.assert_array_equal(
        cells.find(task.score), np.flatnonzero(held(cells))[np.unique(task.score, True, True)[2]]
    )


@pytest.mark.parametrize("closed", ["right", "left"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("limit", [50, 100])
def test_at_the_limit_and_beyond(closed, dtype, limit):
    few, many = np.linspace(0.1, 0.9, limit), np.linspace(0.1, 0.9, limit + 1)
    task = rows(np.tile(few, 7), dtype)
    check_one_score_a_cell(fine_counts(task, [0, 0.5, 1], limit, closed), task)
    quantiles = fine_counts(rows(np.tile(many, 7), dtype), [0, 1], limit, closed)
    assert held(quantiles).sum() <= limit


@pytest.mark.parametrize("closed", ["right", "left"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("ends", [[0.0], [1.0], [0.0, 1.0], []])
def test_rows_of_exactly_0_and_1_stand_alone_among_many_scores(closed, dtype, ends):
    rng = np.random.default_rng(0)
    near = [np.nextafter(dtype(0), dtype(1)), np.nextafter(dtype(1), dtype(0))]
    task = rows(np.concatenate([rng.random(3000), near, ends * 2]), dtype)
    edges = bin_edges(task.score, 15, "quantile")
    cells = fine_counts(task, edges, closed=closed)
    assert cells.n_bins <= 100 + 14 + 2
    for end in (0.0, 1.0):
        at = held(cells) & (cells.mean_score == end)
        assert cells.count[at].tolist() == [2] * (end in ends)


@pytest.mark.parametrize("closed", ["right", "left"])
@pytest.mark.parametrize("score", [[0.0], [1.0], [0.3], [0.0, 1.0], [0.0, 0.3, 1.0]])
def test_one_score_and_the_ends(score, closed):
    task = rows(score * 3)
    for edges in ([0, 1], [0, 0, 1], [0, 1, 1], [0, 0, 0.3, 0.3, 1, 1]):
        check_one_score_a_cell(fine_counts(task, edges, closed=closed), task)


def test_few_scores_are_found_whatever_rows_come_first(monkeypatch):
    monkeypatch.setattr("bayescal.core.bins.edges._FIRST_ROWS", 2)
    few, many = np.array([0.1, 0.1, 0.1, 0.2, -0.0]), np.array([0.1, 0.1, 0.1, 0.2, 0.3])
    # Neither 0 nor 1 counts: they are cells of their own in any case.
    found = cell_edges(few, 2, [0, 1], None, "right")
    assert found.tolist() == [0, 0, 0.1, 1]
    found = cell_edges(many, 2, [0, 1], lambda: np.array([0, 0.15, 1.0]), "right")
    assert found.tolist() == [0, 0.15, 1]
