"""The theory in numbers, and the measure of three classes."""

import math
from itertools import combinations, product

import numpy as np
import pytest
from scipy.special import expit

from bayescal.core.errors import InputError
from bayescal.quantities.agnostic import theory
from bayescal.quantities.agnostic.estimator import interval_measure


def test_b_f_is_the_distance_to_the_nearest_fixed_labels():
    rng = np.random.default_rng(20)
    score = rng.random(8)
    # Over all classifiers with P(Y = 1 | x) of 0 or 1.
    least = min(np.abs(score - labels).mean() for labels in product((0, 1), repeat=8))
    assert theory.untestable_distance(score) == pytest.approx(least)
    weight = rng.random(8)
    expected = (weight * np.minimum(score, 1 - score)).sum() / weight.sum()
    assert theory.untestable_distance(score, weight) == pytest.approx(expected)


@pytest.mark.slow
def test_lemma_1_no_verifier_sees_fixed_labels():
    chance = np.random.default_rng(21).random(100_000)

    def near(feature, label):
        """Whether the labels' squared error is what the probabilities say, within half an sd."""
        p = chance[feature]
        spread = math.sqrt((p * (1 - p) * (1 - 2 * p) ** 2).sum())
        return abs(((label - p) ** 2 - p * (1 - p)).sum()) < 0.5 * spread

    found = theory.hidden_labels(near, chance, n=50, draws=500, seed=1)
    # P(a feature occurs twice) is at most n**2 / (2 N) = .0125.
    assert found.repeats < 0.0125 + 4 * math.sqrt(0.0125 / 500)
    error = 4 * math.sqrt(2 * 0.25 / 500)
    assert found.fixed_labels == pytest.approx(found.random_labels, abs=0.0125 + error)
    assert 0.2 < found.random_labels < 0.6


def test_repeats_do_tell_fixed_labels():
    def agree(feature, label):
        return len(set(zip(feature, label, strict=True))) == len(set(feature))

    found = theory.hidden_labels(agree, [0.5] * 5, n=20, draws=200, seed=2)
    assert (found.fixed_labels, found.repeats) == (1.0, 1.0)
    assert found.random_labels < 0.05


def dimension(sets, n):
    """VC dimension: the largest subset of which every part is cut out."""
    largest = 0
    for size in range(1, n + 1):
        for points in combinations(range(n), size):
            if len({tuple(row[list(points)]) for row in sets}) == 2**size:
                largest = size
    return largest


def test_example_2():
    n = 3
    score = theory.interleaved_classifiers(n)
    assert score.shape == (8, 3)
    assert ((score >= 0) & (score <= 1)).all()
    ends = [-1.0, *np.unique(score)]
    pairs = [(low, high) for low in ends for high in ends if low < high]
    fixed = [(score > low) & (score <= high) for low, high in pairs]
    assert dimension(np.vstack(fixed), n) == n
    assert max(dimension(sets, n) for sets in fixed) <= 2


def test_claim_3_every_sign_is_fitted():
    rng = np.random.default_rng(22)
    rows = rng.standard_normal((6, 10))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    best = []
    for sign in product((-1, 1), repeat=6):
        weights = theory.shattering_weights(rows, sign, norm=2.0)
        assert np.linalg.norm(weights) == pytest.approx(2.0)
        score = expit(1e3 * rows @ weights)
        best.append((np.array(sign) * (score > 0.5)).sum())
    # The mean of sup sum sigma 1{...} over all signs, over n: 1/2 at least.
    assert np.mean(best) / 6 >= 0.5


@pytest.mark.parametrize("unit", [1e-200, 1.0, 1e200])
def test_weights_have_their_norm_in_any_unit(unit):
    np.testing.assert_allclose(theory.shattering_weights([[unit, 0.0]], [1], norm=3.0), [3.0, 0.0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.interleaved_classifiers(13), "12 at most"),
        (lambda: theory.shattering_weights([[1.0], [2.0]], [1, 1]), "linearly independent"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(InputError, match=message):
        call()


def drawn(seed, n=12, decimals=None):
    rng = np.random.default_rng(seed)
    prob = rng.dirichlet([1, 1, 1], n)
    if decimals is not None:
        prob = rng.integers(0, 3, (n, 3)) + 1e-9
        prob = prob / prob.sum(axis=1, keepdims=True)
    return prob, rng.integers(3, size=n)


def over_directions(prob, label, directions):
    """Half-planes of many directions, each with every place for its border."""
    surplus = prob - np.eye(3)[label]
    most = 0.0
    for angle in np.linspace(0, 2 * np.pi, directions, endpoint=False):
        along = prob[:, :2] @ [np.cos(angle), np.sin(angle)]
        for end in along:
            for inside in (along >= end - 1e-12, along > end + 1e-12):
                most = max(most, np.abs(surplus[inside].sum(axis=0)).max())
    return most / len(prob)


@pytest.mark.parametrize("decimals", [None, 1])
@pytest.mark.parametrize("seed", range(3))
def test_many_directions(seed, decimals):
    prob, label = drawn(seed, decimals=decimals)
    found = theory.half_plane_measure(prob, label=label)
    searched = over_directions(prob, label, 720)
    # The search may miss a narrow angle, and never finds more than there is.
    assert found >= searched - 1e-12
    assert found == pytest.approx(searched, abs=0.02)


@pytest.mark.parametrize("seed", range(4))
def test_rows_close_together_are_told_apart(seed):
    prob, label = drawn(seed, n=8)
    near = 1 / 3 + 1e-7 * (prob - 1 / 3)
    # Half-planes hold the same sets of rows. Exact, but for angles that the search may miss.
    surplus = near - np.eye(3)[label]
    sets = [
        prob[:, :2] @ [np.cos(angle), np.sin(angle)] >= end
        for angle in np.linspace(0, 2 * np.pi, 3600)
        for end in prob[:, :2] @ [np.cos(angle), np.sin(angle)]
    ]
    most = max(np.abs(surplus[inside].sum(axis=0)).max() for inside in sets) / 8
    assert theory.half_plane_measure(near, label=label) == pytest.approx(most, abs=1e-6)


def test_one_class_that_never_occurs_leaves_prefixes():
    rng = np.random.default_rng(7)
    score = rng.random(30).round(1)
    label = (rng.random(30) < score).astype(int)
    prob = np.column_stack([1 - score, score, np.zeros(30)])
    prefixes = interval_measure(score, label=label).ks
    suffixes = interval_measure(1 - score, label=1 - label).ks
    assert theory.half_plane_measure(prob, label=label) == pytest.approx(max(prefixes, suffixes))


def test_one_place_only():
    assert theory.half_plane_measure([[0.5, 0.25, 0.25]] * 2, label=[0, 0]) == 0.5


@pytest.mark.parametrize(
    ("prob", "label", "message"),
    [
        ([[0.5, 0.5]], [0], "shape"),
        ([[0.5, 0.2, 0.2]], [0], "sum to 1"),
        ([[1.5, -0.25, -0.25]], [0], "lie in"),
        ([[0.5, 0.25, 0.25]], [3], "label must be 0, 1 or 2"),
        ([[0.5, 0.25, 0.25]], [0, 1], "same length"),
    ],
)
def test_bad_rows_of_three_classes(prob, label, message):
    with pytest.raises(InputError, match=message):
        theory.half_plane_measure(prob, label=label)
