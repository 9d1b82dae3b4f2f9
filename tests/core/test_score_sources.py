"""Scores from frames and from cross-validation."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from bayescal.core.errors import InputError
from bayescal.core.scores import Scores

COLUMNS = {
    "y": ["no", "yes", None, "yes"],
    "a": [0.1, 0.8, 0.5, 0.25],
    "b": [-1.0, 0.0, 1.0, 30.0],
    "g": ["x", "y", "x", "y"],
    "w": [1.0, 2.0, 3.0, 0.0],
    "m": [None, "x", "x", "x"],
}
FRAMES = {
    "mapping": dict,
    "pandas": pd.DataFrame,
    "pandas with Arrow types": lambda columns: pd.DataFrame(columns).convert_dtypes(
        dtype_backend="pyarrow"
    ),
    "polars": pl.DataFrame,
    "lazy polars": pl.LazyFrame,
    "Arrow": pa.table,
    "a batch of Arrow": pa.record_batch,
    "a reader of Arrow, as DuckDB gives": lambda columns: pa.table(columns).to_reader(),
}


def assert_same(one, other):
    for name in ("y_prob", "y_true", "group", "sample_weight"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    for name in ("classifiers", "classes", "groups"):
        assert getattr(one, name) == getattr(other, name)


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_columns_of_a_frame_are_those_passed_to_scores(frame):
    named = {"y_true": COLUMNS["y"], "pos_label": "yes"}
    found = Scores.from_frame(
        frame(COLUMNS), label="y", score="a", group="g", weight="w", pos_label="yes"
    )
    assert_same(
        found,
        Scores(
            y_prob=COLUMNS["a"],
            classifier="a",
            group=COLUMNS["g"],
            sample_weight=COLUMNS["w"],
            **named,
        ),
    )
    several = Scores.from_frame(
        frame(COLUMNS), label="y", score=["b", "a"], pos_label="yes", from_logits=True
    )
    panel = {name: COLUMNS[name] for name in ("b", "a")}
    assert_same(several, Scores.stack(panel, from_logits=True, **named))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"frame": [1, 2]}, "frame must be a pandas, polars or Arrow table, .* got list"),
        (
            {"frame": pd.DataFrame([[1, 0.5, 0.5]], columns=["y", "a", "a"])},
            "frame must have each column once",
        ),
        ({"frame": pd.DataFrame([[1, 0.5]])}, r"named by words; got 0, 1\. Rename"),
        ({"frame": pd.DataFrame(columns=[("s", "y"), ("s", "a")])}, "named by words"),
        (
            {"frame": pd.DataFrame({"y": [1], "a": [0.5], 0: [0.5]}), "score": "0"},
            r"has no column '0'; did you mean 0\? It has: 'y', 'a', 0\.",
        ),
        ({"label": "Y"}, "the frame has no column 'Y'; did you mean 'y'"),
        ({"label": 0}, "label must be"),
        ({"score": "s"}, "the frame has no column 's'"),
        ({"score": []}, "score must be a word, or a list of words"),
        ({"score": ["a", "a"]}, "score must name each column once; got 'a' twice. Leave one out"),
        ({"score": "b"}, r"column 'b' must lie in \[0, 1\]; got -1 at row 0"),
        ({"group": "m"}, "column 'm' must be known in every row"),
        ({"score": "y"}, "score and label must be different columns; got 'y' for both"),
        ({"group": "g", "weight": "g"}, "group and weight must be different columns"),
        ({"weight": "b"}, "column 'b' must be"),
        ({"pos_label": "maybe"}, "pos_label must be one of the labels; got 'maybe'"),
        ({"from_logits": 1}, "from_logits must be True or False"),
    ],
)
def test_what_is_no_frame_of_scores(given, message):
    right = {"frame": COLUMNS, "label": "y", "score": "a", "pos_label": "yes"}
    with pytest.raises(InputError, match=message):
        Scores.from_frame(**right | given)


def test_labels_and_scores_by_position_as_in_scikit_learn():
    label, score = [0, 1, 1], [0.2, 0.9, 0.4]
    assert_same(Scores(label, score), Scores(y_true=label, y_prob=score))
    with pytest.raises(InputError, match=r"0\.2 at row 0\. Labels come first"):
        Scores(score, label)


X, Y = (part[:200] for part in load_breast_cancer(return_X_y=True))
WORDS = np.array(["ill", "well"])[Y]
EVEN, ODD = np.arange(0, 200, 2), np.arange(1, 200, 2)
MODELS = {"nb": GaussianNB(), "lr": LogisticRegression(max_iter=5000, C=1e-4)}


@pytest.mark.parametrize(
    "cv",
    [
        KFold(4, shuffle=True, random_state=1),
        list(GroupKFold(3).split(X, Y, np.arange(200) % 7)),
        GroupKFold(3).split(X, Y, np.arange(200) % 7),
    ],
)
def test_every_row_is_scored_by_a_clone_trained_without_it(cv):
    folds = list(cv.split(X)) if hasattr(cv, "split") else list(cv)
    given = cv if hasattr(cv, "split") else iter(folds)
    scores = Scores.from_cv(MODELS, X, WORDS, given, group=Y, sample_weight=np.arange(1, 201))
    for place, model in enumerate(MODELS.values()):
        for train, test in folds:
            fitted = type(model)(**model.get_params()).fit(X[train], WORDS[train])
            expected = fitted.predict_proba(X[test])[:, 1]
            np.testing.assert_allclose(scores.y_prob[place, test], expected, atol=1e-12)
    assert (scores.classifiers, scores.classes) == (("nb", "lr"), ("ill", "well"))
    assert scores.groups == ("0", "1")
    np.testing.assert_array_equal(scores.y_true, Y)
    assert not hasattr(MODELS["nb"], "classes_")


def test_one_model_the_other_class_and_three_classes():
    alone = Scores.from_cv(GaussianNB(), X, Y, pos_label=0)
    assert (alone.classifiers, alone.classes) == (("classifier",), (1, 0))
    np.testing.assert_allclose(
        alone.y_prob, 1 - Scores.from_cv(GaussianNB(), X, Y).y_prob, atol=1e-12
    )
    three = Scores.from_cv(GaussianNB(), X, np.arange(200) % 3)
    assert three.y_prob.shape == (1, 200, 3)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"models": {}}, "at least one classifier; got none"),
        ({"models": LinearSVC()}, "'classifier' must have fit and predict_proba; this LinearSVC"),
        ({"models": {"m": 3}}, "'m' must have fit and predict_proba; this int"),
        ({"models": GaussianNB}, r"an object; got the class GaussianNB. Pass GaussianNB\(\)"),
        ({"y": [None, *Y[1:]]}, "y must be known in every row to train on; got 1 missing"),
        ({"y": np.ones(200)}, "y must hold two classes or more; got 1"),
        ({"y": Y[:50]}, "inconsistent numbers of samples"),
        ({"X": X[:50]}, "inconsistent numbers of samples"),
        ({"cv": 1}, "cross-validation requires at least one train/test split"),
        ({"y": [2, *Y[1:]], "cv": KFold(4)}, "fold 0 leaves none of class 2. Pass StratifiedKFold"),
        ({"y": np.sort(Y), "cv": KFold(2)}, "fold 1 leaves none of class 1"),
        ({"cv": "five"}, "Expected `?cv`? as an integer"),
        ({"cv": ShuffleSplit(2)}, "only works for partitions"),
        ({"cv": [(np.arange(200), np.arange(200))]}, "fold 0 does, on row 0. Pass a splitter"),
        ({"cv": [(EVEN, ODD), (EVEN, EVEN)]}, "fold 1 does, on row 0"),
        ({"pos_label": 2}, "pos_label must be one of the labels"),
        ({"group": [1]}, "group"),
        ({"sample_weight": [1.0]}, "sample_weight"),
    ],
)
def test_what_cannot_be_cross_validated(given, message):
    with pytest.raises(InputError, match=message):
        Scores.from_cv(**{"models": GaussianNB(), "X": X, "y": Y} | given)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (X[:, :4], "estimator 'nb' can score; it says: X has 4 features, but GaussianNB is"),
        (np.where(X > 15, np.nan, X), "it says: Input X contains NaN"),
        (X[:0], r"it says: Found array with 0 sample\(s\)"),
    ],
)
def test_rows_that_a_classifier_refuses(rows, message):
    with pytest.raises(InputError, match=message):
        Scores.from_estimator({"nb": GaussianNB().fit(X, Y)}, rows, Y[: len(rows)])
