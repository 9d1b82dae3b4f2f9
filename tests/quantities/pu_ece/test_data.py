"""Positive and unlabelled scores, from files and in parts: what is taken, and what is refused."""

import numpy as np
import pandas as pd
import pytest

import bayescal as bc
from bayescal.core.binning import Binning
from bayescal.core.errors import InputError
from bayescal.quantities.pu_ece.data import count_rows, problems, read_pu_scores
from bayescal.quantities.pu_ece.posterior import plan
from bayescal.quantities.pu_ece.priors import Priors
from tests.row_sources import ODD_CUTS, SOURCES, dask_frame, data_set

GOOD = [0.2, 0.8]


def test_columns_of_any_kind_become_read_only_arrays() -> None:
    pu = bc.PUScores(positive=pd.Series([0.7, 0.9]), unlabeled=np.array([0.1, 0.5], np.float32))
    assert (pu.n_positive, pu.n_unlabeled, pu.classifiers) == (2, 2, ("classifier",))
    assert pu.unlabeled[0].dtype == np.float32
    with pytest.raises(ValueError, match="read-only"):
        pu.positive[0][0] = 0


def test_stacked_classifiers_are_found_by_name() -> None:
    pu = bc.PUScores.stack({"a": ([0.7], [0.1, 0.4]), "b": ([0.8], [0.2, 0.3])})
    assert pu.select("b").unlabeled[0].tolist() == [0.2, 0.3]
    assert repr(pu) == "<PUScores: classifiers 'a', 'b'; n_positive 1, n_unlabeled 2>"
    with pytest.raises(bc.InputError, match="'c'"):
        pu.select("c")


@pytest.mark.parametrize(
    ("positive", "unlabeled", "words"),
    [
        ([], GOOD, "positive must have at least one row"),
        (GOOD, [], "unlabeled must have at least one row"),
        (GOOD, [0.1, np.nan], "unlabeled must.*NaN.*row 1"),
        (GOOD, [0.1, -2.5], r"unlabeled must lie in \[0, 1\]; got -2.5 at row 1"),
        ([[0.2, 0.3, 0.5]], GOOD, "positive must hold one score a row"),
    ],
)
def test_bad_scores_are_refused(positive, unlabeled, words) -> None:
    with pytest.raises(bc.InputError, match=words):
        bc.PUScores(positive=positive, unlabeled=unlabeled)
    with pytest.raises(bc.InputError, match="classifier must be str or int; got list"):
        bc.PUScores(positive=GOOD, unlabeled=GOOD, classifier=["a"])


def test_classifiers_must_score_the_same_rows() -> None:
    with pytest.raises(bc.InputError, match="unlabeled of 'b'"):
        bc.PUScores.stack({"a": ([0.7], [0.1, 0.4]), "b": ([0.8], [0.2])})
    with pytest.raises(bc.InputError, match="at least one classifier"):
        bc.PUScores.stack({})
    with pytest.raises(bc.InputError, match="classifier names must differ; got '1' twice"):
        bc.PUScores.stack({1: ([0.7], [0.1]), "1": ([0.8], [0.2])})


@pytest.mark.parametrize("closed", ["right", "left"])
def test_distinct_scores_of_both_samples_are_a_cell_each(closed) -> None:
    unlabeled, positive = np.array([0.0, 0.1, 0.1, 0.3, 0.6] * 3), np.array([0.3, 0.7, 0.7, 1.0])
    pu = bc.PUScores(positive=positive, unlabeled=unlabeled)
    (found,) = problems(pu, Priors(class_prior=0.3), bc.Binning(n_bins=3, closed=closed))
    held = found.total > 0
    assert found.cells.mean_score[held].tolist() == [0.0, 0.1, 0.3, 0.6, 0.7, 1.0]
    assert found.cells.count[held].tolist() == [3, 6, 3, 3, 0, 0]
    assert found.positive[held].tolist() == [0, 0, 1, 0, 2, 1]
    assert found.unlabeled.bins.n == len(unlabeled)


@pytest.mark.parametrize("closed", ["right", "left"])
def test_ends_of_either_sample_stand_alone_among_many_scores(closed) -> None:
    rng = np.random.default_rng(1)
    unlabeled, positive = np.append(rng.random(500), 0.0), np.append(rng.random(50), [1.0, 1.0])
    pu = bc.PUScores(positive=positive, unlabeled=unlabeled)
    (found,) = problems(pu, Priors(class_prior=0.3), bc.Binning(closed=closed))
    held = found.total > 0
    for end, positives, total in ((0, 0, 1), (-1, 2, 2)):
        assert found.cells.mean_score[held][end] == (0.0 if end == 0 else 1.0)
        assert (found.positive[held][end], found.total[held][end]) == (positives, total)


def written(folder, text):
    path = folder / "pu.csv"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    "selected", ["1,0,0", "true,false,False", "yes,no,", "P,u,unlabelled", "1.0,0.0,0.0"]
)
def test_ways_to_say_positive(tmp_path, selected) -> None:
    one, two, three = selected.split(",")
    path = written(tmp_path, f"s,vit\n{one},0.75\n{two},0.5\n{three},0.25\n")
    pu = read_pu_scores(path, positive_column="s")
    assert pu.positive[0].tolist() == [0.75]
    assert pu.unlabeled[0].tolist() == [0.5, 0.25]


def test_several_classifiers_from_parquet(tmp_path) -> None:
    path = tmp_path / "pu.parquet"
    pd.DataFrame({"s": [True, False], "a": [0.9, 0.1], "b": [0.8, 0.3]}).to_parquet(path)
    pu = read_pu_scores(path, positive_column="s", score=["a", "b"])
    assert pu.classifiers == ("a", "b")
    assert pu.unlabeled[1].tolist() == [0.3]


@pytest.mark.parametrize(
    ("text", "given", "words"),
    [
        ("s,vit\n1,0.5\n2,0.5\n", {}, "column 's' of pu.csv must hold 1.*got.*2.*at row 1"),
        ("s,vit\n0,0.5\n0,0.4\n", {}, "positive"),
        ("s,vit\n1,0.5\n1,0.4\n", {}, "unlabeled"),
        ("s,vit,gbm\n1,0.5,0.5\n0,0.4,0.4\n", {}, "must be named where there are several"),
        ("s,vit\n1,0.5\n0,1.4\n", {}, "unlabeled of 'vit' must lie in"),
        ("s,vit\n1,0.5\n0,0.4\n", {"score": "gbm"}, "gbm"),
        ("s,vit\n0.2,1\n0.7,0\n0.4,0\n", {}, "it holds scores, and column 'vit' holds 0 and 1"),
        ("s\n1\n0\n", {}, "no other column"),
    ],
)
def test_bad_files_are_refused(tmp_path, text, given, words) -> None:
    with pytest.raises(bc.InputError, match=words):
        read_pu_scores(written(tmp_path, text), positive_column="s", **given)


def test_an_unreadable_file_and_a_wrong_column(tmp_path) -> None:
    with pytest.raises(bc.InputError, match=r"none\.csv"):
        read_pu_scores(tmp_path / "none.csv", positive_column="s")
    with pytest.raises(bc.InputError, match="selected"):
        read_pu_scores(written(tmp_path, "s,vit\n1,0.5\n0,0.2\n"), positive_column="selected")


def test_rows_keep_their_order(tmp_path) -> None:
    score = np.round(np.random.default_rng(1).random(50), 6)
    text = "s,vit\n" + "".join(f"{i % 3 == 0:d},{v}\n" for i, v in enumerate(score))
    pu = read_pu_scores(written(tmp_path, text), positive_column="s")
    np.testing.assert_array_equal(pu.positive[0], score[::3])


SCORES = bc.datasets.pu_ece.truth("over").scores((600, 900), seed=1)
# Without two scores in a narrow cell nothing is approximated.
KINDS = {
    "rounded": lambda score: score.round(2),
    "three digits": lambda score: score.round(3),
    "ends": lambda score: np.where(score < 0.2, 0.0, np.where(score > 0.9, 1.0, score)).round(2),
}
PRIORS = (bc.pu_ece.Priors(0.4), bc.pu_ece.Priors(0.4, bc.pu_ece.MixtureBins()))


def made(kind, positives_last=False):
    """Rows in memory, and as columns in another order."""
    positive, unlabeled = (KINDS[kind](s[0]) for s in (SCORES.positive, SCORES.unlabeled))
    columns = {
        "s": np.repeat([0, 1], [len(unlabeled), len(positive)]),
        "p": np.concatenate([unlabeled, positive]),
    }
    if not positives_last:
        order = np.random.default_rng(0).permutation(len(columns["s"]))
        columns = {name: values[order] for name, values in columns.items()}
    return bc.PUScores(positive=positive, unlabeled=unlabeled, classifier="p"), columns


def assert_same_counts(found, expected, **fields):
    for priors in PRIORS:
        (one,) = problems(found, priors, Binning())
        (two,) = problems(expected, priors, Binning(**fields))
        np.testing.assert_array_equal(one.positive, two.positive)
        for a, b in ((one.cells, two.cells), (one.unlabeled.bins, two.unlabeled.bins)):
            np.testing.assert_array_equal(a.edges, b.edges)
            np.testing.assert_array_equal(a.count, b.count)
            np.testing.assert_allclose(a.mean_score, b.mean_score, rtol=1e-11)
            assert (a.closed, a.strategy) == (b.closed, b.strategy)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("kind", KINDS)
def test_counts_are_those_of_rows_in_memory(source, kind, tmp_path):
    expected, columns = made(kind)
    data = source(tmp_path, columns, ODD_CUTS)
    assert_same_counts(count_rows(data, positive_column="s", score="p"), expected)


def test_counts_of_any_scores_are_near_those_of_rows_in_memory(tmp_path):
    positive, unlabeled = (sample[0] for sample in (SCORES.positive, SCORES.unlabeled))
    columns = {
        "s": np.repeat([0, 1], [len(unlabeled), len(positive)]),
        "p": np.concatenate([unlabeled, positive]),
    }
    data = data_set(tmp_path, columns, ODD_CUTS)
    found = count_rows(data, positive_column="s", score="p")["p"]
    (expected,) = problems(SCORES, PRIORS[0], Binning())
    # Where two of 1,500 rows are in a narrow cell, one may change its bin.
    assert abs(found.bins.count - expected.unlabeled.bins.count).max() <= 1
    assert abs(found.positive_in_bins() - expected.positive_in_bins()).max() <= 2


@pytest.mark.parametrize("closed", ["left", "right"])
@pytest.mark.parametrize("strategy", ["uniform", "quantile", (0.0, 0.25, 0.25, 0.5, 1.0)])
def test_bins_of_every_kind(closed, strategy, tmp_path):
    expected, columns = made("ends", positives_last=True)
    fields = {"n_bins": 7, "closed": closed, "strategy": strategy}
    found = count_rows(
        data_set(tmp_path, columns, (900, 1400)), positive_column="s", score="p", **fields
    )
    assert_same_counts(found, expected, **fields)


def test_a_fit_of_counts_is_planned_as_that_of_rows_in_memory(tmp_path):
    expected, columns = made("three digits")
    counts = count_rows(data_set(tmp_path, columns, ODD_CUTS), positive_column="s", score=["p"])
    found, whole = (bc.pu_ece.plan(data, PRIORS[0]) for data in (counts, expected))
    assert found.attrs == whole.attrs
    assert found.cases[0].coords == whole.cases[0].coords
    np.testing.assert_array_equal(found.cases[0].problem.positive, whole.cases[0].problem.positive)


def test_counts_without_parts_leave_the_others_none(tmp_path):
    data = data_set(tmp_path, made("three digits")[1], ODD_CUTS)
    counts = count_rows(data, positive_column="s", score="p")["p"]
    # A result holds parts of all of its cases or of none: the fit of both was refused at its end.
    both = {"new": counts, "old": counts._replace(parts=None)}
    assert [one.unlabeled.parts for one in problems(both, PRIORS[0], Binning())] == [None, None]


def test_words_say_what_is_positive(tmp_path):
    expected, columns = made("rounded")
    words = np.where(columns["s"] == 1, "Yes", "").astype(object)
    found = count_rows(
        dask_frame(tmp_path, {**columns, "s": words}, ODD_CUTS), positive_column="s", score="p"
    )
    assert_same_counts(found, expected)


@pytest.mark.parametrize(
    ("row", "column", "value", "message"),
    [
        (
            1200,
            "s",
            3,
            r"column 's' of 6\.parquet must hold 1 .* got 3\.?0? at row 250",
        ),
        (
            1200,
            "p",
            np.nan,
            r"column 'p' of 6\.parquet must not be missing.* at row 250",
        ),
        (3, "p", 1.5, r"column 'p' of 3\.parquet must lie in \[0, 1\]; got 1.5 at row 2"),
    ],
)
def test_a_bad_row_is_named(row, column, value, message, tmp_path):
    _, columns = made("three digits")
    columns[column] = columns[column].astype(float)
    columns[column][row] = value
    with pytest.raises(InputError, match=message):
        count_rows(data_set(tmp_path, columns, ODD_CUTS), positive_column="s", score="p")


@pytest.mark.parametrize(("value", "missing"), [(0, "positive"), (1, "unlabelled")])
def test_a_sample_without_rows_is_refused(value, missing, tmp_path):
    columns = {"s": np.full(5, value), "p": np.linspace(0, 1, 5)}
    with pytest.raises(InputError, match=f"the {missing} rows"):
        count_rows(data_set(tmp_path, columns, (2,)), positive_column="s", score="p")


def test_a_number_of_bins_that_follows_the_class_prior_is_refused(tmp_path):
    data = data_set(tmp_path, made("rounded")[1], ODD_CUTS)
    with pytest.raises(InputError, match="optimal_n_bins"):
        count_rows(data, positive_column="s", score="p", n_bins="optimal")


@pytest.mark.parametrize(
    ("name", "message"), [("", "must have a name"), ("a\0", "name of a classifier must be text")]
)
def test_classifiers_have_names_that_files_can_hold(name, message):
    with pytest.raises(InputError, match=message):
        bc.PUScores.stack({name: ([0.7], [0.1, 0.4]), "b": ([0.7], [0.1, 0.4])})
    with pytest.raises(InputError, match=message):
        bc.PUScores(positive=[0.7], unlabeled=[0.1, 0.4], classifier=name)


@pytest.mark.parametrize(
    ("labels", "weight", "message"),
    [
        ([1, None, 0], None, "must have no others; got 1 negative row"),
        ([1, None, None], [1, 2, 3], "cannot use sample weights; got counts of weighted rows"),
    ],
)
def test_counts_of_other_rows_are_refused_for_what_they_are(labels, weight, message) -> None:
    counts = bc.Counts.from_arrays(labels, [0.8, 0.3, 0.6], sample_weight=weight)
    with pytest.raises(InputError, match=message):
        plan(counts, Priors(0.3))
