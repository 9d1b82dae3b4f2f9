"""Rows that are read part by part give the fit of rows in memory."""

from dataclasses import replace

import numpy as np
import pytest

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.core.sums import numbered
from bayescal.quantities.temperature import many_rows
from bayescal.quantities.temperature.data import Problem
from bayescal.quantities.temperature.many_rows import count_rows
from tests.row_sources import ODD_CUTS, SOURCES, data_set


def made(truth, n, from_logits=False):
    """Rows in memory, and as columns; the last class comes last."""
    simulated = bc.datasets.temperature.truth(truth)
    label = simulated.scores(n, seed=1).y_true.astype(float)
    values = simulated.logits(n, seed=1)
    label[::7] = np.nan
    order = np.argsort(np.nan_to_num(label), kind="stable")
    label, values = label[order], values[order]
    if not from_logits:
        values = np.exp(values) / np.exp(values).sum(axis=1, keepdims=True)
    columns = {f"p{k}": values[:, k] for k in range(values.shape[1])}
    scores = bc.Scores(y_true=label, y_prob=values, from_logits=from_logits)
    return scores, {"y": label, **columns}


def counted(data, columns, **more):
    return count_rows(data, label="y", score=[name for name in columns if name != "y"], **more)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(("truth", "from_logits"), [("heterogeneous", True), ("binary", False)])
def test_what_a_fit_takes_is_that_of_rows_in_memory(source, truth, from_logits, tmp_path):
    scores, columns = made(truth, 1500, from_logits)
    found = counted(source(tmp_path, columns, ODD_CUTS), columns, from_logits=from_logits)
    expected = Problem.of(scores, "classifier")
    np.testing.assert_array_equal(found.facts.predicted, expected.facts.predicted)
    np.testing.assert_allclose(found.table, expected.table, rtol=1e-12, atol=1e-9)
    for a, b in zip(found.facts, expected.facts, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    numbers = found.numbers, expected.numbers
    np.testing.assert_allclose(numbers[0].alpha, numbers[1].alpha, rtol=1e-10)
    assert numbers[0].shared == pytest.approx(numbers[1].shared, rel=1e-10)
    point = np.linspace(-0.3, 0.3, 2 * found.n_classes)
    sums = [rows.labeled_logits().sums(point).value for rows in (found, expected)]
    np.testing.assert_allclose(*sums, rtol=1e-10, atol=1e-10)
    some = [rows.labeled_logits().every(7) for rows in (found, expected)]
    np.testing.assert_allclose(some[0].logits, some[1].logits, rtol=1e-12)
    np.testing.assert_array_equal(some[0].label, some[1].label)


def test_rows_of_equal_scores_leave_the_number_to_the_others(tmp_path):
    # 15 of 20 rows of scores .25, .5, .25 are right: 2^a / (2^a + 2) = .75. It was 100, and .01.
    prob = np.repeat([[1 / 3, 1 / 3, 1 / 3], [0.25, 0.5, 0.25]], [40, 20], axis=0)
    label = np.r_[np.arange(40) % 3, np.repeat([1, 0], [15, 5])]
    columns = {"y": label, **{f"p{k}": prob[:, k] for k in range(3)}}
    in_memory = Problem.of(bc.Scores(y_true=label, y_prob=prob), "classifier")
    for rows in (in_memory, counted(data_set(tmp_path, columns, [30]), columns)):
        np.testing.assert_allclose(rows.numbers.alpha, np.log2(6), rtol=1e-6)


def test_a_fit_is_that_of_rows_in_memory(tmp_path, monkeypatch):
    # Small parts, so that a file is several of them; and as many rows as need no others like them.
    monkeypatch.setattr(many_rows, "_NUMBERS", 1 << 18)
    scores, columns = made("vector", 2200)
    rows = counted(data_set(tmp_path, columns, ODD_CUTS), columns)
    found, whole = (
        bc.fit(bc.temperature, data, method="direct", draws=100, seed=1) for data in (rows, scores)
    )
    assert float(whole["model_average"]["weight"].sel(description="vector scaling")) > 0.5
    for group in ("posterior", "point_estimate", "log_likelihood", "bounds"):
        for name, values in whole[group].items():
            np.testing.assert_allclose(
                found[group][name], values, rtol=1e-8, atol=1e-10, err_msg=name
            )
    same = set(whole.attrs) - {"data_hash", "created"}
    assert {name: found.attrs[name] for name in same} == {name: whole.attrs[name] for name in same}


def test_bins_that_depend_on_the_scores_are_refused(tmp_path):
    _, columns = made("binary", 1500)
    rows = counted(data_set(tmp_path, columns, ODD_CUTS), columns)
    for binning in (bc.Binning(10, "quantile"), bc.Binning("optimal", "uniform")):
        with pytest.raises(InputError, match="must not depend on the scores"):
            bc.fit(bc.temperature, rows, calibration_bins=binning)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"y": {1000: 99.0}}, r"column 'y' of 6\.parquet must .*at row 50"),
        ({"p2": {1000: np.nan}}, r"'p9' of 6\.parquet must not be missing.*row 50"),
        (
            {"y": {slice(None): np.nan}},
            "column 'y' of .* must hold at least one label; got none in 1,500 rows",
        ),
        ({"y": {1000: 1}, "p1": {1000: 0.0}}, r"it is 0 for classifier at row 50 of 6\.parquet"),
    ],
)
def test_bad_rows_are_named(changes, message, tmp_path):
    _, columns = made("heterogeneous", 1500)
    if "p1" in changes:
        columns["p0"][1000] += columns["p1"][1000]
    for name, rows in changes.items():
        for row, value in rows.items():
            columns[name] = columns[name].copy()
            columns[name][row] = value
    with pytest.raises(InputError, match=message):
        counted(data_set(tmp_path, columns, ODD_CUTS), columns)


def test_weighted_rows_are_those_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(many_rows, "_NUMBERS", 1 << 18)
    _, columns = made("heterogeneous", 2200, from_logits=True)
    values = np.column_stack([columns[f"p{k}"] for k in range(10)])
    weight = np.random.default_rng(0).uniform(0.1, 10, 2200)
    weight[columns["y"] == values.argmax(axis=1)] *= 3
    # Rows of weight 0 are checked and left out, a part of them only too.
    weight[:700] = 0
    data = bc.Scores(y_true=columns["y"], y_prob=values, from_logits=True, sample_weight=weight)
    path = data_set(tmp_path, {**columns, "w": weight}, ODD_CUTS)
    found = counted(path, columns, from_logits=True, weight="w")
    one, two = (
        bc.fit(bc.temperature, each, method="direct", seed=20, draws=100) for each in (found, data)
    )
    for name in ("log_alpha", "shift", "ece", "avg_ece_uncalibrated"):
        # Vector scaling is found to 1e-6.
        np.testing.assert_allclose(one["posterior"][name], two["posterior"][name], atol=1e-5)
    assert one.attrs["effective_n"] == pytest.approx(data_effective(data))
    np.testing.assert_allclose(found.numbers.alpha, Problem.of(data, "classifier").numbers.alpha)


def data_effective(data):
    """Effective number of labelled rows."""
    weight = data.sample_weight[data.y_true >= 0]
    return weight.sum() ** 2 / (weight**2).sum()


CHANGES = {
    "fewer rows": lambda table: {name: values[:-1] for name, values in table.items()},
    "more rows": lambda table: {n: np.append(values, values[0]) for n, values in table.items()},
    "labels of other rows": lambda table: {**table, "y": np.roll(table["y"], 3)},
    "another label": lambda table: {**table, "y": np.append(table["y"][:-1], 0)},
    "scores on another scale": lambda table: {**table, "p3": 1.001 * table["p3"]},
    "columns that are swapped": lambda table: {**table, "p3": table["p4"], "p4": table["p3"]},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("kept", [True, False])
def test_a_file_replaced_before_the_fit_is_refused(change, kept, tmp_path):
    _, columns = made("heterogeneous", 300, from_logits=True)
    (tmp_path / "one").mkdir()
    path = data_set(tmp_path / "one", columns, [0, 150, 300])
    rows = counted(path, columns, from_logits=True)
    if kept:
        assert counted(path, columns, from_logits=True).fingerprint() == rows.fingerprint()
        (tmp_path / "two").mkdir()
        new = data_set(tmp_path / "two", change(columns), [0, 150, len(change(columns)["y"])])
        for old, other in zip(sorted(path.iterdir()), sorted(new.iterdir()), strict=True):
            other.replace(old)
        message = "must not change until its last reading"
    else:
        # What is read anew has no file behind it.
        source = replace(rows._source, table=InMemory(change(columns)))
        rows = replace(rows, _source=source)
        message = "rows must be the same at every reading"
    with pytest.raises(InputError, match=message):
        bc.fit(bc.temperature, rows, method="direct", seed=1, draws=50)


class InMemory:
    """A table of columns, read in batches."""

    def __init__(self, columns):
        self.columns = columns

    def parts(self, columns, batch_rows):
        starts = range(0, len(self.columns["y"]), 100)
        return [
            numbered([{name: self.columns[name][at : at + 100] for name in columns}], at)
            for at in starts
        ]


def test_rows_without_a_label_are_in_the_fingerprint():
    _, columns = made("heterogeneous", 300, from_logits=True)
    missing = np.isnan(columns["y"])
    pairs = (("p3", "p4"), ("p4", "p3"))
    swapped = {name: np.where(missing, columns[own], columns[name]) for name, own in pairs}
    sources = (columns, columns | swapped, columns)
    found = [counted(InMemory(each), columns, from_logits=True) for each in sources]
    np.testing.assert_array_equal(found[0].table, found[1].table)
    one, two, again = (rows.fingerprint() for rows in found)
    assert one == again != two


def test_rows_in_another_order_are_the_same_rows():
    _, columns = made("heterogeneous", 300, from_logits=True)
    order = np.random.default_rng(0).permutation(300)
    shuffled = {name: values[order] for name, values in columns.items()}
    rows = counted(InMemory(columns), columns, from_logits=True)
    again = replace(rows, _source=replace(rows._source, table=InMemory(shuffled)))
    one, two = (
        bc.fit(bc.temperature, each, method="direct", seed=1, draws=100) for each in (rows, again)
    )
    np.testing.assert_allclose(one["posterior"]["log_alpha"], two["posterior"]["log_alpha"])
