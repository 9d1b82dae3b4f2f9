"""SSME-KDE as a whole: what it must return on easy, special and bad input."""

import numpy as np
import pytest

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.quantities.ssme.data import Panel, panel_of
from bayescal.quantities.ssme.estimator import (
    KDESettings,
    estimate,
    estimate_by_group,
    estimate_each,
)
from bayescal.quantities.ssme.metrics import Metrics, metrics, subgroup_metrics
from tests.quantities.ssme.made import binary, multiclass

WIDE = KDESettings(bandwidth=1.0)
CHOICES = {
    "paper": "paper",
    "release": "release",
    "per class": KDESettings(sharing="class"),
    "left out": KDESettings(leave_one_out=True),
    "from the mean": KDESettings(start="mean"),
    "wide": WIDE,
}


def same(first, second):
    for one, two in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("make", [binary, multiclass])
def test_every_variant_returns_probabilities(choice, make):
    scores, truth = make()
    found = estimate(scores, settings=CHOICES[choice], n_draws=20)
    k = scores.n_classes
    assert found.prob_label.shape == (200, k)
    np.testing.assert_allclose(found.prob_label.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_array_equal(found.prob_label[:20], np.eye(k)[truth[:20]])
    np.testing.assert_allclose(found.class_prior.sum(), 1, atol=1e-12)
    assert (found.bandwidth > 0).all()
    assert found.bandwidth.shape == (k,)
    for values in Metrics._make(found[:7]):
        assert values.shape == (3,)
        assert np.isfinite(values).all()


@pytest.mark.parametrize("choice", CHOICES)
def test_same_seed_same_estimate(choice):
    scores, _ = binary()
    options = {"settings": CHOICES[choice], "n_draws": 5}
    same(estimate(scores, seed=3, **options), estimate(scores, seed=3, **options))


def test_mixture_finds_labels_that_clusters_tell():
    """Wide kernels on well separated classes: almost every label is recovered."""
    scores, truth = binary(n=400, m=5)
    found = estimate(scores, settings=WIDE, n_draws=None)
    assert (found.prob_label.argmax(axis=1) == truth).mean() > 0.97
    exact = metrics(panel_of(scores).probs, np.eye(2)[truth])
    # Wide kernels blur the border between the classes, which costs a few points of certainty.
    np.testing.assert_allclose(found.accuracy, exact.accuracy, atol=0.06)
    np.testing.assert_allclose(found.auc, exact.auc, atol=0.06)


def test_draws_average_to_the_expectation_where_metrics_are_linear():
    scores, _ = binary()
    drawn = estimate(scores, settings=WIDE, n_draws=4000)
    expected = estimate(scores, settings=WIDE, n_draws=None)
    assert np.ptp(expected.prob_label[20:], axis=1).min() < 0.9
    # Five standard errors: accuracy varies by at most sqrt(1/4 / 200) between draws.
    tolerance = 5 * np.sqrt(0.25 / 200 / 4000)
    np.testing.assert_allclose(drawn.accuracy, expected.accuracy, atol=tolerance)


def test_one_classifier_at_a_time():
    scores, _ = binary()
    found = estimate_each(scores, n_draws=10, seed=4)
    assert found.prob_label.shape == (3, 200, 2)
    assert found.n_iter.shape == found.converged.shape == (3,)
    for m, name in enumerate(scores.classifiers):
        alone = estimate(scores.select(name), n_draws=10, seed=4)
        np.testing.assert_array_equal(found.accuracy[m], alone.accuracy[0])
        np.testing.assert_array_equal(found.prob_label[m], alone.prob_label)
        np.testing.assert_array_equal(found.bandwidth[m], alone.bandwidth)


def test_groups_share_one_fit():
    group = np.array(["u", "v"])[np.arange(200) % 2]
    scores, _ = binary(group=group)
    found = estimate_by_group(scores, settings=WIDE, n_draws=None)
    whole = estimate(scores, settings=WIDE, n_draws=None)
    np.testing.assert_array_equal(found.prob_label, whole.prob_label)
    panel = panel_of(scores)
    expected = subgroup_metrics(panel.probs, whole.prob_label, panel.group, 2)
    np.testing.assert_array_equal(found.auc, expected.auc)
    assert found.accuracy.shape == (3, 2)
    assert estimate_by_group(scores, n_draws=5).ece.shape == (3, 2)


def test_groups_are_asked_for():
    with pytest.raises(InputError, match="scores must have groups"):
        estimate_by_group(binary()[0])


def test_a_group_without_labels():
    scores, _ = binary(group=["u"] * 20 + ["v"] * 180)
    found = estimate_by_group(scores, n_draws=5)
    assert np.isfinite(found.accuracy).all()


def test_two_columns_are_one_score():
    scores, _ = binary(m=2)
    s = scores.y_prob
    label = [None if y < 0 else int(y) for y in scores.y_true]
    columns = {name: np.stack([1 - s[j], s[j]], axis=1) for j, name in enumerate("ab")}
    two = bc.Scores.stack(columns, y_true=label)
    same(estimate(scores, n_draws=10), estimate(two, n_draws=10))


def test_a_class_without_a_label_lives_by_its_scores():
    scores, truth = multiclass(k=3)
    label = [int(y) if i < 30 and y != 2 else None for i, y in enumerate(truth)]
    pairs = zip(scores.classifiers, scores.y_prob, strict=True)
    found = estimate(bc.Scores.stack(pairs, y_true=label, classes=[0, 1, 2]), settings=WIDE)
    # One in three rows; the mean score says so within a few points.
    assert found.class_prior[2] == pytest.approx(1 / 3, abs=0.1)
    assert np.isfinite(found.accuracy).all()


def test_no_labels():
    panel = panel_of(binary()[0])
    blank = Panel(panel.probs, np.full(200, -1, np.int32), panel.classifiers, panel.classes)
    found = estimate(blank, n_draws=20)
    assert np.isfinite(found.auc).all()
    np.testing.assert_allclose(found.class_prior.sum(), 1, atol=1e-12)


@pytest.mark.parametrize("settings", ["paper", "release"])
def test_all_labels_are_the_answer(settings):
    scores, truth = binary(n_labeled=200)
    found = estimate(scores, settings=settings, n_draws=3)
    expected = metrics(panel_of(scores).probs, np.eye(2)[truth])
    for name, value in expected._asdict().items():
        np.testing.assert_allclose(getattr(found, name), value, atol=1e-12, err_msg=name)


def test_one_classifier():
    found = estimate(binary(m=1)[0])
    assert found.accuracy.shape == (1,)


@pytest.mark.parametrize("settings", ["paper", "release"])
def test_identical_classifiers_get_identical_metrics(settings):
    scores, _ = binary(m=1)
    twins = bc.Scores.stack(
        {"a": scores.y_prob[0], "b": scores.y_prob[0]},
        y_true=[None if y < 0 else int(y) for y in scores.y_true],
    )
    found = estimate(twins, settings=settings)
    for values in found[:7]:
        assert values[0] == values[1]


@pytest.mark.parametrize("choice", CHOICES)
def test_probabilities_of_exactly_0_and_1(choice):
    rng = np.random.default_rng(1)
    prob = rng.integers(0, 2, (2, 60)).astype(float)
    scores = bc.Scores.stack({"a": prob[0], "b": prob[1]}, y_true=[0, 1, *[None] * 58])
    found = estimate(scores, settings=CHOICES[choice], n_draws=10)
    for values in found[:7]:
        assert np.isfinite(values).all()


@pytest.mark.parametrize("choice", CHOICES)
def test_scores_that_do_not_vary(choice):
    scores = bc.Scores.stack({"a": [0.3] * 30, "b": [0.6] * 30}, y_true=[0, 1, *[None] * 28])
    found = estimate(scores, settings=CHOICES[choice], n_draws=10)
    assert np.isfinite(found.accuracy).all()
    np.testing.assert_allclose(found.prob_label.sum(axis=1), 1, atol=1e-12)


@pytest.mark.parametrize("choice", CHOICES)
def test_two_rows(choice):
    scores = bc.Scores(y_true=[0, None], y_prob=[0.2, 0.9])
    found = estimate(scores, settings=CHOICES[choice], n_draws=None)
    assert np.isfinite(found.prob_label).all()


@pytest.mark.slow
@pytest.mark.parametrize("choice", CHOICES)
def test_fifty_correlated_classifiers(choice):
    base, truth = binary(m=1)
    rng = np.random.default_rng(2)
    logit = np.log(base.y_prob / (1 - base.y_prob)) + 0.3 * rng.normal(size=(50, 200))
    prob = 1 / (1 + np.exp(-logit))
    label = [int(y) if i < 20 else None for i, y in enumerate(truth)]
    scores = bc.Scores.stack([(f"c{j}", p) for j, p in enumerate(prob)], y_true=label)
    found = estimate(scores, settings=CHOICES[choice], n_draws=10)
    for values in found[:7]:
        assert values.shape == (50,)
        assert np.isfinite(values).all()


@pytest.mark.slow
@pytest.mark.parametrize("choice", ["paper", "release"])
def test_fifty_classes(choice):
    scores, truth = multiclass(n=300, k=50, n_labeled=100)
    found = estimate(scores, settings=choice, n_draws=10)
    assert found.prob_label.shape == (300, scores.n_classes)
    np.testing.assert_allclose(found.prob_label.sum(axis=1), 1, atol=1e-12)
    for values in found[:7]:
        assert np.isfinite(values).all()
    np.testing.assert_array_equal(found.prob_label[:100], np.eye(50)[truth[:100]])


def test_many_rows_go_by_neighbours_with_the_same_answer(monkeypatch):
    scores, _ = binary(n=400, m=5)
    settings = KDESettings(bandwidth=0.5, start="mean")
    dense = estimate(scores, settings=settings, n_draws=None)
    monkeypatch.setattr("bayescal.quantities.ssme.kde.MOST_PAIRS", 0)
    near = estimate(scores, settings=settings, n_draws=None)
    # Kernels end where they are 3e-7 of their height.
    np.testing.assert_allclose(near.prob_label, dense.prob_label, rtol=0, atol=1e-3)


def test_given_class_prior():
    scores, _ = binary()
    found = estimate(scores, settings=WIDE, class_prior=[0.3, 0.7], n_draws=None)
    np.testing.assert_array_equal(found.class_prior, [0.3, 0.7])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"settings": "code"}, "settings, if not KDESettings, must be one of 'paper', 'release'"),
        ({"class_prior": [0.5, 0.6]}, "class_prior must hold 2 probabilities"),
        ({"class_prior": ["a", "b"]}, "class_prior must be numbers; got 'a'"),
        ({"n_draws": 0}, "n_draws must be a whole number >= 1"),
        ({"ece": "mass"}, "ece must be one of"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(InputError, match=message):
        estimate(binary()[0], **options)
