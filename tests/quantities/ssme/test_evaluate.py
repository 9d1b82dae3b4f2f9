"""Metrics of draws, and what they are read beside."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

import bayescal as bc
from bayescal.quantities.ssme import posterior as module
from bayescal.quantities.ssme.data import Problem, weighted_matrix
from bayescal.quantities.ssme.metrics import Metrics, metrics
from bayescal.quantities.ssme.posterior import (
    METHODS,
    evaluate,
    kde_estimate,
    reference_estimates,
)
from tests.quantities.ssme.made import grouped, in_chains, many_classes, model, problem


class Fixed:
    """A model that gives every draw the same probabilities."""

    def __init__(self, prob):
        self.prob = prob

    def label_probs(self, draws):
        n = len(next(iter(draws.values())))
        return np.broadcast_to(self.prob, (n, *self.prob.shape)).copy()


def fixed(made, prob, n=200, seed=1):
    """Evaluate `n` draws of a model that knows `prob`."""
    return evaluate(
        made, Fixed(prob), {"x": np.zeros((2, n // 2))}, np.random.default_rng(seed), ece=None
    )[0]


def certain(matrix):
    return np.eye(matrix.n_classes)[matrix.y]


def test_with_all_labels_the_draws_are_a_bayesian_bootstrap_of_the_metrics():
    """Means are those of scikit-learn, up to the bootstrap's spread over 2000 draws."""
    made = problem(n=300, n_labeled=300)
    matrix = made.matrix
    found = fixed(made, certain(matrix), n=2000)
    for j, prob in enumerate(matrix.probs):
        expected = {
            "accuracy": (prob.argmax(axis=1) == matrix.y).mean(),
            "auc": roc_auc_score(matrix.y, prob[:, 1]),
            "auprc": average_precision_score(matrix.y, prob[:, 1]),
            "brier": ((prob[:, 1] - matrix.y) ** 2).mean(),
        }
        for name, value in expected.items():
            draws = found[name][..., j].ravel()
            # Means of functions that are not linear in the weights are off by O(1/n).
            assert draws.mean() == pytest.approx(value, abs=4 * draws.std() / 2000**0.5 + 0.002)


def test_the_bootstrap_s_spread_of_an_accuracy_is_rubin_s():
    made = problem(n=300, n_labeled=300)
    share = (made.matrix.probs.argmax(axis=2) == made.matrix.y).mean(axis=1)
    found = fixed(made, certain(made.matrix), n=4000)["accuracy"]
    # Var of a Dirichlet mean: p (1 - p) / (n + 1); 4000 draws give a deviation to 1.1%.
    expected = np.sqrt(share * (1 - share) / 301)
    np.testing.assert_allclose(found.std(axis=(0, 1)), expected, rtol=0.05)


def test_weights_of_rows_are_taken():
    made = problem(n=100, n_labeled=100)
    half = replace(made, weight=np.where(np.arange(100) < 50, 1.0, 1e-12))
    first = replace(made, matrix=made.matrix.take(np.arange(50)), weight=np.ones(50))
    # Draws differ in their random numbers; means of 4000 have a standard error of .001.
    a, b = (
        fixed(p, certain(p.matrix), n=4000)["accuracy"].mean(axis=(0, 1)) for p in (half, first)
    )
    np.testing.assert_allclose(a, b, atol=0.006)


def test_unknown_labels_are_drawn_and_known_ones_are_not():
    """Known labels all wrong, unknown ones surely right."""
    made = problem(n=200, m=1, n_labeled=100)
    right = made.matrix.probs[0].argmax(axis=1)
    y = np.where(made.matrix.labeled, 1 - right, -1).astype("i4")
    made = replace(made, matrix=replace(made.matrix, y=y))
    found = fixed(made, np.eye(2)[right], n=2000)["accuracy"]
    assert found.mean() == pytest.approx(0.5, abs=0.01)


def test_an_accuracy_s_mean_is_that_of_the_probabilities():
    made = many_classes(n=150, k=4)
    prob = np.random.default_rng(3).dirichlet(np.ones(4), 150)
    prob[made.rows] = np.eye(4)[made.labels]
    found = fixed(made, prob, n=4000)
    expected = metrics(made.matrix.probs, prob)
    for name in ("accuracy", "log_loss", "brier"):
        draws = found[name].reshape(4000, -1)
        error = draws.std(axis=0) / 4000**0.5
        assert (np.abs(draws.mean(axis=0) - getattr(expected, name)) < 4 * error).all()


def test_calibration_errors_are_those_of_the_model_s_probabilities():
    """As if labels were never drawn: a model that agrees with a score finds no error."""
    made = problem(n=200, m=1, n_labeled=30)
    found = fixed(made, made.matrix.probs[0])
    np.testing.assert_allclose(found["ece"], 0, atol=1e-12)
    np.testing.assert_allclose(found["mce"], 0, atol=1e-12)


@pytest.mark.parametrize("block", [1, 1 << 9, 1 << 20])
def test_blocks_change_nothing_but_the_random_numbers(monkeypatch, block):
    monkeypatch.setattr(module, "_BLOCK", block)
    made = problem(n=60)
    own = model(made)
    draws = in_chains(own.prior_draws(60, np.random.default_rng(1)), 3)
    rng = np.random.default_rng(2)
    found, labels = evaluate(made, own, draws, rng, ece=None, keep_labels=True)
    assert found["auc"].shape == (3, 20, 3)
    assert labels["prob_label"].shape == (3, 20, 60, 2)
    expected = own.label_probs(draws)
    expected[:, :, made.rows] = np.eye(2)[made.labels]
    np.testing.assert_allclose(labels["prob_label"], expected, rtol=1e-6)


def test_groups_are_evaluated_on_their_rows():
    """One group's draws do not depend on the other groups' labels."""
    made = grouped(n=300, n_labeled=300)
    matrix = made.matrix
    found = fixed(made, certain(matrix), n=2000)
    for g in range(3):
        rows = matrix.group == g
        alone = metrics(matrix.probs[:, rows], certain(matrix)[rows])
        for name in ("accuracy", "brier"):
            draws = found[name][..., g].reshape(2000, -1)
            error = draws.std(axis=0) / 2000**0.5
            assert (np.abs(draws.mean(axis=0) - getattr(alone, name)) < 4 * error).all()
    assert {v.shape for v in found.values()} == {(2, 1000, 3, 3)}
    weight = np.ones((1, 300))
    for g in range(3):
        rows = matrix.group == g
        gap = metrics(matrix.probs[:, rows], matrix.probs[:1, rows], weight[:, rows]).ece
        assert gap[0, 0] == pytest.approx(0, abs=1e-12)


def test_a_group_of_which_no_row_was_taken_has_no_number():
    made = grouped()
    own = replace(made, matrix=replace(made.matrix, groups=("x", "y", "z", "nobody")))
    found = fixed(own, own.matrix.probs[0], n=10)
    assert all(np.isnan(found[name][..., 3]).all() for name in Metrics._fields)
    assert all(np.isfinite(found[name][..., :3]).all() for name in ("accuracy", "ece", "mce"))


@pytest.mark.parametrize("ece", ["equal-mass", "equal-width", "top-label"])
def test_conventions_reach_the_errors(ece):
    made = problem(n=60)
    prob = np.full((60, 2), 0.5)
    draws = {"x": np.zeros((2, 5))}
    found = evaluate(made, Fixed(prob), draws, np.random.default_rng(1), ece=ece)[0]
    rng = np.random.default_rng(1)
    weight = rng.standard_exponential((10, 60))
    expected = metrics(made.matrix.probs, prob, weight, ece=ece)
    for name in ("ece", "mce"):
        np.testing.assert_allclose(found[name].reshape(10, 3), getattr(expected, name))


def mean_and_labels(matrix):
    """The mean score, and known labels where there are."""
    mean = matrix.probs.mean(axis=0)
    mean[matrix.labeled] = np.eye(matrix.n_classes)[matrix.y[matrix.labeled]]
    return mean


@pytest.mark.parametrize("make", [problem, many_classes])
def test_ensemble_and_labels_alone(make):
    made = make(n=80)
    matrix = made.matrix
    found = reference_estimates(made, None)
    of_ensemble = metrics(matrix.probs, mean_and_labels(matrix))
    known = metrics(matrix.probs[:, made.rows], np.eye(matrix.n_classes)[made.labels])
    assert METHODS == ("ensemble", "labeled")
    for name in Metrics._fields:
        np.testing.assert_allclose(found[name], [getattr(of_ensemble, name), getattr(known, name)])


def test_by_group():
    made = grouped()
    matrix = made.matrix
    found = reference_estimates(made, None)
    for g in range(3):
        own = matrix.take(matrix.group == g)
        known = own.take(own.labeled)
        of_ensemble = metrics(own.probs, mean_and_labels(own))
        of_labels = metrics(known.probs, np.eye(2)[known.y])
        for name in Metrics._fields:
            expected = [getattr(of_ensemble, name), getattr(of_labels, name)]
            np.testing.assert_allclose(found[name][..., g], expected)


def test_without_labels_the_labels_say_nothing():
    made = problem(n=60)
    none = replace(made, matrix=replace(made.matrix, y=np.full(60, -1, dtype="i4")))
    found = reference_estimates(none, None)
    assert all(np.isnan(values[1]).all() for values in found.values())
    assert all(np.isfinite(values[0]).all() for values in found.values())


def part_of(monkeypatch, scores, most):
    """A problem that takes so many of the rows without a label."""
    monkeypatch.setattr("bayescal.quantities.ssme.data.MOST_UNLABELED", most)
    return Problem.of(weighted_matrix(scores), "random")


@pytest.mark.parametrize("weight", [None, 2.0])
def test_rows_that_stand_for_others_count_as_these(monkeypatch, weight):
    """Of 1,000 rows 100 are labelled, none of them right, and the others are with .9."""
    weights = None if weight is None else np.full(1000, weight)
    label = [0] * 100 + [None] * 900
    scores = bc.Scores(y_true=label, y_prob=np.full(1000, 0.9), sample_weight=weights)
    found = reference_estimates(part_of(monkeypatch, scores, 200), None)
    np.testing.assert_allclose(found["accuracy"][:, 0], [0.81, 0], atol=1e-12)


def test_the_papers_estimate_of_a_part_is_that_of_all_rows(monkeypatch):
    """The part's own rows, half of them labelled, give .066 less; sampling .01 or so."""
    rng = np.random.default_rng(1)
    score = rng.beta(0.3, 0.3, 4000)
    right = rng.random(4000) < 0.5 + 0.4 * (score - 0.5)
    label = [int(y) if i < 800 else None for i, y in enumerate(right)]
    other = np.clip(score + rng.normal(0, 0.1, 4000), 0, 1)
    scores = bc.Scores.stack({"a": score, "b": other}, y_true=label)
    expected = bc.ssme.estimate(scores).accuracy
    found = kde_estimate(part_of(monkeypatch, scores, 800), None).accuracy
    np.testing.assert_allclose(found, expected, atol=0.03)
