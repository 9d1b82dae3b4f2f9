"""bin_scores: which rows, which convention, and the other libraries' conventions by option."""

import numpy as np
import pytest
from sklearn.calibration import calibration_curve

from bayescal.core.bins.binning import bin_scores, fine_counts
from bayescal.core.errors import InputError
from bayescal.core.scores import Scores
from bayescal.core.tasks import Task


def make_task(n=500, seed=0, decimals=None):
    rng = np.random.default_rng(seed)
    score = rng.random(n) if decimals is None else rng.random(n).round(decimals)
    return Task({}, score, (rng.random(n) < score**1.5).astype(np.uint8))


def test_ties_and_the_ends():
    scores = Scores(y_true=[0, 0, 1, 0, 1, 1], y_prob=[0.0, 0.5, 0.5, 0.25, 0.75, 1.0])
    right = bin_scores(scores, n_bins=4, strategy="uniform")
    assert right.count.tolist() == [2, 2, 1, 1]
    assert right.positives.tolist() == [0, 1, 1, 1]
    assert right.mean_score.tolist() == [0.125, 0.5, 0.75, 1.0]
    left = bin_scores(scores, n_bins=4, strategy="uniform", closed="left")
    assert left.count.tolist() == [1, 1, 2, 2]
    assert left.positives.tolist() == [0, 0, 1, 2]


def test_bins_of_equal_mass():
    scores = Scores(y_true=[0, 1, 0, 1, 1], y_prob=[0.1, 0.2, 0.3, 0.4, 0.5])
    bins = bin_scores(scores, n_bins=2, strategy="quantile")
    assert bins.edges.tolist() == [0.0, 0.2, 1.0]
    assert bins.count.tolist() == [2, 3]
    assert bins.strategy == "quantile"


@pytest.mark.parametrize("n", [15, 16, 29, 1000])
def test_masses_differ_by_one_row_at_most_without_ties(n):
    count = bin_scores(make_task(n), n_bins=15, strategy="quantile").count
    assert count.max() - count.min() <= 1


def test_more_bins_than_rows_leaves_empty_ones():
    bins = bin_scores(make_task(3), n_bins=7, strategy="quantile")
    assert bins.n_bins == 7
    assert bins.count.sum() == 3
    assert bins.count.max() == 1


@pytest.mark.parametrize("value", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize("closed", ["right", "left"])
def test_constant_scores_are_one_bin(value, strategy, closed):
    task = Task({}, np.full(20, value), np.arange(20).astype(np.uint8) % 2)
    bins = bin_scores(task, n_bins=5, strategy=strategy, closed=closed)
    assert sorted(bins.count.tolist()) == [0, 0, 0, 0, 20]
    assert bins.mean_score[bins.count > 0] == pytest.approx(value)


def test_rows_without_a_label_are_left_out():
    scores = Scores(y_true=[0, None, 1], y_prob=[0.1, 0.2, 0.9])
    assert bin_scores(scores, n_bins=2).count.tolist() == [1, 1]


def test_no_row():
    with pytest.raises(InputError, match="at least one row"):
        bin_scores(Task({}, np.empty(0), np.empty(0, np.uint8)))


def test_one_binary_problem_is_asked_for():
    panel = Scores.stack({"a": [0.1, 0.9], "b": [0.2, 0.8]}, y_true=[0, 1])
    with pytest.raises(InputError, match=r"got 2. Take one with .select\('a'\)"):
        bin_scores(panel)
    many = Scores(y_true=[0, 2], y_prob=[[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]])
    with pytest.raises(InputError, match=r"got 3 classes. Take .top_label\(\)"):
        bin_scores(many)
    assert bin_scores(many.top_label()).n == 2


@pytest.mark.parametrize("decimals", [None, 1, 2])
def test_scikit_learn_bins_alike(decimals):
    task = make_task(decimals=decimals)
    # scikit-learn's edges are linspace's, which differ from b / B in the last bit.
    for n_bins in (5, 10, 15):
        rate, mean = calibration_curve(task.event, task.score, n_bins=n_bins)
        bins = bin_scores(task, strategy=np.linspace(0, 1, n_bins + 1))
        held = bins.count > 0
        np.testing.assert_allclose(bins.mean_score[held], mean, rtol=1e-12)
        np.testing.assert_allclose((bins.positives / np.maximum(bins.count, 1))[held], rate)


def test_scikit_learn_percentiles_by_given_edges():
    task = make_task()
    rate, mean = calibration_curve(task.event, task.score, n_bins=8, strategy="quantile")
    inner = np.percentile(task.score, np.linspace(0, 100, 9))[1:-1]
    bins = bin_scores(task, strategy=[0, *inner, 1])
    np.testing.assert_allclose(bins.mean_score, mean, rtol=1e-12)
    np.testing.assert_allclose(bins.positives / bins.count, rate, rtol=1e-12)


@pytest.mark.parametrize("decimals", [None, 1])
def test_numpy_histogram_is_the_left_closed_convention(decimals):
    task = make_task(decimals=decimals)
    edges = np.linspace(0, 1, 11)
    bins = bin_scores(task, strategy=edges, closed="left")
    np.testing.assert_array_equal(bins.count, np.histogram(task.score, edges)[0])
    positives = np.histogram(task.score, edges, weights=task.event)[0]
    np.testing.assert_array_equal(bins.positives, positives)


def test_conventions_differ_on_tied_scores():
    task = make_task(decimals=1)
    right, left = (bin_scores(task, n_bins=10, closed=closed) for closed in ("right", "left"))
    assert (right.count != left.count).any()


@pytest.mark.parametrize("decimals", [None, 1, 2])
@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize("closed", ["right", "left"])
@pytest.mark.parametrize("n", [3, 80, 1000])
def test_fine_counts_hold_the_bins(decimals, strategy, closed, n):
    task = make_task(n, decimals=decimals)
    bins = bin_scores(task, n_bins=15, strategy=strategy, closed=closed)
    fine = fine_counts(task, bins.edges, closed=closed)
    back = fine.merge(bins.edges)
    np.testing.assert_array_equal(back.edges, bins.edges)
    np.testing.assert_array_equal(back.count, bins.count)
    np.testing.assert_array_equal(back.positives, bins.positives)
    np.testing.assert_allclose(back.mean_score, bins.mean_score, rtol=1e-12)
    assert fine.n_bins <= min(n, 100) + 15 + 1
