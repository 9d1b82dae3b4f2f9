import numpy as np
import pytest
from scipy.stats import halfnorm, norm

import bayescal as bc
from bayescal.quantities.temperature.data import Problem
from bayescal.quantities.temperature.model import average_of
from bayescal.quantities.temperature.priors import MODELS, Priors
from tests.quantities.temperature.made import rows


def average(priors, n=60, n_classes=3):
    logits, label = rows(n, n_classes)
    data = bc.Scores(y_true=label, y_prob=logits, from_logits=True, classes=range(n_classes))
    return average_of(Problem.of(data, "classifier"), priors)


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
