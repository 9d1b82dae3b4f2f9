"""Densities, draws and the true error of mixtures of Gaussians."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.quantities.pu_ece.logit_mixtures import LogitMixture, MixtureTruth
from bayescal.quantities.pu_ece.simulator import TRUTHS, PUTruth

POSITIVE = LogitMixture((0.3, 0.7), (-0.5, 3.0), (1.0, 0.4))
NEGATIVE = LogitMixture((0.6, 0.4), (-4.0, 0.0), (1.5, 0.2))
MIXED = MixtureTruth(POSITIVE, NEGATIVE, 0.2, "mixed")


def density(mixture, z):
    return sum(
        w * stats.norm.pdf(z, m, s)
        for w, m, s in zip(mixture.weight, mixture.mean, mixture.scale, strict=True)
    )


def cumulative(mixture, z):
    return sum(
        w * stats.norm.cdf(z, m, s)
        for w, m, s in zip(mixture.weight, mixture.mean, mixture.scale, strict=True)
    )


def as_mixtures(truth: PUTruth) -> MixtureTruth:
    positive, negative = (
        LogitMixture((1.0,), (truth.b0 + truth.b1 * mean,), (truth.b1,)) for mean in (1, -1)
    )
    return MixtureTruth(positive, negative, truth.class_prior)


def test_the_density_is_that_of_scipy():
    z = np.linspace(-9, 6, 31).reshape(31, 1)
    np.testing.assert_allclose(POSITIVE.density(z), density(POSITIVE, z), rtol=1e-12)
    assert np.isfinite(POSITIVE.log_density([-1e6, 1e6])).all()


@given(st.floats(-2, 2), st.floats(0.1, 5), st.floats(0.05, 0.95))
def test_one_gaussian_a_class_is_the_simulator_of_the_feature(b0, b1, pi):
    # Both integrate the same function, here by 10,000 trapezoids over 20 standard deviations.
    truth = PUTruth("any", b0, b1, class_prior=pi)
    made = as_mixtures(truth)
    assert made.tce == pytest.approx(truth.tce, abs=1e-5)
    score = np.linspace(0.05, 0.95, 19)
    np.testing.assert_allclose(made.probability(score), truth.probability(score), atol=1e-9)


def test_the_error_is_that_of_quadrature():
    def integrand(z):
        joint = 0.2 * density(POSITIVE, z)
        return abs(joint - (joint + 0.8 * density(NEGATIVE, z)) / (1 + np.exp(-z)))

    pieces = np.linspace(-16, 10, 105)
    expected = sum(integrate.quad(integrand, *piece, limit=200)[0] for piece in pairwise(pieces))
    assert MIXED.tce == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("mixture", [POSITIVE, NEGATIVE])
def test_draws_have_the_distribution(mixture):
    drawn = mixture.sample(4000, seed=1)
    assert stats.kstest(drawn, lambda z: cumulative(mixture, z)).pvalue > 0.01


def test_rows_have_both_classes_in_their_shares():
    logit, label = MIXED.sample(5000, seed=2)
    # Six standard errors of the share, sqrt(.16 / 5000) each.
    assert label.mean() == pytest.approx(0.2, abs=0.034)
    assert stats.kstest(logit[label == 0], lambda z: cumulative(NEGATIVE, z)).pvalue > 0.01
    assert stats.kstest(logit[label == 1], lambda z: cumulative(POSITIVE, z)).pvalue > 0.01
    scores = MIXED.labeled_scores(5000, seed=2)
    np.testing.assert_allclose(scores.y_prob[0], 1 / (1 + np.exp(-logit)), atol=1e-12)
    np.testing.assert_array_equal(scores.y_true, label)


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_estimates_from_drawn_rows_come_to_the_true_error(strategy):
    pu = MIXED.scores((100_000, 400_000), seed=3)
    assert pu.classifiers == ("mixed",)
    found = bc.pu_ece.estimate(pu, class_prior=0.2, n_bins="optimal", strategy=strategy)
    # Far below Theorem 1's bound, whose constant is a worst case; the error is .11.
    assert found.ece == pytest.approx(MIXED.tce, abs=0.005)
    labelled = bc.ece.estimate(
        MIXED.labeled_scores(200_000, 4), n_bins="optimal", strategy=strategy
    )
    assert labelled.ece == pytest.approx(MIXED.tce, abs=0.005)


def test_a_seed_gives_the_same_rows_and_datasets_have_the_class():
    first, again = (MIXED.scores((5, 9), seed=6) for _ in range(2))
    np.testing.assert_array_equal(first.unlabeled[0], again.unlabeled[0])
    assert bc.datasets.pu_ece.MixtureTruth is MixtureTruth


def test_the_better_classifier_of_the_paper_is_the_one_of_the_simulator():
    assert as_mixtures(TRUTHS["better"]).tce == pytest.approx(TRUTHS["better"].tce, abs=1e-6)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (((1.0,), (0.0, 1.0), (1.0,)), "one number a Gaussian each; got 1, 2 and 1"),
        (((), (), ()), "weight must hold 1 or more numbers"),
        (((0.5, 0.6), (0.0, 1.0), (1.0, 1.0)), "weights must sum to 1; got 1.1"),
        (
            ((1.0, 0.0), (0.0, 1.0), (1.0, 1.0)),
            r"weight\[1\] must be .*; got 0.0",
        ),
        (((1.0,), (0.0,), (0.0,)), r"scale\[0\] must be a number in \(0, inf\); got 0.0"),
    ],
)
def test_what_is_no_mixture_is_refused(fields, message):
    with pytest.raises(InputError, match=message):
        LogitMixture(*fields)
    with pytest.raises(InputError, match=r"class_prior must be a number in \(0, 1\); got 1"):
        MixtureTruth(POSITIVE, NEGATIVE, 1.0)


def test_logits_are_finite_numbers():
    for bad in (["a"], [np.inf], None):
        with pytest.raises(InputError, match="logit must"):
            LogitMixture((1.0,), (0.0,), (1.0,)).density(bad)
    with pytest.raises(InputError, match="n must be a whole number"):
        LogitMixture((1.0,), (0.0,), (1.0,)).sample(-1)
