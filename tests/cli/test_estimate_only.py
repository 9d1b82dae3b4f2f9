"""``bayescal ece --estimate-only``: the paper's numbers, without anything heavy."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyarrow import parquet

import bayescal as bc
from bayescal.cli.main import cli
from bayescal.core import score_options
from bayescal.quantities.ece.estimator import estimate

BOTH = ["--label", "y", "--score", "honest", "--score", "bold"]


def run(*arguments: object, code: int = 0) -> str:
    result = CliRunner().invoke(cli, ["ece", *map(str, arguments), "--estimate-only"])
    assert result.exit_code == code, result.output
    return result.stdout if code == 0 else result.stderr


def rows(*arguments: object) -> list[dict[str, object]]:
    return json.loads(run(*arguments, "--json"))["results"]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("streamed", [False, True])
def test_the_numbers_are_those_of_the_estimator(files: Path, kind, streamed, monkeypatch) -> None:
    if streamed:
        monkeypatch.setattr(score_options, "too_large", lambda *_: True)
    file = files / f"scores.{kind}"
    scores = bc.read_scores(file, label="y", score=["honest", "bold"])
    expected = estimate(scores, n_bins=8, strategy="uniform", closed="left")
    found = rows(file, *BOTH, "--n-bins", 8, "--strategy", "uniform", "--closed", "left")
    assert [row["case"] for row in found] == ["honest", "bold"]
    assert [row["n"] for row in found] == [570, 570]
    for name in ("ece", "mce", "l2", "l2_debiased"):
        key = f"{name}_point" if name in ("ece", "mce") else name
        np.testing.assert_allclose([row[key] for row in found], getattr(expected, name))


@pytest.mark.parametrize("streamed", [False, True])
def test_the_optimal_number_of_bins_is_that_of_the_labelled_rows(
    files: Path, streamed, monkeypatch
) -> None:
    if streamed:
        monkeypatch.setattr(score_options, "too_large", lambda *_: True)
    found = rows(files / "scores.csv", *BOTH, "--bins", "optimal")
    nine = rows(files / "scores.csv", *BOTH, "--n-bins", 9)  # 8^3 = 512 < 570 <= 9^3
    assert found == nine


def test_another_word_than_optimal_is_refused_before_the_file_is_read() -> None:
    words = run("no-such-file.csv", *BOTH, "--bins", "best", code=2)
    assert "--n-bins must be a whole number >= 1; got 'best'" in words


def test_groups_share_the_optimal_number_of_bins(files: Path) -> None:
    given = ["--label", "y", "--score", "bold", "--group", "region"]
    found = rows(files / "scores.csv", *given, "--bins", "optimal")
    seven = rows(files / "scores.csv", *given, "--n-bins", 7)  # 570 rows in two groups: 6^3 < 285
    assert found == seven


def test_the_table_shows_them_rounded(files: Path) -> None:
    (row, _) = rows(files / "scores.csv", *BOTH)
    out = run(files / "scores.csv", *BOTH)
    assert f"{row['ece_point']:.4f}" in out
    assert "ECE, plug-in" in out


def test_groups_are_rows_of_their_own(files: Path, table: pa.Table) -> None:
    found = rows(files / "scores.csv", "--label", "y", "--score", "bold", "--group", "region")
    assert [row["group"] for row in found] == ["north", "south"]
    north = table.filter(pa.compute.equal(table["region"], "north"))
    alone = bc.Scores(y_true=north["y"], y_prob=north["bold"])
    assert found[0]["ece_point"] == pytest.approx(float(estimate(alone).ece))
    assert found[0]["n"] + found[1]["n"] == 570


def test_a_group_without_a_label_is_left_out(tmp_path: Path) -> None:
    table = pa.table({"y": [1, 0, None], "p": [0.8, 0.3, 0.5], "g": ["a", "a", "b"]})
    parquet.write_table(table, tmp_path / "a.parquet")
    found = rows(tmp_path / "a.parquet", "--label", "y", "--score", "p", "--group", "g")
    assert [row["group"] for row in found] == ["a"]


@pytest.mark.parametrize("kind", ["top-label", "class-wise", "marginal"])
def test_several_classes(tmp_path: Path, kind: str) -> None:
    rng = np.random.default_rng(3)
    p = rng.dirichlet(np.ones(3), 300)
    y = np.array([rng.choice(3, p=row) for row in p])
    names = ["cat", "dog", "owl"]
    columns = {"y": np.array(names)[y]} | dict(zip(names, p.T, strict=True))
    parquet.write_table(pa.table(columns), tmp_path / "pets.parquet")
    options = [part for name in names for part in ("--score", name)]
    found = rows(tmp_path / "pets.parquet", "--label", "y", *options, "--multiclass", kind)
    expected = estimate(bc.Scores(y_true=y, y_prob=p), multiclass=kind)
    np.testing.assert_allclose([row["ece_point"] for row in found], np.atleast_1d(expected.ece))
    np.testing.assert_allclose([row["mce_point"] for row in found], np.atleast_1d(expected.mce))
    cases = {
        "top-label": ["pets"],
        "class-wise": ["pets / cat", "pets / dog", "pets / owl"],
        "marginal": ["pets"],
    }
    assert [row["case"] for row in found] == cases[kind]


@pytest.mark.parametrize("option", [["--quick"], ["-o", "a.nc"]])
def test_options_about_a_posterior_are_refused(files: Path, option: list[str]) -> None:
    said = run(files / "scores.csv", *BOTH, *option, code=2)
    assert "computes no posterior" in said
    assert said.count("\n") == 1


@pytest.mark.mcmc
def test_nothing_heavy_is_loaded(files: Path) -> None:
    code = f"""
import sys
from bayescal.cli.main import main
for label, pos in (("y", "1"), ("word", "yes")):
    arguments = ["--label", label, "--pos-label", pos, "--score", "bold", "--estimate-only"]
    assert main(["ece", {str(files / "scores.parquet")!r}, *arguments]) == 0
heavy = {{"pymc", "pytensor", "arviz", "matplotlib", "sklearn", "pandas", "xarray"}}
assert heavy.isdisjoint(sys.modules), heavy & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_a_table_of_estimates_may_be_kept(files: Path, tmp_path: Path) -> None:
    output = tmp_path / "estimates.csv"
    run(files / "scores.csv", *BOTH, "-o", output)
    assert output.read_text().splitlines()[0].startswith("case,classifier,n,ece_point")
    assert len(output.read_text().splitlines()) == 3
