"""Rows of self-learning and the labels that they get."""

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

from bayescal.core.errors import InputError
from bayescal.quantities.credal.self_learning import SelfLearningRows, credal_labels, soft_labels

GOOD = {
    "features": [[0.0], [1.0]],
    "labels": [0, 1],
    "unlabeled": [[0.5]],
    "target": [[0.5]],
}


def test_rows_are_copied_and_cannot_be_changed():
    x = np.array([[0.0], [1.0]])
    rows = SelfLearningRows(**GOOD | {"features": x})
    x[0] = 9
    assert rows.x_labeled[0, 0] == 0
    with pytest.raises(ValueError, match="read-only"):
        rows.x_labeled[0] = 9


def test_words_may_come_as_objects():
    words = np.array(["no", "yes"], object)
    assert SelfLearningRows(**GOOD | {"labels": words}).classes.tolist() == ["no", "yes"]
    with pytest.raises(InputError, match="whole numbers or words"):
        SelfLearningRows(**GOOD | {"labels": np.array(["no", None], object)})


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"labels": [0]}, "labels"),
        ({"labels": [0, 0]}, "at least two classes; got 0"),
        ({"labels": [0.5, 1.5]}, "whole numbers or words"),
        ({"unlabeled": [[0.5, 1.0]]}, "unlabeled must have the 1 feature of"),
        ({"unlabeled": np.zeros((0, 1))}, "unlabeled must have at least one row"),
        ({"target": [[np.nan]]}, "target must be finite; got nan at row 0, column 0"),
        ({"target": [[np.inf]]}, "target must be finite; got inf"),
        ({"features": [["x"], ["y"]]}, "table of numbers"),
        ({"features": [0.0, 1.0]}, r"shape \(obs, feature\)"),
        ({"calibration_labels": [0]}, "given together"),
        ({"calibration_features": [[0.0]], "calibration_labels": [2]}, "got 2 at row 0"),
        ({"calibration_features": [[0.0]], "calibration_labels": [0, 1]}, "calibration_"),
        ({"calibration_features": [[0.0, 1.0]], "calibration_labels": [0]}, "the 1 feature of"),
    ],
)
def test_rows_that_do_not_agree_are_refused(wrong, message):
    with pytest.raises(InputError, match=message):
        SelfLearningRows(**GOOD | wrong)


def probabilities(rows, classes, seed):
    return np.random.default_rng(seed).dirichlet(np.ones(classes), rows)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_soft_labels_are_the_predictions_with_a_sum_of_1(kind):
    prob = probabilities(50, 7, 1).astype(kind)
    lower, upper = soft_labels(prob.astype(np.float64))
    np.testing.assert_allclose(lower, prob, atol=10 * np.finfo(kind).eps)
    np.testing.assert_allclose(lower.sum(axis=1), 1, atol=1e-15)
    np.testing.assert_array_equal(lower, upper)


def two_fits(score, label, new):
    """p0 and p1 by isotonic regression, the new row in it with label 0 and 1."""
    return [
        IsotonicRegression().fit([*score, new], [*label, y]).predict([new])[0] for y in (0.0, 1.0)
    ]


@pytest.mark.parametrize("seed", range(5))
def test_two_classes_get_the_bounds_of_isotonic_regression(seed):
    # Of two classes the bounds of one are those of the other mirrored, so that nothing is
    # discounted.
    held = probabilities(30, 2, seed)
    label = (np.random.default_rng(seed).random(30) < held[:, 1]).astype(int)
    prob = probabilities(6, 2, seed + 100)
    lower, upper = credal_labels(prob, held, calibration_label=label)
    expected = np.array([two_fits(held[:, 1], label, new) for new in prob[:, 1]])
    # Rounding of scikit-learn's averages.
    np.testing.assert_allclose(np.column_stack([lower[:, 1], upper[:, 1]]), expected, atol=1e-12)
    np.testing.assert_allclose(
        np.column_stack([upper[:, 0], lower[:, 0]]), 1 - expected, atol=1e-12
    )


def test_sets_whose_lower_bounds_sum_to_one_are_widened_by_the_printed_relation_only():
    held = np.array([[3, 7, 0], [8, 1, 1], [8, 0, 2], [6, 3, 0], [1, 3, 6], [6, 2, 1]]) / 10
    label = np.array([0, 0, 1, 1, 2, 2])
    prob = np.array([[0.3, 0.1, 0.6]])
    kept, widened = (
        credal_labels(prob, held, calibration_label=label, relation=each) for each in (">", ">=")
    )
    bounds = np.array([two_fits(score, label == k, prob[0, k]) for k, score in enumerate(held.T)]).T
    assert bounds[0].sum() == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose([kept.lower[0], kept.upper[0]], bounds, atol=1e-12)
    # (8): the lower bounds then sum to 1 less the widest interval.
    widest = (bounds[1] - bounds[0]).max()
    assert 1 - widened.lower.sum() == pytest.approx(widest, abs=1e-12)
    np.testing.assert_array_equal(widened.upper, kept.upper)
