import math

import numpy as np
import pytest
from scipy import integrate, stats
from sklearn.mixture import GaussianMixture

from bayescal.core.errors import InputError
from bayescal.quantities.pu_ece.mixture_tce import tce_from_logits
from bayescal.quantities.pu_ece.simulator import TRUTHS, PUTruth


def normal_quantiles(n):
    """A sample without noise: its mean and spread are those of a normal, but for its tails."""
    return stats.norm.ppf((np.arange(n) + 0.5) / n)


@pytest.mark.parametrize("name", TRUTHS)
def test_normal_logits_give_the_error_of_the_closed_form(name):
    truth, z = TRUTHS[name], normal_quantiles(20_000)
    positive, negative = (truth.b0 + truth.b1 * (z + mean) for mean in (1, -1))
    found = tce_from_logits(positive, negative, class_prior=0.5, max_components=1)
    # 20,000 quantiles have a variance short of 1 by 2e-4.
    assert found.tce == pytest.approx(truth.tce, abs=2e-4)


def test_with_one_component_it_is_the_integral_of_fitted_normals():
    rng = np.random.default_rng(3)
    positive, negative = rng.normal(1, 2, 50), rng.normal(-2, 0.3, 80)
    found = tce_from_logits(positive, negative, class_prior=0.2, max_components=1)

    def integrand(z):
        joint = 0.2 * stats.norm.pdf(z, positive.mean(), positive.std())
        other = 0.8 * stats.norm.pdf(z, negative.mean(), negative.std())
        return abs(joint - (joint + other) / (1 + math.exp(-z)))

    pieces = [(-20, -3), (-3, -2), (-2, -1), (-1, 0), (0, 20)]
    expected = sum(integrate.quad(integrand, *piece, limit=200)[0] for piece in pieces)
    assert found.tce == pytest.approx(expected, abs=1e-5)


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


@pytest.mark.slow
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


def test_a_sample_of_a_calibrated_classifier_has_a_small_error():
    x = np.random.default_rng(6).normal([[1], [-1]], 1, (2, 5000))
    found = tce_from_logits(2 * x[0], 2 * x[1], class_prior=0.5, max_components=3, seed=1)
    assert found.tce < 0.01


def test_the_class_prior_is_not_that_of_the_rows():
    z = normal_quantiles(20_000)
    truth = PUTruth("rare", -1.0, 1.5, class_prior=0.1)
    logits = (truth.b0 + truth.b1 * (z + mean) for mean in (1, -1))
    found = tce_from_logits(*logits, class_prior=0.1, max_components=1)
    assert found.tce == pytest.approx(truth.tce, abs=2e-4)


def test_a_narrow_component_is_integrated_with_more_points():
    # 1 in 10,000 of the range wide: the trapezoid rule on 10,000 points would miss it.
    z = normal_quantiles(2000)
    narrow = 5 + 1e-3 * z
    found = tce_from_logits(narrow, -10 + 5 * z, class_prior=0.5, max_components=1)
    coarse = tce_from_logits(narrow, -10 + 5 * z, class_prior=0.5, max_components=1, points=10)
    finer = tce_from_logits(narrow, -10 + 5 * z, class_prior=0.5, max_components=1, points=500_000)
    assert found.tce == pytest.approx(finer.tce, abs=1e-5)
    assert coarse.tce == pytest.approx(finer.tce, abs=1e-5)


@pytest.mark.slow
def test_a_seed_gives_the_same_result():
    rng = np.random.default_rng(7)
    rows = rng.gamma(2, 1, 300), -rng.gamma(2, 1, 300)
    first, again = (
        tce_from_logits(*rows, class_prior=0.5, max_components=4, seed=9) for _ in range(2)
    )
    assert first == again


@pytest.mark.parametrize(
    ("positive", "options", "message"),
    [
        ([0.0, np.inf], {}, "positive logits must be finite; got inf at row 1"),
        ([1.0, 1.0], {}, "positive logits must differ; all are 1"),
        ([0.0, 1e-300], {}, "positive logits must differ; all are 0"),
        ([], {}, "positive must hold one logit a row"),
        ([0.0, 1.0], {"class_prior": 1.0}, "class_prior must be a number in"),
        ([0.0, 1.0], {"max_components": 0}, "max_components must be a whole number >= 1; got 0"),
        ([0.0, 1.0], {"points": 1.5}, "points must be a whole number"),
    ],
)
def test_what_has_no_density_is_refused(positive, options, message):
    with pytest.raises(InputError, match=message):
        tce_from_logits(positive, [0.0, 1.0], **{"class_prior": 0.5, **options})
