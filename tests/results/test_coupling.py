"""Rows that classifiers share in a result, and how measures correlate over them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import bayescal as bc
from bayescal.quantities.ece.simulator import sample_panel

PANEL = sample_panel(600, seed=5, names=["less", "better", "over"])
SCORES = bc.Scores.stack(PANEL.score, y_true=PANEL.label)


def classes() -> bc.Scores:
    rng = np.random.default_rng(2)
    first, second = rng.dirichlet([2.0, 3.0, 4.0], (2, 120))
    return bc.Scores.stack({"a": first, "b": second}, y_true=np.arange(120) % 3)


def fit(data: bc.Scores, quantity: object = bc.ece, **options: object) -> xr.DataTree:
    return bc.fit(quantity, data, method="direct", draws=500, chains=2, seed=20, **options)


@pytest.fixture(scope="module")
def tree() -> xr.DataTree:
    return fit(SCORES)


@pytest.mark.parametrize(
    ("quantity", "data", "options", "dims"),
    [
        (bc.ece, SCORES, {}, ("classifier", "shared_row")),
        (bc.agnostic, SCORES, {}, ("classifier", "shared_row")),
        (bc.ece, classes(), {}, ("classifier", "shared_row")),
        (bc.ece, classes(), {"multiclass": "class-wise"}, ("classifier", "class", "shared_row")),
    ],
)
def test_a_result_holds_the_cells_and_labels_of_shared_rows(quantity, data, options, dims) -> None:
    tree = fit(data, quantity, **options)
    rows, constant = tree["shared_rows"].dataset, tree["constant_data"].dataset
    assert rows["cell"].dims == rows["label"].dims == dims
    count = constant["cell_count"].values.reshape(-1, constant.sizes["cell"])
    cell, label = (rows[name].values.reshape(len(count), -1) for name in ("cell", "label"))
    for own, expected, events in zip(cell, count, label, strict=True):
        np.testing.assert_array_equal(np.bincount(own, minlength=len(expected)), expected)
        assert set(events) == {0, 1}


def test_what_shares_no_rows_holds_none() -> None:
    grouped = bc.Scores.stack(PANEL.score, y_true=PANEL.label, group=np.arange(600) % 2)
    counts = {
        name: bc.Counts.from_arrays(PANEL.label, score) for name, score in PANEL.score.items()
    }
    for data in (SCORES.select("less"), grouped, counts):
        assert "shared_rows" not in fit(data).children


def test_rows_are_kept_by_files_and_selections(tree: xr.DataTree, tmp_path: Path) -> None:
    loaded = bc.load(bc.save(tree, tmp_path / "result.nc"))
    xr.testing.assert_identical(loaded["shared_rows"].dataset, tree["shared_rows"].dataset)
    few = loaded.sel(classifier=["over", "less"])
    one = loaded.sel(classifier="over")
    assert few["shared_rows"]["cell"].dims == ("classifier", "shared_row")
    np.testing.assert_array_equal(one["shared_rows"]["cell"], few["shared_rows"]["cell"][0])
