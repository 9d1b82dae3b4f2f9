"""Labels drawn from their probabilities, and their likelihood."""

import numpy as np
import pymc as pm
import pytest
from scipy.special import log_softmax, softmax

import bayescal as bc
from bayescal.quantities.ssme.data import score_matrix
from bayescal.quantities.ssme.labels import (
    draw_labels,
    labels_at,
    with_known_labels,
)
from bayescal.quantities.ssme.metrics import Metrics, expected_metrics, mean_over_draws, metrics
from bayescal.quantities.ssme.model import label_model, model_of
from bayescal.quantities.ssme.priors import GaussianMixture, Priors, StudentTMixture, Tilt
from bayescal.quantities.ssme.tilt import _draw_classes, power_categorical
from tests.interpreted import PLAIN
from tests.quantities.ssme.made import in_chains, many_classes, problem


@pytest.fixture
def matrix():
    score = np.array([0.1, 0.3, 0.45, 0.7, 0.9])
    scores = {"a": score, "b": score[::-1] ** 2}
    return score_matrix(bc.Scores.stack(scores, y_true=[0, *[None] * 4], group=list("uvuvu")))


PROB = np.array([[1, 0], [0.7, 0.3], [0.5, 0.5], [0.2, 0.8], [0.1, 0.9]])


def test_draws_average_to_the_sum_over_all_labels(matrix):
    found = expected_metrics(matrix, PROB, 20_000, np.random.default_rng(1))
    every = np.array(np.meshgrid(*[[0, 1]] * 5, indexing="ij")).reshape(5, -1).T
    chance = PROB[np.arange(5), every].prod(axis=1)
    cases = metrics(matrix.probs, np.eye(2)[every])
    for name, value in cases._asdict().items():
        defined = np.isfinite(value[:, 0])
        weight = chance[defined] / chance[defined].sum()
        mean = weight @ value[defined]
        spread = np.sqrt(weight @ (value[defined] - mean) ** 2)
        # Five standard errors of the mean of 20000 draws.
        difference = np.abs(getattr(found, name) - mean)
        assert (difference <= 5 * spread / np.sqrt(20_000) + 1e-12).all(), name


def test_draws_in_blocks_are_the_same_draws(matrix, monkeypatch):
    whole = expected_metrics(matrix, PROB, 100, np.random.default_rng(2))
    monkeypatch.setitem(expected_metrics.__globals__, "_LABELS_AT_ONCE", 70)
    parts = expected_metrics(matrix, PROB, 100, np.random.default_rng(2))
    for one, two in zip(whole, parts, strict=True):
        np.testing.assert_allclose(one, two, rtol=0, atol=1e-12)


def test_without_draws_probabilities_are_labels(matrix):
    found = expected_metrics(matrix, PROB, None, np.random.default_rng(0))
    np.testing.assert_array_equal(found.auc, metrics(matrix.probs, PROB).auc)


def test_a_metric_that_no_draw_has(matrix):
    certain = np.tile([1.0, 0.0], (5, 1))
    found = expected_metrics(matrix, certain, 10, np.random.default_rng(4))
    assert np.isnan(found.auc).all()
    assert np.isfinite(found.ece).all()


def test_known_labels_are_certain():
    label = [2, None, 0, None]
    three = score_matrix(bc.Scores(y_true=label, y_prob=np.full((4, 3), 1 / 3), classes=[0, 1, 2]))
    draws = np.random.default_rng(0).dirichlet(np.ones(3), (5, 4))
    kept = draws.copy()
    found = with_known_labels(three, draws)
    np.testing.assert_array_equal(found[:, [0, 2]], np.tile(np.eye(3)[[2, 0]], (5, 1, 1)))
    np.testing.assert_array_equal(found[:, [1, 3]], draws[:, [1, 3]])
    np.testing.assert_array_equal(draws, kept)


def test_draws_have_their_probabilities():
    prob = np.array([[0.2, 0.5, 0.3], [0.0, 1.0, 0.0], [0.5, 0.0, 0.5]])
    drawn = draw_labels(prob, 50_000, np.random.default_rng(2))
    assert (drawn.sum(axis=2) == 1).all()
    # Standard error below .0023.
    np.testing.assert_allclose(drawn.mean(axis=0), prob, atol=0.01)
    assert (drawn[:, 1, 1] == 1).all()
    assert (drawn[:, 2, 1] == 0).all()


def test_a_label_is_where_the_number_falls():
    """Classes own [0, .2), [.2, .7) and [.7, 1); of probabilities by draw, those of the draw."""
    prob = np.array([[0.2, 0.5, 0.3]])
    uniform = np.array([[0.0], [0.19], [0.2], [0.69], [0.7], [0.999]])
    expected = np.eye(3)[[0, 0, 1, 1, 2, 2]][:, np.newaxis]
    np.testing.assert_array_equal(labels_at(prob, uniform), expected)
    np.testing.assert_array_equal(labels_at(np.tile(prob, (6, 1, 1)), uniform), expected)
    turned = labels_at(np.stack([prob, prob[:, ::-1]]), np.array([[0.25], [0.25]]))
    np.testing.assert_array_equal(turned[:, 0], np.eye(3)[[1, 0]])


def test_draws_without_a_metric_are_left_out_of_its_mean():
    values = np.array([[0.2, np.nan], [0.4, np.nan]])
    found = mean_over_draws(Metrics(*[values] * 7))
    assert found.auc[0] == pytest.approx(0.3)
    assert np.isnan(found.auc[1])


LABELS = {"tilt": Tilt(), "normal": GaussianMixture(), "student": StudentTMixture()}


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("make", [problem, many_classes])
def test_every_model_keeps_its_promises(kind, make):
    made = make(n=60)
    own = label_model(made, Priors(label=LABELS[kind], power=0.5))
    flat = own.prior_draws(4, np.random.default_rng(1))
    draws = in_chains(flat)
    assert set(own.shown) <= set(own.variables) == set(flat)
    prob = own.label_probs(flat)
    assert prob.shape == (4, 60, made.matrix.n_classes)
    np.testing.assert_allclose(prob.sum(axis=-1), 1)
    assert own.log_likelihood(draws).shape == (2, 2, 20)
    log_prior = own.log_prior(draws)
    assert set(log_prior) == set(own.shown)
    assert {values.shape for values in log_prior.values()} == {(2, 2)}
    assert isinstance(hash(own.compile_key), int)
    assert 0 < own.target_accept < 1
    data = model_of(made, own).data_vars
    assert {v.name for v in data} == set(own.inputs())


ETA = np.random.default_rng(1).normal(size=(6, 3))


def log_density(power, observed):
    with pm.Model() as model:
        data = pm.Data("power", np.asarray(power, float))
        labels = pm.Data("labels", np.asarray(observed))
        power_categorical("label", pm.Data("eta", ETA), data, labels)
    return float(model.compile_logp(mode=PLAIN)({}))


def test_the_density_is_the_categorical_to_the_power():
    observed, power = np.array([0, 2, 1, 1, 0, 2]), np.array([1, 0.5, 0.3, 0, 0, 0.9])
    expected = (power * log_softmax(ETA, axis=1)[np.arange(6), observed]).sum()
    assert log_density(power, observed) == pytest.approx(expected)


def test_labels_are_drawn_as_they_come_whatever_the_power():
    drawn = _draw_classes(np.tile(ETA, (20_000, 1, 1)), np.full(6, 0.1), np.random.default_rng(2))
    shares = np.stack([(drawn == k).mean(axis=0) for k in range(3)], axis=1)
    # A share of 20,000 has a standard error below .0036.
    np.testing.assert_allclose(shares, softmax(ETA, axis=1), atol=0.015)
