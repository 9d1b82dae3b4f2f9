"""Rows to label next, and rows on which all are wrong."""

from itertools import product

import numpy as np
import pytest

import bayescal as bc
from bayescal.core.scores import select_rows
from bayescal.quantities.ssme.next_rows import (
    all_wrong,
    greedy_rows,
    label_draws,
    next_labels,
    own_shares,
)
from tests.quantities.ssme.made import binary, result_of


def brute_gain(prob, metric):
    """Share of the variance of a metric that lies between the labels of a row, (obs,)."""
    found = []
    for row in range(prob.shape[1]):
        share = prob[:, row].mean(axis=0)
        means = np.array([np.average(metric, weights=p) for p in prob[:, row].T])
        found.append((share * (means - metric.mean()) ** 2).sum() / metric.var())
    return np.array(found)


def draws(k=3, n_draws=400, n_obs=12, seed=1):
    """Probabilities that move together, by rows in unlike measure, and their mean as metric."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(n_draws, 1, k)) * rng.uniform(0, 2, (1, n_obs, 1))
    prob = np.exp(shared + 0.3 * rng.normal(size=(n_draws, n_obs, k)))
    prob /= prob.sum(axis=2, keepdims=True)
    return prob, prob[..., 0].mean(axis=1)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_the_first_row_is_the_one_whose_labels_tell_most(k):
    prob, metric = draws(k)
    found = greedy_rows(prob[..., 1:], metric[:, None], 1.0, 1)
    gain = brute_gain(prob, metric)
    assert found.rows[0] == gain.argmax()
    # The law of total variance, on the draws themselves.
    assert found.width[0] ** 2 == pytest.approx(1 - gain.max(), rel=1e-9)


@pytest.mark.parametrize("k", [2, 4])
def test_two_rows_take_off_what_both_labels_tell_a_linear_model(k):
    prob, metric = draws(k, seed=2)
    found = greedy_rows(prob[..., 1:], metric[:, None], 1.0, 2)
    rows = prob[:, found.rows, 1:].reshape(len(prob), -1)
    both = np.cov(np.column_stack([rows, metric]).T, bias=True)
    for place, row in enumerate(found.rows):
        # Of one row's label all the variance there is, not that of its probability over draws.
        mean = prob[:, row, 1:].mean(axis=0)
        part = slice(place * (k - 1), (place + 1) * (k - 1))
        both[part, part] = np.diag(mean) - np.outer(mean, mean)
    cross = both[:-1, -1]
    left = both[-1, -1] - cross @ np.linalg.solve(both[:-1, :-1], cross)
    assert found.width[1] == pytest.approx(np.sqrt(left / metric.var()), rel=1e-8)


def every_label(k, n_obs=5, n_draws=20):
    """Draws of probabilities in quarters, each with all labels that it allows, alike often."""
    rng = np.random.default_rng(3)
    shared = rng.integers(0, k, (n_draws, 1, 1))
    of_quarter = np.where(
        rng.random((n_draws, n_obs, 4)) < 0.4, shared, rng.integers(0, k, (n_draws, n_obs, 4))
    )
    quarter = np.array(list(product(range(4), repeat=n_obs)))
    label = np.concatenate([one[np.arange(n_obs), quarter] for one in of_quarter])
    prob = np.eye(k)[of_quarter].mean(axis=2)
    return np.repeat(prob, len(quarter), axis=0), label


@pytest.mark.parametrize("k", [2, 3])
def test_a_label_takes_its_own_share_off_the_accuracy(k):
    prob, label = every_label(k)
    probs = np.random.default_rng(4).dirichlet(np.ones(k), (2, 5))
    metric = np.stack([(label == own).mean(axis=1) for own in probs.argmax(axis=2)], axis=1)
    left = []
    for row in range(5):
        given = [metric[label[:, row] == c] for c in range(k)]
        left.append(sum(len(one) * one.var(axis=0) for one in given) / len(metric))
    left = np.array(left) / metric.var(axis=0)
    own = own_shares(probs, prob.mean(axis=0), "accuracy")
    found = greedy_rows(prob[..., 1:], metric, 1.0, 5, own)
    assert found.rows[0] == left.mean(axis=1).argmin()
    assert found.width[0] == pytest.approx(np.sqrt(left).mean(axis=1)[found.rows[0]], rel=1e-9)
    # Once every label is known, so is the accuracy, whatever is learned of other rows.
    for power in (1.0, 0.3):
        last = greedy_rows(prob[..., 1:], metric, power, 5, own).width[-1]
        assert last == pytest.approx(0, abs=1e-6)


def expected_quotient(metric, score, q):
    """AUC or AUPRC as the quotient of its sums' means over all labels."""
    n_obs, top, whole = len(q), 0.0, 0.0
    higher = (score[:, None] > score) + 0.5 * (score[:, None] == score)
    at_or_above = score >= score[:, None]
    for label in product([0, 1], repeat=n_obs):
        y = np.array(label)
        prob = np.where(y, q, 1 - q).prod()
        if metric == "auc":
            top += prob * (y @ higher @ (1 - y))
            whole += prob * y.sum() * (1 - y).sum()
        else:
            top += prob * (y * (at_or_above @ y) / at_or_above.sum(axis=1)).sum()
            whole += prob * y.sum()
    return top / whole


@pytest.mark.parametrize("metric", ["auc", "auprc"])
@pytest.mark.parametrize("k", [2, 3])
def test_own_shares_in_rankings_are_derivatives(metric, k):
    rng = np.random.default_rng(5)
    probs = rng.integers(1, 4, (2, 5, k)) / 8.0  # with ties
    mean, small = rng.dirichlet(np.ones(k), 5), 1e-5
    found = own_shares(probs, mean, metric)
    classes = range(1, 2) if k == 2 else range(k)
    for m, row, c in product(range(2), range(5), range(1, k)):
        moved = []
        for step in (-small, small):
            q = mean.copy()
            q[row, [0, c]] += [-step, step]
            each = [expected_quotient(metric, probs[m, :, j], q[:, j]) for j in classes]
            moved.append(np.mean(each))
        expected = (moved[1] - moved[0]) / (2 * small)
        assert found[row, c - 1, m] == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("m", [1, 3])
def test_a_result_holds_the_scores_that_a_labels_own_share_depends_on(m):
    tree, made = result_of(n=30, n_labeled=10, m=m)
    prob = label_draws(tree)
    metric = tree["posterior"]["accuracy"].values.reshape(len(prob), -1)
    own = own_shares(made.matrix.probs, prob.mean(axis=0), "accuracy")
    found, without = next_labels(tree, 5), tree.copy()
    power = 0.75 * 15 / 25
    np.testing.assert_allclose(found.width, greedy_rows(prob[..., 1:], metric, power, 5, own).width)
    del without["constant_data"]
    assert next_labels(without, 5).width[-1] > found.width[-1]


def test_widths_fall_and_no_row_comes_twice():
    prob, metric = draws()
    found = greedy_rows(prob[..., 1:], metric[:, None], 0.5, 50)
    assert sorted(found.rows) == list(range(12))
    assert (np.diff(found.width) <= 1e-12).all()
    assert found.width[0] < 1


def test_a_lower_power_expects_less():
    prob, metric = draws()
    full, half = (greedy_rows(prob[..., 1:], metric[:, None], p, 5).width[-1] for p in (1.0, 0.5))
    assert full < half < 1


def test_known_rows_are_not_asked_for_again():
    tree, made = result_of(n=60, n_labeled=20)
    found = next_labels(tree, 40)
    assert not set(found.rows) & set(made.rows)
    assert len(found.rows) == 40


def test_a_result_of_weighted_rows_is_refused():
    tree, _ = result_of(n=60, n_labeled=20)
    tree.attrs["effective_n"] = 12.0
    with pytest.raises(bc.InputError, match="those of a result without weights"):
        next_labels(tree)


def test_a_metric_that_is_undefined_in_every_draw_is_refused():
    tree, _ = result_of(n=60, n_labeled=20)
    tree["posterior"]["auc"] = np.nan * tree["posterior"]["auc"]
    with pytest.raises(bc.InputError, match=r"'auc' is undefined in every draw\. Choose"):
        next_labels(tree, metric="auc")


def test_a_result_without_probabilities_of_labels_is_refused():
    tree, _ = result_of(n=60, keep_labels=False)
    with pytest.raises(bc.InputError, match=r"Fit bayescal\.ssme with prob_label=True"):
        next_labels(tree)


def test_by_loops():
    tree, made = result_of(n=60)
    found = all_wrong(tree, binary(n=60)[0])
    draws = label_draws(tree)
    mean, noise = np.zeros(len(draws)), 0.0
    for row in range(60):
        predicted = {int(p.argmax()) for p in made.matrix.probs[:, row]}
        wrong = 1 - draws[:, row, list(predicted)].sum(axis=1)
        assert found.prob[row] == pytest.approx(wrong.mean(), abs=1e-6)
        mean += wrong / 60
        noise += (wrong * (1 - wrong)).mean() / 60**2
    # Labels are drawn: 400 draws of a share of 60 rows, within four standard errors.
    assert found.rate.mean() == pytest.approx(found.prob.mean(), abs=4 * (noise / 400) ** 0.5)
    assert found.rate.var() == pytest.approx(mean.var() + noise, rel=4 * (2 / 400) ** 0.5)
    known = made.rows
    expected = (made.matrix.probs[:, known].argmax(axis=2) != made.labels).all(axis=0)
    np.testing.assert_array_equal(found.prob[known], expected)


def test_other_scores_are_refused():
    with pytest.raises(bc.InputError, match="those that were fitted: 60 rows of 2 classes"):
        all_wrong(result_of(n=60)[0], binary(n=50)[0])


@pytest.mark.parametrize("other", [{"seed": 1}, {"m": 2}])
def test_other_rows_or_classifiers_of_the_same_shape_are_refused(other):
    with pytest.raises(
        bc.InputError, match="the same rows in order, of 'c0', 'c1', 'c2'; got other"
    ):
        all_wrong(result_of(n=60)[0], binary(n=60, **other)[0])


def test_rows_without_label_in_another_order_are_refused():
    scores = binary(n=60)[0]
    swapped = select_rows(scores, np.r_[:20, 59:19:-1])
    with pytest.raises(bc.InputError, match="the same rows in order"):
        all_wrong(result_of(n=60)[0], swapped)


def test_a_metric_that_is_certain_keeps_its_width():
    prob, metric = draws(k=2)
    both = np.column_stack([metric, np.ones_like(metric)])
    alone, found = (greedy_rows(prob[..., 1:], m, 0.5, 3) for m in (metric[:, None], both))
    np.testing.assert_array_equal(found.rows, alone.rows)
    np.testing.assert_allclose(found.width, (alone.width + 1) / 2)
