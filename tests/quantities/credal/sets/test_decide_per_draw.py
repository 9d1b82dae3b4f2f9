"""Decisions under bounds, against the functions they stand for."""

import numpy as np

from bayescal.quantities.credal.sets.decide_per_draw import decide, decide_binary
from bayescal.quantities.credal.sets.decisions import e_admissible, maximin, zero_one
from bayescal.quantities.credal.sets.intervals import is_proper


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
    np.testing.assert_array_equal(found.decision[proper], maximin(zero_one(3), low, high))
    np.testing.assert_array_equal(found.admissible[proper], e_admissible(zero_one(3), low, high))


def test_improper_sets_have_a_decision_too():
    found = decide(np.array([0.7, 0.8, 0.0]), np.array([0.8, 0.9, 0.1]))
    assert not found.proper
    assert found.decision == 1
    assert found.admissible.any()
