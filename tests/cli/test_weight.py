"""``bayescal ece --weight``: a column of sample weights, read whole or in batches."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner, Result
from pyarrow import parquet

import bayescal as bc
from bayescal.cli.main import cli
from bayescal.core import score_options

WEIGHTED = ["--label", "y", "--score", "honest", "--weight", "w"]


@pytest.fixture(scope="module")
def file(table: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    weight = np.random.default_rng(5).exponential(size=600).round(3)
    weight[::7] = 0
    path = tmp_path_factory.mktemp("weights") / "weighted.parquet"
    parquet.write_table(table.append_column("w", pa.array(weight)), path)
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(cli, list(map(str, arguments)))


@pytest.mark.parametrize("streamed", [False, True])
def test_estimates_are_those_of_weighted_scores(file: Path, streamed, monkeypatch) -> None:
    if streamed:
        monkeypatch.setattr(score_options, "too_large", lambda *_: True)
    result = run("ece", file, *WEIGHTED, "--estimate-only", "--json")
    assert result.exit_code == 0, result.output
    (row,) = json.loads(result.stdout)["results"]
    scores = bc.read_scores(file, label="y", score="honest", weight="w")
    expected = bc.ece.estimate(scores)
    w = scores.sample_weight[scores.y_true >= 0]
    assert row["n"] == len(w) == scores.n_labeled
    assert row["effective_n"] == pytest.approx(w.sum() ** 2 / (w**2).sum(), abs=0.051)
    assert row["ece_point"] == pytest.approx(float(expected.ece))
    assert row["l2_debiased"] == pytest.approx(float(expected.l2_debiased))


@pytest.mark.parametrize("streamed", [False, True])
def test_a_fit_shows_rows_and_effective_rows(file: Path, streamed, monkeypatch, tmp_path) -> None:
    if streamed:
        monkeypatch.setattr(score_options, "too_large", lambda *_: True)
    page = tmp_path / "weighted.html"
    result = run("ece", file, *WEIGHTED, "--quick", "-o", page)
    assert result.exit_code == 0, result.output
    scores = bc.read_scores(file, label="y", score="honest", weight="w")
    w = scores.sample_weight[scores.y_true >= 0]
    effective = f"{w.sum() ** 2 / (w**2).sum():.0f}"
    assert "rows (effective)" in result.stdout
    assert f"{len(w)} ({effective})" in result.stdout
    assert f"(effective number {effective})" in page.read_text()


def test_patterns_leave_the_column_of_weights_out(file: Path) -> None:
    every = ["--label", "y", "--score", "?", "--weight", "w"]
    result = run("ece", file, *every, "--estimate-only")
    assert "weighted.parquet has no column that matches '?'" in result.stderr


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("weight", "weighted.parquet has no column 'weight'"),
        ("word", "column 'word' of weighted.parquet must be numbers; got"),
    ],
)
def test_bad_columns_are_refused_in_words(file: Path, column, message) -> None:
    result = run("ece", file, "--label", "y", "--score", "honest", "--weight", column, "--quick")
    assert result.exit_code != 0
    assert message in result.stderr


def test_pymc_needs_whole_rows(file: Path) -> None:
    result = run("ece", file, *WEIGHTED, "--prior", "flat")
    assert result.exit_code != 0
    assert "Add --quick." in result.stderr


def test_a_report_takes_weights(file: Path, tmp_path) -> None:
    page = tmp_path / "report.html"
    result = run("report", file, *WEIGHTED, "--quick", "-o", page)
    assert result.exit_code == 0, result.output
    assert "Effective rows" in page.read_text()


@pytest.mark.parametrize("command", ["ssme", "credal", "pu-ece"])
def test_other_commands_have_no_weights(file: Path, command) -> None:
    result = run(command, file, "--weight", "w")
    assert result.exit_code != 0
    assert "--weight" in result.stderr
