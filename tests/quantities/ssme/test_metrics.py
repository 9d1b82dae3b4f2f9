"""Metrics against scikit-learn, brute force and closed forms."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    brier_score_loss,
    log_loss,
    roc_auc_score,
)

import bayescal as bc
from bayescal.core.bin_edges import bin_edges
from bayescal.core.errors import InputError
from bayescal.quantities.ssme.metrics import (
    CONVENTIONS,
    membership,
    metrics,
    subgroup_metrics,
)

# Sums of a few hundred numbers in another order.
ROUNDING = {"rtol": 0, "atol": 1e-12}


def made(n=300, m=3, k=2, seed=0, decimals=None):
    rng = np.random.default_rng(seed)
    probs = rng.dirichlet(np.full(k, 0.7), (m, n))
    if decimals is not None and k == 2:
        score = probs[..., 1].round(decimals)
        probs = np.stack([1 - score, score], axis=-1)
    y = np.array([rng.choice(k, p=p) for p in probs.mean(axis=0)])
    y[:k] = range(k)
    return probs, y


def binned(score, event, weight, edges):
    """Mass, mean score and event rate of each right-closed bin that has rows."""
    found = []
    for b in range(len(edges) - 1):
        low = -1 if b == 0 else edges[b]
        high = 2 if b == len(edges) - 2 else edges[b + 1]
        rows = (score > low) & (score <= high)
        if weight[rows].sum() > 0:
            w = weight[rows]
            found.append((w.sum(), np.average(score[rows], weights=w), (w @ event[rows]) / w.sum()))
    return np.array(found)


@pytest.mark.parametrize("decimals", [None, 1])
@pytest.mark.parametrize("weighted", [False, True])
def test_binary_equals_scikit_learn(decimals, weighted):
    probs, y = made(decimals=decimals)
    w = np.random.default_rng(5).exponential(size=len(y)) if weighted else None
    if weighted:
        w[probs[0, :, 1].argmax()] = 0  # the first of the order by score
    found = metrics(probs, np.eye(2)[y], w)
    for m, prob in enumerate(probs):
        s = prob[:, 1]
        expected = {
            "accuracy": accuracy_score(y, s >= 0.5, sample_weight=w),
            "auc": roc_auc_score(y, s, sample_weight=w),
            "auprc": average_precision_score(y, s, sample_weight=w),
            "log_loss": log_loss(y, s, sample_weight=w),
            "brier": brier_score_loss(y, s, sample_weight=w),
        }
        for name, value in expected.items():
            np.testing.assert_allclose(getattr(found, name)[m], value, err_msg=name, **ROUNDING)


def test_the_predicted_class_is_that_of_other_quantities():
    scores = bc.Scores(y_true=[1, 1, 0, 0], y_prob=[0.5, 0.5, 0.5, 0.2])
    found = bc.ssme.ensemble(scores, ece="top-label")
    other = bc.temperature.calibration_errors(scores)
    np.testing.assert_allclose([found.accuracy[0], found.ece[0]], [other.accuracy, other.ece])


@pytest.mark.parametrize("weighted", [False, True])
def test_multi_class_equals_scikit_learn(weighted):
    probs, y = made(k=4, seed=2)
    w = np.random.default_rng(5).exponential(size=len(y)) if weighted else None
    one_hot = np.eye(4)[y]
    found = metrics(probs, one_hot, w)
    for m, prob in enumerate(probs):
        expected = {
            "accuracy": accuracy_score(y, prob.argmax(axis=1), sample_weight=w),
            "auc": roc_auc_score(one_hot, prob, average="macro", sample_weight=w),
            "auprc": average_precision_score(one_hot, prob, average="macro", sample_weight=w),
            "log_loss": log_loss(y, prob, sample_weight=w),
            "brier": np.average(((prob - one_hot) ** 2).sum(axis=1), weights=w),
        }
        for name, value in expected.items():
            np.testing.assert_allclose(getattr(found, name)[m], value, err_msg=name, **ROUNDING)


@pytest.mark.parametrize("convention", ["equal-mass", "equal-width", "top-label"])
@pytest.mark.parametrize("decimals", [None, 1])
@pytest.mark.parametrize("k", [2, 3])
def test_calibration_errors_follow_their_definition(convention, decimals, k):
    if k > 2 and convention != "top-label":
        pytest.skip("needs two classes")
    probs, _ = made(k=k, decimals=decimals, seed=3)
    rng = np.random.default_rng(6)
    w, q = rng.exponential(size=300), rng.dirichlet(np.ones(k), 300)
    # Bins without weight do not count.
    w[probs[0, :, 1] > np.quantile(probs[0, :, 1], 0.7)] = 0
    found = metrics(probs, q, w, ece=convention)
    for m, prob in enumerate(probs):
        if convention == "top-label":
            score, event = prob.max(axis=1), q[np.arange(300), prob.argmax(axis=1)]
        else:
            score, event = prob[:, 1], q[:, 1]
        edges = np.linspace(0, 1, 16)
        if convention == "equal-mass":
            edges = bin_edges(score, 10, "quantile")
        mass, confidence, rate = binned(score, event, w, edges).T
        gap = np.abs(confidence - rate)
        expected = gap.mean() if convention == "equal-mass" else np.average(gap, weights=mass)
        np.testing.assert_allclose(found.ece[m], expected, **ROUNDING)
        np.testing.assert_allclose(found.mce[m], gap.max(), **ROUNDING)


@pytest.mark.parametrize("k", [2, 3])
def test_draws_are_taken_one_by_one(k):
    probs, _ = made(n=40, k=k, decimals=1)
    rng = np.random.default_rng(8)
    # More draws than fit a block of work, so that blocks are joined too.
    q = rng.dirichlet(np.ones(k), (5000, 40))
    w = rng.dirichlet(np.ones(40), 5000)
    for weights in (None, w[0], w):
        found = metrics(probs, q, weights)
        for d in (0, 3500, 4999):
            weight = weights[d] if weights is w else weights
            single = metrics(probs, q[d], weight)
            for name, value in single._asdict().items():
                np.testing.assert_allclose(getattr(found, name)[d], value, **ROUNDING)
    assert found.auc.shape == (5000, 3)


def test_binary_draws_in_one_column():
    probs, _ = made(n=50)
    q = np.random.default_rng(9).random((7, 50))
    both = metrics(probs, q), metrics(probs, np.stack([1 - q, q], axis=-1))
    for one, two in zip(*both, strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(st.data())
def test_soft_labels_are_two_rows_with_weights(data):
    """A row of label probability q is a positive of weight q and a negative of weight 1 - q."""
    n = data.draw(st.integers(2, 25))
    numbers = st.floats(0, 1).map(lambda x: round(x, 2))
    s = np.array(data.draw(st.lists(numbers, min_size=n, max_size=n)))
    q = np.array(data.draw(st.lists(numbers, min_size=n, max_size=n)))
    found = metrics(np.stack([1 - s, s], axis=1)[np.newaxis], np.stack([1 - q, q], axis=1))
    y = np.repeat([1, 0], n)
    w = np.concatenate([q, 1 - q])
    if q.sum() > 0:
        expected = average_precision_score(y, np.tile(s, 2), sample_weight=w)
        np.testing.assert_allclose(found.auprc[0], expected, **ROUNDING)
    else:
        assert np.isnan(found.auprc[0])
    if 0 < q.sum() < n:
        higher = s[:, None] > s
        wins = higher + 0.5 * (s[:, None] == s)
        expected = q @ wins @ (1 - q) / (q.sum() * (1 - q).sum())
        np.testing.assert_allclose(found.auc[0], expected, rtol=0, atol=1e-11)
    else:
        assert np.isnan(found.auc[0])


def test_linear_metrics_are_expectations_over_labels():
    probs, _ = made(n=3, k=3)
    q = np.random.default_rng(4).dirichlet(np.ones(3), 3)
    every = np.array(np.meshgrid(*[range(3)] * 3, indexing="ij")).reshape(3, -1).T
    chance = np.prod(q[np.arange(3), every], axis=1)
    found, cases = metrics(probs, q), metrics(probs, np.eye(3)[every])
    for name in ("accuracy", "log_loss", "brier"):
        np.testing.assert_allclose(getattr(found, name), chance @ getattr(cases, name), **ROUNDING)


def test_a_class_without_weight_makes_ranking_undefined():
    probs, _ = made(n=20)
    found = metrics(probs, np.stack([np.zeros(20), np.ones(20)]))
    assert np.isnan(found.auc).all()
    assert np.isnan(found.auprc[0]).all()
    np.testing.assert_array_equal(found.auprc[1], 1.0)
    assert np.isfinite(found.ece).all()


def test_a_class_that_never_occurs_is_left_out_of_means():
    probs, y = made(k=3)
    y = np.where(y == 2, 0, y)
    found = metrics(probs, np.eye(3)[y])
    for m, prob in enumerate(probs):
        auc = np.mean([roc_auc_score(y == k, prob[:, k]) for k in (0, 1)])
        ap = np.mean([average_precision_score(y == k, prob[:, k]) for k in (0, 1)])
        np.testing.assert_allclose([found.auc[m], found.auprc[m]], [auc, ap], **ROUNDING)


def test_probabilities_of_exactly_0_and_1():
    probs = np.array([[[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]])
    found = metrics(probs, np.eye(2)[[0, 1, 1]])
    assert found.log_loss[0] == pytest.approx(-np.log(np.finfo(float).eps) / 3, rel=1e-12)
    assert found.auc[0] == 0.75


@pytest.mark.parametrize("exponent", [-1000, -530, 530, 1000])
def test_weights_count_up_to_a_factor(exponent):
    """A power of two changes no digit; the product of two such sums is no number of float64."""
    probs, _ = made(n=60)
    rng = np.random.default_rng(3)
    q, weights = rng.dirichlet(np.ones(2), (5, 60)), rng.exponential(size=(5, 60))
    for one, two in zip(
        metrics(probs, q, weights), metrics(probs, q, np.ldexp(weights, exponent)), strict=True
    ):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("by_group", [False, True])
def test_calibration_errors_of_other_probabilities_than_the_rest(by_group):
    probs, _ = made(n=60)
    rng = np.random.default_rng(3)
    q, other = rng.dirichlet(np.ones(2), (2, 5, 60))
    weights = rng.exponential(size=(5, 60))
    group = np.arange(60) % 2

    def measured(q, **given):
        if by_group:
            return subgroup_metrics(probs, q, group, 2, weights, **given)
        return metrics(probs, q, weights, **given)

    found = measured(q, errors_q=other)
    for name, values in measured(q)._asdict().items():
        expected = getattr(measured(other), name) if name in ("ece", "mce") else values
        np.testing.assert_array_equal(getattr(found, name), expected)


def test_calibration_errors_of_another_number_of_draws_are_refused():
    probs, _ = made(n=60)
    q = np.full((5, 60, 2), 0.5)
    with pytest.raises(InputError, match="shape of q; got 4 and 5 draws"):
        metrics(probs, q, errors_q=q[:4])


@pytest.mark.filterwarnings("error")
def test_a_group_without_weight_in_a_draw_has_no_metrics_there():
    probs, y = made(40)
    group = np.repeat([0, 1], 20)
    weight = np.stack([1.0 - group, np.ones(40)])
    for values in subgroup_metrics(probs, np.eye(2)[y], group, 2, weight):
        np.testing.assert_array_equal(np.isnan(values).any(axis=1), [[False, True], [False, False]])
        assert np.isnan(values[0, :, 1]).all()


def test_subgroups_are_the_metrics_of_their_rows():
    probs, y = made(n=120)
    group = np.arange(120) % 3
    w = np.random.default_rng(3).dirichlet(np.ones(120), 5)
    found = subgroup_metrics(probs, np.eye(2)[y], group, 4, w)
    assert found.ece.shape == (5, 3, 4)
    for g in range(3):
        rows = group == g
        expected = metrics(probs[:, rows], np.eye(2)[y[rows]], w[:, rows])
        for name, value in expected._asdict().items():
            np.testing.assert_allclose(getattr(found, name)[..., g], value, **ROUNDING)
    assert np.isnan(found.accuracy[..., 3]).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"q": np.full((4, 3), 1 / 3)}, "q must have shape"),
        ({"q": np.full((5, 2), 0.7)}, "q must hold probabilities"),
        ({"q": np.full((5, 2), np.nan)}, "q must hold probabilities"),
        ({"weights": np.ones(4)}, "weights must have shape"),
        ({"weights": np.zeros(5)}, "weights must be finite"),
        ({"weights": -np.ones(5)}, "weights must be finite"),
        ({"weights": np.ones((3, 5)), "q": np.full((2, 5, 2), 0.5)}, "same number of draws"),
        ({"ece": "quantile"}, "ece must be one of"),
    ],
)
def test_bad_input(change, message):
    good = {"probs": np.full((2, 5, 2), 0.5), "q": np.full((5, 2), 0.5)}
    with pytest.raises(InputError, match=message):
        metrics(**(good | change))


def test_multi_class_has_no_positive_score():
    with pytest.raises(InputError, match="needs 2 classes; got 3"):
        metrics(np.full((1, 4, 3), 1 / 3), np.full((4, 3), 1 / 3), ece="equal-mass")


def test_bins_of_equal_width_are_closed_on_the_right():
    score = np.array([0.0, 1 / 15, 1 / 15 + 1e-9, 0.5, 1.0])
    bins = membership(score, CONVENTIONS["equal-width"])
    # Rows 0 and 1 are in the first bin, then one each; empty bins have no column.
    np.testing.assert_array_equal(bins, np.eye(4)[[0, 0, 1, 2, 3]])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("convention", ["equal-width", "top-label"])
def test_tenths_meet_edges_of_bins_in_any_precision(convention, dtype):
    # In whole numbers: t tenths are in the bin ceil(15 t / 10). 1 - .4 in float32 was no .6.
    tenths, y = np.arange(11).repeat(20), np.arange(220) % 20 < np.arange(11).repeat(20)
    right = y if convention == "equal-width" else y == (tenths >= 5)
    t = tenths if convention == "equal-width" else np.maximum(tenths, 10 - tenths)
    bins = np.maximum(-(-15 * t // 10), 1)
    gaps = [(right[bins == b] - t[bins == b] / 10).sum() for b in np.unique(bins)]
    scores = bc.Scores(y_true=y.astype(int), y_prob=(tenths / 10).astype(dtype))
    found = bc.ssme.ensemble(scores, ece=convention).ece
    # float32 has seven digits.
    np.testing.assert_allclose(found, np.abs(gaps).sum() / 220, rtol=1e-6)


def test_thirds_are_in_the_bin_that_ends_there():
    # All right at 1 / 3, none at .35: a gap of 2 / 3 and one of .35, which cancelled in one bin.
    prob = np.array([[1 / 3] * 3, [0.35, 0.33, 0.32]]).repeat(10, axis=0)
    y = np.repeat([0, 1], 10)
    of_scores = bc.ssme.ensemble(bc.Scores(y_true=y, y_prob=prob)).ece[0]
    for found in (of_scores, metrics(prob[None], np.eye(3)[y]).ece[0]):
        assert found == pytest.approx((2 / 3 + 0.35) / 2, rel=1e-11)


@pytest.mark.parametrize("name", ["equal-mass", "equal-width"])
def test_the_optimal_number_of_bins_is_the_cube_root_of_the_rows(name):
    score = np.random.default_rng(5).random(217)  # above 6^3
    found = membership(score, CONVENTIONS[f"{name}-optimal"])
    by_hand = CONVENTIONS[name]._replace(n_bins=7)
    np.testing.assert_array_equal(found, membership(score, by_hand))


def test_scores_that_are_all_the_same():
    found = metrics(np.full((1, 4, 2), 0.5), np.eye(2)[[1, 0, 0, 0]])
    assert (found.auc[0], found.auprc[0]) == (0.5, 0.25)


@pytest.mark.parametrize("kind", [bool, float, np.uint8])
def test_groups_are_numbered_by_any_whole_numbers(kind):
    probs, y = made(n=40)
    group = np.arange(40) % 2
    found = subgroup_metrics(probs, np.eye(2)[y], group.astype(kind), 2)
    for g in (0, 1):
        own = metrics(probs[:, group == g], np.eye(2)[y[group == g]])
        np.testing.assert_array_equal(np.stack(found)[..., g], np.stack(own))


def test_a_class_without_negatives_has_a_precision_of_1_and_no_auc():
    probs, _ = made(n=20)
    found = metrics(probs, np.ones((3, 20)))
    assert np.isnan(found.auc).all()
    expected = average_precision_score(np.ones(20), probs[0, :, 1])
    np.testing.assert_allclose(found.auprc, expected)


def test_wrong_probabilities_of_the_calibration_errors_are_named():
    probs, y = made(n=20)
    with pytest.raises(InputError, match="errors_q must hold probabilities that sum to 1"):
        metrics(probs, np.eye(2)[y], errors_q=np.full((20, 2), 0.9))
    with pytest.raises(InputError, match="errors_q must have shape"):
        metrics(probs, np.eye(2)[y], errors_q=np.eye(2))
