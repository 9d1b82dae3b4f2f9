"""Labelled rows, active testing and AutoEval."""

import itertools

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, log_loss, roc_auc_score

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.quantities.ssme import baselines
from bayescal.quantities.ssme.baselines import (
    acquire,
    active_testing,
    autoeval,
    guessed_values,
    labeled,
    labeled_by_group,
    labeled_interval,
    lure_weights,
    observed_values,
)
from bayescal.quantities.ssme.data import score_matrix
from bayescal.quantities.ssme.metrics import metrics, row_values
from tests.conftest import oracle
from tests.quantities.ssme.made import simulated, stacked


def test_metrics_are_scikit_learns_on_the_labelled_rows():
    scores, y = simulated(n_labeled=50)
    found = labeled(scores)
    for m, score in enumerate(scores.y_prob[:, :50]):
        assert found.accuracy[m] == pytest.approx(np.mean((score > 0.5) == y[:50]), rel=1e-12)
        assert found.auc[m] == pytest.approx(roc_auc_score(y[:50], score), rel=1e-12)
        assert found.auprc[m] == pytest.approx(average_precision_score(y[:50], score), rel=1e-12)
        assert found.log_loss[m] == pytest.approx(log_loss(y[:50], score), rel=1e-12)


def test_unlabelled_rows_do_not_matter():
    scores, y = simulated(n_labeled=50)
    alone = stacked(
        np.stack([1 - scores.y_prob[:, :50], scores.y_prob[:, :50]], axis=2), list(map(int, y[:50]))
    )
    for with_rest, without in zip(labeled(scores), labeled(alone), strict=True):
        np.testing.assert_array_equal(with_rest, without)


@pytest.mark.slow
@pytest.mark.parametrize("prob", [0.5, 0.9])
def test_interval_of_accuracy_is_that_of_a_binomial(prob):
    # A resample's number of right rows is Binomial(n, accuracy).
    from scipy.stats import binom

    scores, _ = simulated(n_labeled=80)
    accuracy = labeled(scores).accuracy
    found = labeled_interval(scores, prob=prob, n_boot=20_000, seed=1)
    for end, level in ((found.lower, (1 - prob) / 2), (found.upper, (1 + prob) / 2)):
        # One row of 80, as a quantile between two numbers of rows may fall to either.
        np.testing.assert_allclose(end.accuracy, binom.ppf(level, 80, accuracy) / 80, atol=1 / 80)


def test_interval_is_that_of_resampled_rows():
    scores, y = simulated(n_labeled=30, n_classifiers=1)
    score, rng = scores.y_prob[0, :30], np.random.default_rng(5)
    drawn = rng.integers(30, size=(4000, 30))
    above = score[:, np.newaxis] > score  # no two are equal

    def auc_of(rows):
        positive, negative = rows[y[rows] == 1], rows[y[rows] == 0]
        return above[np.ix_(positive, negative)].mean()

    auc = [auc_of(rows) for rows in drawn if len(set(y[rows])) == 2]
    found = labeled_interval(scores, n_boot=4000, seed=2)
    # Quantiles of 4000 resamples whose spread is .06 are known to .005 at most.
    np.testing.assert_allclose(
        [found.lower.auc[0], found.upper.auc[0]], np.quantile(auc, [0.05, 0.95]), atol=0.015
    )


def test_resamples_of_many_rows_are_not_held_at_once(monkeypatch):
    """A thousand resamples of a million rows are 16 GB; in blocks they are the same resamples."""
    scores, _ = simulated(n_labeled=30)
    whole = labeled_interval(scores, n_boot=100)
    held = []

    def multinomial(self, n, pvals, size):
        held.append(size)
        return np.random.Generator.multinomial(self, n, pvals, size)

    watched = type("Watched", (np.random.Generator,), {"multinomial": multinomial})
    monkeypatch.setattr(baselines, "generator", lambda seed: watched(np.random.PCG64(seed)))
    monkeypatch.setitem(metrics.__globals__, "_NUMBERS_AT_ONCE", 30 * 7)
    parts = labeled_interval(scores, n_boot=100)
    assert (max(held), sum(held)) == (7, 100)
    for one, two in zip((*whole.lower, *whole.upper), (*parts.lower, *parts.upper), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-12)


def grouped(group):
    scores, y = simulated(n_obs=120, n_labeled=60)
    known = [*map(int, y[:60]), *[None] * 60]
    names = dict(zip(scores.classifiers, scores.y_prob, strict=True))
    return bc.Scores.stack(names, y_true=known, group=group(y)), y


def test_groups_have_the_metrics_of_their_rows():
    scores, y = grouped(lambda _: np.where(np.arange(120) % 3, "most", "few"))
    found = labeled_by_group(scores)
    for place, name in enumerate(scores.groups):
        rows = np.flatnonzero((np.arange(120) % 3 > 0) == (name == "most"))
        alone = scores.y_prob[:, rows]
        known = [int(y[i]) if i < 60 else None for i in rows]
        expected = labeled(stacked(np.stack([1 - alone, alone], axis=2), known))
        for ours, theirs in zip(found, expected, strict=True):
            np.testing.assert_allclose(ours[:, place], theirs, rtol=1e-12)


def test_what_does_not_exist_in_a_group_is_that_of_all():
    # No label in one group, and labels of one class only in another.
    scores, _ = grouped(
        lambda y: np.where(np.arange(120) >= 60, "none", np.where(y == 1, "ones", "zeros"))
    )
    found, overall = labeled_by_group(scores), labeled(scores)
    none, ones = scores.groups.index("none"), scores.groups.index("ones")
    for of_group, of_all in zip(found, overall, strict=True):
        np.testing.assert_array_equal(of_group[:, none], of_all)
    np.testing.assert_array_equal(found.auc[:, ones], overall.auc)
    assert (found.accuracy[:, ones] != overall.accuracy).any()


def test_scores_without_groups_have_no_metrics_by_group():
    with pytest.raises(InputError, match="need groups; got none"):
        labeled_by_group(simulated()[0])


def test_labels_of_one_class_are_refused():
    probs = np.full((1, 3, 2), 0.5)
    with pytest.raises(InputError, match=r"Labeled needs .* 0 is the only label, of 2 rows\."):
        labeled(stacked(probs, [0, 0, None]))


def test_resamples_that_all_hold_one_class_are_refused():
    scores = stacked([[[0.5, 0.5]] * 60], [1, *[0] * 59])
    with pytest.raises(InputError, match="none of 1 resamples holds rows of two classes"):
        [labeled_interval(scores, n_boot=1, seed=seed) for seed in range(30)]


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


def test_the_labels_of_other_rows_do_not_matter():
    scores, y = simulated(n_obs=60, n_labeled=60, n_classifiers=1)
    found = active_testing(scores, budget=8, seed=2)
    other = np.where(np.isin(np.arange(60), found.rows[0]), y, 1 - y)
    flipped = stacked(score_matrix(scores).probs, list(map(int, other)))
    np.testing.assert_array_equal(
        active_testing(flipped, budget=8, seed=2).estimate, found.estimate
    )


def test_estimate_and_interval_are_the_formulas_by_hand():
    scores, y = simulated(n_obs=90, n_labeled=30)
    found = autoeval(scores, prob=0.95)
    for m, score in enumerate(scores.y_prob):
        confidence = np.maximum(score, 1 - score)
        right = ((score > 0.5) == y).astype(float)[:30]
        g, rest = confidence[:30], confidence[30:]
        covariance = np.mean((right - right.mean()) * (g - g.mean()))
        weight = covariance / ((1 + 30 / 60) * np.var(confidence, ddof=1))
        weight = min(max(weight, 0), 1)
        estimate = np.mean(right - weight * g) + weight * np.mean(rest)
        error = np.sqrt(np.var(right - weight * g) / 30 + weight**2 * np.var(rest) / 60)
        assert found.tuning[m] == pytest.approx(weight, rel=1e-12)
        assert found.estimate[m] == pytest.approx(estimate, rel=1e-12)
        assert found.lower[m] == pytest.approx(estimate - 1.959963984540054 * error, rel=1e-12)
        assert found.upper[m] == pytest.approx(estimate + 1.959963984540054 * error, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["accuracy", "log_loss", "brier"])
def test_estimate_and_interval_are_those_of_ppi_py(metric):
    ppi = oracle("ppi_py")
    from bayescal.quantities.ssme.baselines import guessed_values, observed_values

    scores, _ = simulated(n_obs=400, n_labeled=100)
    matrix = score_matrix(scores)
    found = autoeval(scores, metric)
    f, g = observed_values(matrix, metric), guessed_values(matrix, metric, "self")
    for m in range(3):
        arrays = f[m], g[m, :100], g[m, 100:]
        point = ppi.ppi_mean_pointestimate(*arrays)
        lower, upper = ppi.ppi_mean_ci(*arrays, alpha=0.1)
        assert found.estimate[m] == pytest.approx(np.squeeze(point), rel=1e-9)
        assert found.lower[m] == pytest.approx(np.squeeze(lower), rel=1e-9)
        assert found.upper[m] == pytest.approx(np.squeeze(upper), rel=1e-9)


@pytest.mark.slow
def test_it_is_unbiased_and_nearer_than_the_labelled_rows():
    # Confidence says much of being right: lambda's share of the variance is saved.
    found = [(autoeval(s).estimate, labeled(s).accuracy) for s in _samples(300)]
    ours, theirs = np.array(found).transpose(1, 0, 2)
    truth = _truth()
    # Mean of 300 samples with a standard deviation of .05: 3 standard errors are .009.
    np.testing.assert_allclose(ours.mean(axis=0), truth, atol=0.01)
    assert (ours.var(axis=0) < theirs.var(axis=0)).all()


def _samples(number):
    for seed in range(number):
        yield simulated(n_obs=1000, n_labeled=60, seed=seed)[0]


def _truth():
    scores, y = simulated(n_obs=200_000, n_labeled=2, seed=1)
    return ((scores.y_prob > 0.5) == y).mean(axis=1)


def test_scores_that_expect_a_constant_leave_the_labelled_rows_alone():
    score = np.array([0.2, 0.8, 0.8, 0.2, 0.8])
    scores = stacked([np.stack([1 - score, score], axis=1)], [0, 1, 0, None, None])
    found = autoeval(scores)
    assert found.tuning[0] == 0
    assert found.estimate[0] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("y_true", "remedy"),
    [
        ([0, None, None], r"1 and 2\. Label more rows"),
        ([0, 1, 1], r"3 and 0\. With all labels known"),
    ],
)
def test_too_few_rows_are_refused(y_true, remedy):
    with pytest.raises(InputError, match=f"one unlabelled row or more; got {remedy}"):
        autoeval(stacked(np.full((1, 3, 2), 0.5), y_true))


def test_metrics_that_are_no_means_are_refused():
    with pytest.raises(InputError, match="'auc'"):
        autoeval(simulated()[0], "auc")


@pytest.mark.parametrize("metric", ["accuracy", "log_loss", "brier"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_means_are_the_metrics(metric, n_classes):
    scores, y = simulated(n_classes=n_classes, n_labeled=300)
    matrix = score_matrix(scores)
    expected = getattr(metrics(matrix.probs, np.eye(n_classes)[y]), metric)
    np.testing.assert_allclose(observed_values(matrix, metric).mean(axis=1), expected, rtol=1e-12)


@pytest.mark.parametrize("metric", ["accuracy", "log_loss", "brier"])
def test_guesses_are_expectations(metric):
    matrix = score_matrix(simulated(n_classes=3)[0])
    values = row_values(matrix.probs, metric)
    pool = matrix.probs.mean(axis=0)
    for m in range(3):
        own = [values[m, i] @ matrix.probs[m, i] for i in range(matrix.n_obs)]
        np.testing.assert_allclose(guessed_values(matrix, metric, "self")[m], own)
        shared = [values[m, i] @ pool[i] for i in range(matrix.n_obs)]
        np.testing.assert_allclose(guessed_values(matrix, metric, "ensemble")[m], shared)
