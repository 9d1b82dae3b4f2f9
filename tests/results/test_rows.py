"""Rows of a result: bounds, what they decide, their table, and whether decisions are robust."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.results import access
from bayescal.results.rows import RowConclusion, _against, read_rows, row_conclusions
from tests.synthetic import make_result
from tests.synthetic_credal import failed, make_credal_grid, make_credal_result, make_split


@pytest.fixture(scope="module")
def binary() -> xr.DataTree:
    return make_credal_result()


@pytest.fixture(scope="module")
def three() -> xr.DataTree:
    return make_credal_result(classes=("cat", "dog", "eel"))


@pytest.mark.parametrize("kept", ["dog", ["cat", "dog"], ["eel", "dog", "cat"]])
def test_a_selection_of_classes_does_not_decide(three: xr.DataTree, kept: str | list[str]) -> None:
    # Of two classes of three the sets, discounted, decided as if there were no third.
    some = three.sel(label_class=kept)
    for take in (bc.row_table, bc.summary, bc.show, bc.credal.credible_sets, bc.credal.bounds_for):
        with pytest.raises(InputError, match="need all classes, 'cat', 'dog', 'eel', in that"):
            take(some)


@pytest.mark.parametrize("prob", [0.5, 0.9, 0.99])
def test_bounds_and_decisions_are_those_of_credible_sets(
    binary: xr.DataTree, three: xr.DataTree, prob: float
) -> None:
    for tree in (binary, three):
        rows = read_rows(tree, access.cases(tree)[0], prob)
        found = bc.credal.credible_sets(tree, prob)
        # Of two classes a row is of the positive one.
        classes = slice(None) if tree is three else 1
        # The same quantiles of the same draws, up to the order of summation.
        assert rows.lower.squeeze() == pytest.approx(found.lower[..., classes], abs=1e-12)
        assert rows.upper.squeeze() == pytest.approx(found.upper[..., classes], abs=1e-12)
        assert np.array_equal(rows.is_open, found.admissible)
        assert np.array_equal(rows.decision, found.decision)


def test_a_higher_probability_leaves_more_open(three: xr.DataTree) -> None:
    case = access.cases(three)[0]
    narrow, wide = (read_rows(three, case, prob) for prob in (0.5, 0.95))
    assert (wide.width >= narrow.width).all()
    assert (wide.is_open | ~narrow.is_open).all()
    assert (wide.n_open >= 1).all()


def test_one_class_stays_in_every_row_and_the_decision_is_among_those(three: xr.DataTree) -> None:
    rows = read_rows(three, access.cases(three)[0])
    assert rows.is_open[np.arange(len(rows.row)), rows.decision].all()
    assert rows.p_decision.sum(axis=1) == pytest.approx(1)


def test_shapes_of_both_kinds(binary: xr.DataTree, three: xr.DataTree) -> None:
    two, many = (read_rows(tree, access.cases(tree)[0]) for tree in (binary, three))
    assert (two.curves, two.classes) == (("yes",), ("no", "yes"))
    assert many.curves == many.classes == ("cat", "dog", "eel")
    assert two.mean.shape == (30, 1)
    assert many.mean.shape == (len(many.row), 3)
    assert two.p_improper.max() == 0
    point = binary["point_estimate"]
    assert np.array_equal(two.p0[:, 0], point["p0"].values)
    assert np.array_equal(two.merged[:, 0], point["prob"].values)


def test_a_probability_outside_the_unit_interval_is_refused(binary: xr.DataTree) -> None:
    with pytest.raises(InputError, match="prob must be a number in"):
        read_rows(binary, access.cases(binary)[0], 1.0)


@pytest.fixture(scope="module")
def two() -> xr.DataTree:
    return make_credal_result(("a", "b"))


def test_a_line_a_row_and_classifier(two: xr.DataTree) -> None:
    frame = bc.row_table(two)
    assert len(frame) == 2 * 30
    assert set(frame["classifier"]) == {"a", "b"}
    assert set(frame["class"]) == {"yes"}
    score = make_split(("a", "b")).target.y_prob
    for place, name in enumerate(("a", "b")):
        own = frame[frame["classifier"] == name]
        assert own["score"].to_numpy() == pytest.approx(score[place][own["row"].to_numpy()])
        assert (own["lower"] <= own["prob"]).all()
        assert (own["prob"] <= own["upper"]).all()


@pytest.mark.parametrize("selected", [7, [7], [9, 7, 2]])
@pytest.mark.parametrize("kind", ["two", "three"])
def test_selected_rows_are_those_of_the_whole(kind: str, selected, request) -> None:
    tree = request.getfixturevalue(kind)
    found = bc.row_table(tree.isel(obs=selected)).reset_index(drop=True)
    one_case = [name for name in ("classifier",) if name in found]
    whole = bc.row_table(tree)
    expected = pd.concat(
        [own.loc[[k]] for _, own in whole.groupby(one_case or "status") for k in np.ravel(selected)]
    ).reset_index(drop=True)
    pd.testing.assert_frame_equal(found, expected, rtol=1e-12)  # sums round by the order in memory
    assert bc.summary(tree.isel(obs=selected))["n_rows"].eq(np.size(selected)).all()


def test_names_of_classes_say_what_is_open(two: xr.DataTree) -> None:
    frame = bc.row_table(two)
    decided = frame[frame["n_open"] == 1]
    assert (decided["open"] == decided["decision"]).all()
    assert set(frame[frame["n_open"] == 2]["open"]) == {"no / yes"}
    assert set(decided[decided["lower"] > 0.5]["open"]) == {"yes"}
    assert set(decided[decided["upper"] < 0.5]["open"]) == {"no"}


def test_of_several_classes_a_line_each(three: xr.DataTree) -> None:
    frame = bc.row_table(three)
    assert list(frame["class"][:3]) == ["cat", "dog", "eel"]
    assert len(frame) == 3 * three["posterior"].sizes["obs"]
    assert "classifier" not in frame
    first = frame.loc[0]
    assert first["merged"].sum() == pytest.approx(1)
    assert first["n_open"].nunique() == 1


def test_other_results_have_no_rows() -> None:
    with pytest.raises(InputError, match=r"bayescal\.summary"):
        bc.row_table(make_result(draws=20))


def test_the_summary_is_the_mean_over_rows(two: xr.DataTree) -> None:
    frame = bc.summary(two, prob=0.8)
    rows = bc.row_table(two, prob=0.8)
    for name, line in frame.iterrows():
        own = rows[rows["classifier"] == name]
        assert line["width"] == pytest.approx((own["upper"] - own["lower"]).mean())
        assert line["ivap_width"] == pytest.approx((own["p1"] - own["p0"]).mean())
        assert line["open_share"] == (own["n_open"] > 1).mean()
        assert (line["n"], line["n_target"], line["n_rows"]) == (150, 30, 30)
        assert line["improper_share"] == 0
    assert set(frame["status"]) == {"ok"}


def test_the_summary_counts_improper_rows_of_all(three: xr.DataTree) -> None:
    share = bc.summary(three)["improper_share"].item()
    told = bc.credal.estimate(make_split(classes=("cat", "dog", "eel")))
    assert share == told.improper.mean()


def test_a_failed_fit_is_said_in_tables() -> None:
    tree = failed(make_credal_result())
    assert set(bc.summary(tree)["status"]) == {"NOT CONVERGED"}
    assert set(bc.row_table(tree)["status"]) == {"NOT CONVERGED"}


def test_intervals_are_equal_tailed_and_within_the_bounds(two: xr.DataTree) -> None:
    found = bc.interval(two, "prob")
    assert found.attrs["ci_kind"] == "eti"
    for case in access.cases(two):
        rows = read_rows(two, case)
        lower, upper = access.at(found, case).values.T
        assert (rows.lower[:, 0] <= lower).all()
        assert (upper <= rows.upper[:, 0]).all()


def test_what_makes_no_sense_is_refused(two: xr.DataTree) -> None:
    with pytest.raises(InputError, match="different quantities"):
        bc.difference(two, "a", "b")
    with pytest.raises(InputError, match="different quantities"):
        bc.best(two)
    with pytest.raises(InputError, match="plot_decisions"):
        bc.plots.plot_reliability(two)


def test_power_scaling_takes_few_rows(two: xr.DataTree) -> None:
    frame = bc.power_scale(two)
    assert list(frame["classifier"]) == ["a", "b"]
    assert frame["quantity"].str.fullmatch(r"prob\[\d+\]").all()
    score = two["constant_data"]["target_score"].sel(classifier="a").values
    ends = {int(np.argmin(score)), int(np.argmax(score))}
    asked = bc.power_scale(two, "prob")
    # The most sensitive of all rows is at least as sensitive as that of nine of them.
    assert (asked["prior_sensitivity"] >= frame["prior_sensitivity"] - 1e-12).all()
    assert ends <= set(range(30))


@pytest.mark.mcmc
def test_rows_survive_saving(two: xr.DataTree, tmp_path: Path) -> None:
    bc.save(two, tmp_path / "credal.nc")
    assert bc.row_table(bc.load(tmp_path / "credal.nc")).equals(bc.row_table(two))


@pytest.fixture(scope="module")
def grid() -> xr.DataTree:
    return make_credal_grid(("a", "b"))


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
    n_open = stands.rows[0].n_open
    assert f" Of 30 rows {n_open} stay open under bins (mean width 0." in stands.text
    single = replace(one, rows=(replace(one.rows[0], n_open=1), *one.rows[1:]))
    assert " Of 30 rows 1 stays open under bins (mean" in single.text
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
