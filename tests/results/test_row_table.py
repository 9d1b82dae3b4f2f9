"""The table of rows, and what else reads a credal result."""

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.results import access
from bayescal.results.rows import read_rows as credal_rows
from tests.synthetic import make_result
from tests.synthetic_credal import failed, make_credal_result, make_split


@pytest.fixture(scope="module")
def two() -> xr.DataTree:
    return make_credal_result(("a", "b"))


@pytest.fixture(scope="module")
def three() -> xr.DataTree:
    return make_credal_result(classes=("cat", "dog", "eel"))


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


def test_a_failed_fit_is_said() -> None:
    tree = failed(make_credal_result())
    assert set(bc.summary(tree)["status"]) == {"NOT CONVERGED"}
    assert set(bc.row_table(tree)["status"]) == {"NOT CONVERGED"}


def test_intervals_are_equal_tailed_and_within_the_bounds(two: xr.DataTree) -> None:
    found = bc.interval(two, "prob")
    assert found.attrs["ci_kind"] == "eti"
    for case in access.cases(two):
        rows = credal_rows(two, case)
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
