"""From scores to the rows that estimate and model see."""

from dataclasses import replace

import numpy as np
import pytest

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.quantities.ssme.data import (
    LEAST_OF_GROUP,
    MOST_UNLABELED,
    Problem,
    data_warnings,
    score_matrix,
)
from tests.quantities.ssme.made import binary, grouped, many_classes, problem


def relabeled(made, y):
    y = np.asarray(y, dtype=np.int32)
    full = np.full(made.matrix.n_obs, -1, dtype=np.int32)
    full[: len(y)] = y
    return replace(made.matrix, y=full)


def test_full_labels_leave_nothing_open():
    assert data_warnings(relabeled(problem(), [0, 1])) == []
    assert data_warnings(relabeled(grouped(), [0, 1, 1])) == []


def test_no_labels_are_named_first_and_alone():
    (found,) = data_warnings(relabeled(grouped(), []))
    assert "no row is labeled" in found


def test_classes_and_groups_without_labels_are_named():
    (bare,) = data_warnings(relabeled(many_classes(k=4), [0, 2]))
    assert "no label of 1, 3" in bare
    # Not those that look like the class: labels chosen by score would be no random sample.
    assert "chosen as the others were" in bare
    class_, group = data_warnings(relabeled(grouped(), [0, 0]))
    assert "no label of 1" in class_
    assert "no label in group 'z'" in group


def test_binary_scores_as_one_column_or_two():
    s = np.array([0.0, 0.25, 1.0])
    one = score_matrix(bc.Scores(y_true=[0, None, 1], y_prob=s))
    two = score_matrix(bc.Scores(y_true=[0, None, 1], y_prob=np.stack([1 - s, s], axis=1)))
    np.testing.assert_array_equal(one.probs, [np.stack([1 - s, s], axis=1)])
    np.testing.assert_array_equal(two.probs, one.probs)
    np.testing.assert_array_equal(one.y, [0, -1, 1])
    assert (one.n_obs, one.n_labeled, one.n_classifiers, one.n_classes) == (3, 2, 1, 2)
    assert one.is_binary


def test_rows_of_float32_sum_to_one():
    prob = np.random.default_rng(1).dirichlet(np.ones(5), 50).astype(np.float32)
    matrix = score_matrix(bc.Scores(y_true=[0, *[None] * 49], y_prob=prob))
    assert matrix.probs.dtype == np.float64
    np.testing.assert_allclose(matrix.probs.sum(axis=2), 1, atol=1e-15)  # rounding of one division
    assert not matrix.is_binary


def test_take_keeps_names_and_groups():
    scores = bc.Scores.stack(
        {"a": [0.1, 0.2, 0.3], "b": [0.4, 0.5, 0.6]}, y_true=[None, 1, 0], group=["u", "v", "v"]
    )
    matrix = score_matrix(scores)
    part = matrix.take(np.array([2, 0]))
    np.testing.assert_allclose(part.probs[:, :, 1], [[0.3, 0.1], [0.6, 0.4]])
    assert part.y.tolist() == [0, -1]
    assert part.group.tolist() == [1, 0]
    assert part.groups == ("u", "v")
    assert matrix.select(1).classifiers == ("b",)
    np.testing.assert_array_equal(matrix.labeled, [False, True, True])


def test_nan_score_of_one_classifier_is_refused_by_name():
    with pytest.raises(InputError, match="b"):
        bc.Scores.stack({"a": [0.1, 0.2], "b": [0.1, np.nan]}, y_true=[0, None])


def matrix(**given):
    return score_matrix(binary(**given)[0])


def test_few_rows_all_stay():
    own = matrix(n=100)
    found = Problem.of(own, "random")
    assert found.matrix is own
    assert (found.weight == 1).all()
    np.testing.assert_array_equal(found.rows, np.arange(20))
    np.testing.assert_array_equal(found.labels, own.y[:20])


def test_of_many_rows_labeled_ones_stay_and_the_others_stand_for_all():
    own = matrix(n=MOST_UNLABELED + 3000, n_labeled=500)
    found = Problem.of(own, "random")
    unlabeled = own.n_obs - 500
    assert found.matrix.n_obs == MOST_UNLABELED + 500
    assert found.matrix.n_labeled == 500
    np.testing.assert_array_equal(found.labels, own.y[:500])
    np.testing.assert_array_equal(found.matrix.probs[:, found.rows], own.probs[:, :500])
    assert (found.weight[found.rows] == 1).all()
    assert found.weight.sum() == pytest.approx(500 + unlabeled)


def test_the_same_rows_are_taken_every_time():
    own = matrix(n=MOST_UNLABELED + 500)
    one, two = (Problem.of(own, "random").matrix.probs for _ in range(2))
    np.testing.assert_array_equal(one, two)


def test_the_rows_taken_have_the_mean_of_all():
    own = matrix(n=4 * MOST_UNLABELED)
    found = Problem.of(own, "random")
    mean = np.average(found.matrix.probs[..., 1], axis=1, weights=found.weight)
    error = own.probs[..., 1].std(axis=1) / np.sqrt(MOST_UNLABELED)
    assert (np.abs(mean - own.probs[..., 1].mean(axis=1)) < 4 * error).all()


def test_small_groups_keep_their_rows():
    """Ten rows in a hundred thousand would be left out of 5,000 taken from all."""
    n = 100_000
    group = np.where(np.arange(n) % 10_000 == 9_999, "few", "many")
    own = matrix(n=n, group=group)
    found = Problem.of(own, "random")
    for g in range(2):
        rows, every = found.matrix.group == g, own.group == g
        assert found.weight[rows].sum() == pytest.approx(every.sum())
        assert rows.sum() == min(every.sum(), MOST_UNLABELED // 2 + (own.labeled & every).sum())


def test_many_groups_keep_enough_each():
    own = matrix(n=60_000, group=[f"g{i % 50}" for i in range(60_000)])
    found = Problem.of(own, "random")
    unlabeled = ~found.matrix.labeled
    assert (np.bincount(found.matrix.group[unlabeled]) == LEAST_OF_GROUP).all()
    assert found.weight.sum() == pytest.approx(60_000)
