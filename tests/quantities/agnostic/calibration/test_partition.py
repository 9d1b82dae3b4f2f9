"""The least loss subject to c_emp = 0, against all ways to join scores."""

from itertools import product

import numpy as np
import pytest

from bayescal.core.errors import InputError
from bayescal.quantities.agnostic.calibration import (
    LOSSES,
    isotonic_calibration,
    least_loss_calibrated,
)
from bayescal.quantities.agnostic.intervals import interval_measure


def row_loss(name, rate, label):
    """Loss of one row, from its definition."""
    sign = 1 if label else -1
    if name == "squared":
        return (label - rate) ** 2
    if rate in (0, 1):
        return 0.0
    if name == "log":
        return -np.log(rate if label else 1 - rate)
    return max(0.0, 1 - sign * np.log(rate / (1 - rate)))


def over_all_partitions(name, label):
    least = np.inf
    for cuts in product((False, True), repeat=len(label) - 1):
        parts = np.split(label, np.flatnonzero(cuts) + 1)
        rates = [part.mean() for part in parts]
        if (np.diff(rates) >= 0).all():
            total = sum(
                row_loss(name, rate, bool(value))
                for part, rate in zip(parts, rates, strict=True)
                for value in part
            )
            least = min(least, total / len(label))
    return least


@pytest.mark.slow
@pytest.mark.parametrize("name", LOSSES)
def test_all_partitions(name):
    rng = np.random.default_rng(20)
    for _ in range(25):
        n = int(rng.integers(1, 10))
        score, label = np.arange(n) / 10, rng.integers(2, size=n)
        found = least_loss_calibrated(score, label=label, loss=name)
        assert found.loss == pytest.approx(over_all_partitions(name, label), abs=1e-12)
        value = found.link(score)
        assert np.mean(
            [row_loss(name, *row) for row in zip(value, label, strict=True)]
        ) == pytest.approx(found.loss, abs=1e-12)


@pytest.mark.parametrize("name", LOSSES)
def test_it_is_calibrated(name):
    rng = np.random.default_rng(21)
    score = rng.random(300).round(2)
    label = rng.random(300) < score**2
    found = least_loss_calibrated(score, label=label, loss=name)
    assert interval_measure(found.link(score), label=label).c <= 1e-12
    assert (np.diff(found.link.value) >= 0).all()


@pytest.mark.parametrize("name", ["log", "squared"])
def test_proper_losses_give_isotonic_regression(name):
    rng = np.random.default_rng(22)
    score = rng.random(200).round(2)
    label = rng.random(200) < score
    found = least_loss_calibrated(score, label=label, loss=name).link
    np.testing.assert_allclose(
        found.value, isotonic_calibration(score, label=label).value, atol=1e-12
    )


def test_the_hinge_loss_may_join_what_isotonic_regression_keeps_apart():
    # Rates .7 and .8, on either side of the kink of the hinge loss at .731.
    score = np.repeat([0.4, 0.6], 10)
    label = np.r_[np.repeat([0, 1], [3, 7]), np.repeat([0, 1], [2, 8])]
    found = least_loss_calibrated(score, label=label, loss="hinge")
    assert found.link.value.tolist() == [0.75, 0.75]
    assert isotonic_calibration(score, label=label).value.tolist() == [0.7, 0.8]


def test_a_loss_of_ones_own():
    # A fixed cost of every row that is not sure: joining changes nothing but the sure ones.
    found = least_loss_calibrated(
        [0.1, 0.2, 0.3], label=[0, 1, 1], loss=lambda rate: (rate < 1) * (rate > 0)
    )
    assert found.loss == 0


def test_bad_input():
    with pytest.raises(InputError, match="loss must be one of"):
        least_loss_calibrated([0.1], label=[0], loss="absolute")
    with pytest.raises(InputError, match="2000 distinct values at most"):
        least_loss_calibrated(np.arange(2001) / 2001, label=np.zeros(2001))
