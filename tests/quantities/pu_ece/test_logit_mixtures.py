"""Mixtures of Gaussians: densities, draws, the true error, and what is fitted to logits."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats
from sklearn.mixture import GaussianMixture

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.quantities.pu_ece.logit_mixtures import LogitMixture, MixtureTruth, tce_from_logits
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


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (((1.0,), (0.0, 1.0), (1.0,)), "one number a Gaussian each; got 1, 2 and 1"),
        (((), (), ()), "weight must hold 1 or more numbers"),
        (((0.5, 0.6), (0.0, 1.0), (1.0, 1.0)), "weights must sum to 1; got 1.1"),
        (((1.0, 0.0), (0.0, 1.0), (1.0, 1.0)), r"weight\[1\] must be .*; got 0.0"),
        (((1.0,), (0.0,), (0.0,)), r"scale\[0\] must be a number in \(0, inf\); got 0.0"),
    ],
)
def test_what_is_no_mixture_is_refused(fields, message):
    with pytest.raises(InputError, match=message):
        LogitMixture(*fields)
    with pytest.raises(InputError, match=r"class_prior must be a number in \(0, 1\); got 1"):
        MixtureTruth(POSITIVE, NEGATIVE, 1.0)


def normal_quantiles(n):
    """A sample without noise: its mean and spread are those of a normal, but for its tails."""
    return stats.norm.ppf((np.arange(n) + 0.5) / n)


RARE = PUTruth("rare", -1.0, 1.5, class_prior=0.1)


@pytest.mark.parametrize("truth", [*TRUTHS.values(), RARE], ids=lambda truth: truth.name)
def test_normal_logits_give_the_error_of_the_closed_form(truth):
    z = normal_quantiles(20_000)
    positive, negative = (truth.b0 + truth.b1 * (z + mean) for mean in (1, -1))
    found = tce_from_logits(positive, negative, class_prior=truth.class_prior, max_components=1)
    # 20,000 quantiles have a variance short of 1 by 2e-4.
    assert found.tce == pytest.approx(truth.tce, abs=2e-4)


def test_the_mixtures_fitted_are_returned():
    rng = np.random.default_rng(8)
    positive, negative = rng.normal(1, 2, 50), rng.normal(-2, 0.3, 80)
    found = tce_from_logits(positive, negative, class_prior=0.2, max_components=1)
    truth = found.truth
    assert (truth.class_prior, truth.tce) == (0.2, found.tce)
    for mixture, logits in ((truth.positive, positive), (truth.negative, negative)):
        assert mixture.weight == (1.0,)
        assert mixture.mean == pytest.approx([logits.mean()], abs=1e-9)
        # EM adds 1e-6 to the variance of standardised logits.
        assert mixture.scale == pytest.approx([logits.std()], rel=1e-6)


def test_rows_drawn_from_the_mixtures_are_like_those_fitted():
    rng = np.random.default_rng(9)
    rows = np.concatenate([rng.normal(-1, 0.5, 1400), rng.normal(4, 1, 600)])
    truth = tce_from_logits(rows, -rows, class_prior=0.5, max_components=3, seed=1).truth
    assert stats.ks_2samp(truth.positive.sample(5000, seed=2), rows).pvalue > 0.01


@pytest.mark.slow
def test_the_bic_finds_how_many_components_there_are():
    rng = np.random.default_rng(4)
    two = np.concatenate([rng.normal(-1, 0.5, 700), rng.normal(4, 1, 300)])
    found = tce_from_logits(rng.normal(2, 1, 1000), two, class_prior=0.5, seed=1)
    assert (found.n_components_positive, found.n_components_negative) == (1, 2)


def test_the_choice_is_that_of_scikit_learns_bic():
    rng = np.random.default_rng(5)
    logits = rng.standard_t(4, 400)
    rows = ((logits - logits.mean()) / logits.std())[:, None]
    bic = [
        GaussianMixture(k, n_init=3, random_state=0, max_iter=500).fit(rows).bic(rows)
        for k in range(1, 5)
    ]
    found = tce_from_logits(logits + 1, logits - 1, class_prior=0.5, max_components=4, seed=2)
    assert found.n_components_negative == 1 + int(np.argmin(bic))


def test_a_narrow_component_is_integrated_with_more_points():
    # 1 in 10,000 of the range wide: the trapezoid rule on 10,000 points would miss it.
    z = normal_quantiles(2000)
    narrow = 5 + 1e-3 * z
    found = tce_from_logits(narrow, -10 + 5 * z, class_prior=0.5, max_components=1)
    coarse = tce_from_logits(narrow, -10 + 5 * z, class_prior=0.5, max_components=1, points=10)
    finer = tce_from_logits(narrow, -10 + 5 * z, class_prior=0.5, max_components=1, points=500_000)
    assert found.tce == pytest.approx(finer.tce, abs=1e-5)
    assert coarse.tce == pytest.approx(finer.tce, abs=1e-5)


@pytest.mark.parametrize(
    ("positive", "options", "message"),
    [
        ([0.0, np.inf], {}, "positive logits must be finite; got inf at row 1"),
        ([1.0, 1.0], {}, "positive logits must differ; all are 1"),
        ([0.0, 1e-300], {}, "positive logits must differ; all are 0"),
        ([], {}, "positive must hold one logit a row"),
    ],
)
def test_what_has_no_density_is_refused(positive, options, message):
    with pytest.raises(InputError, match=message):
        tce_from_logits(positive, [0.0, 1.0], **{"class_prior": 0.5, **options})
