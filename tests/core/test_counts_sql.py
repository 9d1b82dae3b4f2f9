"""Queries that count rows: run by DuckDB, those of other dialects in its translation."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.core.sums import cell_of

duckdb = pytest.importorskip("duckdb")
DIALECTS = ("duckdb", "spark", "bigquery", "postgres")
HOSTILE = [
    'a"b',
    "a`b",
    "a'b",
    "a\\",
    "\\'; --",
    '"; DROP TABLE t; --',
    "x y;z",
    "{rows}",
    "é",
    "%s",
]
ATOMS = [0.0, -0.0, 0.5, 1.0, 1e-300, 1e-5, 1 - 1e-13, float(np.nextafter(1, 0))]


def run(query, **tables):
    """Columns of the result, sorted by its keys."""
    with duckdb.connect() as engine:
        for name, table in tables.items():
            engine.register(name, table)
        return engine.sql(query).to_arrow_table().to_pandas()


def translated(query, dialect):
    sqlglot = pytest.importorskip("sqlglot")
    (parsed,) = sqlglot.parse(query, read=dialect, error_level=sqlglot.ErrorLevel.RAISE)
    return parsed.sql("duckdb")


def rows(seed=0, n=20_000, dtype=np.float64):
    """Even, extreme, rare, tied and special scores, with labels of which a tenth is missing."""
    rng = np.random.default_rng(seed)
    even, rare, tied = rng.random(n), 1e-5 * rng.random(n), np.round(rng.random(n), 2)
    sure = 1 - 1e-7 * rng.random(n)
    score = np.concatenate([even, rare, tied, sure, ATOMS]).astype(dtype)
    label = (rng.random(len(score)) < score).astype(object)
    label = np.where(rng.random(len(score)) < 0.1, None, label.astype(int))
    return score, label


def by_cell(counts):
    """What a query's result should hold."""
    total = counts.sums[:3].sum(axis=0)
    return counts.cell, counts.rows, counts.positives, counts.unlabeled, counts.score * total


def check_equal(frame, counts, moved=0, rounded=1e-12):
    """All numbers are those of Python's counts, but for rows moved over an edge, two cells each."""
    frame = frame.sort_values("cell")
    cell, *numbers, score_sum = by_cell(counts)
    np.testing.assert_array_equal(frame["cell"], cell)
    for name, expected in zip(("rows", "positives", "unlabeled"), numbers, strict=True):
        assert (frame[name].to_numpy() != expected).sum() <= 2 * moved, name
        assert frame[name].sum() == expected.sum()
    unmoved = frame["rows"].to_numpy() == counts.rows
    # Mean scores of cells are rounded to 12 decimals, of float32 to those that they stand for.
    difference = frame["score_sum"].to_numpy() - score_sum
    assert (np.abs(difference)[unmoved] <= rounded * counts.sums[:3].sum(axis=0)[unmoved]).all()


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_engine_counts_as_python_does(dialect, dtype):
    if (dialect, dtype) == ("bigquery", np.float32):
        pytest.skip("BigQuery has no floats of 32 bits")
    score, label = rows(dtype=dtype)
    query = bc.counts_sql("t", label="y", score="p", dialect=dialect)
    found = run(translated(query, dialect), t=pa.table({"p": score, "y": label}))
    # The twelfth decimal of scores next to 1 is a twentieth of a cell, and logarithms differ.
    rounded = 1e-12 if dtype is np.float64 else 2**-24
    check_equal(found, bc.Counts.from_arrays(label, score), 2, rounded)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_classifiers_groups_and_weights(dialect):
    score, label = rows(1, 2_000)
    rng = np.random.default_rng(2)
    other = rng.permutation(score)
    weight = rng.choice([0, 0.5, 1.25], len(score))
    group = rng.choice(["north", "so'uth"], len(score))
    table = pa.table({"y": label, "p": score, "q'": other, "w": weight, "g": group})
    query = bc.counts_sql("t", label="y", score=["p", "q'"], group="g", weight="w", dialect=dialect)
    found = run(translated(query, dialect), t=table)
    assert len(found.groupby(["classifier", "group"])) == 4
    for (classifier, name), part in found.groupby(["classifier", "group"]):
        held, values = group == name, {"p": score, "q'": other}[classifier]
        counts = bc.Counts.from_arrays(label[held], values[held], sample_weight=weight[held])
        check_equal(part, counts)
        part = part.sort_values("cell")
        negative, positive, squares = counts.weights
        # Sums of eighths are exact.
        np.testing.assert_array_equal(part["weight_sum"], negative + positive)
        np.testing.assert_array_equal(part["positive_weight"], positive)
        np.testing.assert_array_equal(part["weight_squares"], squares)


UNUSABLE = [
    ("p", float("nan")),
    ("p", None),
    ("p", 1.5),
    ("p", -1e-9),
    ("p", float("inf")),
    ("p", -float("inf")),
    ("p", 1e300),
    ("y", 2),
    ("w", float("nan")),
    ("w", None),
    ("w", -1.0),
    ("w", float("inf")),
    ("g", None),
]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(("column", "value"), UNUSABLE)
def test_a_row_that_cannot_be_used_has_no_cell_and_is_not_lost(column, value, dialect):
    columns = {"y": [0, 1, None, 0], "p": [0.1, 0.9, 0.5, 0.2], "w": [1.0] * 4, "g": ["a"] * 4}
    columns[column][0] = value
    query = bc.counts_sql("t", label="y", score="p", group="g", weight="w", dialect=dialect)
    found = run(translated(query, dialect), t=pa.table(columns))
    assert found[["rows", "unlabeled"]].sum().sum() == 4
    assert found[found["cell"].isna()][["rows", "unlabeled"]].sum().sum() == 1
    with pytest.raises(InputError, match=r"cell must be a finite number.*cell NULL"):
        bc.Counts.from_frame(found, group="group")


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_relation_becomes_counts_that_give_the_posterior_of_the_rows(dtype):
    score, label = rows(3, dtype=dtype)
    query = bc.counts_sql("t", label="y", score=["p", "q"], group="g")
    group = np.where(np.arange(len(score)) % 3, "b", "a")
    table = pa.table({"p": score, "q": score[::-1], "y": label, "g": group})
    with duckdb.connect() as engine:
        engine.register("t", table)
        found = bc.Counts.from_frame(engine.sql(query), classifier="classifier", group="group")
    assert (list(found), found.groups) == (["p", "q"], ("a", "b"))
    one, two = found["p"], bc.Counts.from_arrays(label, score)
    np.testing.assert_array_equal(one.cell, two.cell)
    np.testing.assert_allclose(one.score, two.score, rtol=0, atol=1e-11)
    ours, theirs = (bc.fit(bc.ece, counts, method="direct", seed=1) for counts in (one, two))
    # Means of the cells that a curve is fitted to differ in their last digits.
    for var in ("tce", "ece"):
        np.testing.assert_allclose(bc.interval(ours, var), bc.interval(theirs, var), atol=1e-6)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_or_label_leaves_its_quotes(name, dialect):
    columns = {f"{name}y": [name, f"{name}n", None, name], f"{name}p": [0.1, 0.9, 0.5, 0.2]}
    columns |= {f"{name}g": [name] * 4, f"{name}q": [0.5] * 4}
    query = bc.counts_sql(
        name,
        label=f"{name}y",
        score=[f"{name}p", f"{name}q"],
        group=f"{name}g",
        pos_label=name,
        neg_label=f"{name}n",
        dialect=dialect,
    )
    found = run(translated(query, dialect), **{name: pa.table(columns)})
    assert set(found["classifier"]) == {f"{name}p", f"{name}q"}
    assert set(found["group"]) == {name}
    assert found[["rows", "positives", "unlabeled"]].sum().tolist() == [6, 4, 2]
    assert not found["cell"].isna().any()


@pytest.mark.parametrize(
    ("labels", "pos_label", "neg_label"),
    [([False, True], True, None), ([0, 5], 5, None), ([1, 0], 0, None), (["n", "y"], "y", "n")],
)
def test_labels(labels, pos_label, neg_label):
    query = bc.counts_sql("t", label="y", score="p", pos_label=pos_label, neg_label=neg_label)
    found = run(query, t=pa.table({"y": labels, "p": [0.2, 0.7]})).sort_values("cell")
    assert found["positives"].tolist() == [0, 1]


def test_a_table_by_parts_and_a_file(tmp_path):
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"y": [0, 1], "p": [0.2, 0.7]}), path := tmp_path / "a b.parquet")
    assert len(run(bc.counts_sql(str(path), label="y", score="p"))) == 2
    query = bc.counts_sql(("x`y", "t"), label="y", score="p", dialect="spark")
    assert "FROM `x``y`.`t` AS" in query


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"dialect": "oracle"}, "dialect must be one of 'duckdb'"),
        ({"table": ""}, "table must be a word of printable characters"),
        ({"table": ("a", "b\x00")}, "table must be a word of printable characters"),
        ({"label": "y\n"}, "label must be a word of printable characters"),
        ({"score": ["p", "p"]}, "score must name each column once; got 'p' twice. Leave one out"),
        ({"score": []}, "score must be a word"),
        ({"group": 3}, "group must be"),
        ({"weight": 3}, "weight must be"),
        ({"pos_label": "yes"}, "neg_label must be given where pos_label is a word"),
        ({"pos_label": 1, "neg_label": 1}, "neg_label must differ"),
        ({"pos_label": 0.5}, "pos_label must be"),
        ({"neg_label": 0.5}, "neg_label must be"),
        ({"pos_label": 10**30}, "a label must have 64 bits"),
        ({"pos_label": "a\tb", "neg_label": "c"}, "a label must be a word of printable"),
    ],
)
def test_what_cannot_be_written_is_refused(wrong, said):
    with pytest.raises(InputError, match=said):
        bc.counts_sql(**{"table": "t", "label": "y", "score": "p"} | wrong)


RNG = np.random.default_rng(0)
N = 5000
SCORE = np.concatenate([[0.0, 1.0, 1e-30, 1 - 1e-12], RNG.beta(1, 3, N - 4)])
LABEL = np.where(RNG.random(N) < 0.1, np.nan, RNG.random(N) < SCORE)
WEIGHT = RNG.random(N) + 0.1
GROUP = RNG.choice(["north", "south"], N)


def grouped(by=(), score=SCORE, label=LABEL, weight=None):
    """What a database returns."""
    rows = pd.DataFrame({"cell": cell_of(score), "score_sum": score, "group": GROUP})
    rows["rows"], rows["positives"] = ~np.isnan(label), label == 1
    rows["unlabeled"] = np.isnan(label)
    if weight is not None:
        known = np.where(rows["rows"], weight, 0)
        rows["weight_sum"], rows["weight_squares"] = known, known**2
        rows["positive_weight"] = known * rows["positives"]
    numbers = rows.columns.difference(["cell", "group"])
    return rows.groupby([*by, "cell"])[list(numbers)].sum().reset_index()


def same(one, other):
    for name in ("cell", "rows", "positives", "unlabeled"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)
    # Means are rounded to 12 decimals, of sums that depend on their order.
    np.testing.assert_allclose(one.score, other.score, rtol=1e-11, atol=2e-12)
    np.testing.assert_allclose(one.weights, other.weights, rtol=1e-12)
    assert one.classes == other.classes


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table, dict, pl.LazyFrame])
def test_sums_of_any_table_are_the_counts_of_its_rows(kind):
    columns = {name: values.to_numpy() for name, values in grouped().items()}
    same(bc.Counts.from_frame(kind(columns)), bc.Counts.from_arrays(LABEL, SCORE))


def test_weights_and_other_names():
    frame = grouped(weight=WEIGHT).rename(columns={"rows": "n", "cell": "place"})
    found = bc.Counts.from_frame(frame, rows="n", cell="place")
    same(found, bc.Counts.from_arrays(LABEL, SCORE, sample_weight=WEIGHT))


def test_rows_of_one_cell_are_added_up():
    twice = bc.Counts.from_frame(pd.concat([grouped()] * 2))
    same(twice, bc.Counts.from_arrays(LABEL, SCORE) + bc.Counts.from_arrays(LABEL, SCORE))


def test_classifiers_and_groups_become_a_table():
    frame = pd.concat([grouped(["group"]).assign(model=name) for name in "ab"])
    table = bc.Counts.from_frame(frame, classifier="model", group="group")
    assert list(table) == ["a", "b"]
    assert table.groups == ("north", "south")
    for name, counts in table.groups_of("b").items():
        rows = name == GROUP
        same(counts, bc.Counts.from_arrays(LABEL[rows], SCORE[rows]))
    same(table["a"], bc.Counts.from_arrays(LABEL, SCORE))


FINE = {"cell": [-8192, 0], "rows": [4, 5], "positives": [1, 4], "score_sum": [1.0758, 2.50001]}
WEIGHED = {"weight_sum": [4, 5], "positive_weight": [1, 4], "weight_squares": [4, 5]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cell": [-8192, 327681]}, "cell must be a whole number from -327681 to 327680; got 3276"),
        ({"cell": [-8192, 0.5]}, "cell must be a whole number"),
        ({"cell": [-8192, None]}, "cell must be|cell holds"),
        ({"rows": [4, -1]}, "rows must be a whole number from 0 .* got -1 at row 1"),
        ({"rows": [4.5, 5]}, "rows must be a whole number .* got 4.5 at row 0"),
        ({"rows": [4, float("inf")]}, "rows must be a finite number"),
        ({"positives": [1, 6]}, "positives must be at most rows; got 6 at row 1"),
        ({"score_sum": [1.0758, float("nan")]}, "score_sum must be a finite number; got nan"),
        ({"score_sum": [1.0758, 2.6]}, "score_sum must be the sum of the scores of its cell, 0"),
        ({"score_sum": [0, 2.50001]}, "mean of 0 at row 0"),
        ({"unlabeled": [0, -2]}, "unlabeled must be a whole number"),
        ({"rows": ["four", "five"]}, "rows must be numbers"),
        ({"rows": [0, 0], "positives": [0, 0], "score_sum": [0, 0]}, "at least one row"),
        ({"rows": [4]}, "same length"),
        (WEIGHED | {"weight_sum": [0, 5]}, "weight_sum must be 0 where there are no rows"),
        (WEIGHED | {"positive_weight": [1, 6]}, "positive_weight must lie within weight_sum"),
        (WEIGHED | {"positives": [4, 4]}, "weight_sum, .* be all of it where there are no others"),
        (WEIGHED | {"weight_squares": [4, 1]}, "weight_squares must lie between"),
        ({"weight_sum": [4, 5]}, "no column 'positive_weight'"),
    ],
)
def test_what_is_no_sum_of_rows_is_refused(change, message):
    assert bc.Counts.from_frame(FINE).n_obs == 9
    assert bc.Counts.from_frame(FINE | WEIGHED).weighted
    with pytest.raises(bc.InputError, match=message):
        bc.Counts.from_frame(FINE | change)


@pytest.mark.parametrize("missing", FINE)
def test_a_missing_column_is_named(missing):
    with pytest.raises(bc.InputError, match=f"the frame has no column '{missing}'"):
        bc.Counts.from_frame({name: own for name, own in FINE.items() if name != missing})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rows": "n"}, "no column 'n'"),
        ({"rows": 3}, "rows must be str"),
        ({"row": "n"}, "did you mean 'rows'"),
        ({"score": 5}, "a frame of counts has no column 'score'"),
        ({"group": "g"}, "no column 'g'"),
        ({"classifier": 3}, "classifier must be str"),
        ({"pos_label": 0.5}, "pos_label must be"),
    ],
)
def test_names_are_checked(options, message):
    with pytest.raises(bc.InputError, match=message):
        bc.Counts.from_frame(FINE, **options)


def test_a_frame_is_a_table():
    with pytest.raises(bc.InputError, match="frame must be a pandas, polars or Arrow table"):
        bc.Counts.from_frame([1, 2])
