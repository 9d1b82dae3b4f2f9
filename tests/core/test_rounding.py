"""Twelve significant digits, as Python's own formatting gives them."""

import numpy as np
import pytest

from bayescal.core.rounding import round_scores


@pytest.mark.parametrize("scale", [1e-200, 1e-9, 1.0, 1e5, 1e200])
def test_rounding_is_that_of_twelve_digits(scale):
    score = scale * np.random.default_rng(1).normal(size=500)
    expected = [float(f"{one:.12g}") for one in score]
    np.testing.assert_allclose(round_scores(score), expected, rtol=4e-16)


def test_scores_of_few_digits_stay():
    score = np.array([0.0, 0.1, 0.3, 0.123456, 1.0, 0.001, -2.5])
    assert np.array_equal(round_scores(score), score)


def test_a_unit_in_the_last_place_is_lost():
    score = np.array([0.1, 0.25, 1 / 3, 0.999, 1.0, 1e-5, 1e-320])
    for side in (-np.inf, np.inf):
        assert np.array_equal(round_scores(np.nextafter(score[:-1], side)), round_scores(score[:-1]))


def test_order_is_kept_and_rounding_again_changes_nothing():
    score = np.sort(np.random.default_rng(2).random(10_000))
    once = round_scores(score)
    assert (np.diff(once) >= 0).all()
    assert np.array_equal(round_scores(once), once)


def test_single_precision_and_what_is_not_finite_stay():
    narrow = np.array([0.1, 1 / 3], np.float32)
    assert round_scores(narrow) is narrow
    wild = np.array([np.nan, np.inf, -np.inf])
    np.testing.assert_array_equal(round_scores(wild), wild)
