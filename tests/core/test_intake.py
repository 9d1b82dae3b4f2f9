import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit

from bayescal.core.errors import InputError
from bayescal.core.intake import Column, collect, probabilities


def read(values, **options):
    return probabilities(Column("y_prob", values), **options)


@given(st.lists(st.floats(0.001, 0.999), min_size=1))
def test_logits_of_probabilities_give_them_back(values):
    np.testing.assert_allclose(
        read(logit(values), from_logits=True), values, rtol=0, atol=1e-12
    )


def test_softmax_of_two_logits_is_the_logistic_of_their_difference():
    logits = np.array([[0.0, 1.5], [2.0, -1.0]])
    np.testing.assert_allclose(
        read(logits, from_logits=True), expit(logits[:, 1] - logits[:, 0]), rtol=0, atol=1e-12
    )


def test_softmax_is_the_normalised_exponential():
    logits = np.array([[0.1, 1.0, -2.0], [700.0, 701.0, 0.0]])
    shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
    np.testing.assert_allclose(
        read(logits, from_logits=True), shifted / shifted.sum(axis=1, keepdims=True), rtol=0, atol=1e-12
    )


def test_infinite_logits_are_certain():
    np.testing.assert_array_equal(read([np.inf, -np.inf], from_logits=True), [1.0, 0.0])
    certain = read([[0.0, -np.inf, -np.inf]], from_logits=True)
    np.testing.assert_array_equal(certain, [[1.0, 0.0, 0.0]])


def test_logits_stay_single_precision():
    assert read(np.float32([0.5, -1.0]), from_logits=True).dtype == np.float32
    assert read(np.float32([[0.5, -1.0, 0.0]]), from_logits=True).dtype == np.float32


@pytest.mark.parametrize(
    ("logits", "message"),
    [
        ([0.0, np.nan], "y_prob must not be missing; got NaN at row 1"),
        ([[0.0, 1.0, 2.0], [0.0, np.inf, 1.0]], "largest logit.*must be finite; got inf at row 1"),
        ([[-np.inf] * 3], "largest logit.*must be finite; got -inf at row 0"),
    ],
)
def test_logits_without_an_answer(logits, message):
    with pytest.raises(InputError, match=message):
        read(logits, from_logits=True)


def test_two_columns_are_the_negative_and_the_positive_class():
    table = [[0.75, 0.25], [0.5, 0.5]]
    np.testing.assert_array_equal(read(table), [0.25, 0.5])
    np.testing.assert_array_equal(read(table, positive=0), [0.75, 0.5])


def test_one_column_is_no_second_dimension():
    np.testing.assert_array_equal(read([[0.25], [0.5]]), [0.25, 0.5])


@pytest.mark.parametrize("shape", [(3, 0), (3, 2, 2)])
def test_shapes_that_are_no_scores(shape):
    with pytest.raises(InputError, match=r"y_prob must have shape \(obs,\) or \(obs, class\); got"):
        read(np.zeros(shape))


@pytest.mark.parametrize("values", [[], np.empty((0, 3))])
def test_no_rows(values):
    with pytest.raises(InputError, match="y_prob must have at least one row"):
        read(values)


def gather(scores, label, group=None):
    return collect(
        {name: Column(name, values) for name, values in scores.items()},
        Column("label", label),
        group=None if group is None else Column("group", group),
        pos_label=1,
        from_logits=False,
        classes=None,
    )


def test_float32_columns_are_not_copied():
    scores = np.float32([0.25, 0.5])
    assert np.shares_memory(gather({"a": scores}, [0, 1]).y_prob, scores)


def test_mixed_precision_is_stacked_in_double():
    parts = gather({"a": np.float32([0.25, 0.5]), "b": np.array([0.1, 0.9])}, [0, 1])
    assert parts.y_prob.dtype == np.float64
    np.testing.assert_array_equal(parts.y_prob, [[0.25, 0.5], [0.1, 0.9]])


@pytest.mark.parametrize(
    ("scores", "label", "group", "message"),
    [
        ({}, [0, 1], None, "at least one classifier; got none"),
        (
            {"a": [0.1, 0.2], "b": [0.1]},
            [0, 1],
            None,
            "b and a must have the same length",
        ),
        (
            {"a": [0.1, 0.2]},
            [0, 1, 1],
            None,
            "a and label .*got 2 and 3 rows.*None or NaN",
        ),
        ({"a": [0.1, 0.2]}, [0, 1], ["x"], "group and label must have.*got 1 and 2 rows"),
        (
            {"a": [0.1, 0.2], "b": np.full((2, 3), 1 / 3)},
            [0, 1],
            None,
            r"all classifiers must score the same classes; got b of shape \(2, 3\) and a",
        ),
    ],
)
def test_columns_that_do_not_fit(scores, label, group, message):
    with pytest.raises(InputError, match=message):
        gather(scores, label, group)
