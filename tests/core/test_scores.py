import copy
import dataclasses
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xarray as xr
from scipy.special import expit, softmax
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.core.scores import Scores, Task, top_label

Y_PROB = [0.1, 0.8, 0.6, 0.3]
Y_TRUE = [0, 1, None, 1]
TABLE = np.array([[0.7, 0.2, 0.1], [0.1, 0.5, 0.4], [0.2, 0.2, 0.6]])
ANIMALS = ("cat", "dog", "fox")


def test_binary_scores():
    scores = Scores(y_true=Y_TRUE, y_prob=Y_PROB, classifier="vit")
    np.testing.assert_array_equal(scores.y_prob, [Y_PROB])
    assert scores.y_true.tolist() == [0, 1, -1, 1]
    assert scores.y_true.dtype == np.int32
    assert scores.classifiers == ("vit",)
    assert scores.classes == (0, 1)
    assert (scores.group, scores.groups) == (None, ())
    assert (scores.n_obs, scores.n_labeled, scores.n_classifiers, scores.n_classes) == (4, 3, 1, 2)
    assert scores.is_binary


def test_multiclass_scores():
    scores = Scores(y_true=["fox", None, "cat"], y_prob=TABLE, classes=ANIMALS)
    assert scores.y_prob.shape == (1, 3, 3)
    assert scores.y_true.tolist() == [2, -1, 0]
    assert scores.classes == ANIMALS
    assert scores.n_classes == 3
    assert not scores.is_binary


def test_a_table_of_two_classes_is_binary():
    frame = pd.DataFrame({"no": [0.75, 0.25], "yes": [0.25, 0.75]})
    scores = Scores(y_true=["no", "yes"], y_prob=frame, pos_label="yes")
    np.testing.assert_array_equal(scores.y_prob, [[0.25, 0.75]])
    turned = Scores(
        y_true=["no", "yes"], y_prob=frame[["yes", "no"]], pos_label="yes", classes=["yes", "no"]
    )
    np.testing.assert_array_equal(turned.y_prob, [[0.25, 0.75]])
    assert turned.classes == ("no", "yes")
    # Columns without names of their own are numbered, whatever the positive label.
    plain = Scores(y_true=[0, 1], y_prob=pd.DataFrame(frame.to_numpy()), pos_label=0)
    np.testing.assert_array_equal(plain.y_prob, [[0.25, 0.75]])


def array(columns):
    values = np.transpose(list(columns.values()))
    return xr.DataArray(values, coords=[("row", [0, 1]), ("class", list(columns))])


@pytest.mark.parametrize("table", [pd.DataFrame, pl.DataFrame, pa.table, array])
@pytest.mark.parametrize(
    ("columns", "given"),
    [("ba", {"pos_label": "b"}), ("ab", {"pos_label": "b", "classes": ["b", "a"]}), ("201", {})],
)
def test_columns_named_as_the_classes_are_in_their_order(table, columns, given):
    y_prob = table({name: [1 / len(columns)] * 2 for name in columns})
    with pytest.raises(InputError, match=r"must be in their order.*Put them in order, or name"):
        Scores([int(c) if c.isdigit() else c for c in columns[:2]], y_prob, **given)


@pytest.mark.parametrize(
    ("names", "labels", "given"),
    [
        ([1, 2, 3], [1, 2], {}),  # of classes 1 to 3: they were taken for columns 1 and 2
        ([2.0, 0.0, 1.0], [0, 1], {}),
        ([0, 1, 2], [0, 1], {"classes": [2, 0, 1]}),
        ([1, 0], [0, 1], {}),
    ],
)
def test_numbers_that_name_columns_are_names(names, labels, given):
    y_prob = np.full((2, len(names)), 1 / len(names))
    with pytest.raises(InputError, match="must be in their order"):
        Scores(labels, pd.DataFrame(y_prob, columns=pd.Index(names)), **given)
    # The user's own classes, a range of pandas, and arrays without names are taken as they are.
    classes = range(5, 5 + len(names))
    for table in (pd.DataFrame(y_prob, columns=pd.Index(names)), pd.DataFrame(y_prob), y_prob):
        found = Scores([5, 6], table, classes=classes, pos_label=classes[-1])
        assert found.classes == tuple(classes)
    assert Scores(labels, pd.DataFrame(y_prob), **given).n_classes == len(names)


@pytest.mark.parametrize(
    "lone",
    [
        lambda values, name: pd.Series(values, name=name),
        lambda values, name: pd.DataFrame({name: values}),
        lambda values, name: pl.Series(name, values),
        lambda values, name: xr.DataArray(values, dims="row", name=name),
    ],
)
def test_a_column_named_as_the_other_class_is_refused(lone):
    y, p = ["no", "yes", "yes"], [0.2, 0.7, 0.9]
    for given in ({}, {"classes": ["no", "yes"]}, {"classes": ["yes", "no"]}):
        with pytest.raises(InputError, match="y_prob must be of the positive class, 'yes'; it is"):
            Scores(y, lone(p, "no"), pos_label="yes", **given)
        for name in ("yes", "vit", "0"):
            right = Scores(y, lone(p, name), pos_label="yes", **given)
            np.testing.assert_array_equal(right.y_prob, [p])


def test_a_column_of_a_table_named_as_the_other_class_is_refused(tmp_path):
    table = {"y": ["no", "yes", "yes"], "no": [0.2, 0.7, 0.9]}
    (path := tmp_path / "rows.csv").write_text("y,no\nno,.2\nyes,.7\nyes,.9\n")
    given = {"label": "y", "score": "no", "pos_label": "yes"}
    for read in (
        lambda: Scores.from_frame(table, **given),
        lambda: bc.core.tables.read_scores(path, **given),
        lambda: bc.count_rows(path, **given),
        lambda: bc.ssme.count_rows(path, **given),
        lambda: bc.temperature.count_rows(path, **given),
    ):
        with pytest.raises(InputError, match=r"^column 'no'.* of the positive class, 'ye"):
            read()


def test_one_row_works():
    scores = Scores(y_true=[1], y_prob=[0.5])
    assert (scores.n_obs, scores.n_labeled) == (1, 1)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_arrays_of_copies_are_read_only_too(copied):
    given = {"group": ["a", "b"], "sample_weight": [1, 2], "from_logits": True}
    found = copied(Scores([0, 1], [-1.0, 2.0], **given))
    for name in ("y_true", "y_prob", "logits", "group", "sample_weight"):
        assert not getattr(found, name).flags.writeable
    np.testing.assert_allclose(found.y_prob[0], expit([-1.0, 2.0]))


def test_arrays_are_read_only_and_the_users_own_is_not():
    y_prob = np.array(Y_PROB)
    scores = Scores(y_true=Y_TRUE, y_prob=y_prob, group=list("abab"))
    for array in (scores.y_prob, scores.y_true, scores.group):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    y_prob[0] = 0.2
    with pytest.raises(dataclasses.FrozenInstanceError):
        scores.classes = (1, 0)


def test_scores_can_be_sent_to_another_process():
    scores = Scores(y_true=Y_TRUE, y_prob=Y_PROB, group=list("abab"))
    for other in (pickle.loads(pickle.dumps(scores)), copy.deepcopy(scores)):
        np.testing.assert_array_equal(other.y_prob, scores.y_prob)
        assert other.groups == ("a", "b")


def test_stack_keeps_the_order_of_the_classifiers():
    panel = Scores.stack({"vit": Y_PROB, "gbm": [0.5] * 4}, y_true=Y_TRUE, group=list("abab"))
    assert panel.classifiers == ("vit", "gbm")
    np.testing.assert_array_equal(panel.y_prob, [Y_PROB, [0.5] * 4])
    assert panel.group.tolist() == [0, 1, 0, 1]
    pairs = Scores.stack([("vit", Y_PROB), ("gbm", [0.5] * 4)], y_true=Y_TRUE)
    np.testing.assert_array_equal(pairs.y_prob, panel.y_prob)


def test_stack_of_tables():
    panel = Scores.stack({"a": TABLE, "b": TABLE[:, ::-1]}, y_true=[0, 1, 2])
    assert panel.y_prob.shape == (2, 3, 3)


@pytest.mark.parametrize(
    ("y_prob", "message"),
    [
        (0.5, "must give scores by classifier; got float"),
        ([("a",)], "must give scores by classifier; got list"),
        # Its columns' names are pairs of letters, and the rows of an array pairs of numbers.
        (pd.DataFrame({"vt": Y_PROB, "gb": Y_PROB}), "got DataFrame.*or a table.*from_frame"),
        (np.array([Y_PROB, Y_PROB]).T, "got ndarray"),
        ([("a", Y_PROB), ("a", Y_PROB)], "classifier names must differ; got 'a' twice"),
        ({1: Y_PROB, "1": Y_PROB}, "classifier names must differ; got '1' twice"),
        (
            {"a": Y_PROB, "b": [0.1, 7, 0.2, 0.3]},
            r"y_prob\['b'\] must lie in \[0, 1\]; got 7 at row 1",
        ),
        ({"a": Y_PROB, "b": Y_PROB[:3]}, r"y_prob\['b'\] and y_prob\['a'\].*got 3 and 4 rows"),
        ({}, "at least one classifier"),
    ],
)
def test_stack_says_which_classifier_is_wrong(y_prob, message):
    with pytest.raises(InputError, match=message):
        Scores.stack(y_prob, y_true=Y_TRUE)


def test_repr_says_what_there_is():
    scores = Scores(y_true=Y_TRUE, y_prob=Y_PROB, group=list("abab"))
    assert repr(scores) == (
        "<Scores: classifiers 'classifier'; n_obs 4, n_labeled 3; classes 0, 1; groups 'a', 'b'>"
    )


def test_select_takes_one_and_suggests():
    panel = Scores.stack({"vit": Y_PROB, "resnet50": [0.5] * 4}, y_true=Y_TRUE, group=list("abab"))
    one = panel.select("resnet50")
    np.testing.assert_array_equal(one.y_prob, [[0.5] * 4])
    assert one.classifiers == ("resnet50",)
    assert one.groups == ("a", "b")
    with pytest.raises(InputError, match=r"no classifier 'resnet'; did you mean 'resnet50'\?"):
        panel.select("resnet")


def test_without_group():
    scores = Scores(y_true=Y_TRUE, y_prob=Y_PROB, group=list("abab")).without_group()
    assert (scores.group, scores.groups) == (None, ())
    assert scores.n_obs == 4


def test_top_label_asks_whether_the_prediction_is_right():
    top = Scores(y_true=[0, 2, None], y_prob=TABLE).top_label()
    np.testing.assert_array_equal(top.y_prob, [[0.7, 0.5, 0.6]])
    assert top.y_true.tolist() == [1, 0, -1]
    assert top.classes == ("wrong", "correct")


def test_top_label_of_a_binary_classifier():
    top = Scores(y_true=[0, 1, 1, 0], y_prob=[0.25, 0.75, 0.25, 0.5]).top_label()
    np.testing.assert_array_equal(top.y_prob, [[0.75, 0.75, 0.75, 0.5]])
    # Section 2 of the temperature paper: f(X) >= 0.5 predicts class 1.
    assert top.y_true.tolist() == [1, 1, 0, 0]


def test_top_label_needs_one_classifier():
    panel = Scores.stack({"a": TABLE, "b": TABLE}, y_true=[0, 1, 2])
    with pytest.raises(InputError, match=r"needs one classifier.*got 'a', 'b'.*\.select"):
        panel.top_label()


def test_one_vs_rest():
    scores = Scores(y_true=["cat", None, "fox"], y_prob=TABLE, classes=ANIMALS)
    fox = scores.one_vs_rest("fox")
    np.testing.assert_array_equal(fox.y_prob, [TABLE[:, 2]])
    assert fox.y_true.tolist() == [0, -1, 1]
    assert fox.classes == ("not fox", "fox")
    with pytest.raises(InputError, match="one of the classes 'cat', 'dog', 'fox'; got 'owl'"):
        scores.one_vs_rest("owl")


def test_a_word_and_the_number_that_it_spells_are_two_classes():
    scores = Scores(y_true=[1, "1", "1"], y_prob=[0.1, 0.9, 0.8], pos_label="1")
    assert scores.one_vs_rest("1").classes == scores.classes == (1, "1")
    assert scores.one_vs_rest(1).classes == ("1", 1)


def test_one_vs_rest_of_a_binary_classifier_turns_it_round():
    scores = Scores(y_true=[0, 1, None], y_prob=[0.25, 0.75, 0.5])
    turned = scores.one_vs_rest(0)
    np.testing.assert_array_equal(turned.y_prob, [[0.75, 0.25, 0.5]])
    assert turned.y_true.tolist() == [1, 0, -1]
    assert turned.classes == (1, 0)
    np.testing.assert_array_equal(scores.one_vs_rest(1).y_prob, scores.y_prob)


def test_binary_tasks_hold_the_labelled_rows():
    panel = Scores.stack({"a": Y_PROB, "b": [0.5] * 4}, y_true=Y_TRUE, group=list("abab"))
    first, second = panel.tasks()
    assert (first.coords, second.coords) == ({"classifier": "a"}, {"classifier": "b"})
    np.testing.assert_array_equal(first.score, [0.1, 0.8, 0.3])
    assert first.event.tolist() == second.event.tolist() == [0, 1, 1]
    assert first.event.dtype == np.uint8
    assert first.group.tolist() == [0, 1, 1]
    assert first.groups == ("a", "b")


def test_top_label_tasks_are_right_on_rows_of_their_own():
    panel = Scores.stack({"a": TABLE, "b": TABLE[:, ::-1]}, y_true=[0, 1, 0])
    first, second = panel.tasks("top-label")
    assert first.event.tolist() == [1, 1, 0]
    assert second.event.tolist() == [0, 1, 1]
    np.testing.assert_array_equal(first.score, second.score)


@pytest.mark.parametrize("multiclass", ["class-wise", "marginal"])
def test_class_wise_tasks_are_classifier_major(multiclass):
    panel = Scores.stack({"a": TABLE, "b": TABLE[:, ::-1]}, y_true=[0, None, 2], classes=None)
    tasks = panel.tasks(multiclass)
    assert [(t.coords["classifier"], t.coords["class"]) for t in tasks] == [
        (name, label) for name in "ab" for label in "012"
    ]
    for task in tasks:
        code = int(task.coords["class"])
        assert task.event.tolist() == [int(code == 0), int(code == 2)]
        place = panel.classifiers.index(task.coords["classifier"])
        np.testing.assert_array_equal(task.score, panel.y_prob[place, [0, 2], code])
        assert task.score.flags.c_contiguous


def test_tasks_keep_single_precision():
    scores = Scores(y_true=[0, 1], y_prob=np.float32([0.25, 0.5]))
    assert scores.tasks()[0].score.dtype == np.float32


def test_unknown_kind_of_multiclass_task():
    with pytest.raises(InputError, match="multiclass must be one of 'top-label', 'class-wise'"):
        Scores(y_true=[0, 1], y_prob=[0.1, 0.2]).tasks("toplabel")


def test_rows_without_any_label_have_no_tasks():
    scores = Scores(y_true=[None, None], y_prob=[0.1, 0.2])
    assert scores.n_labeled == 0
    with pytest.raises(InputError, match="at least one label; got none in 2 rows"):
        scores.tasks()


BAD = [
    ({"y_prob": [0.1, np.nan]}, r"y_prob must not be missing; got NaN at row 1\. Drop those rows"),
    ({"y_prob": [0.1, np.inf]}, r"y_prob must be finite; got inf at row 1\. .*from_logits=True"),
    ({"y_prob": [0.1, -np.inf]}, r"y_prob must be finite; got -inf at row 1\."),
    ({"y_prob": [-0.1, 0.5]}, r"y_prob must lie in \[0, 1\]; got -0\.1 at row 0.*logits"),
    ({"y_prob": [0.5, 2.5]}, r"y_prob must lie in \[0, 1\]; got 2\.5 at row 1.*from_logits=True"),
    ({"y_prob": [[0.5, 0.4], [0.5, 0.5]]}, r"each row of y_prob must sum to 1; got 0\.9 at row 0"),
    ({"y_true": [0, 1, 1]}, "y_prob and y_true must have the same length; got 2 and 3 rows"),
    ({"y_prob": [], "y_true": []}, "y_prob must have at least one row"),
    ({"y_true": ["ham", "spam"]}, "pos_label must be one of the labels; got 1"),
    ({"group": ["a"]}, "group and y_true must have the same length; got 1 and 2 rows"),
    ({"classifier": ""}, "a classifier must have a name; got ''"),
    ({"classifier": " "}, "a classifier must have a name; got ' '"),
    ({"classifier": "a\0"}, r"name of a classifier must be text that files can hold; got 'a\\x00'"),
    (
        {"classifier": "\ud800"},
        r"name of a classifier must be text .* '\\ud800', with '\\ud800'\. Re",
    ),
    (
        {"group": np.array(["a", "b\0c"], object)},
        r"name of a group must be text that files can hold",
    ),
    (
        {"y_true": np.array(["n\0", "y"], object), "pos_label": "y"},
        r"name of a class must be text that files can hold; got 'n\\x00'",
    ),
    ({"classifier": ["a"]}, "classifier must be str or int; got list. Name it by a word."),
    ({"group": ["a", None]}, "group must be known in every row; got 1 missing, the first at row 1"),
]


@pytest.mark.parametrize(("changed", "message"), BAD)
def test_bad_input_is_refused_in_words(changed, message):
    with pytest.raises(InputError, match=message) as caught:
        Scores(**({"y_true": [0, 1], "y_prob": [0.1, 0.9]} | changed))
    assert "\n" not in str(caught.value)


IRIS = load_iris(return_X_y=True)


def two_classes(labels=(0, 1)):
    rows, y = IRIS
    kept = y > 0
    return rows[kept, :2], np.asarray(labels, object)[y[kept] - 1].tolist()


@pytest.mark.parametrize("labels", [(0, 1), ("no", "yes"), (False, True), (-1, 1), (1.0, 2.0)])
def test_a_binary_estimator_is_scored_for_its_second_class(labels):
    rows, y = two_classes(labels)
    model = LogisticRegression().fit(rows, y)
    scores = Scores.from_estimator(model, rows, y)
    assert (scores.classifiers, scores.classes) == (("classifier",), labels)
    np.testing.assert_allclose(scores.y_prob[0], model.predict_proba(rows)[:, 1], atol=1e-12)
    assert scores.y_true.tolist() == [int(label == labels[1]) for label in y]


def test_the_other_class_by_pos_label():
    rows, y = two_classes(("no", "yes"))
    model = LogisticRegression().fit(rows, y)
    scores = Scores.from_estimator(model, rows, y, pos_label="no", group=y)
    np.testing.assert_allclose(scores.y_prob[0], model.predict_proba(rows)[:, 0], atol=1e-12)
    assert scores.classes == ("yes", "no")
    assert scores.groups == ("no", "yes")
    with pytest.raises(InputError, match="pos_label must be one of the labels; got 'maybe'"):
        Scores.from_estimator(model, rows, y, pos_label="maybe")


@pytest.mark.parametrize("names", [(0, 1, 2), ("c", "a", "b")])
def test_estimators_of_three_classes_and_a_pipeline(names):
    rows, codes = IRIS
    y = np.asarray(names)[codes]
    models = {
        "rf": RandomForestClassifier(5, random_state=0).fit(rows, y),
        "lr": make_pipeline(StandardScaler(), LogisticRegression()).fit(rows, y),
    }
    scores = Scores.from_estimator(models, rows, y)
    assert (scores.classifiers, scores.classes) == (("rf", "lr"), tuple(sorted(names)))
    for place, model in enumerate(models.values()):
        np.testing.assert_allclose(scores.y_prob[place], model.predict_proba(rows), atol=1e-12)
    assert [scores.classes[code] for code in scores.y_true] == list(y)


def test_rows_need_no_labels():
    rows, y = two_classes()
    model = LogisticRegression().fit(rows, y)
    assert Scores.from_estimator(model, rows[:7]).n_labeled == 0
    assert Scores.from_estimator(model, rows[:3], [None, 1, 0]).n_labeled == 2


class Sure:
    """A classifier of one class."""

    classes_ = np.array(["yes"])

    def predict_proba(self, rows):
        return np.ones((len(rows), 1))


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda rows, y: LogisticRegression(), "'m' must be a fitted classifier; this LogisticReg"),
        (
            lambda rows, y: make_pipeline(LogisticRegression()),
            "must be a fitted classifier; this Pip",
        ),
        (
            lambda rows, y: GridSearchCV(LogisticRegression(), {}),
            "must be a fitted classifier; this",
        ),
        (
            lambda rows, y: LinearRegression().fit(rows, y),
            "must be a fitted classifier; this Linear",
        ),
        (
            lambda rows, y: LinearSVC().fit(rows, y),
            "must have predict_proba; this LinearSVC has none",
        ),
        (lambda rows, y: Sure(), "must have one output of two classes or more; .* 'yes'"),
        (
            lambda rows, y: KNeighborsClassifier().fit(rows, np.column_stack([y, y])),
            "must have one output of two classes or more",
        ),
    ],
)
def test_estimators_that_give_no_scores(made, message):
    rows, y = two_classes()
    with pytest.raises(InputError, match=message):
        Scores.from_estimator({"m": made(rows, y)}, rows, y)


def test_estimators_of_other_classes():
    rows, y = two_classes()
    first = LogisticRegression().fit(rows, y)
    other = LogisticRegression().fit(rows, [label + 1 for label in y])
    with pytest.raises(InputError, match=r"'b' has 1, 2, the first has 0, 1\. Fit all"):
        Scores.from_estimator({"a": first, "b": other}, rows, y)
    with pytest.raises(InputError, match="at least one classifier; got none"):
        Scores.from_estimator({}, rows, y)


LOGITS = {
    "binary": np.array([-3.0, 0.0, 2.0, np.inf]),
    "two columns": np.array([[1.0, -2.0], [0.0, 0.0], [-1.0, 1.0], [0.0, -np.inf]]),
    "classes": np.array([[1.0, -2.0, 0.0], [0.0, 0.0, 5.0], [-1.0, 1.0, 0.5], [90.0, 0.0, -80.0]]),
}


@pytest.mark.parametrize("logits", LOGITS.values(), ids=LOGITS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_logits_are_kept_and_probabilities_follow(logits, dtype):
    given = logits.astype(dtype)
    scores = Scores(y_true=[0, 1, None, 0], y_prob=given, from_logits=True)
    exact = given.astype(np.float64)
    expected = expit(exact) if exact.ndim == 1 else softmax(exact, axis=1)
    if given.shape[1:] == (2,):
        expected, given = expected[:, 1], given[:, 1] - given[:, 0]
    np.testing.assert_array_equal(scores.logits[0], given)
    # Probabilities are rounded to 12 decimals.
    np.testing.assert_allclose(scores.y_prob[0], expected, atol=1e-12)
    assert scores.y_prob is scores.y_prob
    assert not scores.y_prob.flags.writeable
    assert Scores(y_true=[0, 1], y_prob=[0.1, 0.2]).logits is None


def test_one_array_of_logits_is_kept_until_probabilities_are_needed():
    logits = np.random.default_rng(0).normal(size=(100, 3)).astype(np.float32)
    scores = Scores(y_true=[None] * 100, y_prob=logits, from_logits=True)
    assert np.shares_memory(scores.logits, logits)
    assert scores._probabilities is None
    again = pickle.loads(pickle.dumps(scores))  # as a worker process gets them
    np.testing.assert_array_equal(again.y_prob, scores.y_prob)


def test_parts_of_scores_keep_their_logits():
    logits = LOGITS["classes"]
    scores = Scores.stack(
        {"a": logits, "b": -logits},
        y_true=[0, 1, 2, 0],
        from_logits=True,
        group=list("xyxy"),
        sample_weight=[1, 0, 2, 3],
    )
    np.testing.assert_array_equal(scores.select("b").logits[0], -logits[[0, 2, 3]])
    assert scores.by_group()["x"].logits.tolist() == scores.logits[:, :2].tolist()
    # A class against the others has no logit.
    assert scores.one_vs_rest(1).logits is None
    assert scores.select("a").top_label().logits is None
    np.testing.assert_array_equal(scores.one_vs_rest(1).y_prob, scores.y_prob[..., 1])


TWO_ROWS = np.array([[0.7, 0.2, 0.1], [0.4, 0.4, 0.2]])


def test_a_task_counts_its_rows_and_events():
    task = Task({"classifier": "a"}, np.array([0.1, 0.2, 0.9]), np.array([0, 1, 1], np.uint8))
    assert (task.n, task.n_positive) == (3, 2)
    assert (task.group, task.groups) == (None, ())


def test_arrays_of_a_task_must_fit():
    with pytest.raises(InputError, match=r"one shape.*score \(2,\), event \(1,\)"):
        Task({}, np.array([0.1, 0.2]), np.array([1], np.uint8))
    with pytest.raises(InputError, match=r"group \(1,\)"):
        Task({}, np.zeros(2), np.zeros(2, np.uint8), np.zeros(1, np.int32))


def test_the_first_of_equal_classes_is_predicted():
    score, event = top_label(TWO_ROWS, np.array([0, 0], np.int32))
    assert score.tolist() == [0.7, 0.4]
    assert event.tolist() == [1, 1]
