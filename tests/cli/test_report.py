"""``bayescal report`` of results that are kept, and window by window of a table."""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import Result

import bayescal as bc
from bayescal.cli.report import _name, _read
from bayescal.core.tables import open_table
from tests.cli import commands
from tests.report.pages import Page, words
from tests.synthetic import make_result
from tests.synthetic_credal import failed, make_credal_result

run = partial(commands.run, "report")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kept")
    bc.save(make_result(("a",), draws=50), folder / "ece.nc")
    bc.save(make_credal_result(("a",)), folder / "credal.nc")
    bc.save(failed(make_credal_result(("a",))), folder / "failed.nc")
    return folder


@pytest.mark.mcmc
def test_results_of_several_quantities_are_one_report(kept: Path, tmp_path: Path) -> None:
    output = tmp_path / "review.html"
    result = run(kept / "ece.nc", kept / "credal.nc", "-o", output, "--title", "Review")
    assert result.exit_code == 0, result.output
    page = Page(output.read_text())
    said = words(page.section("answer").text)
    assert "1. Expected calibration error" in said
    assert "2. Venn-Abers predictors" in said
    assert words(page.all("h1")[0].text) == "Review"


@pytest.mark.slow
def test_a_failed_fit_is_said(kept: Path, tmp_path: Path) -> None:
    result = run(kept / "failed.nc", "-o", tmp_path / "review.html")
    assert result.exit_code == 3
    assert "failed.nc: NOT CONVERGED" in result.stderr
    assert (tmp_path / "review.html").exists()


def test_a_report_names_options_and_the_result_that_is_kept_arguments(file, tmp_path) -> None:
    given = [file, "--label", "y", "--score", "p", "--quick", "--draws", 20]
    files = [tmp_path / name for name in ("fit.nc", "fit.html", "kept.html")]
    found = commands.run("ece", *given, "-o", files[0], "-o", files[1])
    assert found.exit_code == run(files[0], "-o", files[2]).exit_code == 3
    for path in files[1:]:
        said = words(Page(path.read_text()).section("answer").text)
        assert "Draw more: --draws 4000; or leave out --quick." in said
        assert "draws=4000" not in path.read_text()
    assert "draws=4000; or sample by method='nuts'." in bc.load(files[0]).attrs["status"]


@pytest.mark.parametrize(
    ("arguments", "said_here"),
    [
        (["ece.nc", "--label", "y"], "--label names a column of a table"),
        (["ece.nc", "--score", "p"], "--score names a column of a table"),
        (["ece.nc", "--window", "w"], "--window names a column of a table"),
        (["ece.nc", "--prior", "flat"], "--prior is of a fit, and FILE is a result"),
        (["ece.nc", "--draws", "20"], "--draws is of a fit, and FILE is a result"),
        (["ece.nc", "scores.csv"], "'scores.csv' among results"),
        (
            ["one.csv", "two.csv", "--label", "y", "--score", "p"],
            "FILE must be one table, or files of counts (.counts); got 2",
        ),
        (["nope.csv", "--label", "y"], "there is no file"),
        (["one.csv", "--score", "p"], "Missing option '--label'"),
        (["nope.nc"], "nope.nc"),
        ([], "FILE"),
    ],
)
def test_refusals_are_one_line(kept: Path, arguments: list[str], said_here: str) -> None:
    for name in ("scores.csv", "one.csv", "two.csv"):
        (kept / name).touch()
    given = [kept / one if one.endswith((".nc", ".csv")) else one for one in arguments]
    result = run(*given, "-o", kept / "never.html")
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert said_here in result.stderr
    assert not (kept / "never.html").exists()


QUICK = ["--label", "y", "--score", "p*", "--prior", "flat", "--draws", "200", "--quick"]


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """Two regions over three months; one month of one region has no label."""
    rng = np.random.default_rng(1)
    n = 360
    p = rng.random(n)
    found = pd.DataFrame(
        {
            "y": (rng.random(n) < p).astype(float),
            "p": p,
            "p2": 0.5 * p,
            "region": np.repeat(["north", "south"], n // 2),
            "month": np.tile(np.repeat(["2025-01", "2025-02", "2025-10"], n // 6), 2),
        }
    )
    found.loc[(found["region"] == "south") & (found["month"] == "2025-10"), "y"] = np.nan
    return found.sample(frac=1, random_state=1)


@pytest.fixture(scope="module")
def file(table: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("windows") / "big.parquet"
    table.to_parquet(path)
    return path


def run_windows(file: Path, output: Path, *more: str) -> Result:
    return run(file, *QUICK, *more, "-o", output)


@pytest.mark.slow
def test_windows_apart(file: Path, table: pd.DataFrame, tmp_path: Path) -> None:
    output = tmp_path / "out.html"
    measures = ["--measure", "brier", "--measure", "net_benefit:0.25"]
    result = run_windows(file, output, "--group", "region", "--window", "month", *measures)
    # One window has no labels: the rest is there, the code says that not all is.
    assert result.exit_code == 1, result.output
    assert "south / 2025-10 could not be fitted: the column of --label must hold" in result.stderr
    page = Page(output.read_text())
    assert len(page.all("tr")) == 3 * (1 + 2 * 5)
    cells = [element.text for element in page.all("td")]
    assert cells.count("60") == 3 * 2 * 5
    assert page.all("h1")[0].text == "Calibration report"
    assert "Brier score by window" in output.read_text()
    assert "north / p" in words(page.section("measure-2").text)
    assert "2025-10" in words(page.section("failures").text)
    assert "each window by itself" in words(page.section("provenance").text)
    # Two regions with two classifiers each, and in one of the regions a month less.
    assert cells.count("baseline") == 3 * 4
    assert "first window of each series" in words(page.section("provenance").text)
    assert not list(tmp_path.glob("*.partial"))


@pytest.mark.slow
def test_a_measure_without_a_value_is_left_out_and_said(
    table: pd.DataFrame, tmp_path: Path
) -> None:
    table = table[table["region"] == "north"]
    one_label = table["y"].where(table["month"] != "2025-10", 1)
    table.assign(y=one_label).to_parquet(tmp_path / "one.parquet")
    output = tmp_path / "out.html"
    names = ("auc", "e90", "net_benefit:0.999")
    given = ["--window", "month", *(word for one in names for word in ("--measure", one))]
    result = run_windows(tmp_path / "one.parquet", output, *given)
    assert result.exit_code == 1
    assert "auc of p could not be fitted: window '2025-10': auc must be a" in result.stderr
    # No row is called: that is said, and no failure.
    assert "net_benefit:0.999 of p: alarms of net_benefit:0.999 need more" in result.stderr
    page = Page(output.read_text())
    # The other windows have one.
    assert "2025-02" in (found := words(page.section("measure-1").text))
    assert "2025-10" not in found
    assert "E90" in words(page.section("measure-2").text)
    assert "auc of p" in words(page.section("failures").text)


@pytest.mark.slow
def test_a_store_is_kept_and_used(file: Path, tmp_path: Path) -> None:
    given = ["--window", "month", "--checkpoint", str(tmp_path / "store")]
    assert run_windows(file, tmp_path / "one.html", *given).exit_code == 0
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "store").rglob("*.npz")}
    assert len(times) == 3
    assert run_windows(file, tmp_path / "two.html", *given).exit_code == 0
    assert times == {path: path.stat().st_mtime_ns for path in times}
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()


@pytest.mark.slow
def test_windows_pooled_are_groups_of_one_fit(file: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.html"
    given = ["--group", "region", "--window", "month", "--pool", "--baseline", "2025-10"]
    given += ["--alarm", "0.5"]
    result = run_windows(file, output, *given, "--checkpoint", str(tmp_path / "store"))
    assert result.exit_code == 0, result.output
    assert len(list((tmp_path / "store").rglob("*.npz"))) == 2
    page = Page(output.read_text())
    assert len(page.all("tr")) == 1 + 2 * 5
    assert "one model for all windows of a group" in words(page.section("provenance").text)
    # The other region has no such month, so that its windows are compared with none.
    cells = [element.text for element in page.all("td")]
    assert cells.count("baseline") == 2
    said = words(page.section("answer").text)
    assert "that of 2025-10" in said
    # Nor is it left out without a word.
    assert "south / 2025-10 is left out: none of its rows has a label." in result.stderr
    assert words(page.section("failures").text).endswith(
        "south / 2025-10 none of its rows has a label."
    )
    assert "above the baseline's with probability 0.5 or more" in said


def test_windows_that_did_not_converge_are_named_with_the_remedy(file: Path, tmp_path) -> None:
    given = ["--window", "month", "--draws", "20"]
    remedy = "Draw more: --draws 4000; or leave out --quick."
    for more, names in (
        ([], "2025-01, 2025-02, 2025-10"),
        (["--pool"], "the model of all windows"),
    ):
        result = run_windows(file, tmp_path / "out.html", *given, *more)
        assert result.exit_code == 3
        assert f"NOT CONVERGED, do not use: {names}. {remedy}" in words(result.stderr)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--pool"], "--pool needs --window"),
        (["--processes", "2"], "--processes needs --window"),
        (["--baseline", "2025-08"], "--baseline needs --window"),
        (["--alarm", "0.9"], "--alarm needs --window"),
        (["--window", "month", "--alarm", "95"], "--alarm must be a number in [0.5, 1]; got 95"),
        (["--window", "month", "--baseline", "2024"], "column 'month' has no window '2024'"),
        (["--window", "week"], "no column 'week'"),
        (["--window", "month", "--measure", "slope"], "--measure slope: with windows it must"),
        (["--window", "month", "--multiclass", "top-label"], 'multiclass="top-label"'),
    ],
)
def test_what_windows_do_not_go_with(file: Path, tmp_path: Path, given, said) -> None:
    result = run_windows(file, tmp_path / "out.html", *given)
    assert result.exit_code == 2
    assert said in result.stderr
    assert not list(tmp_path.iterdir())


def test_one_fit_of_all_rows_has_a_name() -> None:
    names = {"": "the model of all windows", "n": "n", ("", "may"): "may", ("n", "may"): "n / may"}
    assert {key: _name(key) for key in names} == names


def test_rows_must_have_a_window(table: pd.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "big.csv"
    table.assign(month=table["month"].where(table["p"] > 0.1)).to_csv(path, index=False)
    result = run_windows(path, tmp_path / "out.html", "--window", "month")
    assert result.exit_code == 2
    assert "column 'month' of big.csv must be known in every row" in result.stderr


def test_windows_and_groups_of_a_csv_file_are_named_as_they_are_written(tmp_path: Path) -> None:
    (tmp_path / "w.csv").write_text("y,p,g,w\n1,.7,1,10\n0,.2,01,9\n1,.8,1,09\n0,.1,1,10\n")
    given = {"label": "y", "score": ["p"], "group": "g", "window": "w", "pool": False}
    found = _read(open_table(tmp_path / "w.csv"), {**given, "pos_label": "1", "from_logits": False})
    assert found.order == ("09", "9", "10")
    assert {key: one.n_obs for key, one in found.data.items()} == {
        ("01", "9"): 1,
        ("1", "09"): 1,
        ("1", "10"): 2,
    }
