"""Files that commands write hold nothing that a spreadsheet or a terminal acts on."""

import csv
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from bayescal.cli.main import cli

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
