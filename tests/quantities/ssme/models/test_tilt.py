"""The tilt against its PyMC model, against loops, and against importance sampling of its prior."""

from dataclasses import replace

import arviz as az
import numpy as np
import pytest
from scipy.special import softmax

from bayescal.inference.sampler import compile_model
from bayescal.quantities.ssme.model import model_of
from bayescal.quantities.ssme.priors import Tilt
from tests.quantities.ssme.problems import (
    PLAIN,
    grouped,
    in_chains,
    log_density_of,
    many_classes,
    model,
    problem,
)

MADE = {
    "binary": lambda labeling: problem(labeling, n=60),
    "one classifier": lambda labeling: problem(labeling, n=60, m=1),
    "four classes": lambda labeling: many_classes(labeling, n=60),
    "groups": grouped,
    "more labels": lambda labeling: problem(labeling, n=60, n_labeled=40),
}


def prior_of(own, n, seed=1):
    return own.prior_draws(n, np.random.default_rng(seed))


@pytest.mark.mcmc
@pytest.mark.parametrize("labeling", ["random", "one-per-class"])
@pytest.mark.parametrize("name", MADE)
def test_the_models_density_is_prior_times_likelihood(name, labeling):
    made = MADE[name](labeling)
    own = model(made, Tilt(intercept=0.4, slope_location=0.1, weight=0.7), power=0.7)
    log_density = log_density_of(model_of(made, own), own.variables)
    draws = prior_of(own, 5)
    expected = sum(own.log_prior(draws).values()) + own.log_likelihood(draws).sum(axis=-1)
    if labeling == "one-per-class":
        # All 60 rows are in the model's mean, so that it is no estimate.
        mean = own.label_probs(draws).mean(axis=1)
        expected = expected - 0.7 * np.log(mean).sum(axis=-1)
    found = [log_density({k: v[i] for k, v in draws.items()}) for i in range(5)]
    np.testing.assert_allclose(found, expected, rtol=1e-8)


@pytest.mark.parametrize("name", MADE)
def test_label_probabilities_by_loops(name):
    made = MADE[name]("random")
    own, panel = model(made), made.panel
    draws = prior_of(own, 3)
    found = own.label_probs(draws)
    for s in range(3):
        for i in range(0, panel.n_obs, 7):
            eta = []
            for k in range(panel.n_classes):
                value = draws["intercept"][s, k]
                value += draws["slope"][s, k] * own.features.log_pool[i, k]
                value += draws["bend"][s] * own.features.bend[i, k]
                for j in range(panel.n_classifiers):
                    value += draws["weight"][s, j] * own.features.own[i, k, j]
                    value += draws["own_bend"][s, j] * own.features.own_bend[i, k, j]
                if panel.group is not None:
                    g = panel.group[i]
                    value *= np.exp(draws["group_slope"][s, g])
                    value += draws["group_intercept"][s, g, k]
                eta.append(value)
            np.testing.assert_allclose(found[s, i], softmax(eta), rtol=1e-10)


def test_the_likelihood_is_the_labels_probability_to_the_power():
    made = many_classes(n=60)
    own = model(made, power=0.3)
    draws = prior_of(own, 4)
    chosen = own.label_probs(draws)[:, made.rows, made.labels]
    np.testing.assert_allclose(own.log_likelihood(draws), 0.3 * np.log(chosen), rtol=1e-9)


def test_leading_dims_are_kept():
    own = model(grouped())
    flat = prior_of(own, 6)
    folded = in_chains(flat, 2)
    for method in (own.label_probs, own.log_likelihood):
        values = method(folded)
        np.testing.assert_allclose(values.reshape(6, *values.shape[2:]), method(flat), rtol=1e-12)
    for name, values in own.log_prior(folded).items():
        np.testing.assert_allclose(values.ravel(), own.log_prior(flat)[name], rtol=1e-12)


@pytest.mark.slow
def test_rows_stand_for_several_in_the_mean_of_forced_labels():
    made = problem("one-per-class", n=60)
    weight = np.random.default_rng(1).exponential(size=60)
    own, other = model(made), model(replace(made, weight=weight))
    draws = prior_of(own, 1)
    point = {name: values[0] for name, values in draws.items()}
    found = [
        log_density_of(model_of(one.problem, one), one.variables)(point) for one in (other, own)
    ]
    means = [np.average(own.label_probs(draws)[0], axis=0, weights=w) for w in (weight, None)]
    expected = -0.6 * (np.log(means[0]).sum() - np.log(means[1]).sum())
    assert found[0] - found[1] == pytest.approx(expected, rel=1e-8)


def test_some_rows_have_the_probabilities_that_all_have():
    own = model(grouped())
    draws = in_chains(prior_of(own, 6), 2)
    rows = np.array([7, 3, 3])
    expected = own.label_probs(draws)[:, :, rows]
    np.testing.assert_allclose(own.label_probs(draws, rows), expected, rtol=1e-12)


@pytest.mark.mcmc
def test_prior_draws_are_those_of_the_model():
    import pymc as pm

    made, n = grouped(), 4000
    own = model(made, Tilt(intercept=0.4, slope_location=-0.3, wide_weight=1.0, group=0.5))
    ours = prior_of(own, n)
    with model_of(made, own):
        drawn = pm.sample_prior_predictive(
            n, var_names=list(own.variables), random_seed=2, compile_kwargs={"mode": PLAIN}
        )["prior"]
    assert set(ours) == set(own.variables)
    for name, values in ours.items():
        theirs = drawn[name].to_numpy()[0]
        assert values.shape == theirs.shape, name
        levels = (0.1, 0.5, 0.9)
        a, b = (np.quantile(v.reshape(n, -1)[:, -1], levels) for v in (values, theirs))
        # The difference of two shares of 4000 has a standard error below .012: four of them.
        for level, at in zip(levels, b, strict=True):
            assert abs((values.reshape(n, -1)[:, -1] <= at).mean() - level) < 0.045, name
        assert np.isfinite(a).all()


def test_a_higher_power_reaches_further_from_the_prior():
    """Ten labels against all classifiers: the pool is followed less, the more labels count."""
    made = problem(n=60, n_labeled=10)
    wrong = replace(made.panel, y=np.where(made.panel.labeled, 1 - made.panel.y, -1).astype("i4"))
    made = replace(made, panel=wrong)
    means = []
    for power in (0.2, 0.6, 1.0):
        own = model(made, power=power)
        draws = prior_of(own, 20_000)
        weight = np.exp(own.log_likelihood(draws).sum(axis=-1))
        given = own.label_probs(draws, made.rows)[:, np.arange(10), made.labels].mean(axis=1)
        means.append(np.average(given, weights=weight))
    assert means[0] < means[1] < means[2]


def quantities(own, draws):
    """Coefficients and two label probabilities, (..., quantity)."""
    prob = own.label_probs(draws)
    slope, intercept = draws["slope"], draws["intercept"]
    return np.stack(
        [
            slope.mean(axis=-1),
            intercept[..., 1] - intercept[..., 0],
            draws["bend"],
            draws["weight"][..., 0],
            prob[..., -1, 1],
            prob[..., 1].mean(axis=-1),
        ],
        axis=-1,
    )


@pytest.fixture(scope="module")
def compiled():
    """Powers and labels are data of one compiled model."""
    made = problem(n=40, m=1, n_labeled=8)
    return compile_model(model_of(made, model(made)))


@pytest.mark.mcmc
@pytest.mark.parametrize("power", [1.0, 0.6])
def test_nuts_agrees_with_importance_sampling_from_the_prior(compiled, power):
    """Means and quantiles within four Monte Carlo errors of both together."""
    made = problem(n=40, m=1, n_labeled=8)
    own = model(made, Tilt(intercept=1.0, slope_scale=0.5, curvature=1.0), power=power)
    sampled = compiled.sample(
        own.inputs(), seed=5, target_accept=own.target_accept, max_depth=own.max_depth
    )
    # Scales three times those of the default, and eight labels: the worst that it is made for.
    assert sampled.sample_stats["diverging"].sum() <= 4
    ours = quantities(own, {name: sampled.posterior[name] for name in own.variables})
    draws = prior_of(own, 200_000)
    log_weight = own.log_likelihood(draws).sum(axis=-1)
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    theirs = quantities(own, draws)
    n = 1 / (weight**2).sum()
    assert n > 10_000
    for q in range(ours.shape[-1]):
        mine, other = ours[..., q], theirs[:, q]
        mean = weight @ other
        error = np.hypot(az.mcse(mine, method="mean"), np.sqrt(weight @ (other - mean) ** 2 / n))
        assert abs(mine.mean() - mean) < 4 * error
        order = np.argsort(other)
        for level in (0.05, 0.5, 0.95):
            at = other[order][np.searchsorted(weight[order].cumsum(), level)]
            below = (mine <= at).astype(float)
            error = np.hypot(az.mcse(below, method="mean"), np.sqrt(level * (1 - level) / n))
            assert abs(below.mean() - level) < 4 * error


def test_labels_that_pad_say_nothing():
    few, some = (model(problem(n=60, n_labeled=n)) for n in (3, 30))
    for own in (few, some):
        inputs = own.inputs()
        assert {len(inputs[k]) for k in ("label_log_pool", "label_power", "observed_label")} == {32}
    assert (few.inputs()["label_power"] > 0).sum() == 3
    assert few.compile_key == some.compile_key
    assert model(problem(n=60, n_labeled=40)).compile_key != some.compile_key


@pytest.mark.parametrize("other", [{"m": 2}, {"labeling": "one-per-class"}])
def test_what_compiles_apart_has_a_structure_of_its_own(other):
    assert model(problem(n=60, **other)).compile_key != model(problem(n=60)).compile_key
