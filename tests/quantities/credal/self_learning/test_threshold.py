"""Self-learning as printed, and its networks."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.special import expit, xlogy

import bayescal as bc
from bayescal.quantities.credal.self_learning import SelfLearningRows
from bayescal.quantities.credal.self_learning.threshold import (
    LabeledParts,
    OneVsAllNetworks,
    SgdSettings,
    ThresholdSettings,
    self_learn_by_threshold,
)


def networks(**settings):
    return OneVsAllNetworks(3, 2, SgdSettings(hidden=4, **settings), np.random.default_rng(1))


def test_a_step_goes_down_the_gradient_of_the_loss():
    rng = np.random.default_rng(2)
    x, label = rng.normal(size=(5, 3)), rng.random((5, 2))
    found = networks(learning_rate=1e-3, batch_size=5, epochs=1)
    before = [weights.copy() for weights in found._weights]

    def loss(flat):
        sizes = np.cumsum([weights.size for weights in before])[:-1]
        found._weights = [
            part.reshape(weights.shape)
            for part, weights in zip(np.split(flat, sizes), before, strict=True)
        ]
        p = found.scores(x)
        entropy = xlogy(label, label) + xlogy(1 - label, 1 - label)
        return (entropy - xlogy(label, p) - xlogy(1 - label, 1 - p)).sum() / len(x)

    start = np.concatenate([weights.ravel() for weights in before])
    slope = approx_fprime(start, loss, 1e-6)
    found._weights = [weights.copy() for weights in before]
    after = np.concatenate([weights.ravel() for weights in found.fit(x, label)._weights])
    np.testing.assert_allclose(start - after, 1e-3 * slope, atol=1e-8)


def test_networks_of_other_classes_change_nothing():
    rng = np.random.default_rng(2)
    x, label = rng.normal(size=(20, 3)), rng.random((20, 2))
    other = label.copy()
    other[:, 1] = 0
    first, second = (networks().fit(x, given).scores(x) for given in (label, other))
    np.testing.assert_allclose(first[:, 0], second[:, 0], rtol=1e-12)
    assert not np.allclose(first[:, 1], second[:, 1])


def test_separable_classes_are_learned_and_probabilities_sum_to_one():
    x = np.random.default_rng(2).normal(size=(60, 3))
    right = x[:, 0] > 0
    found = networks(epochs=100).fit(x, np.stack([~right, right], axis=1).astype(float))
    prob = found.predict_proba(x)
    np.testing.assert_allclose(prob.sum(axis=1), 1)
    assert (prob.argmax(axis=1) == right).mean() > 0.95


def test_scores_that_all_round_to_zero_keep_their_ratio():
    found = networks()
    for weights, value in zip(found._weights, (0, 0, 0, [[[-800.0]], [[-801.0]]]), strict=True):
        weights[:] = value
    # exp(-800) and exp(-801), over their sum: the sigmoid of 1 and of -1.
    np.testing.assert_allclose(found.predict_proba(np.ones((1, 3))), [expit([1, -1])], rtol=1e-12)


@pytest.mark.parametrize("method", ["hard", "soft", "credal"])
def test_steps_far_too_long_give_probabilities_all_the_same(method):
    settings = ThresholdSettings(method, 0.5, iterations=3)
    found = self_learn_by_threshold(rows(), settings, SgdSettings(learning_rate=1e4)).target_prob
    np.testing.assert_allclose(found.sum(axis=-1), 1)


NETWORK = SgdSettings(hidden=4, epochs=40)


def rows(n=80, calibration=True):
    rng = np.random.default_rng(3)
    label = rng.integers(3, size=n)
    x = rng.normal(size=(n, 2)) + 2.5 * np.array([[0, 1], [1, -1], [-1, -1]])[label]
    held = (x[15:30], label[15:30]) if calibration else ()
    return SelfLearningRows(x[:15], label[:15], x[30:70], x[70:], *held)


class Recorded(OneVsAllNetworks):
    """Networks that remember what they were trained on."""

    def fit(self, x, label):
        RECORD.append((x.copy(), label.copy()))
        return super().fit(x, label)


RECORD = []


@pytest.fixture
def record(monkeypatch):
    RECORD.clear()
    module = "bayescal.quantities.credal.self_learning.threshold.OneVsAllNetworks"
    monkeypatch.setattr(module, Recorded)
    return RECORD


@pytest.mark.parametrize("method", ["hard", "soft", "credal"])
def test_all_batches_add_up_and_the_last_stands_alone(record, method):
    given = {}
    for added in ("all batches", "last batch"):
        record.clear()
        settings = ThresholdSettings(method, 0.5, iterations=4, added=added)
        learned = self_learn_by_threshold(rows(), settings, NETWORK)
        given[added] = [len(x) - 15 for x, _ in record]
        assert given[added][0] == 0
        assert len(learned.target_prob) == len(record)
        if added == "all batches":
            assert given[added] == learned.n_given.tolist()
        else:
            assert given[added] == np.diff(learned.n_given, prepend=0).tolist()


def test_labels_are_corners_probabilities_or_projections(record):
    found = {}
    for method in ("hard", "soft", "credal"):
        record.clear()
        self_learn_by_threshold(rows(), ThresholdSettings(method, 0.5, iterations=1), NETWORK)
        x, label = record[1]
        found[method] = label[15:]
        assert (label[15:].max(axis=1) >= 0.5).all()
        np.testing.assert_allclose(label[15:].sum(axis=1), 1)
        np.testing.assert_array_equal(x[:15], rows().x_labeled)
    assert set(np.unique(found["hard"])) == {0, 1}
    # The same networks label the same rows, as they differ in nothing before.
    np.testing.assert_array_equal(found["soft"].argmax(axis=1), found["hard"].argmax(axis=1))


def test_credal_labels_lie_between_the_venn_abers_probabilities(record):
    data = rows()
    self_learn_by_threshold(data, ThresholdSettings("credal", 0.01, iterations=1), NETWORK)
    networks = OneVsAllNetworks(2, 3, NETWORK, np.random.default_rng(0))
    networks.fit(*record[0])
    x, y = data.calibration()
    ends = bc.credal.fit_one_vs_rest(networks.scores(x), label=y).predict(
        networks.scores(data.x_unlabeled)
    )
    lower, upper = bc.credal.discount(*ends)
    label = record[1][1][15:]
    assert len(label) == 40
    assert (lower - 1e-9 <= label).all()
    assert (label <= upper + 1e-9).all()


def test_credal_ends_when_no_row_reaches_the_threshold_and_others_go_on():
    settings = {"threshold": 1.0, "iterations": 3}
    lengths = {
        method: len(
            self_learn_by_threshold(
                rows(), ThresholdSettings(method, **settings), NETWORK
            ).target_prob
        )
        for method in ("credal", "hard", "soft")
    }
    assert lengths == {"credal": 1, "hard": 4, "soft": 4}


def test_warm_networks_train_further_and_fresh_ones_anew():
    # Steps of no length leave the weights that a training starts from.
    still = SgdSettings(hidden=4, learning_rate=1e-300)
    found = {
        networks: self_learn_by_threshold(
            rows(), ThresholdSettings("soft", 0.4, iterations=2, networks=networks), still
        ).target_prob
        for networks in ("warm", "fresh")
    }
    np.testing.assert_array_equal(found["warm"][1:], found["warm"][:-1])
    np.testing.assert_array_equal(found["fresh"][0], found["warm"][0])
    assert (found["fresh"][1:] != found["fresh"][:-1]).all()


def test_fresh_networks_are_the_fit_to_their_rows_and_the_default(record):
    learned = self_learn_by_threshold(rows(), ThresholdSettings("soft", 0.5, 3), NETWORK)
    rng = np.random.default_rng(0)
    for trained_on, prob in zip(list(record), learned.target_prob, strict=True):
        anew = OneVsAllNetworks(2, 3, NETWORK, rng).fit(*trained_on)
        np.testing.assert_array_equal(anew.predict_proba(rows().x_target), prob)


FIRST_IS_SURE = np.linspace(1.0, 0.5, 40)


def sure_of_the_first(networks, parts, x):
    """Labels whose highest probability falls from row to row, 1 to .5, all rows still there."""
    highest = FIRST_IS_SURE[40 - len(x) :]
    return np.stack([highest, 1 - highest, 0 * highest], axis=1)


@pytest.mark.parametrize(("selection", "expected"), [("at least", 40), ("above", 39)])
def test_the_text_selects_above_the_threshold_and_the_listings_at_it(selection, expected):
    settings = ThresholdSettings("soft", 0.5, iterations=1, selection=selection)
    learned = self_learn_by_threshold(rows(), settings, NETWORK, give_labels=sure_of_the_first)
    assert learned.n_given.tolist() == [0, expected]


@pytest.mark.parametrize("method", ["hard", "credal"])
@pytest.mark.parametrize(
    ("batch_size", "iterations", "expected"),
    [(None, 7, [0, 6, 12, 18, 24, 30, 36, 40]), (15, 50, [0, 15, 30, 40]), (15, 1, [0, 15])],
)
def test_a_batch_of_the_highest_probabilities_needs_no_threshold(
    record, method, batch_size, iterations, expected
):
    settings = ThresholdSettings(
        method, 1.0, iterations, selection="highest", batch_size=batch_size
    )
    learned = self_learn_by_threshold(rows(), settings, NETWORK, give_labels=sure_of_the_first)
    assert learned.n_given.tolist() == expected
    # Rows come in the order of their probabilities, which is theirs.
    x = record[-1][0][15:]
    np.testing.assert_array_equal(x, rows().x_unlabeled[: expected[-1]])


def test_labelled_rows_may_change_after_each_iteration(record):
    def move_one(parts, new_x, new):
        return LabeledParts(
            parts.x[1:],
            parts.label[1:],
            np.concatenate([parts.x_calibration, parts.x[:1]]),
            np.append(parts.calibration_label, parts.label[0].argmax()),
        )

    settings = ThresholdSettings("credal", 0.01, iterations=1)
    self_learn_by_threshold(rows(), settings, NETWORK, renew=move_one)
    assert len(record[1][0]) == 14 + 40
