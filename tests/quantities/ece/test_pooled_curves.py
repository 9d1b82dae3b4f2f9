"""Curves of groups: NUTS against importance sampling, a dense Gaussian, and what pooling does."""

from functools import partial

import arviz as az
import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom, lognorm, norm

import bayescal as bc
from bayescal.core.functionals import log_binomial_coefficient
from bayescal.core.priors import LogNormal
from bayescal.curves.cells import draw_masses, error_draws
from bayescal.curves.priors import SmoothCurve
from bayescal.inference.direct import variational_gaussian
from bayescal.inference.sampler import compile_model
from bayescal.quantities.ece import pooled_curves
from bayescal.quantities.ece.plan import plan, without_ends
from bayescal.quantities.ece.pooled_curves import (
    BASIS,
    WIGGLE,
    GroupedRegression,
    PooledCurves,
    arrow_gaussian,
)
from tests.quantities.ece.made import of_counts
from tests.regressions import binomial_regression


def regression(groups=3, cells=8, basis=4, rows=15, seed=0):
    rng = np.random.default_rng(seed)
    offset = rng.normal(size=(groups, cells))
    design = rng.normal(size=(groups, cells, basis))
    count = rng.poisson(rows, (groups, cells))
    coef = rng.normal(size=basis) + 0.5 * rng.normal(size=(groups, basis))
    p = expit(offset + np.einsum("gcb,gb->gc", design, coef))
    return GroupedRegression(offset, design, count, rng.binomial(count, p))


def dense(problem, scale):
    """Common coefficients first, then each group's deviations in units of their scale."""
    groups, cells, basis = problem.design.shape
    columns = np.zeros((groups, cells, (groups + 1) * basis))
    columns[..., :basis] = problem.design
    for group in range(groups):
        own = slice((group + 1) * basis, (group + 2) * basis)
        columns[group, :, own] = problem.design[group] * scale
    flat = columns.reshape(groups * cells, -1)
    found = variational_gaussian(
        binomial_regression(
            problem.offset.ravel(), flat, problem.count.ravel(), problem.positives.ravel()
        )
    )
    unit = np.concatenate([np.ones(basis), np.tile(scale, groups)])
    covariance = found.root @ found.root.T * np.outer(unit, unit)
    spread = np.sqrt(((flat @ found.root) ** 2).sum(axis=1)).reshape(groups, cells)
    return found.mean * unit, covariance, spread


def moments(found):
    """Mean and covariance of common coefficients and deviations, from how they are drawn."""
    groups, basis = found.group_centre.shape
    size = (groups + 1) * basis
    root = np.zeros((size, size))
    root[:basis, :basis] = found.root
    for group in range(groups):
        own = slice((group + 1) * basis, (group + 2) * basis)
        root[own, :basis] = -found.link[group] @ found.root
        root[own, own] = found.group_root[group]
    return np.concatenate([found.centre, found.group_centre.ravel()]), root @ root.T


def unlike():
    """A group of a million rows a cell, and small ones."""
    problem = regression(cells=10, basis=3, seed=7)
    count = problem.count.copy()
    count[0] = 10**6
    p = expit(problem.logit(np.array([1.0, -2.0, 0.5]), np.zeros((3, 3))))
    positives = np.where(np.arange(3)[:, None] == 0, np.round(count * p), problem.positives)
    return GroupedRegression(problem.offset, problem.design, count, positives.astype(int))


SCALE = np.array([0.4, 0.4, 0.5, 0.1])
PROBLEMS = {
    "some rows": (regression(), SCALE),
    "few rows": (regression(rows=1, seed=1), SCALE),
    "many rows": (regression(rows=100_000, seed=2), SCALE),
    "one group": (regression(groups=1, seed=3), SCALE),
    "loose": (regression(groups=5, basis=2, seed=4), np.array([3.0, 5.0])),
    "unlike groups": (unlike(), SCALE[:3]),
    "tight": (regression(groups=5, basis=2, seed=5), np.array([0.01, 0.02])),
}


@pytest.mark.parametrize(("problem", "scale"), PROBLEMS.values(), ids=PROBLEMS)
def test_mean_covariance_and_spread_are_the_dense_ones(problem, scale):
    mean, covariance, spread = dense(problem, scale)
    found = arrow_gaussian(problem, scale)
    ours, our_covariance = moments(found)
    sd = np.sqrt(np.diag(covariance))
    np.testing.assert_allclose((ours - mean) / sd, 0, atol=1e-3)
    np.testing.assert_allclose((our_covariance - covariance) / np.outer(sd, sd), 0, atol=1e-3)
    np.testing.assert_allclose(found.spread(problem.design), spread, rtol=1e-3)


def test_roots_are_upper_triangular():
    found = arrow_gaussian(regression(), SCALE)
    np.testing.assert_array_equal(found.root, np.triu(found.root))
    np.testing.assert_array_equal(found.group_root, np.triu(found.group_root))
    assert (np.diagonal(found.group_root, axis1=1, axis2=2) > 0).all()


def test_a_group_without_rows_keeps_its_prior():
    problem = regression(seed=6)
    count, positives = problem.count.copy(), problem.positives.copy()
    count[1] = positives[1] = 0
    found = arrow_gaussian(
        GroupedRegression(problem.offset, problem.design, count, positives), SCALE
    )
    np.testing.assert_allclose(found.group_centre[1], 0, atol=1e-12)
    np.testing.assert_allclose(found.group_root[1], np.diag(SCALE), atol=1e-12)
    np.testing.assert_allclose(found.link[1], 0, atol=1e-12)


def test_labels_against_the_strongest_scores_are_no_obstacle():
    offset = np.array([[-20.7, 20.7], [-3.0, 3.0]])
    design = 0.7 * np.stack([np.ones((2, 2)), offset], axis=-1)
    count = np.array([[10**6, 10**6], [5, 5]])
    positives = np.array([[10**6, 0], [1, 4]])
    found = arrow_gaussian(
        GroupedRegression(offset, design, count, positives), np.array([0.4, 0.4])
    )
    assert all(np.isfinite(part).all() for part in (found.centre, found.root, found.group_root))
    assert 1 + 0.7 * (found.centre + found.group_centre[0])[1] < 0


@pytest.mark.parametrize(("rows", "strength", "basis"), [(10**6, 14, 32), (10**9, 1, 4)])
def test_cells_of_many_rows_are_known_by_them(rows, strength, basis):
    design = strength * np.random.default_rng(8).normal(size=(2, 2, basis))
    count = np.array([[rows, 1], [rows // 2, 1]])
    problem = GroupedRegression(np.zeros((2, 2)), design, count, count // 3)
    found = arrow_gaussian(problem, np.full(basis, 0.5))
    # The prior adds less than 1e-5 to a precision of n p (1 - p).
    expected = 1 / np.sqrt(count[:, 0] * 2 / 9)
    np.testing.assert_allclose(found.spread(design)[:, 0], expected, rtol=1e-4)


def test_the_likelihood_is_binomial():
    problem = regression(seed=8)
    rng = np.random.default_rng(1)
    common, own = rng.normal(size=(2, 5, 4)), rng.normal(size=(2, 5, 3, 4))
    eta = problem.offset + np.einsum("gcb,...gb->...gc", problem.design, common[..., None, :] + own)
    np.testing.assert_allclose(problem.logit(common, own), eta, rtol=1e-12)
    expected = binom.logpmf(problem.positives, problem.count, expit(eta)).sum(axis=(-2, -1))
    constant = log_binomial_coefficient(problem.count, problem.positives).sum()
    np.testing.assert_allclose(problem.log_likelihood(common, own) + constant, expected, rtol=1e-10)


def case(sizes, slopes, shifts=None, *, seed=1, **options):
    """Groups of logistic recalibrations of the same scores, as one case."""
    rng = np.random.default_rng(seed)
    code = np.repeat(np.arange(len(sizes)), sizes)
    x = rng.normal(0, 1.5, len(code))
    shift = np.zeros(len(sizes)) if shifts is None else np.asarray(shifts)
    event = rng.random(len(code)) < expit(np.asarray(slopes)[code] * x + shift[code])
    group = np.array([f"g{k}" for k in range(len(sizes))])[code]
    scores = bc.Scores(y_true=event.astype(int), y_prob=expit(x), group=group)
    (found,) = plan(scores, bc.ece.Priors(bc.ece.SmoothCurve(), **options)).cases
    return found


def errors(found, draws, group):
    """TCE of one group, draw by draw."""
    rates = found.model.cell_rates(draws, group)
    problem = found.alone[group].problem
    mass = draw_masses(problem.cells.count, rates.shape[:-1], np.random.default_rng(7))
    return error_draws(problem, rates, mass)["tce"]


def direct_draws(found, draws, seed=3):
    """Weighted draws, and the errors of a group under them."""
    drawn = found.model.direct_draws(draws, np.random.default_rng(seed))
    values = {name: array[None] for name, array in drawn.draws.items()}
    return drawn, lambda group: errors(found, values, group).ravel()


SIZES, SLOPES, SHIFTS = (300, 500, 200), (0.6, 0.8, 1.0), (0.0, 0.4, -0.3)


@pytest.fixture(scope="module")
def three():
    return case(SIZES, SLOPES, SHIFTS)


@pytest.fixture(scope="module")
def weighted(three):
    return direct_draws(three, 4000)


@pytest.fixture(scope="module")
def compiled(three):
    return compile_model(three.build_model())


def sample(compiled, found, seed=5):
    return compiled.sample(
        found.model.inputs(),
        seed=seed,
        target_accept=found.model.target_accept,
        max_depth=found.model.max_depth,
    )


@pytest.fixture(scope="module")
def sampled(compiled, three):
    return sample(compiled, three)


@pytest.mark.mcmc
def test_nuts_agrees_with_importance_sampling(sampled, three, weighted):
    """Mean, 5% and 95% of each group's error within three Monte Carlo errors of both together."""
    assert set(sampled.posterior) == set(three.model.variables)
    drawn, of_group = weighted
    for group in range(3):
        ours = errors(three, sampled.posterior, group)
        theirs = of_group(group)
        n = min(drawn.ess, len(theirs))
        error = np.hypot(az.mcse(ours, method="mean"), theirs.std() / np.sqrt(n))
        assert abs(ours.mean() - theirs.mean()) < 3 * error
        for level in (0.05, 0.95):
            at = np.quantile(theirs, level)
            width = 0.2 * theirs.std()
            density = (np.abs(theirs - at) < width).mean() / (2 * width)
            own = np.sqrt(level * (1 - level) / n) / density
            error = np.hypot(az.mcse(ours, method="quantile", prob=level), own)
            assert abs(np.quantile(ours, level) - at) < 3 * error


@pytest.mark.mcmc
def test_nuts_converges(sampled, three):
    assert sampled.sample_stats["diverging"].sum() == 0
    for group in range(3):
        values = errors(three, sampled.posterior, group)
        assert az.rhat(values) <= 1.01
        assert az.ess(values) > 400
    assert az.rhat(np.log(sampled.posterior["pooling"])) <= 1.01


@pytest.mark.mcmc
def test_nuts_of_unlike_groups_in_the_same_compiled_model(compiled):
    found = case((100_000, 40, 8), (0.5, 1.0, 1.5), seed=2)
    again = sample(compiled, found, seed=6)
    assert again.sample_stats["diverging"].sum() == 0
    drawn, of_group = direct_draws(found, 4000)
    for group in range(3):
        ours, theirs = errors(found, again.posterior, group), of_group(group)
        error = np.hypot(az.mcse(ours, method="mean"), theirs.std() / np.sqrt(min(drawn.ess, 4000)))
        assert az.rhat(ours) <= 1.01
        assert abs(ours.mean() - theirs.mean()) < 3 * error


@pytest.mark.mcmc
def test_pooling_of_nuts_is_that_of_importance_sampling(sampled, weighted):
    """Eleven values stand for a continuous prior: mean and spread of its logarithm only."""
    ours = np.log(sampled.posterior["pooling"])
    theirs = np.log(weighted[0].draws["pooling"])
    assert abs(ours.mean() - theirs.mean()) < 4 * az.mcse(ours, method="mean")
    assert abs(ours.std() - theirs.std()) < 4 * az.mcse(ours, method="sd")


@pytest.mark.mcmc
def test_pooling_of_many_like_groups_reaches_into_the_tail_of_its_prior(monkeypatch):
    """Against steps four times as fine."""
    found = case([1000] * 12, [0.6] * 12, seed=9)
    coarse = np.log(found.model.direct_draws(500, np.random.default_rng(1)).draws["pooling"])
    monkeypatch.setattr(pooled_curves, "_POOLING_NODES", np.linspace(-5, 5, 51))
    fine = np.log(found.model.direct_draws(500, np.random.default_rng(1)).draws["pooling"])
    # Importance weights leave an error of some 0.01 in either.
    assert coarse.mean() == pytest.approx(fine.mean(), abs=0.05)
    assert coarse.std() == pytest.approx(fine.std(), abs=0.04)


def of_its_own_rows(found, group):
    """TCE of one group as if the others were not there."""
    alone = found.alone[group]
    draws = alone.model.direct_draws(4000, np.random.default_rng(3)).draws
    values = {name: array[None] for name, array in draws.items()}
    rates = alone.model.cell_rates(values, np.random.default_rng(0))
    mass = draw_masses(alone.problem.cells.count, rates.shape[:-1], np.random.default_rng(7))
    return error_draws(alone.problem, rates, mass)["tce"].ravel()


@pytest.mark.slow
def test_a_group_of_a_million_rows_is_not_pulled():
    found = case((10**6, 300, 300), (0.5, 1.0, 1.0), seed=4)
    joint, own = direct_draws(found, 4000)[1](0), of_its_own_rows(found, 0)
    assert abs(joint.mean() - own.mean()) < 0.3 * own.std()
    assert joint.std() == pytest.approx(own.std(), rel=0.15)


@pytest.mark.mcmc
def test_a_small_group_leans_on_the_others():
    """Ten groups of the same bias: the small one's error is narrower than from its own rows."""
    found = case((40, *[2000] * 9), [0.5] * 10, seed=6)
    joint, own = direct_draws(found, 4000)[1](0), of_its_own_rows(found, 0)
    # A standard deviation of 4000 draws is known to 1%; three errors of a ratio are 5%.
    assert joint.std() < 0.95 * own.std()


def test_prior_draws_follow_the_prior(three):
    draws = three.model.prior_draws(20_000, np.random.default_rng(1))
    prior = three.model.pooling
    assert draws["common"].shape == (20_000, BASIS)
    assert draws["deviation"].shape == (20_000, 3, BASIS)
    log_pooling = np.log(draws["pooling"])
    assert log_pooling.mean() == pytest.approx(prior.mu, abs=4 * prior.sigma / 141)
    assert log_pooling.std() == pytest.approx(prior.sigma, rel=0.03)
    free = draws["deviation"][..., :2] / draws["pooling"][:, None, None]
    np.testing.assert_allclose(free.std(axis=0), 1, rtol=0.03)
    np.testing.assert_allclose(draws["deviation"][..., 2:].std(axis=0), WIGGLE, rtol=0.04)
    np.testing.assert_allclose(draws["common"].std(axis=0), 1, rtol=0.04)


@pytest.mark.mcmc
def test_without_rows_the_direct_draws_are_the_prior():
    """Two rows a group say little: pooling stays where its prior is."""
    found = case((2, 2), (1.0, 1.0))
    draws = found.model.direct_draws(5000, np.random.default_rng(2)).draws
    prior = found.model.pooling
    assert np.log(draws["pooling"]).mean() == pytest.approx(prior.mu, abs=0.1 * prior.sigma)
    free = draws["deviation"][..., :2] / draws["pooling"][:, None, None]
    np.testing.assert_allclose(free.std(axis=0), 1, rtol=0.1)


def test_log_prior_is_the_density(three):
    draws = {
        name: values[None, :50]
        for name, values in three.model.prior_draws(50, np.random.default_rng(1)).items()
    }
    found = three.model.log_prior(draws)
    prior = three.model.pooling
    np.testing.assert_allclose(
        found["pooling"], lognorm(prior.sigma, scale=np.exp(prior.mu)).logpdf(draws["pooling"])
    )
    np.testing.assert_allclose(found["common"], norm.logpdf(draws["common"]))


@pytest.mark.mcmc
def test_evidence_is_that_of_importance_sampling_from_the_prior():
    """Few rows, so that draws from the prior itself give the evidence too."""
    found = case((6, 4), (0.7, 1.0), seed=3)
    rates = found.model
    draws = rates.prior_draws(60_000, np.random.default_rng(5))
    log_likelihood = rates.regression.log_likelihood(draws["common"], draws["deviation"])
    weights = np.exp(log_likelihood)
    error = weights.std() / np.sqrt(len(weights)) / weights.mean()
    evidence = rates.direct_draws(10_000, np.random.default_rng(6)).log_evidence
    assert evidence == pytest.approx(np.log(weights.mean()), abs=4 * error + 0.01)


def test_the_curve_at_the_cells_is_their_rates(three):
    draws = {
        name: values[None]
        for name, values in three.model.direct_draws(30, np.random.default_rng(1)).draws.items()
    }
    for group, alone in enumerate(three.alone):
        at = partial(three.model.curve, draws, group)
        score = alone.problem.cells.mean_score
        np.testing.assert_allclose(at(score), three.model.cell_rates(draws, group), rtol=1e-12)
        logit = three.model.regression.logit(draws["common"], draws["deviation"])
        np.testing.assert_allclose(at(score), expit(logit[..., group, : len(score)]), rtol=1e-9)


def test_one_cell_on_a_curve_among_many_groups_of_votes():
    """Where every third cell is taken for places, that with the only score on a curve is too."""
    votes = [of_counts([5, 5], [1, 4], [0.0, 1.0]) for _ in range(201)]
    one = of_counts([5, 3, 5], [1, 2, 4], [0.0, 0.5, 1.0])
    found = PooledCurves(
        list(map(without_ends, [*votes, one])), SmoothCurve(), LogNormal(-0.9, 0.4)
    )
    np.testing.assert_allclose(found.basis.places, [0.0], atol=1e-12)  # logit of .5
