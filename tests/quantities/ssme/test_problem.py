"""Rows that a posterior is computed from."""

import numpy as np
import pytest

import bayescal as bc
from bayescal.quantities.ssme.data import LEAST_OF_GROUP, MOST_UNLABELED, Problem, panel_of
from tests.quantities.ssme.made import binary


def panel(**given):
    return panel_of(binary(**given)[0])


def test_few_rows_all_stay():
    own = panel(n=100)
    found = Problem.of(own, "random")
    assert found.panel is own
    assert (found.weight == 1).all()
    np.testing.assert_array_equal(found.rows, np.arange(20))
    np.testing.assert_array_equal(found.labels, own.y[:20])


def test_of_many_rows_labeled_ones_stay_and_the_others_stand_for_all():
    own = panel(n=MOST_UNLABELED + 3000, n_labeled=500)
    found = Problem.of(own, "random")
    unlabeled = own.n_obs - 500
    assert found.panel.n_obs == MOST_UNLABELED + 500
    assert found.panel.n_labeled == 500
    np.testing.assert_array_equal(found.labels, own.y[:500])
    np.testing.assert_array_equal(found.panel.probs[:, found.rows], own.probs[:, :500])
    assert (found.weight[found.rows] == 1).all()
    assert found.weight.sum() == pytest.approx(500 + unlabeled)


def test_the_same_rows_are_taken_every_time():
    own = panel(n=MOST_UNLABELED + 500)
    one, two = (Problem.of(own, "random").panel.probs for _ in range(2))
    np.testing.assert_array_equal(one, two)


def test_the_rows_taken_have_the_mean_of_all():
    own = panel(n=4 * MOST_UNLABELED)
    found = Problem.of(own, "random")
    mean = np.average(found.panel.probs[..., 1], axis=1, weights=found.weight)
    error = own.probs[..., 1].std(axis=1) / np.sqrt(MOST_UNLABELED)
    assert (np.abs(mean - own.probs[..., 1].mean(axis=1)) < 4 * error).all()


def test_small_groups_keep_their_rows():
    """Ten rows in a hundred thousand would be left out of 5,000 taken from all."""
    n = 100_000
    group = np.where(np.arange(n) % 10_000 == 9_999, "few", "many")
    own = panel(n=n, group=group)
    found = Problem.of(own, "random")
    for g in range(2):
        rows, every = found.panel.group == g, own.group == g
        assert found.weight[rows].sum() == pytest.approx(every.sum())
        assert rows.sum() == min(every.sum(), MOST_UNLABELED // 2 + (own.labeled & every).sum())


def test_many_groups_keep_enough_each():
    own = panel(n=60_000, group=[f"g{i % 50}" for i in range(60_000)])
    found = Problem.of(own, "random")
    unlabeled = ~found.panel.labeled
    assert (np.bincount(found.panel.group[unlabeled]) == LEAST_OF_GROUP).all()
    assert found.weight.sum() == pytest.approx(60_000)


def test_labeling_is_one_of_two():
    with pytest.raises(bc.InputError, match=r"labeling must be .*random.*one-per-class"):
        Problem.of(panel(), "stratified")
