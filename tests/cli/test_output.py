"""Tables and files: nothing is cut, and nothing in them acts on a spreadsheet or a terminal."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from bayescal.cli.main import cli
from bayescal.cli.output import print_estimates, print_json
from bayescal.cli.run import status_code
from bayescal.core.command import Estimates
from bayescal.core.plausibility import contradiction

NAMES = ("=cmd|x", "+1", "-p", "@SUM(A1)", "plain")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("output") / "scores.csv"
    rng = np.random.default_rng(20)
    score = rng.random(300)
    columns = {"y": (rng.random(300) < score).astype(int)} | dict.fromkeys(NAMES, score)
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


def run(*words: object) -> str:
    given = CliRunner().invoke(cli, [str(word) for word in words], catch_exceptions=False)
    assert given.exit_code == 0, given.output
    return given.output


@pytest.mark.parametrize("how", ["--quick", "--estimate-only"])
def test_names_that_are_formulas_are_quoted_in_csv(table: Path, tmp_path: Path, how: str) -> None:
    out = tmp_path / "out.csv"
    run("ece", table, "--label", "y", *(f"--score={name}" for name in NAMES), how, "-o", out)
    with out.open(newline="") as file:
        found = list(csv.DictReader(file))
    names = [row["classifier"] for row in found]
    # "+1" is a number, which stays one.
    assert names == ["'=cmd|x", "+1", "'-p", "'@SUM(A1)", "plain"]
    assert [re.sub(r"^'(?='*[=+\-@\t\r\n])", "", name) for name in names] == list(NAMES)
    for row in found:
        assert not any(re.match(r"[=@\t\r]|[+-](?![\d.])", cell) for cell in row.values())
        assert not any(re.match(r"'[+-]?[\d.]", cell) for cell in row.values())


def test_rows_of_credal_are_quoted_too(table: Path, tmp_path: Path) -> None:
    words = ["credal", table, table, "--label", "y", "--score", "=cmd|x", "--score=-p"]
    for name in ("rows.csv", "rows.parquet"):
        run(*words, "--prior", "bins", "--quick", "-o", tmp_path / name)
    assert set(pd.read_csv(tmp_path / "rows.csv")["classifier"]) == {"'=cmd|x", "'-p"}
    assert set(pd.read_parquet(tmp_path / "rows.parquet")["classifier"]) == {"=cmd|x", "-p"}


@pytest.mark.parametrize("words", [["--score=-p"], ["--score", "-p"]])
def test_a_value_may_begin_with_a_dash(table: Path, words: list[str]) -> None:
    assert "-p" in run("ece", table, "--label", "y", *words, "--estimate-only")


def test_a_path_cannot_act_on_the_terminal(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "a\x1b[31m\u202e.csv"
    said = run("ece", table, "--label", "y", "--score", "plain", "--estimate-only", "-o", out)
    assert r"a\x1b[31m\u202e.csv" in said
    assert out.is_file()


class Result:
    """What of a result the exit code is made from."""

    def __init__(self, status: str, converged: str) -> None:
        self.attrs = {"status": status, "converged": converged}


def test_the_json_has_null_where_there_is_no_number(capsys) -> None:
    print_json({"n": 3}, [{"case": "a", "rhat_max": float("nan")}])
    found = json.loads(capsys.readouterr().out)
    results = [{"case": "a", "rhat_max": None}]
    assert found == {"schema_version": 1, "n": 3, "results": results}


def test_estimates_say_how_many_rows_they_leave_out(capsys) -> None:
    rows = [{"case": f"c{k}", "n": 1000 + k, "ece": k / 10, "odd": k == 1} for k in range(5)]
    columns = {"case": "", "n": "rows", "ece": "ECE", "odd": "odd"}
    print_estimates(Estimates(rows, columns, printed=2))
    out = capsys.readouterr().out
    assert "1,001" in out
    assert "0.1000" in out
    assert "yes" in out
    assert "c2" not in out
    assert "and 3 more rows" in out


def test_a_good_result_ends_with_0(capsys) -> None:
    assert status_code(Result("ok", "true"), []) == 0
    assert capsys.readouterr().err == ""


def test_a_result_that_did_not_converge_ends_with_3_and_says_so(capsys) -> None:
    assert status_code(Result("R-hat is 1.3.", "false"), [], "a.nc: ") == 3
    assert capsys.readouterr().err == (
        "bayescal: warning: a.nc: NOT CONVERGED, do not use these numbers: R-hat is 1.3.\n"
    )


def test_a_warning_in_the_status_is_said_and_ends_with_0(capsys) -> None:
    (sentence,) = contradiction(0.5, np.linspace(0.01, 0.02, 5000))
    assert status_code(Result(f"a: {sentence}", "true"), []) == 0
    assert capsys.readouterr().err == f"bayescal: warning: a: {sentence}\n"


@pytest.mark.parametrize("words", [("ece",), ("credal", "{other}"), ("plan",)])
def test_a_table_that_is_read_is_not_replaced(table: Path, tmp_path: Path, words) -> None:
    path, other, link = tmp_path / "rows.csv", tmp_path / "other.csv", tmp_path / "link.csv"
    for copy in (path, other):
        copy.write_bytes(table.read_bytes())
    link.symlink_to(path)
    files = [path, *(word.format(other=other) for word in words[1:])]
    for target in (path, link, *files[1:]):
        given = [words[0], *files, "--label", "y", "--score", "plain", "-o", target]
        found = CliRunner().invoke(cli, [str(word) for word in given])
        assert (found.exit_code, "choose another name" in found.output) == (2, True), found.output
    assert path.read_bytes() == other.read_bytes() == table.read_bytes()


@pytest.mark.parametrize("option", ["--measure=auc", "--checkpoint=kept"])
def test_estimates_refuse_what_needs_a_posterior(table: Path, option: str) -> None:
    given = ["ece", str(table), "--label", "y", "--score", "plain", "--estimate-only", option]
    found = CliRunner().invoke(cli, given)
    assert found.exit_code == 2
    assert f"{option.partition('=')[0]} needs one. Leave one out." in found.output
