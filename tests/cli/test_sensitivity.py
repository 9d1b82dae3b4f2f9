"""``bayescal sensitivity``: the same numbers as in Python, in words."""

import json
import re
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

import bayescal as bc
from tests.cli import commands

FEW = ["--quick", "--draws", 250]
HONEST = ["--label", "y", "--score", "honest", *FEW]


run = partial(commands.run, "sensitivity")


def prior(*texts: str, option: str = "--prior") -> list[str]:
    return [part for text in texts for part in (option, text)]


@pytest.mark.mcmc
def test_it_prints_and_keeps_what_python_computes(files: Path, tmp_path: Path) -> None:
    output = tmp_path / "grid.nc"
    result = run(
        "ece",
        files / "scores.csv",
        *HONEST,
        *prior("curve", "smooth:0.2"),
        "--seed",
        3,
        "-o",
        output,
        "-v",
    )
    assert result.exit_code == 0, result.output
    scores = bc.read_scores(files / "scores.csv", label="y", score=["honest"])
    expected = bc.prior_sensitivity(
        bc.ece,
        scores,
        {"curve": bc.ece.Priors(), "smooth:0.2": bc.ece.Priors(bc.ece.SmoothCurve(scale=0.2))},
        seed=3,
        method="direct",
        draws=250,
    )
    assert expected.attrs["conclusion"] in result.stdout.replace("\n", " ")
    kept = bc.load(output)
    assert kept["posterior"]["tce"].equals(expected["posterior"]["tce"])
    assert list(tmp_path.iterdir()) == [output]


@pytest.mark.slow
def test_it_writes_a_report(files: Path, tmp_path: Path) -> None:
    output = tmp_path / "grid.html"
    result = run("ece", files / "scores.csv", *HONEST, *prior("curve", "jeffreys"), "-o", output)
    assert result.exit_code == 0, result.output
    assert "jeffreys" in output.read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_threshold_is_for_every_classifier(files: Path) -> None:
    result = run(
        "ece",
        files / "scores.csv",
        *HONEST,
        *("--score", "bold"),
        *prior("curve", "flat"),
        *("--threshold", 0.5, "-v"),
    )
    assert result.exit_code == 0, result.output
    assert result.stdout.count("The conclusion on the calibration error of") == 2
    assert " ".join(result.stdout.split()).count("lie below 0.5") == 2


@pytest.mark.mcmc
def test_class_priors_of_positives_and_unlabelled_rows(tmp_path: Path) -> None:
    data = bc.datasets.pu_ece.truth("near").scores((100, 500), 1)
    rows = pa.table(
        {
            "s": np.repeat([1, 0], [100, 500]),
            "f": np.concatenate([data.positive[0], data.unlabeled[0]]),
        }
    )
    csv.write_csv(rows, tmp_path / "pu.csv")
    beliefs = prior("beta:50,50", "0.55", option="--class-prior")
    result = run("pu-ece", tmp_path / "pu.csv", "--positive-column", "s", *beliefs, *FEW)
    assert result.exit_code == 0, result.output
    assert re.search(r"^ ?beta:50,50 .*\n ?0\.55 ", result.stdout, re.MULTILINE)
    assert "The conclusion on the calibration error" in result.stdout


@pytest.mark.mcmc
def test_without_several_priors_there_is_a_grid(files: Path) -> None:
    result = run("ece", files / "scores.csv", *HONEST, "--seed", 3, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    names = list(bc.ece.Priors().alternatives())
    assert [row["prior"] for row in found["results"]] == names
    scores = bc.read_scores(files / "scores.csv", label="y", score=["honest"])
    grid = bc.prior_sensitivity(bc.ece, scores, seed=3, method="direct", draws=250)
    assert found["conclusion"] == grid.attrs["conclusion"]
    assert found["robust"] is (grid.attrs["robust"] == "true")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (prior("curve", "curve:wide"), "--prior must be curve or smooth"),
        (prior("curve", "curve:-1"), "scale must be"),
        (prior("curve", " Curve"), "--prior must name each prior once; got 'curve' twice."),
        ([*prior("curve", "flat"), "-o", "grid.txt"], "must end in .nc"),
        (["--threshold", "5"], "--threshold for tce must be a number in [0, 1]; got 5.0. Divide"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_one_line(files, arguments, words) -> None:
    result = run("ece", files / "scores.csv", *HONEST, *arguments)
    assert result.exit_code == 2
    assert words in result.stderr
    assert result.stderr.count("\n") == 1


def test_names_and_priors_of_several_classifiers_are_whole_at_80_columns(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    rows = (files / "scores.csv").read_text(encoding="utf-8")
    names = {"honest": "logistic_regression", "bold": "gradient_boosting"}
    for name, longer in names.items():
        rows = rows.replace(name, longer, 1)
    (tmp_path / "scores.csv").write_text(rows, encoding="utf-8")
    scores = [part for name in names.values() for part in ("--score", name)]
    given = ["--label", "y", *scores, *FEW, *prior("flat", "jeffreys")]
    found = run("ece", tmp_path / "scores.csv", *given).stdout
    for name in names.values():
        for own in ("flat", "jeffreys"):
            assert re.search(rf"^{name} +{own} ", found, re.MULTILINE), found


def test_means_over_classes_have_their_prior_in_its_column(tmp_path: Path) -> None:
    path = tmp_path / "classes.csv"
    rows = ["y,p_a,p_b,p_c", *["a,.6,.3,.1", "b,.2,.5,.3", "c,.1,.2,.7"] * 20]
    path.write_text("\n".join(rows), encoding="utf-8")
    scores = ["--label", "y", "--score", "p_*", "--multiclass", "marginal", *FEW]
    found = run("ece", path, *scores, *prior("flat", "jeffreys")).stdout
    for own in ("flat", "jeffreys"):
        assert re.search(rf"^mean over classes +{own} ", found, re.MULTILINE), found


@pytest.mark.parametrize(("quantity", "var"), [("agnostic", "ks"), ("ece", "ici")])
def test_what_is_concluded_on_is_in_a_table_of_80_columns(
    quantity: str, var: str, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    found = run(quantity, files / "scores.csv", *HONEST, *prior("curve", "smooth"), "--var", var)
    tables = found.stdout.partition("Posterior")[0].replace("Left out", "\nLeft out")
    assert var in " ".join(line for line in tables.splitlines() if "Left out" not in line).split()
