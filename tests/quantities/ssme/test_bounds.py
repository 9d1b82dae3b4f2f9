"""Hoeffding's inequality by hand, and as a statement of how often it fails."""

import math

import numpy as np
import pytest

from bayescal.core.errors import InputError
from bayescal.quantities.ssme.bounds import bounds


def test_by_hand():
    found = bounds(200, 4, delta=0.05)
    assert found.labeled_accuracy.value == pytest.approx(math.sqrt(math.log(40) / 400))
    assert found.labeled_best.value == pytest.approx(math.sqrt(math.log(160) / 400))
    assert "probability 0.95" in found.labeled_accuracy.kind


def test_one_classifier_has_one_bound():
    found = bounds(50)
    assert found.labeled_accuracy.value == found.labeled_best.value


@pytest.mark.parametrize("n", [0, 1])
def test_few_labels_bound_nothing(n):
    assert bounds(n, 3).labeled_best.value == 1.0


def test_it_fails_no_more_often_than_it_says():
    rng = np.random.default_rng(1)
    for accuracy in (0.5, 0.9):
        error = np.abs(rng.binomial(30, accuracy, 20_000) / 30 - accuracy)
        assert (error > bounds(30, delta=0.1).labeled_accuracy.value).mean() <= 0.1


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((-1, 1), "n_labeled must be a whole number >= 0"),
        ((5, 0), "n_classifiers must be a whole number >= 1"),
        ((5, 1, 0.0), r"delta must be a number in \(0, 1\)"),
        ((5, 1, 1.0), r"delta must be a number in \(0, 1\)"),
    ],
)
def test_what_is_no_size_is_refused(given, words):
    with pytest.raises(InputError, match=words):
        bounds(*given)


def test_every_bound_says_what_it_assumes():
    assert all(bound.kind and "independently" in bound.assumption for bound in bounds(10, 2))
