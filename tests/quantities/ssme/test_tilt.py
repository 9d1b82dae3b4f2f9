"""The tilt of the pooled classifiers: features, units and the model."""

from dataclasses import replace

import arviz as az
import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytensor.graph.replace import vectorize_graph
from scipy.special import softmax
from scipy.stats import f, kstest, multivariate_t, t

import bayescal as bc
from bayescal.inference.sampler import compile_model
from bayescal.quantities.ssme import tilt
from bayescal.quantities.ssme.data import Problem, score_matrix
from bayescal.quantities.ssme.model import model_of
from bayescal.quantities.ssme.opinion_pool import agreement_weights, lifted
from bayescal.quantities.ssme.priors import Tilt
from bayescal.quantities.ssme.tilt import (
    GROUP_DEGREES,
    draw_student,
    student_group,
    student_log_density,
)
from tests.quantities.ssme.made import PLAIN, grouped, log_density_of, many_classes, model, problem

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
@pytest.mark.parametrize(
    ("name", "labeling"),
    [
        ("binary", "random"),
        ("one classifier", "random"),
        ("more labels", "random"),
        ("four classes", "one-per-class"),
        ("groups", "one-per-class"),
    ],
)
def test_the_models_density_is_prior_times_likelihood(name, labeling):
    made = MADE[name](labeling)
    own = model(made, Tilt(intercept=0.4, slope_location=0.1, weight=0.7), power=0.7)
    log_density = log_density_of(model_of(made, own), own.variables)
    draws = prior_of(own, 5)
    prob = own.label_probs(draws)
    likelihood = 0.7 * np.log(prob[:, made.rows, made.labels]).sum(axis=-1)
    if labeling == "one-per-class":
        # All 60 rows are in the model's mean, so that it is no estimate.
        likelihood -= 0.7 * np.log(prob.mean(axis=1)).sum(axis=-1)
    # What a result holds, and power scaling raises to a power, is the whole likelihood.
    np.testing.assert_allclose(own.log_likelihood(draws).sum(axis=-1), likelihood, rtol=1e-8)
    expected = sum(own.log_prior(draws).values()) + likelihood
    found = [log_density({k: v[i] for k, v in draws.items()}) for i in range(5)]
    np.testing.assert_allclose(found, expected, rtol=1e-8)


@pytest.mark.parametrize("name", MADE)
def test_label_probabilities_by_loops(name):
    made = MADE[name]("random")
    own, matrix = model(made), made.matrix
    draws = prior_of(own, 3)
    found = own.label_probs(draws)
    for s in range(3):
        for i in range(0, matrix.n_obs, 7):
            eta = []
            for k in range(matrix.n_classes):
                value = draws["intercept"][s, k]
                value += draws["slope"][s, k] * own.features.log_pool[i, k]
                value += draws["bend"][s] * own.features.bend[i, k]
                for j in range(matrix.n_classifiers):
                    value += draws["weight"][s, j] * own.features.own[i, k, j]
                    value += draws["own_bend"][s, j] * own.features.own_bend[i, k, j]
                if matrix.group is not None:
                    g = matrix.group[i]
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


def test_some_rows_have_the_mean_of_all_of_rare_classes_too():
    """Twenty classes, the rarest in 8 of 2,000 rows: of 256 random rows none is of it."""
    rng = np.random.default_rng(2)
    share = np.maximum(rng.dirichlet(np.ones(20)), 0.004)
    y = rng.choice(20, 2000, p=share / share.sum())
    probs = softmax(np.log(share) + 4 * np.eye(20)[y] + rng.normal(size=(2, 2000, 20)), axis=2)
    first = np.unique(y, return_index=True)[1]
    known = [int(k) if i in first else None for i, k in enumerate(y)]
    scores = bc.Scores.stack({"a": probs[0], "b": probs[1]}, y_true=known)
    own = model(Problem.of(score_matrix(scores), "one-per-class"))
    draws = prior_of(own, 40)
    inputs = own.inputs()
    log_pool, bend = inputs["row_log_pool"], inputs["row_bend"]
    logs, own_bend = inputs["row_own_logs"], inputs["row_own_bend"]
    away = []
    for s in range(40):
        eta = draws["intercept"][s] + draws["slope"][s] * log_pool + draws["bend"][s] * bend
        eta = eta + logs @ draws["weight"][s] + own_bend @ draws["own_bend"][s]
        found = np.exp(inputs["row_log_weight"]) @ softmax(eta, axis=1)
        every = own.label_probs({name: v[s] for name, v in draws.items()}).mean(axis=0)
        away.append(np.log(found).sum() - np.log(every).sum())
    # Up to a constant, in nats, over most of the prior; with random rows it is 15.
    assert np.ptp(np.quantile(away, [0.1, 0.9])) < 0.5


@pytest.mark.mcmc
def test_prior_draws_are_those_of_the_model():
    import pymc as pm

    made, n = grouped(), 2000
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
        # The difference of two shares of 2000 has a standard error below .016: four of them.
        for level, at in zip(levels, b, strict=True):
            assert abs((values.reshape(n, -1)[:, -1] <= at).mean() - level) < 0.064, name
        assert np.isfinite(a).all()


def test_a_higher_power_reaches_further_from_the_prior():
    """Ten labels against all classifiers: the pool is followed less, the more labels count."""
    made = problem(n=60, n_labeled=10)
    wrong = replace(
        made.matrix, y=np.where(made.matrix.labeled, 1 - made.matrix.y, -1).astype("i4")
    )
    made = replace(made, matrix=wrong)
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


@pytest.mark.parametrize(("labels", "size"), [(0, 32), (33, 64), (1024, 1024), (2049, 3072)])
def test_many_labels_are_not_padded_to_a_doubling(labels, size):
    own = model(problem(n=2100, n_labeled=labels))
    assert len(own.inputs()["label_power"]) == size


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


def matrix(seed, m=3, n=30, k=3):
    return np.random.default_rng(seed).dirichlet(np.ones(k), (m, n))


def features_of(probs, prior):
    """Features, without the prior of the log slope."""
    return tilt.features_of(probs, prior)[0]


def centred(values, axis):
    return values - values.mean(axis=axis, keepdims=True)


@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(2, 4))
def test_the_bend_is_orthogonal_to_the_pool(seed, m, k):
    found = features_of(matrix(seed, m=m, k=k), Tilt())
    base = found.log_pool
    norm = np.sqrt((base**2).sum())
    # In units of both lengths: rounding of a sum of 120 products.
    assert abs((found.bend * base).sum()) < 1e-10 * norm * max(np.sqrt((found.bend**2).sum()), 1)
    np.testing.assert_allclose(found.bend.sum(axis=1), 0, atol=1e-9)


@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(2, 4))
def test_own_logs_sum_to_nothing_over_classes_and_over_rows(seed, m, k):
    own = features_of(matrix(seed, m=m, k=k), Tilt()).own
    np.testing.assert_allclose(own.sum(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(own.sum(axis=1), 0, atol=1e-9)


def test_features_by_hand():
    probs = matrix(1)
    found = features_of(probs, Tilt(opinion_pool="mean"))
    base = found.log_pool.ravel()
    mean = lifted(probs).mean(axis=0)
    np.testing.assert_allclose(found.log_pool, centred(np.log(mean), 1))
    for j, given_probs in enumerate(lifted(probs)):
        logs = np.log(given_probs)
        # Two-way centring in one step: less the means of row and class, plus the mean of all.
        target = logs - logs.mean(axis=1)[:, None] - logs.mean(axis=0)[None, :] + logs.mean()
        np.testing.assert_allclose(found.own[..., j], target / target.std(), atol=1e-12)
    slope = np.linalg.lstsq(base[:, None], (mean - 1 / 3).ravel(), rcond=None)[0][0]
    left = (mean - 1 / 3).ravel() - slope * base
    np.testing.assert_allclose(found.bend.ravel(), left / left.std(), atol=1e-12)
    for j, own in enumerate(lifted(probs)):
        both = np.stack([base, centred(np.log(own), 1).ravel()], axis=1)
        values = (own - 1 / 3).ravel()
        left = values - both @ np.linalg.lstsq(both, values, rcond=None)[0]
        np.testing.assert_allclose(found.own_bend[..., j].ravel(), left / left.std(), atol=1e-10)


def test_two_classes_with_probabilities_near_even_have_no_bend_of_their_own():
    """Near 1/2 a probability is linear in its logarithm."""
    score = 0.5 + 1e-3 * np.random.default_rng(1).uniform(-1, 1, (2, 40))
    found = features_of(np.stack([1 - score, score], axis=-1), Tilt())
    assert (found.own_bend == 0).all()


def test_the_pool_is_the_one_asked_for():
    probs = matrix(2)
    weights = agreement_weights(lifted(probs))
    expected = centred(np.log(np.tensordot(weights, lifted(probs), 1)), 1)
    np.testing.assert_allclose(features_of(probs, Tilt()).log_pool, expected)


def test_identical_classifiers_have_the_same_own_logs():
    own = features_of(np.repeat(matrix(3, m=1), 4, axis=0), Tilt()).own
    np.testing.assert_allclose(own, np.repeat(own[..., :1], 4, axis=-1), atol=1e-12)


def test_constant_and_extreme_scores_leave_finite_features():
    for probs in (np.full((2, 5, 2), 0.5), np.repeat(np.eye(2)[None, [0, 1, 1, 0]], 2, axis=0)):
        assert all(np.isfinite(part).all() for part in features_of(probs, Tilt()))


def test_features_do_not_hang_on_the_order_of_rows():
    probs, order = matrix(4), np.random.default_rng(0).permutation(30)
    one, other = features_of(probs, Tilt()), features_of(probs[:, order], Tilt())
    for a, b in zip(one, other, strict=True):
        np.testing.assert_allclose(a[order], b, atol=1e-10)


@pytest.mark.parametrize("size", [1, 2, 5])
def test_the_density_is_scipys(size):
    units = np.random.default_rng(1).normal(size=(4, 3, size))
    expected = multivariate_t.logpdf(units, shape=np.eye(size), df=GROUP_DEGREES)
    np.testing.assert_allclose(student_log_density(units, 1), np.reshape(expected, (4, 3)))


def test_a_single_unit_is_a_students_t():
    units = np.random.default_rng(1).normal(size=7)
    np.testing.assert_allclose(student_log_density(units, 0), t.logpdf(units, GROUP_DEGREES))


def test_draws_share_their_scale():
    found = draw_student(20_000, (3,), np.random.default_rng(2))
    assert kstest(found[:, 0], t(GROUP_DEGREES).cdf).pvalue > 1e-3
    # Of independent ones the sizes of two would not be correlated: a standard error of .007.
    sizes = np.argsort(np.argsort(np.abs(found), axis=0), axis=0)
    assert np.corrcoef(sizes[:, 0], sizes[:, 1])[0, 1] > 0.1


def test_draws_without_dims_are_independent():
    found = draw_student(20_000, (), np.random.default_rng(3))
    assert kstest(found, t(GROUP_DEGREES).cdf).pvalue > 1e-3


def test_many_units_are_normal_ones_of_another_length():
    """NUTS sees normal units: E-BFMI of 20 classes was .31, of 50 classes .19."""
    with pm.Model(coords={"class": range(12)}) as made:
        unit = student_group("unit", (12,), ("class",))
    transform = made.rvs_to_transforms[unit]
    value, values = pt.vector("value", shape=(12,)), pt.matrix("values", shape=(None, 12))
    there = transform.backward(value)
    outputs = [there, transform.forward(there), transform.log_jac_det(value)]
    compiled = pytensor.function([values], vectorize_graph(outputs, {value: values}), mode=PLAIN)
    normal = np.random.default_rng(4).normal(size=(2000, 12))
    units, back, log_det = compiled(normal)
    # Squared lengths over their number follow Fisher's F. Tables are linear between nodes.
    assert kstest((units**2).sum(axis=1) / 12, f(12, GROUP_DEGREES).cdf).pvalue > 0.001
    np.testing.assert_allclose(back, normal, atol=0.01)
    step = 1e-5 * np.eye(12)
    for point, expected in zip(normal[:5], log_det, strict=False):
        slopes = (compiled(point + step)[0] - compiled(point - step)[0]) / 2e-5
        assert np.linalg.slogdet(slopes)[1] == pytest.approx(expected, abs=1e-6)
