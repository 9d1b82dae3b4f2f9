"""Sample weights: what is taken, what is refused, and how they follow their rows."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.core.scores import Scores, Task

Y_TRUE, Y_PROB = [0, 1, None, 1], [0.1, 0.8, 0.6, 0.3]
WEIGHT = [1.5, 2.0, 0.5, 4.0]
TABLE = np.array([[0.7, 0.2, 0.1], [0.1, 0.5, 0.4], [0.2, 0.2, 0.6]])


def weighted(weight=WEIGHT, **more):
    return Scores(y_true=Y_TRUE, y_prob=Y_PROB, sample_weight=weight, **more)


@pytest.mark.parametrize("column", [np.array, list, tuple, pd.Series, pl.Series])
def test_every_kind_of_column(column):
    found = weighted(column(WEIGHT))
    assert found.sample_weight.tolist() == WEIGHT
    assert found.sample_weight.dtype == np.float64
    with pytest.raises(ValueError, match="read-only"):
        found.sample_weight[0] = 1


def test_scores_without_weights_have_none():
    scores = Scores(y_true=Y_TRUE, y_prob=Y_PROB)
    assert scores.sample_weight is None
    assert [task.weight for task in scores.tasks()] == [None]
    assert "weighted" not in repr(scores)


def test_rows_of_weight_0_are_left_out():
    scores = weighted([0, 2.0, 0.5, 0], group=["a", "a", "b", "c"])
    assert scores.y_prob.tolist() == [[0.8, 0.6]]
    assert scores.y_true.tolist() == [1, -1]
    assert scores.sample_weight.tolist() == [2.0, 0.5]
    assert (scores.n_obs, scores.n_labeled) == (2, 1)
    assert scores.classes == (0, 1)
    assert [scores.groups[code] for code in scores.group] == ["a", "b"]
    assert repr(scores).endswith("weighted>")


def test_weights_follow_their_rows():
    many = Scores.stack(
        {"a": TABLE, "b": TABLE[::-1]}, y_true=[2, None, 0], sample_weight=[1.0, 2.0, 3.0]
    )
    one = many.select("a")
    for scores in (many, one, one.top_label(), one.one_vs_rest(1), one.without_group()):
        assert scores.sample_weight.tolist() == [1.0, 2.0, 3.0]
        for task in scores.tasks():
            assert task.weight.tolist() == [1.0, 3.0]
    for task in many.tasks("class-wise"):
        assert task.weight.tolist() == [1.0, 3.0]
    assert one.without_weight().sample_weight is None
    assert one.without_weight().n_obs == 3


def test_estimators_pass_weights_on():
    features, y = np.arange(8.0)[:, None], np.tile([0, 1], 4)
    fitted = LogisticRegression().fit(features, y)
    scores = Scores.from_estimator(fitted, features, y, sample_weight=np.arange(8))
    assert scores.sample_weight.tolist() == list(range(1, 8))
    np.testing.assert_allclose(scores.y_prob[0], fitted.predict_proba(features)[1:, 1], atol=1e-12)


def test_files_hold_a_column_of_weights(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("y,p,w\n1,0.75,2\n0,0.5,0\n,0.5,1.5\n")
    scores = bc.read_scores(path, label="y", score="p", weight="w")
    assert scores.sample_weight.tolist() == [2.0, 1.5]
    path.write_text("y,p,w\n1,0.75,2\n0,0.5,\n")
    with pytest.raises(
        InputError, match=r"column 'w' of scores.csv must be 0 or .* got nan at row"
    ):
        bc.read_scores(path, label="y", score="p", weight="w")


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (
            [1, -0.5, 1, 1],
            "sample_weight must be 0 or a number from 1e-100 to 1e\\+100; got -0.5 at",
        ),
        ([1, 1, np.nan, np.nan], r"got nan at row 2 \(2 such rows\)"),
        ([1, 1, 1, None], "got nan at row 3"),
        ([np.inf, 1, 1, 1], "got inf at row 0"),
        ([1, 1e-300, 1, 1], "got 1e-300 at row 1"),
        ([0, 0, 0, 0], "sample_weight must be above 0 in at least one row; all 4 are zero"),
        ([1, 1, 1], "sample_weight and y_true must have the same length; got 3 and 4 rows"),
        (2.0, "sample_weight must be a column of values; got one float"),
        (np.ones((4, 2)), r"sample_weight must have one dimension \(obs,\); got shape \(4, 2\)"),
        (["a", "b", "c", "d"], "sample_weight must be numbers; got 'a' at row 0"),
    ],
)
def test_bad_weights_are_refused_in_words(weight, message):
    with pytest.raises(InputError, match=message):
        weighted(weight)


def test_only_rows_without_weight_have_labels():
    scores = Scores(y_true=[0, 1, None], y_prob=[0.1, 0.2, 0.3], sample_weight=[0, 0, 1])
    with pytest.raises(InputError, match="y_true must hold at least one label; got none in 1 row"):
        scores.tasks()


def test_weights_of_a_task_must_fit():
    with pytest.raises(InputError, match=r"one shape .* weight \(1,\)"):
        Task({}, np.array([0.5, 0.6]), np.array([0, 1]), weight=np.ones(1))


@pytest.mark.parametrize(
    "use",
    [
        lambda scores: bc.fit("agnostic", scores, method="direct"),
        lambda scores: bc.CalibrationSplit(calibration=scores.without_weight(), target=scores),
    ],
)
def test_methods_without_a_use_for_weights_say_so(use):
    with pytest.raises(
        InputError, match=r"cannot use sample weights; got those of 4 rows.*without"
    ):
        use(weighted())
