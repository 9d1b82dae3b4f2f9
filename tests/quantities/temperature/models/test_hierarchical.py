"""The posterior by quadrature and by NUTS, against the full likelihood."""

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import halfnorm, kstest, norm

import bayescal as bc
from bayescal.inference.diagnostics import check
from bayescal.quantities.temperature.data import Problem
from bayescal.quantities.temperature.logits import labeled_rows
from bayescal.quantities.temperature.model import model_of, posterior_grid, temperatures_of
from bayescal.quantities.temperature.priors import Priors
from tests.quantities.temperature.made import log_loss, rows


def problem(n, n_classes, seed=0, alpha=0.6, spread=2.0):
    logits, label = rows(n, n_classes, seed, spread, alpha)
    data = bc.Scores(y_true=label, y_prob=logits, from_logits=True, classes=range(n_classes))
    return Problem.of(data, "classifier")


def full_log_likelihood(found, k):
    """Log likelihood of the rows predicted as k, row by row, at a log alpha."""
    held = (found.predicted == k) & (found.label >= 0)
    logits, label = found.logits[held], found.label[held]
    return lambda log_alpha: -log_loss(np.exp(log_alpha) * logits, label) * held.sum()


def test_the_evidence_is_that_of_sums_over_a_dense_grid():
    found, priors = problem(24, 2), Priors()
    place = np.linspace(-5, 4, 4501)
    likelihoods = [
        np.exp([one(t) for t in place]) for one in (full_log_likelihood(found, k) for k in range(2))
    ]
    mu, tau = np.linspace(-3, 3, 61), np.exp(np.linspace(np.log(0.005), np.log(3), 80))
    total = 0.0
    for t in tau:
        prior = norm.pdf(place, mu[:, None], t)
        inner = np.prod([prior @ values for values in likelihoods], axis=0) * 0.002**2
        # The step of log tau times tau.
        weight = halfnorm.pdf(t, scale=0.5) * t * np.log(tau[1] / tau[0])
        total += weight * (inner * norm.pdf(mu, 0, 0.7)).sum() * 0.1
    grid = posterior_grid(temperatures_of(found, priors).table, priors)
    # The sums leave out tau below .005, a share of about .01.
    assert grid.log_integral == pytest.approx(np.log(total), abs=0.02)


def importance_means(found, priors, draws=400_000):
    """Posterior means of mu, tau and the classes by importance sampling from the prior."""
    rng = np.random.default_rng(0)
    mu = rng.normal(0, priors.mu.sigma, draws)
    tau = np.abs(rng.normal(0, priors.tau.sigma, draws))
    each = rng.normal(mu[:, None], tau[:, None], (draws, found.n_classes))
    fit = np.zeros(draws)
    for k in range(found.n_classes):
        one = full_log_likelihood(found, k)
        # The full likelihood of one number, at places so near that lines between them do.
        places = np.linspace(-8, 8, 1601)
        fit += np.interp(each[:, k], places, [one(place) for place in places])
    weight = np.exp(fit - logsumexp(fit))
    values = np.column_stack([mu, tau, each])
    mean = weight @ values
    return mean, np.sqrt(weight**2 @ (values - mean) ** 2)


def test_draws_by_quadrature_have_the_posterior_means():
    found, priors = problem(40, 3), Priors()
    mean, error = importance_means(found, priors)
    drawn = temperatures_of(found, priors).direct_draws(20_000, np.random.default_rng(1))
    values = np.column_stack([drawn.draws[name] for name in ("mu", "tau", "log_alpha")])
    spread = np.hypot(error, values.std(axis=0) / np.sqrt(20_000))
    # Four standard errors, and what cells of the grid add.
    assert (np.abs(values.mean(axis=0) - mean) < 4 * spread + 0.005).all()


@pytest.mark.mcmc
@pytest.mark.parametrize(("n", "n_classes", "alpha"), [(50, 2, 0.6), (60, 10, 1.0), (400, 5, 0.3)])
def test_nuts_agrees_with_quadrature_and_does_not_diverge(n, n_classes, alpha):
    from bayescal.inference.sampler import compile_model

    found = problem(n, n_classes, alpha=alpha)
    model = temperatures_of(found, Priors())
    sampled = compile_model(model_of(found, model)).sample(
        model.inputs(), seed=3, target_accept=model.target_accept, max_depth=model.max_depth
    )
    health = check(
        {name: sampled.posterior[name] for name in model.variables}, sampled.sample_stats
    )
    assert health.divergences == 0
    assert health.ess_min > 400
    drawn = model.direct_draws(20_000, np.random.default_rng(1)).draws
    for name in model.variables:
        nuts = sampled.posterior[name].reshape(4000, -1)
        direct = drawn[name].reshape(20_000, -1)
        # 400 effective draws at least: four standard errors.
        apart = np.abs(nuts.mean(axis=0) - direct.mean(axis=0)) / direct.std(axis=0)
        assert (apart < 4 / np.sqrt(health.ess_min)).all(), name
        assert (np.abs(np.log(nuts.std(axis=0) / direct.std(axis=0))) < 0.15).all(), name


@pytest.mark.mcmc
def test_nuts_on_the_table_agrees_with_nuts_row_by_row():
    import pymc as pm

    from bayescal.inference.sampler import compile_model

    found = problem(80, 3)
    model = temperatures_of(found, Priors())
    tabulated = compile_model(model_of(found, model)).sample(
        model.inputs(), seed=3, target_accept=model.target_accept, max_depth=model.max_depth
    )
    with pm.Model():
        mu, tau = pm.Normal("mu", 0, 0.7), pm.HalfNormal("tau", 0.5)
        apart = pm.Normal("apart", 0, 1, shape=3)
        log_alpha = pm.Deterministic("log_alpha", mu + tau * apart)
        scaled = pm.math.exp(log_alpha)[found.predicted][:, None] * found.logits
        pm.Categorical("label", logit_p=scaled, observed=found.label)
        full = pm.sample(
            1000,
            tune=1000,
            chains=4,
            cores=1,
            target_accept=0.95,
            random_seed=1,
            progressbar=False,
        )
    for name in model.variables:
        one = tabulated.posterior[name].reshape(4000, -1)
        other = full.posterior[name].values.reshape(4000, -1)
        # 400 effective draws of either at least: four standard errors of a difference.
        apart = np.abs(one.mean(axis=0) - other.mean(axis=0)) / other.std(axis=0)
        assert (apart < 4 * np.sqrt(2 / 400)).all(), name
        assert (np.abs(np.log(one.std(axis=0) / other.std(axis=0))) < 0.15).all(), name


def test_classes_without_rows_have_their_prior_given_mu_and_tau():
    found = problem(60, 3)
    held = labeled_rows(found.logits, found.label, found.predicted * 0, 2)
    from bayescal.quantities.temperature.logits import log_likelihood_table
    from bayescal.quantities.temperature.model import HierarchicalTemperatures

    model = HierarchicalTemperatures(log_likelihood_table(held), held.count, Priors())
    drawn = model.direct_draws(4000, np.random.default_rng(0)).draws
    apart = (drawn["log_alpha"][:, 1] - drawn["mu"]) / drawn["tau"]
    # tau of the draws lies within its cell of the grid: the spread is 1 to a few per cent.
    assert kstest(apart, "norm").statistic < 0.04


def test_log_prior_and_likelihood_are_densities():
    found = problem(30, 2)
    model = temperatures_of(found, Priors())
    draws = {
        "mu": np.array([[0.1]]),
        "tau": np.array([[0.4]]),
        "log_alpha": np.array([[[0.2, -0.3]]]),
    }
    log_prior = model.log_prior(draws)
    assert log_prior["mu"][0, 0] == pytest.approx(norm.logpdf(0.1, 0, 0.7))
    assert log_prior["tau"][0, 0] == pytest.approx(halfnorm.logpdf(0.4, scale=0.5))
    assert log_prior["log_alpha"][0, 0] == pytest.approx(norm.logpdf([0.2, -0.3], 0.1, 0.4).sum())
    likelihood = model.log_likelihood(draws)[0, 0]
    assert likelihood[1] == pytest.approx(full_log_likelihood(found, 1)(-0.3), rel=1e-8)


@pytest.mark.mcmc
def test_the_density_of_the_model_is_that_of_its_parts():
    found = problem(30, 2)
    model = temperatures_of(found, Priors())
    built = model_of(found, model)
    point = {"mu": 0.1, "tau_log__": np.log(0.4), "log_alpha_conditional__": np.array([0.3, -0.2])}
    total = built.compile_logp()(point)
    inputs = model.inputs()
    variance = 1 / (inputs["precision"] + 0.4**-2)
    place = variance * (inputs["pull"] + 0.1 * 0.4**-2) + np.sqrt(variance) * [0.3, -0.2]
    draws = {"mu": np.array(0.1), "tau": np.array(0.4), "log_alpha": place}
    expected = sum(model.log_prior(draws).values()) + np.log(0.4) + np.log(variance).sum() / 2
    expected += sum(full_log_likelihood(found, k)(place[k]) for k in range(2))
    assert total == pytest.approx(float(expected), rel=1e-7)
