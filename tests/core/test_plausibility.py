"""Signs of wrong labels and scores are found where there are some, and hardly ever elsewhere."""

import numpy as np
import pytest
from scipy.special import expit, softmax
from sklearn.metrics import roc_auc_score

import bayescal as bc
from bayescal.core import plausibility


def of_rows(score, label):
    return plausibility.label_signs(score, label == 0, label == 1)


def calibrated(rng, n, a=1.0, b=1.0):
    score = rng.beta(a, b, n)
    return score, (rng.random(n) < score).astype(int)


def test_reversed_labels_are_found():
    score, label = calibrated(np.random.default_rng(1), 300)
    assert of_rows(score, label) == []
    (sign,) = of_rows(score, 1 - label)
    assert f"AUC is {roc_auc_score(1 - label, score):.3f}, clearly below 1/2" in sign
    assert "pos_label" in sign
    assert plausibility.reversed_signs(score, label == 0, label == 1) == []


def test_cells_are_rows_with_one_score():
    score, label = calibrated(np.random.default_rng(2), 2000)
    score = score.round(1)
    values = np.unique(score)
    counts = np.array([[np.sum((score == v) & (label == y)) for y in (1, 0)] for v in values])
    assert plausibility.label_signs(values, *counts.T) == of_rows(score, 1 - label) != []
    assert plausibility.area_under_roc(counts) == pytest.approx(roc_auc_score(1 - label, score))
    # Scores of cells without rows may be anything.
    padded = plausibility.label_signs([*values, np.nan], [*counts[:, 0], 0], [*counts[:, 1], 0])
    assert padded == of_rows(score, 1 - label)


@pytest.mark.parametrize(("n", "share"), [(10, 0.5), (40, 0.1), (500, 0.02)])
@pytest.mark.parametrize("spread", [0.0, 0.45])
def test_chance_seldom_looks_reversed(n, share, spread):
    # An AUC of 1/2, with scores of positives spread as those of negatives are, or all at both ends,
    # where its variance is largest. At a rate of .001, 12 of 4,000 have a probability of .001.
    rng = np.random.default_rng(3)
    found = 0
    for _ in range(4000):
        label = (rng.random(n) < share).astype(int)
        score = rng.random(n)
        if spread:
            score = np.where(label, rng.choice([0.0, 1.0], n), spread + 0.1 * score)
        found += bool(plausibility.reversed_signs(score, label == 0, label == 1))
    assert found <= 12


@pytest.mark.parametrize("beta", [(1, 1), (2, 5), (0.5, 10)])
def test_probabilities_taken_for_logits_are_found(beta):
    score, label = calibrated(np.random.default_rng(4), 500, *beta)
    (sign,) = of_rows(expit(score), label)
    assert "Leave from_logits out" in sign
    assert of_rows(score, label) == []


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_a_softmax_of_probabilities_is_found(n_classes):
    rng = np.random.default_rng(5)
    prob = rng.dirichlet(np.full(n_classes, 0.3), 500)
    label = np.array([rng.choice(n_classes, p=p) for p in prob])
    (sign,) = plausibility.signs_of_rows(softmax(prob, axis=1), label)
    assert "Leave from_logits out" in sign
    assert plausibility.signs_of_rows(prob, label) == []


def test_calibrated_scores_in_the_range_of_a_sigmoid_seldom_look_like_one():
    # By Markov's inequality one in a thousand at most; 12 of 4,000 have a probability of .001.
    rng = np.random.default_rng(6)
    found = 0
    for _ in range(4000):
        score = rng.uniform(*expit([0.0, 1.0]), 60)
        found += bool(of_rows(score, (rng.random(60) < score).astype(int)))
    assert found <= 12


def test_underconfident_scores_are_no_softmax():
    rng = np.random.default_rng(7)
    logit = rng.uniform(-0.7, 0.7, 3000)
    assert of_rows(expit(logit), (rng.random(3000) < expit(4 * logit)).astype(int)) == []


def test_accuracy_clearly_below_chance_is_found():
    rng = np.random.default_rng(8)
    prob = rng.dirichlet(np.full(5, 0.3), 400)
    label = np.array([rng.choice(5, p=p) for p in prob])
    moved = bc.Scores(y_true=(label + 1) % 5, y_prob=prob)
    (sign,) = plausibility.class_signs(moved, "classifier")
    right = int((prob.argmax(axis=1) == moved.y_true).sum())
    assert f"right in {right} of 400 labelled rows" in sign
    assert plausibility.class_signs(bc.Scores(y_true=label, y_prob=prob), "classifier") == []


@pytest.mark.parametrize(("n", "n_classes"), [(5, 3), (60, 3), (300, 10)])
def test_guesses_are_seldom_clearly_below_chance(n, n_classes):
    rng = np.random.default_rng(9)
    right = rng.binomial(n, 1 / n_classes, 4000)
    assert sum(bool(plausibility.below_chance(int(r), n, n_classes)) for r in right) <= 12


def test_nothing_is_said_of_no_rows():
    assert plausibility.label_signs([], [], []) == []
    assert plausibility.signs_of_rows(np.empty((0, 3)), np.empty(0, int)) == []
    assert plausibility.label_signs([0.2, 0.8], [3, 4], [0, 0]) == []


DRAWN = np.arange(10_000.0).reshape(4, 2500) / 10_000


@pytest.mark.parametrize("seen", [0.0, 0.0005, 0.9995, 1.5, -1.0])
def test_an_estimate_outside_is_a_contradiction(seen):
    (sentence,) = plausibility.contradiction(seen, DRAWN)
    assert f"{seen:.4f}" in sentence
    # A twentieth is left out at either end.
    assert "0.0500 to 0.9499" in sentence
    # Labels of independent rows scatter.
    assert ("calibrated on these very rows" in sentence) == (seen < 0.5)


@pytest.mark.parametrize("seen", [0.0015, 0.5, 0.998])
def test_an_estimate_among_the_draws_is_none(seen):
    assert plausibility.contradiction(seen, DRAWN) == []


def test_an_estimate_that_all_draws_equal_is_none():
    assert plausibility.contradiction(0.0, np.zeros((2, 50))) == []


def test_the_least_of_few_possible_estimates_is_none_whatever_its_rounding():
    # 0.1 + 0.2 is above 0.3, as sums over bins in another order are.
    assert plausibility.contradiction(0.3, np.tile([0.1 + 0.2, 0.5], (2, 50))) == []
    assert plausibility.contradiction(0.1 + 0.2, np.tile([0.3, 0.1], (2, 50))) == []
