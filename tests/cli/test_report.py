"""``bayescal report`` of results that are kept, of several quantities."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import bayescal as bc
from bayescal.cli.main import cli
from tests.report.pages import Page, words
from tests.synthetic import make_result
from tests.synthetic_credal import failed, make_credal_result


def run(*arguments: object) -> Result:
    return CliRunner().invoke(cli, ["report", *map(str, arguments)])


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


@pytest.mark.parametrize(
    ("arguments", "said_here"),
    [
        (["ece.nc", "--label", "y"], "--label names a column of a table"),
        (["ece.nc", "--score", "p"], "--score names a column of a table"),
        (["ece.nc", "scores.csv"], "'scores.csv' among results"),
        (
            ["one.csv", "two.csv", "--label", "y", "--score", "p"],
            "takes one table of scores; got 2",
        ),
        (["one.csv", "--label", "y"], "there is no file"),
        (["one.csv", "--score", "p"], "Missing option '--label'"),
        (["nope.nc"], "nope.nc"),
        ([], "FILE"),
    ],
)
def test_refusals_are_one_line(kept: Path, arguments: list[str], said_here: str) -> None:
    given = [kept / one if one.endswith((".nc", ".csv")) else one for one in arguments]
    result = run(*given, "-o", kept / "never.html")
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert said_here in result.stderr
    assert not (kept / "never.html").exists()
