"""The result of a GROUP BY becomes the counts of its rows, and what is none is refused."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import bayescal as bc
from bayescal.core.cell_sums import cell_of

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
