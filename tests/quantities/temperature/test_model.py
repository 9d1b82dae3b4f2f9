"""The models of temperatures, and their average."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import logsumexp
from scipy.stats import halfnorm, kstest, norm

import bayescal as bc
from bayescal.inference.diagnostics import check
from bayescal.quantities.temperature.data import Problem
from bayescal.quantities.temperature.logits import (
    HIGH,
    LOW,
    NODES,
    STEP,
    labeled_rows,
    look_up,
    tabulated,
)
from bayescal.quantities.temperature.model import (
    draw_classes,
    draw_posterior,
    draw_shared,
    model_of,
    posterior_grid,
    temperatures_of,
)
from bayescal.quantities.temperature.posterior import TemperatureCase
from bayescal.quantities.temperature.priors import MODELS, Priors
from tests.interpreted import PLAIN
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


@pytest.mark.parametrize("sigma", [0.7, 10, 1000])
@pytest.mark.parametrize("rows_a_class", [100, 1e4, 1e5])
def test_many_rows_of_classes_alike_have_the_posterior_of_normal_likelihoods(sigma, rows_a_class):
    # exp(-rows (t - at)^2 / 2) in each of K classes: given tau a normal density of K equal values,
    # of variance tau^2 + 1 / rows each and covariance sigma^2.
    at, size = -0.5, 10
    place = np.linspace(LOW, HIGH, NODES) - at
    one = np.stack([-(place**2) / 2, -place * STEP, np.full(NODES, -(STEP**2))], axis=1)
    priors = Priors(mu=bc.Normal(0, sigma))
    tau = np.exp(np.linspace(np.log(1e-7), np.log(3), 20_001))
    own, whole = tau**2 + 1 / rows_a_class, tau**2 + 1 / rows_a_class + size * sigma**2
    logs = halfnorm.logpdf(tau, scale=0.5) + np.log(tau) + size / 2 * np.log(1 / rows_a_class)
    logs -= ((size - 1) * np.log(own) + np.log(whole) + size * at**2 / whole) / 2
    table = np.broadcast_to(rows_a_class * one, (size, NODES, 3))
    grid = posterior_grid(table, priors)
    found = draw_posterior(table, grid, 20_000, np.random.default_rng(20))
    # What is left out: tau below 2e-5, a share of .01 of the posterior of 100,000 rows a class.
    expected = logsumexp(logs) + np.log(np.log(tau[1] / tau[0]))
    assert grid.log_integral == pytest.approx(expected, abs=0.02)
    share = np.exp(logs - logsumexp(logs))
    median = tau[np.searchsorted(np.cumsum(share), 0.5)]
    assert np.median(found["tau"]) == pytest.approx(median, rel=0.05)
    within = 1 / (size / own + sigma**-2)
    centre = at * size / own * within
    spread = np.sqrt(share @ (within + centre**2) - (share @ centre) ** 2)
    # Draws are spread evenly over cells, and their spread is known to half a percent.
    assert np.std(found["mu"]) == pytest.approx(spread, rel=0.03)


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
    model = temperatures_of(found, priors)
    drawn = draw_posterior(model.table, model.grid, 20_000, np.random.default_rng(1))
    values = np.column_stack([drawn[name] for name in ("mu", "tau", "log_alpha")])
    spread = np.hypot(error, values.std(axis=0) / np.sqrt(20_000))
    # Four standard errors, and what cells of the grid add.
    assert (np.abs(values.mean(axis=0) - mean) < 4 * spread + 0.005).all()


def one_class_at_a_time(table, mu, tau, uniform):
    """Draws of a class given mu and tau by its distribution function over seven widths, (draw,)."""
    dense = np.linspace(mu - 10 * tau, mu + 10 * tau, 20_001)
    density = norm.logpdf(dense, mu, tau) + look_up(table, dense[:, None])[:, 0]
    mode = dense[density.argmax()]
    step = 1e-4 * tau
    near = mode + step * np.array([-1, 0, 1])
    bend = np.diff(norm.logpdf(near, mu, tau) + look_up(table, near[:, None])[:, 0], 2)[0]
    places = mode + np.linspace(-7, 7, 57) * step / np.sqrt(-bend)
    height = np.exp(norm.logpdf(places, mu, tau) + look_up(table, places[:, None])[:, 0])
    below = np.append(0, np.cumsum((height[1:] + height[:-1]) / 2))
    return np.interp(uniform * below[-1], below, places)


@pytest.mark.parametrize("most", [1 << 22, 57 * 3 * 2])
def test_draws_of_classes_are_those_of_one_point_and_class_at_a_time(monkeypatch, most):
    monkeypatch.setattr("bayescal.quantities.temperature.model._MOST", most)
    table = temperatures_of(problem(60, 3), Priors()).table
    mu, tau = np.array([-0.8, -0.3, 0.1, 0.4, 0.9]), np.array([0.05, 0.6, 0.2, 1.2, 0.4])
    point = np.repeat(np.arange(5), [40, 1, 0, 30, 25])
    found = draw_classes(table, mu, tau, point, np.random.default_rng(4))
    uniform = np.random.default_rng(4).random(found.shape)
    for at in np.unique(point):
        own = point == at
        for k in range(3):
            expected = one_class_at_a_time(table[[k]], mu[at], tau[at], uniform[own, k])
            np.testing.assert_allclose(found[own, k], expected, atol=2e-3 * tau[at])


@pytest.mark.mcmc
@pytest.mark.parametrize(("n", "n_classes", "alpha"), [(50, 2, 0.6), (60, 10, 1.0)])
def test_nuts_agrees_with_quadrature_and_does_not_diverge(n, n_classes, alpha):
    from bayescal.inference.sampler import compile_model

    found = problem(n, n_classes, alpha=alpha)
    model = temperatures_of(found, Priors())
    sampled = compile_model(model_of(found, model)).sample(
        model.inputs(), seed=3, target_accept=model.target_accept, max_depth=model.max_depth
    )
    health = check([sampled.posterior[name] for name in model.variables], [sampled.sample_stats])
    assert health.divergences == 0
    assert health.ess_min > 400
    drawn = draw_posterior(model.table, model.grid, 20_000, np.random.default_rng(1))
    for name in model.variables:
        nuts = sampled.posterior[name].reshape(4000, -1)
        direct = drawn[name].reshape(20_000, -1)
        # 400 effective draws at least: four standard errors.
        apart = np.abs(nuts.mean(axis=0) - direct.mean(axis=0)) / direct.std(axis=0)
        assert (apart < 4 / np.sqrt(health.ess_min)).all(), name
        assert (np.abs(np.log(nuts.std(axis=0) / direct.std(axis=0))) < 0.15).all(), name


def test_classes_without_rows_have_their_prior_given_mu_and_tau():
    found = problem(60, 3)
    held = labeled_rows(found.logits, found.label, found.predicted * 0, 2)
    grid = posterior_grid(tabulated(held), Priors())
    drawn = draw_posterior(tabulated(held), grid, 4000, np.random.default_rng(0))
    apart = (drawn["log_alpha"][:, 1] - drawn["mu"]) / drawn["tau"]
    # tau of the draws lies within its cell of the grid: the spread is 1 to a few per cent.
    assert kstest(apart, "norm").statistic < 0.04


def test_the_log_likelihood_is_that_of_the_labels():
    found = problem(30, 2)
    draws = {"log_alpha": np.array([[[0.2, -0.3]]])}
    likelihood = temperatures_of(found, Priors()).log_likelihood(draws)[0, 0]
    assert likelihood[1] == pytest.approx(full_log_likelihood(found, 1)(-0.3), rel=1e-8)


@pytest.mark.mcmc
def test_the_density_of_the_model_is_that_of_its_parts():
    found = problem(30, 2)
    model = temperatures_of(found, Priors())
    built = model_of(found, model)
    point = {"mu": 0.1, "tau_log__": np.log(0.4), "log_alpha_conditional__": np.array([0.3, -0.2])}
    total = built.compile_logp(mode=PLAIN)(point)
    inputs = model.inputs()
    variance = 1 / (inputs["precision"] + 0.4**-2)
    place = variance * (inputs["pull"] + 0.1 * 0.4**-2) + np.sqrt(variance) * [0.3, -0.2]
    expected = norm.logpdf(0.1, 0, 0.7) + halfnorm.logpdf(0.4, scale=0.5) + np.log(0.4)
    expected += norm.logpdf(place, 0.1, 0.4).sum() + np.log(variance).sum() / 2
    expected += sum(full_log_likelihood(found, k)(place[k]) for k in range(2))
    assert total == pytest.approx(float(expected), rel=1e-7)


@pytest.mark.parametrize(("n", "n_classes"), [(12, 2), (200, 5), (20_000, 3)])
def test_evidence_and_draws_are_those_of_an_integral(n, n_classes):
    logits, label = rows(n, n_classes)
    table = tabulated(labeled_rows(logits, label, logits.argmax(axis=1), n_classes))
    drawn, evidence = draw_shared(table, Priors(), 20_000, np.random.default_rng(0))

    def fit(place):
        return -log_loss(np.exp(place) * logits, label) * n

    middle = drawn.mean()
    ends = middle - 12 * drawn.std(), middle + 12 * drawn.std()
    scale = fit(middle)

    def moment(power):
        return quad(
            lambda t: t**power * np.exp(fit(t) - scale) * norm.pdf(t, 0, 0.7),
            *ends,
            limit=200,
            points=[middle],
        )[0]

    total, first, second = (moment(k) for k in range(3))
    assert evidence == pytest.approx(np.log(total) + scale, abs=1e-4)
    mean, spread = first / total, np.sqrt(second / total - (first / total) ** 2)
    assert middle == pytest.approx(mean, abs=4 * spread / 20_000**0.5)
    assert drawn.std() == pytest.approx(spread, rel=0.03)


def average(priors, n=60, n_classes=3):
    return TemperatureCase.of(problem(n, n_classes), priors).model


def test_models_are_weighed_by_prior_and_evidence():
    model = average(Priors(shared=0.2, vector=0.5))
    evidence = {"one temperature": -10.0, "class temperatures": -9.0, "vector scaling": -11.0}
    expected = np.array([0.2, 0.3, 0.5]) * np.exp([-10.0, -9.0, -11.0])
    np.testing.assert_allclose(model.probabilities(evidence), expected / expected.sum())


@pytest.mark.parametrize(("shared", "vector"), [(0.0, 0.0), (0.4, 0.0), (0.0, 0.4)])
def test_models_of_no_prior_weight_are_left_out(shared, vector):
    model = average(Priors(shared=shared, vector=vector))
    found = model.direct_draws(100, np.random.default_rng(0))
    assert set(found.evidence) == set(model.priors.weights)
    weight = model.probabilities(found.evidence)
    assert (weight[0] > 0, weight[2] > 0) == (shared > 0, vector > 0)
    drawn = model.mixed(found.draws, weight, np.random.default_rng(1))
    assert set(np.unique(drawn["description"])) <= set(np.flatnonzero(weight))
    assert ("shift" in drawn) == (vector > 0)
    assert (drawn["tau"] == 0).any() == (shared > 0)


def test_equal_concentrations_are_one():
    assert Priors(concentration=(10, 30, 10)).belief == Priors(concentration=(10, 30)).belief


def test_more_than_200_classes_leave_vector_scaling_out():
    assert average(Priors(), 300, 201).weights.keys() == set(MODELS[:2])


def test_draws_have_the_models_in_proportion_to_their_weights():
    model = average(Priors())
    found = model.direct_draws(10_000, np.random.default_rng(0))
    weight = np.array([0.3, 0.2, 0.5])
    drawn = model.mixed(found.draws, weight, np.random.default_rng(1))
    share = np.bincount(drawn["description"], minlength=3) / 10_000
    np.testing.assert_allclose(share, weight, atol=2e-4)
    # Draws of vector scaling have temperatures of the other two, in their proportion.
    for chosen, expected in ((0, 1.0), (1, 0.0), (2, 0.6)):
        alike = np.ptp(drawn["log_alpha"][drawn["description"] == chosen], axis=1) == 0
        assert alike.mean() == pytest.approx(expected, abs=4 * (0.24 / 5000) ** 0.5)
    one = drawn["tau"] == 0
    assert np.array_equal(one, drawn["description"] == 0)
    assert np.array_equal(drawn["log_alpha"][one], np.tile(drawn["mu"][one, None], 3))
    vector = drawn["description"] == 2
    assert np.array_equal(drawn["mu"][vector], found.draws["coef_mu"][vector])
    # A model of a probability below a thousandth is not drawn.
    rare = model.mixed(found.draws, np.array([0.0005, 0.9995, 0.0]), np.random.default_rng(1))
    assert (rare["description"] == 1).all()


def test_points_are_quantiles_of_the_draws_of_the_average():
    case = TemperatureCase.of(problem(120, 3, alpha=0.4), Priors())
    rng = np.random.default_rng(7)
    direct = case.model.direct_draws(20_000, rng)
    weight = np.array([0.3, 0.5, 0.2])
    draws = case.model.mixed(direct.draws, weight, rng)["log_alpha"]
    wanted = np.quantile(draws, (np.arange(16) + 0.5) / 16, axis=0)
    found = case.model.points(weight)
    # Quantiles of 4,000 draws: standard errors of .02 standard deviations in the middle, .05 at the
    # first and last of 16.
    np.testing.assert_allclose((found - wanted) / draws.std(axis=0), 0, atol=0.2)
    np.testing.assert_allclose(((found - wanted) / draws.std(axis=0))[3:13], 0, atol=0.08)
    # All from the one temperature: nearer to each other than one a class.
    assert (np.ptp(case.model.points(np.array([1.0, 0, 0])), axis=1) == 0).all()


def test_log_priors_are_densities_of_the_model_of_each_draw():
    model = average(Priors())
    draws = {
        "mu": np.array([0.1, 0.2, -0.5]),
        "tau": np.array([0.0, 0.4, 0.3]),
        "description": np.array([0, 1, 2]),
        "shift_tau": np.full(3, 0.2),
    }
    found = model.log_prior(draws)
    np.testing.assert_allclose(found["mu"], norm.logpdf([0.1, 0.2, -0.5], 0, 0.7))
    mean = halfnorm.expect(lambda x: halfnorm.logpdf(x, scale=0.5), scale=0.5)
    scales = halfnorm.logpdf([0.4, 0.3, 0.2], scale=0.5) - mean
    np.testing.assert_allclose(found["tau"], [0, scales[0], scales[1] + scales[2]], atol=1e-8)


def test_nuts_and_direct_draws_are_completed_alike():
    model = average(Priors())
    direct = model.direct_draws(400, np.random.default_rng(0))
    nuts = {name: direct.draws[name].reshape(4, 100, -1) for name in ("mu", "tau", "log_alpha")}
    nuts |= {name: nuts[name][..., 0] for name in ("mu", "tau")}
    found, evidence = model.completed(nuts, np.random.default_rng(0))
    assert found.keys() == direct.draws.keys()
    assert evidence == pytest.approx(dict(direct.evidence))
    assert found["shift"].shape == (4, 100, 3)
