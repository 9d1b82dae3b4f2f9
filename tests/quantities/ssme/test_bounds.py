"""Bounds of labelled rows, and the number of labels that an error is worth."""

import math

import numpy as np
import pytest

from bayescal.core.errors import InputError
from bayescal.quantities.ssme.bounds import bounds, effective_sample_size, rescaled_error


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


def test_effective_sample_size_is_the_nearest():
    sizes, errors = [10, 20, 50, 100], [0.1, 0.07, 0.04, 0.03]
    assert effective_sample_size(0.06, sizes, errors) == 20
    assert effective_sample_size(0.05, sizes, errors) == 50
    assert effective_sample_size(0.5, sizes, errors) == 10
    assert effective_sample_size(0.001, sizes, errors) == 100
    # The smaller of equals, in whatever order.
    assert effective_sample_size(0.5, [100, 20], [0.25, 0.75]) == 20
    for wrong in ([0.1, np.nan, 0.04, 0.03], [[0.1], [0.07], [0.04], [0.03]], [-0.1, 0.1, 0, 0]):
        with pytest.raises(InputError, match="must have a finite value >= 0 for each of 4 sizes"):
            effective_sample_size(0.05, sizes, wrong)
    with pytest.raises(InputError, match=r"error must be a number in \[0, inf\); got -1"):
        effective_sample_size(-1, sizes, errors)
    with pytest.raises(InputError, match=r"sizes must be a whole number >= 1; got 10\.5"):
        effective_sample_size(0.05, [10.5], [0.1])


def test_rescaled_error():
    np.testing.assert_allclose(
        rescaled_error(np.array([0.01, 0.06]), np.array([0.02, 0.04])), [0.5, 1.5]
    )
    wrong = {"above 0; got 0": (0.1, 0.0), r"above 0; got \[\]": ([0.1], [])}
    wrong |= {"labeled_error must be finite": (0.1, np.inf), "error must be >= 0": (-0.1, 0.2)}
    wrong |= {"labeled_error must be finite; got inf at": (1e308, 1e-307)}
    for said, errors in wrong.items():
        with pytest.raises(InputError, match=said):
            rescaled_error(*errors)
