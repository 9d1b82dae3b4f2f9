"""Importance sampling against integrals in one and two dimensions."""

import warnings

import numpy as np
import pytest
from arviz_stats.base import array_stats
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import expit, logsumexp, softmax
from scipy.stats import norm

from bayescal.inference.direct import (
    BinomialCells,
    Gaussian,
    Joined,
    Mapped,
    Mirrored,
    Regression,
    Weighted,
    choose,
    importance_sample,
    moment_matched,
    triangular_inverse,
    variational_gaussian,
)
from tests.regressions import binomial_regression

DRAWS = 20_000
CASES = {
    "one row": ([1], [1]),
    "all events": ([30], [30]),
    "many rows": ([400, 900], [10, 200]),
    "conflict": ([5, 50], [5, 0]),
}


def regression(count, positives):
    cells = len(count)
    return binomial_regression(
        np.linspace(-1, 1.5, cells),
        np.linspace(0.6, 1.6, cells)[:, None],
        np.array(count),
        np.array(positives),
    )


def error_of(weighted):
    """Standard error of the log of the mean weight."""
    return np.sqrt(1 / weighted.ess - 1 / len(weighted.log_weights))


def sample(problem, seed=20, draws=DRAWS):
    return importance_sample(
        problem, variational_gaussian(problem), draws, np.random.default_rng(seed)
    )


@pytest.mark.parametrize("name", CASES)
def test_evidence_in_one_dimension(name):
    problem = regression(*CASES[name])
    centre, spread = variational_gaussian(problem).mean[0], variational_gaussian(problem).root[0, 0]
    peak = problem.log_likelihood(np.array([centre]))
    scaled, _ = quad(
        lambda z: np.exp(problem.log_likelihood(np.array([z])) - peak) * norm.pdf(z),
        centre - 15 * spread,
        centre + 15 * spread,
        points=[centre],
        epsabs=0,
        epsrel=1e-10,
    )
    weighted = sample(problem)
    assert weighted.ess > 0.9 * DRAWS
    assert weighted.log_evidence == pytest.approx(
        peak + np.log(scaled), abs=4 * error_of(weighted) + 1e-9
    )


@pytest.mark.parametrize("name", ["one row", "all events"])
def test_moments_of_one_cell_are_those_of_quadrature(name) -> None:
    problem = regression(*CASES[name])
    found = moment_matched(problem, variational_gaussian(problem))

    def moment(power, centre=0.0):
        return quad(
            lambda z: (
                (z - centre) ** power * np.exp(problem.log_likelihood(np.array([z]))) * norm.pdf(z)
            ),
            -12,
            12,
        )[0]

    mean = moment(1) / moment(0)
    assert found.mean.item() == pytest.approx(mean, abs=1e-4)
    assert found.root.item() ** 2 == pytest.approx(moment(2, mean) / moment(0), rel=1e-4)


def test_moments_of_several_cells_are_those_of_brute_force() -> None:
    problem = regression(*CASES["conflict"])
    z = np.linspace(-8, 8, 100_001)
    weight = softmax(problem.log_likelihood(z[:, None]) - z**2 / 2)
    mean = weight @ z
    found = moment_matched(problem, variational_gaussian(problem))
    # Expectation propagation is near the moments of a posterior of several cells.
    assert found.mean.item() == pytest.approx(mean, abs=0.01)
    assert found.root.item() == pytest.approx(np.sqrt(weight @ (z - mean) ** 2), rel=0.02)


@pytest.mark.parametrize("name", CASES)
def test_resampled_draws_are_the_posterior(name):
    problem = regression(*CASES[name])
    proposal = variational_gaussian(problem)
    low, high = proposal.mean[0] + np.array([-12, 12]) * proposal.root[0, 0]
    peak = problem.log_likelihood(proposal.mean)
    grid = np.linspace(low, high, 40_001)
    weight = np.exp(problem.log_likelihood(grid[:, None]) - peak) * norm.pdf(grid)
    cumulative = np.cumsum(weight) / weight.sum()
    draws = sample(problem).resample(10_000, np.random.default_rng(1))[:, 0]
    for level in (0.05, 0.5, 0.95):
        quantile = grid[np.searchsorted(cumulative, level)]
        # Rank of the true quantile among the draws; proposals come twice, and in mirrored pairs.
        error = np.sqrt(level * (1 - level) / 10_000)
        assert (draws <= quantile).mean() == pytest.approx(level, abs=4 * error)


def test_a_proposal_too_narrow_shows_in_its_effective_draws():
    problem = regression([1], [1])
    good = variational_gaussian(problem)
    narrow = Gaussian(good.mean, good.root / 4)
    weighted = importance_sample(problem, narrow, DRAWS, np.random.default_rng(0))
    assert weighted.ess < 0.1 * DRAWS


@pytest.mark.parametrize("shape", [0.1, 0.3, 0.7, 1.2])
@pytest.mark.parametrize("n", [30, 200, 4001])
def test_pareto_k_is_that_of_arviz(shape, n):
    log_weights = shape * np.random.default_rng(n).exponential(size=n) - 40
    weighted = Weighted(np.zeros((n, 1)), log_weights)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = array_stats.psislw(-log_weights)[1]
    assert weighted.pareto_k == pytest.approx(float(expected), rel=1e-8)


@pytest.mark.parametrize("shape", [0.3, 0.7])
@pytest.mark.parametrize("n", [200, 4001])
def test_smoothed_weights_are_those_of_arviz(shape, n):
    log_weights = shape * np.random.default_rng(n).exponential(size=n) - 40
    log_weights[:2] += 3
    ours = Weighted(np.zeros((n, 1)), log_weights).smoothed().log_weights
    assert (ours != log_weights).any()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = array_stats.psislw(-log_weights)[0]
    np.testing.assert_allclose(ours - logsumexp(ours), theirs - logsumexp(theirs), atol=1e-8)


def test_one_weight_far_above_the_tail_is_smoothed_away():
    log_weights = 0.4 * np.random.default_rng(1).exponential(size=10_000)
    log_weights[77] = 12
    rough = Weighted(np.zeros((10_000, 1)), log_weights)
    assert rough.ess < 10
    # The others alone have this many; the one counts as a draw at the end of their tail.
    others = np.exp(np.delete(log_weights, 77))
    assert rough.smoothed().ess > 0.7 * others.sum() ** 2 / (others**2).sum()


def test_weights_with_a_plateau_are_left_alone():
    # The weights of a good proposal for five rows with the event: bounded, most of them equal.
    weighted = sample(regression([5], [5]))
    assert weighted.ess > 0.9 * len(weighted.draws)
    np.testing.assert_array_equal(weighted.smoothed().log_weights, weighted.log_weights)


def test_a_good_proposal_has_light_weights_and_a_narrow_one_heavy():
    problem = regression([4, 9], [1, 8])
    assert sample(problem).pareto_k < 0.5
    good = variational_gaussian(problem)
    narrow = Gaussian(good.mean, good.root / 4)
    weighted = importance_sample(problem, narrow, DRAWS, np.random.default_rng(0))
    assert weighted.pareto_k > 0.7


def pareto_k(log_weights):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return Weighted(np.zeros((len(log_weights), 1)), np.asarray(log_weights)).pareto_k


@pytest.mark.parametrize("n", [25, 100, 4000])
@pytest.mark.parametrize("rounding", [0, 1e-15, 1e-12])
def test_equal_weights_have_no_heavy_tail(n, rounding):
    log_weights = -700 + rounding * np.random.default_rng(n).standard_normal(n)
    assert pareto_k(log_weights) == 0


@pytest.mark.parametrize("n", [25, 100, 200, 1200, 4000])
@pytest.mark.parametrize("excess", [1e-6, 0.5, 200])
def test_equal_excesses_have_no_heavy_tail(n, excess):
    # Of 1200 weights the fit tries a shape of exactly 0 first, which is 0 / 0 as it is written.
    largest = int(min(n / 5, 3 * np.sqrt(n)))
    assert pareto_k(np.repeat([0.0, excess], [n - largest, largest])) <= 0


def test_bounded_weights_have_a_light_tail():
    # The largest of uniform weights are uniform: generalised Pareto of shape -1, which is drawn to
    # 1/2 as by ten values, here of 3 * sqrt(4000) = 189.
    weights = np.random.default_rng(3).uniform(1, 2, 4000)
    assert pareto_k(np.log(weights)) == pytest.approx((189 * -1 + 10 / 2) / 199, abs=0.2)


@pytest.mark.parametrize("others", [-1.0, -350.0, -740.0, -np.inf])
def test_one_weight_above_all_others_is_the_heaviest_tail(others):
    log_weights = np.full(100, others)
    log_weights[7] = 0
    assert pareto_k(log_weights) == np.inf


def test_few_weights_have_no_tail_to_judge():
    assert pareto_k(np.zeros(20)) == np.inf


@settings(max_examples=200)
@given(
    st.lists(st.floats(-800, 800), min_size=1, max_size=300),
    st.sampled_from([1e-16, 1e-9, 1e-3, 1.0]),
)
def test_the_tail_is_never_nan(log_weights, scale):
    weighted = Weighted(np.zeros((len(log_weights), 1)), scale * np.array(log_weights))
    assert not np.isnan(weighted.pareto_k)
    smoothed = weighted.smoothed().log_weights
    assert not np.isnan(smoothed).any()
    assert smoothed.max() <= weighted.log_weights.max() + 1e-9


def test_without_data_every_draw_weighs_the_same():
    weighted = sample(regression([0], [0]))
    assert weighted.log_evidence == pytest.approx(0, abs=1e-12)
    assert weighted.ess == pytest.approx(DRAWS)


@pytest.mark.parametrize("draws", [7, 8])
def test_draws_come_in_mirrored_pairs(draws):
    problem = regression([4, 9], [1, 8])
    weighted = sample(problem, draws=draws)
    assert len(weighted.draws) == len(weighted.log_weights) == draws
    if draws == 8:
        mean = variational_gaussian(problem).mean
        np.testing.assert_allclose(weighted.draws.mean(axis=0), mean, atol=1e-12)


def test_resampling_is_systematic():
    weights = np.array([0.5, 0.0, 0.2, 0.3])
    with np.errstate(divide="ignore"):
        weighted = Weighted(np.arange(4.0)[:, None], np.log(weights) - 1000)
    drawn = weighted.resample(1001, np.random.default_rng(2))[:, 0].astype(int)
    # Each draw is taken as often as its share of the rungs, or one more.
    assert (np.abs(np.bincount(drawn, minlength=4) - 1001 * weights) <= 1).all()
    assert (np.diff(drawn) < 0).any(), "draws must not be in order"
    assert weighted.ess == pytest.approx(1 / (weights**2).sum())
    assert weighted.log_evidence == pytest.approx(np.log(0.25) - 1000)


def test_the_same_seed_gives_the_same_draws():
    problem = regression([4, 9], [1, 8])
    np.testing.assert_array_equal(sample(problem, 3).draws, sample(problem, 3).draws)
    assert not np.array_equal(sample(problem, 3).draws, sample(problem, 4).draws)


def test_weights_are_target_over_proposal():
    problem = regression([4, 9], [1, 8])
    proposal = variational_gaussian(problem)
    weighted = sample(problem, draws=50)
    at = weighted.draws[:, 0]
    target = problem.log_likelihood(weighted.draws) + norm.logpdf(at)
    expected = target - norm.logpdf(at, proposal.mean[0], proposal.root[0, 0])
    np.testing.assert_allclose(weighted.log_weights, expected, atol=1e-10)
    assert (expit(problem.logit(weighted.draws)) > 0).all()


def test_a_t_proposal_gives_the_same_evidence_and_moments() -> None:
    rng = np.random.default_rng(1)
    count = np.full(12, 8)
    made = binomial_regression(
        np.zeros(12), rng.normal(0, 1, (12, 3)), count, rng.binomial(count, 0.2)
    )
    proposal = variational_gaussian(made)
    normal, heavy = (
        importance_sample(made, proposal, 200_000, np.random.default_rng(2), degrees)
        for degrees in (np.inf, 5.0)
    )
    # Relative errors of the mean weight are some 1 / sqrt(200,000) each.
    assert heavy.log_evidence == pytest.approx(normal.log_evidence, abs=0.02)
    assert 100_000 < heavy.ess < normal.ess
    means = [w.resample(100_000, np.random.default_rng(3)).mean(axis=0) for w in (normal, heavy)]
    np.testing.assert_allclose(*means, atol=0.02)


@pytest.mark.parametrize("draws", [7, 700])
def test_draws_of_a_stack_are_those_of_one_after_the_other(draws) -> None:
    made = np.random.default_rng(1)
    design, cells = made.normal(size=(3, 12, 4)), BinomialCells(np.full(12, 8), np.arange(12) % 9)
    each, rng = [Regression(np.zeros(12), one, cells) for one in design], np.random.default_rng(2)
    proposals = [variational_gaussian(one) for one in each]
    alone = [importance_sample(*one, draws, rng) for one in zip(each, proposals, strict=True)]
    mean, root = (np.stack([getattr(one, name) for one in proposals]) for name in ("mean", "root"))
    found = importance_sample(
        Regression(np.zeros(12), design, cells),
        Gaussian(mean, root),
        draws,
        np.random.default_rng(2),
    )
    # Sums of products in another order.
    np.testing.assert_allclose(found.draws, [one.draws for one in alone], atol=1e-13)
    weights = [one.log_weights for one in alone]
    np.testing.assert_allclose(found.log_weights, weights, atol=1e-11)


def test_choices_come_as_often_as_their_weights():
    weights = np.array([0.05, 0.5, 0.0, 0.45])
    found = choose(weights, 1001, np.random.default_rng(1))
    assert (np.abs(np.bincount(found, minlength=4) - 1001 * weights) <= 1).all()
    assert (np.diff(found) < 0).any()


@pytest.mark.parametrize("size", [6, 61])
def test_inverses_of_a_stack_of_cholesky_factors(size):
    rng = np.random.default_rng(5)
    factor = np.linalg.cholesky(np.eye(size) + np.cov(rng.normal(size=(size, 99))), upper=True)
    factor = factor * np.array([[1, 2], [3, 4]])[..., None, None]
    found = triangular_inverse(factor)
    np.testing.assert_array_equal(found, np.triu(found))
    np.testing.assert_allclose(
        factor @ found, np.broadcast_to(np.eye(size), found.shape), atol=1e-12
    )


def test_draws_worked_out_as_they_are_taken_are_those_of_one_array() -> None:
    """Repeated places in any order, of both signs and all rounds, against the arrays in full."""
    rng = np.random.default_rng(0)
    first, other = rng.normal(size=(3, 2)), rng.normal(size=(4, 2))
    every = np.concatenate([np.concatenate([first, -first])[:5] ** 3, other])
    joined = Joined([Mapped(Mirrored(first, 5), lambda rows: rows**3), other])
    places = rng.integers(len(every), size=40)
    assert len(joined) == len(every)
    np.testing.assert_array_equal(joined[places], every[places])
