import itertools

import numpy as np
import pytest

from bayescal.core.errors import InputError
from bayescal.quantities.ssme.baselines import (
    acquire,
    active_testing,
    lure_weights,
)
from bayescal.quantities.ssme.data import panel_of
from tests.quantities.ssme.baselines.made import simulated, stacked


@pytest.mark.parametrize("budget", [1, 2, 3, 4])
def test_the_weighted_mean_is_exactly_unbiased(budget):
    """Sum over every order in which rows can be drawn, each with its probability."""
    expected, loss = np.array([0.5, 0.1, 0.3, 0.05]), np.array([0.0, 1.0, 0.2, 1.0])
    floor, mean, total = 0.1, 0.0, 0.0
    for rows in itertools.permutations(range(4), budget):
        left, q = list(range(4)), []
        for row in rows:
            p = np.maximum(expected[left] / expected[left].sum(), floor / len(left))
            q.append(p[left.index(row)] / p.sum())
            left.remove(row)
        mean += np.prod(q) * np.mean(lure_weights(np.array(q), 4) * loss[list(rows)])
        total += np.prod(q)
    assert total == pytest.approx(1, rel=1e-12)
    assert mean == pytest.approx(loss.mean(), rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["accuracy", "log_loss", "brier"])
@pytest.mark.parametrize("guess", ["self", "ensemble"])
def test_estimates_are_unbiased(metric, guess):
    scores, _ = simulated(n_obs=60, n_labeled=60)
    truth = active_testing(scores, metric, budget=60).estimate
    found = [
        active_testing(scores, metric, budget=10, guess=guess, seed=seed).estimate
        for seed in range(400)
    ]
    error = np.std(found, axis=0) / np.sqrt(400)
    np.testing.assert_array_less(np.abs(np.mean(found, axis=0) - truth), 4 * error)


def test_with_all_labels_it_is_their_mean():
    scores, y = simulated(n_obs=40, n_labeled=40)
    found = active_testing(scores, budget=40)
    np.testing.assert_allclose(found.estimate, ((scores.y_prob > 0.5) == y).mean(axis=1))
    assert all(sorted(rows) == list(range(40)) for rows in found.rows)


@pytest.mark.slow
def test_rows_are_drawn_in_proportion_to_expected_loss():
    expected, rng = np.array([0.6, 0.3, 0.1, 0.0]), np.random.default_rng(1)
    drawn = [acquire(expected, 1, 0.2, rng) for _ in range(20_000)]
    first = np.bincount([rows[0] for rows, _ in drawn], minlength=4) / 20_000
    q = np.array([0.6, 0.3, 0.1, 0.05]) / 1.05
    np.testing.assert_allclose(first, q, atol=0.012)  # standard error .0035
    assert all(p[0] == pytest.approx(q[rows[0]]) for rows, p in drawn[:50])


def test_without_expected_loss_rows_are_drawn_uniformly():
    rows, q = acquire(np.zeros(5), 5, 0.1, np.random.default_rng(1))
    np.testing.assert_allclose(q, [1 / 5, 1 / 4, 1 / 3, 1 / 2, 1])
    assert sorted(rows) == list(range(5))


@pytest.mark.slow
def test_a_loss_that_is_foreseen_is_known_with_few_labels():
    rng = np.random.default_rng(3)
    loss = rng.gamma(0.5, size=2000)
    expected = loss * rng.uniform(0.8, 1.2, 2000)
    drawn = [acquire(expected, 40, 0.01, rng) for _ in range(300)]
    found = [np.mean(lure_weights(q, 2000) * loss[rows]) for rows, q in drawn]
    assert np.mean(found) == pytest.approx(loss.mean(), rel=0.01)
    assert np.var(found) < 0.1 * loss.var() / 40


@pytest.mark.slow
def test_an_honest_guess_saves_no_labels_for_accuracy():
    rng = np.random.default_rng(3)
    p = rng.beta(0.5, 0.5, 2000)
    y = (rng.random(2000) < p).astype(int)
    pool = stacked([np.stack([1 - p, p], axis=1)], list(map(int, y)))
    found = [active_testing(pool, budget=40, seed=seed).estimate[0] for seed in range(300)]
    random = np.var((p > 0.5) == y) / 40
    # The variance of 300 numbers has a relative standard error of .08.
    assert np.var(found) == pytest.approx(random, rel=0.3)


def test_a_pool_with_unknown_labels_is_refused():
    with pytest.raises(InputError, match="every row needs one; got 260 rows without"):
        active_testing(simulated()[0], budget=5)


@pytest.mark.parametrize("option", [{"budget": 0}, {"budget": 41}, {"budget": 5, "floor": 0.0}])
def test_numbers_outside_their_range_are_refused(option):
    scores, _ = simulated(n_obs=40, n_labeled=40)
    name = "floor" if "floor" in option else "budget"
    with pytest.raises(InputError, match=name):
        active_testing(scores, **option)


def test_the_labels_of_other_rows_do_not_matter():
    scores, y = simulated(n_obs=60, n_labeled=60, n_classifiers=1)
    found = active_testing(scores, budget=8, seed=2)
    other = np.where(np.isin(np.arange(60), found.rows[0]), y, 1 - y)
    flipped = stacked(panel_of(scores).probs, list(map(int, other)))
    np.testing.assert_array_equal(
        active_testing(flipped, budget=8, seed=2).estimate, found.estimate
    )
