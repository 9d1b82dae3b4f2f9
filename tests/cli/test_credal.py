"""``bayescal credal``: the same numbers as in Python, and refusals in one line."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import bayescal as bc
from bayescal.cli.main import cli
from bayescal.core.errors import InputError
from bayescal.quantities.credal.command import priors_from_text

COLUMNS = ["--label", "y", "--score", "a", "--score", "b"]
QUICK = ["--prior", "bins:5", "--quick", "--draws", 100, "--seed", 3]


def run(*arguments: object, command: str = "credal") -> Result:
    return CliRunner().invoke(cli, [*command.split(), *map(str, arguments)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows to calibrate on and rows without labels, of two classifiers; the same of 3 classes."""
    path = tmp_path_factory.mktemp("credal")
    rng = np.random.default_rng(5)
    truth = rng.normal(0, 1.5, 160)
    label = (rng.random(160) < 1 / (1 + np.exp(-truth))).astype(int)
    scores = np.round([1 / (1 + np.exp(-truth - rng.normal(0, s, 160))) for s in (0.2, 1)], 6)
    species = rng.integers(0, 3, 160)
    logit = rng.normal(size=(160, 3))
    logit[np.arange(160), species] += 2
    prob = np.exp(logit) / np.exp(logit).sum(axis=1, keepdims=True)
    for part, rows in (("cal", range(120)), ("new", range(120, 160))):
        known = part == "cal"
        lines = ["y,a,b" if known else "a,b"]
        many = ["species,cat,dog,eel" if known else "cat,dog,eel"]
        for i in rows:
            lines.append(",".join(map(str, [*([label[i]] if known else []), *scores[:, i]])))
            name = ["cat", "dog", "eel"][species[i]]
            many.append(",".join(map(str, [*([name] if known else []), *prob[i]])))
        (path / f"{part}.csv").write_text("\n".join(lines) + "\n")
        (path / f"{part}3.csv").write_text("\n".join(many) + "\n")
    return path


@pytest.fixture(scope="module")
def data(folder: Path) -> bc.CalibrationSplit:
    calibration = bc.read_scores(folder / "cal.csv", label="y", score=["a", "b"])
    scores = np.loadtxt(folder / "new.csv", delimiter=",", skiprows=1)
    target = bc.Scores.stack(
        {"a": scores[:, 0], "b": scores[:, 1]}, y_true=[None] * 40, classes=[0, 1]
    )
    return bc.CalibrationSplit(calibration=calibration, target=target)


def both(folder: Path, number: str = "") -> list[Path]:
    return [folder / f"cal{number}.csv", folder / f"new{number}.csv"]


@pytest.mark.mcmc
def test_it_prints_and_keeps_what_python_computes(
    folder: Path, data: bc.CalibrationSplit, tmp_path: Path
) -> None:
    output, page, rows = (tmp_path / name for name in ("c.nc", "c.html", "rows.csv"))
    result = run(*both(folder), *COLUMNS, *QUICK, "-o", output, "--report", page, "-o", rows, "-v")
    assert result.exit_code == 0, result.output
    priors = bc.credal.Priors(bc.credal.ImpreciseDirichlet(bins=5))
    expected = bc.fit(bc.credal, data, priors=priors, method="direct", draws=100, seed=3)
    kept = bc.load(output)
    assert kept["posterior"]["prob_lower"].equals(expected["posterior"]["prob_lower"])
    assert "<html" in page.read_text()
    assert sorted(tmp_path.iterdir()) == sorted([output, page, rows])
    frame = bc.row_table(expected)
    with rows.open(newline="") as file:
        listed = list(csv.DictReader(file))
    assert [float(row["upper"]) for row in listed] == pytest.approx(list(frame["upper"]))
    assert [row["open"] for row in listed] == list(frame["open"])
    decided = int((frame[frame["classifier"] == "a"]["n_open"] == 1).sum())
    line = next(line for line in result.stdout.splitlines() if line.split()[:1] == ["a"])
    assert line.split()[1] == "120"
    assert f"{decided} of 40  " in line
    assert "imprecise Dirichlet" in result.stdout


def test_a_reversed_score_is_said_in_terms_of_the_command(folder: Path, tmp_path: Path) -> None:
    lines = (folder / "cal.csv").read_text().splitlines()[1:]
    turned = [f"{1 - int(y)},{a}" for y, a, _ in (line.split(",") for line in lines)]
    (path := tmp_path / "turned.csv").write_text("\n".join(["y,a", *turned]))
    given = [*COLUMNS[:4], "--prior", "steps:5", "--quick", "--draws", 100]
    said = run(path, folder / "new.csv", *given).stderr
    assert "Reverse the score, or use --prior average or bins." in said


def test_json_has_the_summary_and_the_rows(folder: Path, data: bc.CalibrationSplit) -> None:
    found = json.loads(run(*both(folder), *COLUMNS, *QUICK, "--s", 2, "--json").stdout)
    assert (found["n_labeled"], found["n_target"], found["s"]) == (120, 40, 2)
    own = json.loads(run(*both(folder), *COLUMNS, *QUICK, "--prior", "bins:5,s=2", "--json").stdout)
    assert (own["s"], own["results"]) == (None, found["results"])
    assert found["converged"] is True
    assert len(found["rows"]) == 80
    priors = bc.credal.Priors(bc.credal.ImpreciseDirichlet(s=2, bins=5))
    expected = bc.fit(bc.credal, data, priors=priors, method="direct", draws=100, seed=3)
    width = bc.summary(expected)["width"]
    assert [row["width"] for row in found["results"]] == pytest.approx(list(width))


def test_estimates_of_all_rows_without_a_posterior(
    folder: Path, data: bc.CalibrationSplit, tmp_path: Path
) -> None:
    rows = tmp_path / "rows.csv"
    result = run(*both(folder), *COLUMNS, "--estimate-only", "--json", "-o", rows)
    assert result.exit_code == 0, result.output
    listed = json.loads(result.stdout)["results"]
    expected = bc.credal.estimate(data)
    assert [row["p0"] for row in listed] == pytest.approx(list(expected.p0.ravel()))
    assert [row["merged"] for row in listed] == pytest.approx(list(expected.prob.ravel()))
    assert len(rows.read_text().splitlines()) == 81
    printed = run(*both(folder), *COLUMNS, "--estimate-only").stdout
    assert "and 70 more" in printed
    assert "no interval" in printed


def test_a_failed_fit_is_said_and_has_its_exit_code(folder: Path) -> None:
    few = ["--prior", "steps:5", "--draws", 50, "--seed", 3, "--quick"]
    result = run(*both(folder), *COLUMNS[:4], *few)
    assert result.exit_code == 3, result.output
    assert "NOT CONVERGED, do not use these numbers" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([*COLUMNS, "--prior", "wat"], "--prior must be average, curve"),
        ([*COLUMNS, "--prior", "curve:3"], "--prior must be average, curve"),
        ([*COLUMNS, "--prior", "bins,t=3"], "--prior must be average, curve"),
        ([*COLUMNS, "--prior", "bins:0"], "bins must be a whole number"),
        ([*COLUMNS, "--s", "0"], "--s must be a number in (0, inf)"),
        ([*COLUMNS, "--multiclass"], "three classes or more"),
    ],
)
def test_refusals_are_one_line(folder: Path, arguments: list[str], words: str) -> None:
    result = run(*both(folder), *arguments)
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert words in result.stderr


def test_ten_labels_need_multiclass(tmp_path: Path) -> None:
    rows = [f"{k % 10},{k / 40}" for k in range(40)]
    (tmp_path / "ten.csv").write_text("\n".join(["y,p", *rows]) + "\n")
    result = run(tmp_path / "ten.csv", tmp_path / "ten.csv", "--label", "y", "--score", "p")
    assert result.exit_code == 2
    assert "Pass --multiclass and a --score for each class" in result.stderr
    assert "y_prob" not in result.stderr


def test_several_classifiers_of_several_classes(folder: Path, tmp_path: Path) -> None:
    for part in ("cal3", "new3"):
        header, *rows = (folder / f"{part}.csv").read_text().splitlines()
        label = header.split(",")[:-3]
        names = [*label, *(f"{k}_{c}" for k in ("vit", "gbm") for c in ("cat", "dog", "eel"))]
        lines = [f"{row},{','.join(row.split(',')[-3:])}" for row in rows]
        (tmp_path / f"{part}.csv").write_text("\n".join([",".join(names), *lines]) + "\n")
    given = ["--label", "species", "--classifier", "vit=vit_*", "--classifier", "gbm=gbm_*"]
    result = run(tmp_path / "cal3.csv", tmp_path / "new3.csv", *given, *QUICK, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["classes"] == ["cat", "dog", "eel"]
    assert [row["classifier"] for row in found["results"]] == ["vit", "gbm"]
    # The columns are the same, and so are the widths of a conjugate model, but for the draws.
    first, second = (row["width"] for row in found["results"])
    assert first == pytest.approx(second, rel=0.1)


def test_bad_target_files(folder: Path, tmp_path: Path) -> None:
    missing = run(folder / "cal.csv", tmp_path / "new.csv", *COLUMNS)
    assert missing.exit_code == 2
    assert "there is no file" in missing.stderr
    bad = tmp_path / "bad.csv"
    bad.write_text("a,b\n0.1,0.2\n3.5,0.1\n")
    result = run(folder / "cal.csv", bad, *COLUMNS, *QUICK)
    assert result.exit_code == 2
    assert "column 'a' of bad.csv" in result.stderr


def test_priors_in_words() -> None:
    assert priors_from_text("Average") == bc.credal.Priors()
    assert priors_from_text("curve") == bc.credal.Priors(bc.credal.MonotoneCurve())
    assert priors_from_text("steps:7", 2.0) == bc.credal.Priors(
        bc.credal.IncrementIsotonic(bins=7, s=2.0)
    )
    assert priors_from_text("bins:optimal") == bc.credal.Priors(
        bc.credal.ImpreciseDirichlet(bins="optimal")
    )
    with pytest.raises(InputError, match="s must be"):
        priors_from_text("bins,s=-1")


@pytest.mark.slow
def test_sensitivity(folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "grid.nc"
    priors = ["--prior", "bins:5", "--prior", "bins:3,s=2"]
    given = [*both(folder), *COLUMNS, *priors, *QUICK[2:]]
    result = run(*given, "-o", output, command="sensitivity credal")
    assert result.exit_code == 0, result.output
    kept = bc.load(output)
    assert kept.attrs["conclusion_var"] == "prob"
    assert list(kept["posterior"]["prior"].values) == ["bins:5", "bins:3,s=2"]
    assert "The decisions of a " in result.stdout


def test_weights_of_calibration_rows_are_those_of_python(folder: Path, tmp_path: Path) -> None:
    head, *rows = (folder / "cal.csv").read_text().splitlines()
    path = tmp_path / "cal.csv"
    weighted = [f"{row},{1 + place % 3}" for place, row in enumerate(rows)]
    path.write_text("\n".join([f"{head},w", *weighted]) + "\n")
    given = ["--label", "y", "--score", "a", "--weight", "w", "--estimate-only", "--json"]
    found = json.loads(run(path, folder / "new.csv", *given).stdout)["results"]
    calibration = bc.read_scores(path, label="y", score="a", weight="w")
    target = np.loadtxt(folder / "new.csv", delimiter=",", skiprows=1)[:, 0]
    expected = bc.credal.estimate(bc.CalibrationSplit(calibration=calibration, target=target))
    assert [row["p1"] for row in found] == pytest.approx(expected.p1.ravel().tolist(), abs=1e-12)
    plain = bc.CalibrationSplit(
        calibration=bc.read_scores(path, label="y", score="a"), target=target
    )
    assert not np.allclose(expected.p1, bc.credal.estimate(plain).p1)
