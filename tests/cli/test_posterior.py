"""``bayescal ece`` and ``bayescal report`` with a posterior."""

import csv
import json
from pathlib import Path

import pytest

import bayescal as bc
from bayescal.cli.options import fit_options
from bayescal.quantities.ece import command as reading
from tests.cli.commands import run

BOTH = ["--label", "y", "--score", "honest", "--score", "bold", "--quick"]


@pytest.fixture(scope="module")
def expected(files: Path):
    scores = bc.read_scores(files / "scores.csv", label="y", score=["honest", "bold"])
    return bc.fit(bc.ece, scores, seed=3, method="direct")


@pytest.mark.slow
def test_the_json_is_the_summary_of_the_same_fit(files: Path, expected) -> None:
    result = run("ece", files / "scores.csv", *BOTH, "--seed", 3, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    table = bc.summary(expected)
    assert found["status"] == expected.attrs["status"]
    assert found["sampler"] == expected.attrs["sampler"]
    assert found["seed"] == 3
    for name in ("ece_point", "ece_mean", "ece_lower", "ece_upper", "p_calibrated"):
        assert [row[name] for row in found["results"]] == pytest.approx(list(table[name]))


@pytest.mark.slow
@pytest.mark.parametrize("prior", ["curve", "flat"])
def test_a_file_read_in_batches_gives_the_same_posterior(files, monkeypatch, prior) -> None:
    options = ["--label", "y", "--score", "bold", "--quick", "--json", "--prior", prior]
    found = []
    for most in (10**9, 100):
        monkeypatch.setattr(reading, "MOST_VALUES", most)
        result = run("ece", files / "scores.parquet", *options)
        assert result.exit_code == 0, result.output
        found.append(json.loads(result.stdout)["results"][0])
    for name in ("n", "ece_point", "ece_mean", "ece_lower", "ece_upper", "p_calibrated"):
        assert found[1][name] == pytest.approx(found[0][name], rel=1e-6), name


@pytest.mark.slow
def test_options_reach_the_fit(files: Path, tmp_path: Path) -> None:
    output = tmp_path / "result.nc"
    options = ["--n-bins", 6, "--strategy", "uniform", "--closed", "left", "--prior", "jeffreys"]
    more = ["--prob", 0.8, "--label", "word", "--pos-label", "yes"]
    arguments = [*options, *more, "--score", "bold", "--quick", "--seed", 5, "-o", output]
    result = run("ece", files / "scores.csv", *arguments)
    assert result.exit_code == 0, result.output
    assert "80% interval" in result.stdout
    attrs = bc.load(output).attrs
    assert (attrs["n_bins"], attrs["binning_strategy"], attrs["closed"]) == (6, "uniform", "left")
    assert (attrs["seed"], attrs["prob"]) == (5, 0.8)
    assert "0.5" in attrs["priors"]


@pytest.mark.slow
def test_the_report_is_written_and_its_place_said(files: Path, tmp_path: Path) -> None:
    output = tmp_path / "calibration.html"
    result = run("report", files / "scores.csv", *BOTH, "-o", output, "--title", "<b>Ours</b>")
    assert result.exit_code == 0, result.output
    assert str(output) in result.stdout.replace("\n", "")
    page = output.read_text(encoding="utf-8")
    assert "&lt;b&gt;Ours&lt;/b&gt;" in page
    assert list(tmp_path.iterdir()) == [output]


@pytest.mark.mcmc
def test_by_default_it_samples_with_nuts(files: Path) -> None:
    arguments = ["--label", "y", "--score", "bold", "--json"]
    result = run("ece", files / "scores.csv", *arguments)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert "NUTS" in found["sampler"]
    assert found["converged"] is True


@pytest.mark.mcmc
def test_too_few_draws_are_computed_kept_and_reported_as_such(files: Path, tmp_path: Path) -> None:
    output = tmp_path / "report.html"
    arguments = ["--label", "y", "--score", "bold", "--draws", 20, "--tune", 10, "-o", output]
    result = run("report", files / "scores.csv", *arguments)
    assert result.exit_code == 3, result.output
    assert "NOT CONVERGED" in result.stdout
    assert result.stderr.startswith("bayescal: warning: NOT CONVERGED")
    assert "--draws 2000" in result.stderr
    assert result.stderr.count("\n") == 1
    assert "did not converge" in output.read_text(encoding="utf-8")


def test_the_defaults_are_those_of_python() -> None:
    import inspect

    python = inspect.signature(bc.fit).parameters
    ours = {option.name: option.default for option in fit_options(reading.COMMAND)}
    for name in ("draws", "tune", "target_accept", "prob"):
        assert ours[name] == python[name].default, name
    for name in ("n_bins", "strategy", "closed"):
        assert ours[name] == getattr(bc.Binning(), name), name


@pytest.mark.slow
def test_several_outputs_by_their_endings(files: Path, tmp_path: Path, expected) -> None:
    paths = [tmp_path / f"a.{ending}" for ending in ("nc", "html", "csv")]
    given = [part for path in paths for part in ("-o", path)]
    result = run("ece", files / "scores.csv", *BOTH, "--seed", 3, *given)
    assert result.exit_code == 0, result.output
    assert bc.load(paths[0])["posterior"]["ece"].equals(expected["posterior"]["ece"])
    assert f"Posterior: {expected.attrs['sampler']}." in result.stdout
    assert "<html" in paths[1].read_text(encoding="utf-8")
    with paths[2].open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["case"] for row in rows] == ["honest", "bold"]
    assert [float(row["ece_mean"]) for row in rows] == list(bc.summary(expected)["ece_mean"])
    assert sorted(tmp_path.iterdir()) == sorted(paths)
    for path in paths:
        assert f"Written: {path}" in result.stdout
