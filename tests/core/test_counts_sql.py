"""Queries that count rows: run by DuckDB, those of other dialects in its translation."""

import numpy as np
import pyarrow as pa
import pytest

import bayescal as bc
from bayescal.core.errors import InputError

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


def check_equal(frame, counts, moved=0):
    """All numbers are those of Python's counts, but for rows moved over an edge, two cells each."""
    frame = frame.sort_values("cell")
    cell, *numbers, score_sum = by_cell(counts)
    np.testing.assert_array_equal(frame["cell"], cell)
    for name, expected in zip(("rows", "positives", "unlabeled"), numbers, strict=True):
        assert (frame[name].to_numpy() != expected).sum() <= 2 * moved, name
        assert frame[name].sum() == expected.sum()
    unmoved = frame["rows"].to_numpy() == counts.rows
    # Mean scores of cells are rounded to 12 decimals.
    difference = frame["score_sum"].to_numpy() - score_sum
    assert (np.abs(difference)[unmoved] <= 1e-12 * counts.sums[:3].sum(axis=0)[unmoved]).all()


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_engine_counts_as_python_does(dialect, dtype):
    if (dialect, dtype) == ("bigquery", np.float32):
        pytest.skip("BigQuery has no floats of 32 bits")
    score, label = rows(dtype=dtype)
    query = bc.counts_sql("t", label="y", score="p", dialect=dialect)
    found = run(translated(query, dialect), t=pa.table({"p": score, "y": label}))
    # The twelfth decimal of scores next to 1 is a twentieth of a cell, and logarithms differ.
    check_equal(found, bc.Counts.from_arrays(label, score), moved=2)


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
        ({"score": ["p", "p"]}, "classifier names must differ"),
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
