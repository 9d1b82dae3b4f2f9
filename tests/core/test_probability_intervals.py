"""Decisions under bounds, against the functions they stand for."""

import numpy as np

from bayescal.core.probability_intervals import decide, decide_binary
from bayescal.quantities.credal.credal_sets import is_proper
from bayescal.quantities.credal.estimator import e_admissible, maximin, zero_one


def pairs(shape, seed=1):
    ends = np.random.default_rng(seed).random((2, *shape))
    return ends.min(axis=0), ends.max(axis=0)


def test_binary_sets_agree_with_both_classes_written_out():
    lower, upper = pairs((40, 5))
    found = decide_binary(lower, upper)
    expected = decide(np.stack([1 - upper, lower], -1), np.stack([1 - lower, upper], -1))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_proper_sets_are_decided_as_they_stand():
    lower, upper = pairs((3000, 3))
    proper = is_proper(lower, upper)
    found = decide(lower, upper)
    np.testing.assert_array_equal(found.proper, proper)
    low, high = lower[proper], upper[proper]
    kept = e_admissible(zero_one(3), low, high)
    np.testing.assert_array_equal(found.admissible[proper], kept)
    chosen, rows = maximin(zero_one(3), low, high), np.arange(len(kept))
    stands = kept[rows, chosen]
    assert 0 < stands.sum() < len(stands)
    np.testing.assert_array_equal(found.decision[proper][stands], chosen[stands])
    assert kept[rows, found.decision[proper]].all()


def test_a_class_that_no_member_makes_the_most_probable_one_is_not_decided_on():
    # The first class has .3 in every member, so that one of the others has .35 or more.
    lower, upper = np.array([0.3, 0.25, 0.25]), np.array([0.3, 0.45, 0.45])
    assert maximin(zero_one(3), lower, upper) == 0
    found = decide(lower, upper)
    assert found.admissible.tolist() == [False, True, True]
    assert found.decision == 1


def test_improper_sets_have_a_decision_too():
    found = decide(np.array([0.7, 0.8, 0.0]), np.array([0.8, 0.9, 0.1]))
    assert not found.proper
    assert found.decision == 1
    assert found.admissible.any()
