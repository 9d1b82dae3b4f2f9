"""Scores of every shape become one array of class probabilities."""

import numpy as np
import pytest

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.quantities.ssme.data import panel_of


def test_binary_scores_as_one_column_or_two():
    s = np.array([0.0, 0.25, 1.0])
    one = panel_of(bc.Scores(y_true=[0, None, 1], y_prob=s))
    two = panel_of(bc.Scores(y_true=[0, None, 1], y_prob=np.stack([1 - s, s], axis=1)))
    np.testing.assert_array_equal(one.probs, [np.stack([1 - s, s], axis=1)])
    np.testing.assert_array_equal(two.probs, one.probs)
    np.testing.assert_array_equal(one.y, [0, -1, 1])
    assert (one.n_obs, one.n_labeled, one.n_classifiers, one.n_classes) == (3, 2, 1, 2)
    assert one.is_binary


def test_rows_of_float32_sum_to_one():
    prob = np.random.default_rng(1).dirichlet(np.ones(5), 50).astype(np.float32)
    panel = panel_of(bc.Scores(y_true=[0, *[None] * 49], y_prob=prob))
    assert panel.probs.dtype == np.float64
    np.testing.assert_allclose(panel.probs.sum(axis=2), 1, atol=1e-15)  # rounding of one division
    assert not panel.is_binary


def test_take_keeps_names_and_groups():
    scores = bc.Scores.stack(
        {"a": [0.1, 0.2, 0.3], "b": [0.4, 0.5, 0.6]}, y_true=[None, 1, 0], group=["u", "v", "v"]
    )
    panel = panel_of(scores)
    part = panel.take(np.array([2, 0]))
    np.testing.assert_allclose(part.probs[:, :, 1], [[0.3, 0.1], [0.6, 0.4]])
    assert part.y.tolist() == [0, -1]
    assert part.group.tolist() == [1, 0]
    assert part.groups == ("u", "v")
    assert panel.select(1).classifiers == ("b",)
    np.testing.assert_array_equal(panel.labeled, [False, True, True])


def test_other_things_are_refused():
    with pytest.raises(InputError, match=r"scores must be a bayescal.Scores; got ndarray"):
        panel_of(np.array([0.1, 0.2]))


def test_nan_score_of_one_classifier_is_refused_by_name():
    with pytest.raises(InputError, match="b"):
        bc.Scores.stack({"a": [0.1, 0.2], "b": [0.1, np.nan]}, y_true=[0, None])
