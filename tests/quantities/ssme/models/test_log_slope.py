"""The two-part prior of the log slope, and its quantiles as a table."""

import numpy as np
import pytest
from scipy.stats import kstest, norm, t

from bayescal.quantities.ssme.opinion_pool import (
    DEGREES,
    LogSlope,
    agreement_weights,
    lifted,
    log_slope_at,
)
from bayescal.quantities.ssme.priors import Tilt

PARTS = [
    LogSlope(0.1, (0.0, 0.2), (0.1, 0.4)),
    LogSlope(0.7, (0.0, 2.5), (0.1, 0.4)),
    LogSlope(0.3, (0.0, 0.0), (0.1, 0.8)),
    LogSlope(0.0, (-0.06, 1.0), (0.1, 0.4)),
    LogSlope(0.0, (0.0, 1.0), (1e-9, 0.4)),
]


def below(slope, values):
    """Distribution function of the mixture."""
    weights = (1 - slope.weight, slope.weight)
    parts = zip(weights, DEGREES, slope.centre, slope.scale, strict=True)
    return sum(w * t.cdf(values, nu, at, scale) for w, nu, at, scale in parts)


@pytest.mark.parametrize("slope", PARTS)
def test_the_table_inverts_the_distribution_function(slope):
    units = np.linspace(-3.9, 3.9, 2001)
    found = below(slope, log_slope_at(units, slope.table()))
    # Cubic interpolation between 257 quantiles, worst where hardly anything lies between the parts.
    np.testing.assert_allclose(found, norm.cdf(units), atol=1e-3)


@pytest.mark.parametrize("slope", PARTS)
def test_the_slope_rises_with_its_unit_everywhere(slope):
    assert (np.diff(log_slope_at(np.linspace(-8, 8, 20_001), slope.table())) > 0).all()


def test_draws_are_those_of_the_mixture():
    slope = PARTS[1]
    units = np.random.default_rng(1).standard_normal(20_000)
    found = log_slope_at(units, slope.table())
    assert kstest(found, lambda values: below(slope, values)).pvalue > 1e-3
    parts = np.exp(slope.log_parts(found))
    # The posterior probability of a part is its weight, on average over the prior.
    assert (parts[1] / parts.sum(axis=0)).mean() == pytest.approx(slope.weight, abs=0.015)


def panel(stretch, m=3):
    score = 1 / (1 + np.exp(-stretch * np.random.default_rng(2).normal(size=400)))
    noise = 1 / (1 + np.exp(-stretch * np.random.default_rng(3).normal(size=(m, 400)) / 3))
    probs = (score + noise) / 2
    return lifted(np.stack([1 - probs, probs], axis=-1))


def made(probs):
    return LogSlope.of(Tilt(), probs, agreement_weights(probs))


def test_cautious_classifiers_get_a_wide_part_above_0():
    found = made(panel(0.3))
    assert found.centre[1] > 1
    assert found.weight == pytest.approx(0.7)


def test_one_classifier_has_a_wide_part_around_the_pool():
    found = made(panel(1.0, m=1))
    assert found.centre == (0.0, 0.0)
    assert (found.weight, found.scale[1]) == pytest.approx((0.3, 0.8))


def test_classifiers_that_contradict_each_other_are_overconfident():
    probs = lifted(np.random.default_rng(4).dirichlet([0.1, 0.1], (3, 400)))
    found = made(probs)
    assert found.centre[1] < -0.5
    assert found.weight == pytest.approx(0.7)
