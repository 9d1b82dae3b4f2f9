"""Whether decisions of rows stand under every prior."""

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.results.rows import RowConclusion, _against, row_conclusions
from tests.synthetic_credal import failed, make_credal_grid, make_credal_result


@pytest.fixture(scope="module")
def grid() -> xr.DataTree:
    return make_credal_grid(("a", "b"))


@pytest.mark.slow
def test_counts_are_those_of_the_table(grid: xr.DataTree) -> None:
    frame = bc.row_table(grid)
    for one in row_conclusions(grid):
        own = frame[frame["classifier"] == one.case]
        first = own[own["prior"] == "bins"]
        for row in one.rows:
            under = own[own["prior"] == row.prior]
            assert row.n_open == (under["n_open"] > 1).sum()
            assert row.n_alike == (under["open"] == first["open"]).sum()
            assert row.width == pytest.approx((under["upper"] - under["lower"]).mean())
            assert row.shift == pytest.approx((under["prob"] - first["prob"]).abs().mean())
        assert one.rows[0].n_alike == one.n_rows == 30
        assert one.rows[0].shift == one.rows[0].n_against == 0


def test_a_heavier_prior_is_wider(grid: xr.DataTree) -> None:
    for one in row_conclusions(grid):
        width = {row.prior: row.width for row in one.rows}
        assert width["heavy"] > width["bins"]


def test_rows_decided_for_two_classes_are_against() -> None:
    decided = np.array([[0, 1, -1, -1, 0], [0, 0, 1, -1, 0], [0, 1, 1, -1, 1]])
    assert _against(decided).tolist() == [False, True, False, False, True]


def test_the_grid_says_it(grid: xr.DataTree) -> None:
    found = bc.conclusions(grid)
    assert all(isinstance(one, RowConclusion) for one in found)
    assert [one.case for one in found] == ["a", "b"]
    assert grid.attrs["conclusion_var"] == "prob"
    assert grid.attrs["robust"] == ("true" if all(one.robust for one in found) else "false")
    assert grid.attrs["conclusion"] == " ".join(one.text for one in found)


def test_words(grid: xr.DataTree) -> None:
    one = row_conclusions(grid)[0]
    stands = replace(one, n_against=0, n_apart=0)
    assert stands.text.startswith("The decisions of a are robust: no row is decided differently")
    assert "Of 30 rows stay open:" in stands.text
    falls = replace(one, n_against=1, n_apart=2)
    assert "are not robust: 1 row of 30 is decided differently" in falls.text
    assert "In 2 rows bounds under two priors do not overlap." in falls.text
    lost = replace(one, rows=(replace(one.rows[0], converged=False),))
    assert lost.text.startswith("Unreliable")


def test_a_failed_fit_is_said() -> None:
    tree = failed(make_credal_grid())
    assert not row_conclusions(tree)[0].converged


def test_what_is_refused(grid: xr.DataTree) -> None:
    with pytest.raises(InputError, match="threshold must be left out"):
        bc.conclusions(grid, threshold=0.5)
    with pytest.raises(InputError, match="one number a case"):
        bc.conclusions(grid, "prob_lower")
    with pytest.raises(InputError, match="one prior"):
        row_conclusions(make_credal_result())
