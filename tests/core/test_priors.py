import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from bayescal.core.errors import InputError
from bayescal.core.priors import FAMILIES, Beta, HalfNormal, LogNormal, Normal, prior_from_string

EXAMPLES = [Beta(4, 16), Beta(0.5, 0.5), Normal(-1, 0.3), HalfNormal(0.25), LogNormal(0.1, 2)]


def frozen(prior):
    """Give scipy.stats' distribution of the same values."""
    match prior:
        case Beta(alpha, beta):
            return stats.beta(alpha, beta)
        case Normal(mu, sigma):
            return stats.norm(mu, sigma)
        case HalfNormal(sigma):
            return stats.halfnorm(scale=sigma)
        case LogNormal(mu, sigma):
            return stats.lognorm(sigma, scale=np.exp(mu))


@pytest.mark.parametrize("prior", EXAMPLES, ids=str)
def test_mean_and_quantiles_are_scipys(prior):
    other = frozen(prior)
    assert prior.mean == pytest.approx(other.mean(), rel=1e-12)
    for probability in (0.01, 0.5, 0.95):
        assert prior.quantile(probability) == pytest.approx(other.ppf(probability), rel=1e-9)


def test_a_half_normal_has_a_quantile_just_below_1():
    probability = np.nextafter(1, 0)
    expected = stats.norm.isf((1 - probability) / 2)
    assert HalfNormal(1).quantile(probability) == pytest.approx(expected, rel=1e-12)


def as_text(prior):
    """Write a prior as the command line takes it."""
    return f"{prior.family}:{','.join(map(repr, dataclasses.astuple(prior)))}"


@pytest.mark.parametrize("prior", EXAMPLES, ids=str)
def test_priors_come_back_from_text(prior):
    assert prior_from_string(as_text(prior)) == prior


def test_every_family_is_tried_here():
    assert {type(prior) for prior in EXAMPLES} == set(FAMILIES.values())


@given(st.floats(1e-3, 1e6), st.floats(1e-3, 1e6))
def test_text_loses_no_digit(alpha, beta):
    prior = Beta(alpha, beta)
    assert prior_from_string(as_text(prior)) == prior


def test_how_they_are_written():
    assert prior_from_string("beta:4,16") == Beta(4, 16)
    assert Normal(0, 0.3).describe() == "Normal(0, 0.3): mean 0, 90% between -0.493 and 0.493"


@pytest.mark.parametrize("text", ["half-normal:2", "HalfNormal: 2", "half_normal:2.0"])
def test_spellings_of_a_family(text):
    assert prior_from_string(text) == HalfNormal(2)


def test_numpy_numbers_are_taken_as_floats():
    prior = Beta(np.float32(2), np.int64(3))
    assert prior == Beta(2.0, 3.0)
    assert type(prior.alpha) is float


def test_priors_are_frozen_and_can_be_keys():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Beta(1, 1).alpha = 2
    assert len({Beta(1, 1), Beta(1.0, 1.0)}) == 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Beta(0, 1), r"alpha must be a number in \(0, inf\)"),
        (lambda: Beta(1, float("inf")), r"beta must be a number in \(0, inf\)"),
        (lambda: Beta("one", 1), r"alpha must be a number in \(0, inf\)"),
        (lambda: Normal(float("nan"), 1), r"mu must be a number in \(-inf, inf\)"),
        (lambda: Normal(0, -1), r"sigma must be a number in \(0, inf\)"),
        (lambda: HalfNormal(None), r"sigma must be a number in \(0, inf\)"),
        (lambda: LogNormal(0, 0), r"sigma must be a number in \(0, inf\)"),
        (lambda: Beta(1, 1).quantile(1.0), r"probability must be a number in \[1e-300, 1\)"),
    ],
)
def test_bad_values(make, message):
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gamma:1,1", "one of 'beta', 'normal', 'halfnormal', 'lognormal'; got 'gamma'"),
        ("", "a prior must be one of"),
        ("beta:4", "a beta prior must be written 'beta:alpha,beta'; got 'beta:4'"),
        ("beta:4,16,1", "a beta prior must be written 'beta:alpha,beta'"),
        ("halfnormal", "a halfnormal prior must be written 'halfnormal:sigma' with numbers"),
        ("normal:0,x", "a normal prior must be written 'normal:mu,sigma' with numbers"),
        ("beta:-1,2", r"alpha must be a number in \(0, inf\)"),
    ],
)
def test_bad_text(text, message):
    with pytest.raises(InputError, match=message):
        prior_from_string(text)


@given(
    low=st.floats(0.001, 0.95), width=st.floats(0.005, 0.9), mass=st.sampled_from([0.5, 0.9, 0.95])
)
def test_the_interval_asked_for_is_the_central_one(low, width, mass):
    high = low + width * (1 - low) * 0.99
    prior = Beta.from_interval(low, high, mass=mass)
    below, above = stats.beta(prior.alpha, prior.beta).cdf([low, high])
    assert below == pytest.approx((1 - mass) / 2, abs=2e-6)
    assert above == pytest.approx((1 + mass) / 2, abs=2e-6)


def test_the_interval_of_a_known_beta_gives_it_back():
    known = Beta(4, 16)
    found = Beta.from_interval(known.quantile(0.025), known.quantile(0.975), mass=0.95)
    assert (found.alpha, found.beta) == pytest.approx((4, 16), rel=1e-8)


@pytest.mark.parametrize(
    ("low", "high", "mass", "message"),
    [
        (0.3, 0.1, 0.9, r"low must be below high"),
        (0.0, 0.1, 0.9, r"(low|high) must be a number in \(0, 1\)"),
        (0.5, 1.0, 0.9, r"(low|high) must be a number in \(0, 1\)"),
        (0.1, 0.3, 90, r"mass must be a number in \[1e-300, 1\)"),
        (0.5, 0.5 + 1e-9, 0.9, r"no Beta distribution was found .*wider interval"),
    ],
)
def test_intervals_without_a_beta(low, high, mass, message):
    with pytest.raises(InputError, match=message):
        Beta.from_interval(low, high, mass=mass)


@pytest.mark.parametrize("probability", [0.0, 5e-324, 1.0, np.nan])
def test_quantiles_are_of_probabilities_with_digits(probability):
    with pytest.raises(InputError, match=r"probability must be a number in \[1e-300, 1\)"):
        Beta(2, 3).quantile(probability)
