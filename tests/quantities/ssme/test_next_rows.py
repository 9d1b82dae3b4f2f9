"""Rows to label next, and rows on which all are wrong."""

import numpy as np
import pytest

import bayescal as bc
from bayescal.quantities.ssme.next_rows import all_wrong, greedy_rows, label_draws, next_labels
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
    with pytest.raises(bc.InputError, match="Fit with prob_label=True"):
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


def test_a_metric_that_is_certain_keeps_its_width():
    prob, metric = draws(k=2)
    both = np.column_stack([metric, np.ones_like(metric)])
    alone, found = (greedy_rows(prob[..., 1:], m, 0.5, 3) for m in (metric[:, None], both))
    np.testing.assert_array_equal(found.rows, alone.rows)
    np.testing.assert_allclose(found.width, (alone.width + 1) / 2)
