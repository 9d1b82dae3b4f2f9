"""Samples that are read together are those that are read apart."""

import numpy as np
import pytest

from bayescal.core.bins.score_cells import N_CELLS, CellSums, Gathered, Split, cell_of
from bayescal.core.bins.score_samples import (
    ScoreSums,
    by_score,
    cells_of_quantiles,
    cells_of_scores,
    check_unchanged,
    joint,
    of_event,
)
from bayescal.core.bins.weights import RowWeights, weight_units
from bayescal.core.errors import InputError

RNG = np.random.default_rng(1)
SCORE = RNG.random(400)
EVENT = (RNG.random(400) < SCORE).astype(np.uint8)
WEIGHT = RNG.random(400)


def split(score, event, wanted=None):
    sums = CellSums.of([(score, event)])
    if wanted is None:
        wanted = cells_of_quantiles(sums, [7]) | cells_of_scores(sums, [0.5])
    return Split(sums, wanted, Gathered.of([(score, event)], wanted))


def assert_same(one, two):
    np.testing.assert_array_equal(one.sums.count, two.sums.count)
    np.testing.assert_allclose(one.sums.score, two.sums.score, rtol=1e-14)
    for name in ("score", "event", "count"):
        np.testing.assert_array_equal(getattr(one.rows, name), getattr(two.rows, name))


def test_parts_add_up():
    whole = ScoreSums.of([(SCORE, EVENT)], 3)
    found = ScoreSums.of([(SCORE[:150], EVENT[:150])], 3).plus(
        ScoreSums.of([(SCORE[150:], EVENT[150:])], 3)
    )
    np.testing.assert_array_equal(found.sums.count, whole.sums.count)
    assert not found.distinct.few
    few = ScoreSums.of([(SCORE[:2], EVENT[:2])], 3).plus(ScoreSums.of([], 3))
    assert few.distinct.values.tolist() == sorted(SCORE[:2])


def test_rows_of_an_event_are_a_sample_and_both_samples_are_all_rows():
    whole = split(SCORE, EVENT)
    samples = []
    for event in (0, 1):
        rows = event == EVENT
        samples.append(split(SCORE[rows], EVENT[rows], whole.wanted))
        found = Split(samples[event].sums, whole.wanted, of_event(whole.rows, event))
        assert_same(found, samples[event])
    assert_same(joint(*samples), whole)


def test_rows_that_change_between_two_readings_are_refused():
    whole = split(SCORE, EVENT)
    check_unchanged(whole.sums, whole.rows, whole.wanted, ["y", "p"])
    fewer = Gathered.of([(SCORE[:300], EVENT[:300])], whole.wanted)
    with pytest.raises(InputError, match="'y', 'p' must not change"):
        check_unchanged(whole.sums, fewer, whole.wanted, ["y", "p"])


def test_the_cell_below_a_score_is_the_last_with_rows():
    score = np.array([0.1, 0.3, 0.6])
    sums = CellSums.of([(score, np.zeros(3, np.uint8))])
    found = cells_of_scores(sums, [0.05, 0.6, 1.0])
    expected = np.unique(cell_of(np.array([0.05, 0.6, 1.0, 0.3])))
    np.testing.assert_array_equal(np.flatnonzero(found), expected)


@pytest.mark.parametrize("decimals", [2, 16])
def test_groups_run_by_rising_score(decimals):
    score = SCORE.round(decimals)
    count, total = by_score(split(score, EVENT))
    assert count.sum(axis=0).tolist() == [400 - EVENT.sum(), EVENT.sum()]
    assert total.sum() == pytest.approx(score.sum(), rel=1e-13)
    mean = total / count.sum(axis=1)
    assert (np.diff(mean) > 0).all()
    if decimals == 2:
        values, place = np.unique(score, return_inverse=True)
        np.testing.assert_allclose(mean, values, rtol=1e-13)
        np.testing.assert_array_equal(count[:, 1], np.bincount(place, EVENT))


@pytest.mark.parametrize("weighted", [False, True])
def test_labels_that_change_places_between_two_readings_are_refused(weighted):
    weights = [RowWeights(WEIGHT, weight_units(WEIGHT))] if weighted else []
    sums = CellSums.of([(SCORE, EVENT, *weights)], weighted)
    everywhere = np.ones(N_CELLS, dtype=bool)
    same = Gathered.of([(SCORE, EVENT, *weights)], everywhere, weighted)
    check_unchanged(sums, same, everywhere, ["y", "p"])
    moved = Gathered.of([(SCORE, EVENT[::-1], *weights)], everywhere, weighted)
    assert moved.event @ moved.count == same.event @ same.count
    with pytest.raises(InputError, match="must not change"):
        check_unchanged(sums, moved, everywhere, ["y", "p"])
