"""``bayescal ssme``: the same numbers as in Python, and refusals in one line."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import bayescal as bc
from bayescal.cli.main import cli
from bayescal.core.errors import InputError
from bayescal.quantities.ssme.command import priors_from_text
from bayescal.results.compare import best_records
from tests.cli.test_schema import VALIDATOR

COLUMNS = ["--label", "y", "--score", "a", "--score", "b", "--score", "c"]
WEIGHTED = ["--label", "y", "--score", "a", "--score", "b", "--weight", "c"]
FEW = ["--draws", 60, "--tune", 60, "--seed", 3]


def run(*arguments: object, command: str = "ssme") -> Result:
    return CliRunner().invoke(cli, [*command.split(), *map(str, arguments)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three classifiers of one truth, 30 of 150 rows labelled; and the same without labels."""
    rng = np.random.default_rng(5)
    truth = rng.normal(0, 1.5, 150)
    label = (rng.random(150) < 1 / (1 + np.exp(-truth))).astype(int)
    scores = [1 / (1 + np.exp(-truth - rng.normal(0, noise, 150))) for noise in (0.2, 0.6, 1)]
    path = tmp_path_factory.mktemp("panel")
    for name, known in (("some", 30), ("none", 0)):
        rows = [
            f"{label[i] if i < known else ''},{','.join(str(float(s[i])) for s in scores)},g{i % 2}"
            for i in range(150)
        ]
        (path / f"{name}.csv").write_text("\n".join(["y,a,b,c,g", *rows]) + "\n")
    return path


@pytest.mark.mcmc
def test_it_prints_and_keeps_what_python_computes(folder: Path, tmp_path: Path) -> None:
    output, page = tmp_path / "ssme.nc", tmp_path / "ssme.html"
    given = [folder / "some.csv", *COLUMNS, *FEW]
    result = run(*given, "-o", output, "--report", page, "-v")
    assert result.exit_code == 3, result.output
    assert "NOT CONVERGED" in result.stderr
    scores = bc.read_scores(folder / "some.csv", label="y", score=["a", "b", "c"])
    with pytest.warns(bc.ConvergenceWarning, match="Sample longer"):
        expected = bc.fit(bc.ssme, scores, seed=3, draws=60, tune=60, ece="equal-mass")
    kept = bc.load(output)
    assert kept["posterior"]["auc"].equals(expected["posterior"]["auc"])
    assert bc.best(expected).text in " ".join(result.stdout.split())
    assert "is raised to the power 0.75 * n / (n + 10)" in " ".join(result.stdout.split())
    assert "<html" in page.read_text()
    assert sorted(tmp_path.iterdir()) == sorted([output, page])
    found = json.loads(run(*given, "--json").stdout)
    VALIDATOR.validate(found)
    assert (found["n_obs"], found["n_labeled"], found["labeling"]) == (150, 30, "random")
    assert found["best"] == best_records(expected)
    row = next(r for r in found["results"] if (r["case"], r["metric"]) == ("b", "brier"))
    assert row["mean"] == pytest.approx(float(expected["posterior"]["brier"][..., 1].mean()))


def test_estimates_without_a_posterior(folder: Path) -> None:
    given = [folder / "some.csv", *COLUMNS, "--group", "g", "--estimate-only"]
    result = run(*given, "--json")
    assert result.exit_code == 0, result.output
    rows = json.loads(result.stdout)["results"]
    assert {row["method"] for row in rows} == {"ssme-kde", "ensemble", "labeled"}
    scores = bc.read_scores(folder / "some.csv", label="y", score=["a", "b", "c"], group="g")
    expected = bc.ssme.estimate_by_group(scores).accuracy[1, 0]
    row = next(r for r in rows if (r["case"], r["method"]) == ("b / g0", "ssme-kde"))
    assert row["accuracy"] == pytest.approx(float(expected))
    printed = " ".join(run(*given).stdout.split())
    assert f"{expected:.4f}" in printed
    assert not bc.ssme.estimate_by_group(scores).converged
    assert "SSME-KDE stopped after 50 epochs, the paper's most, short of conv" in printed


def test_no_labels_are_said_loudly(folder: Path) -> None:
    result = run(folder / "none.csv", *COLUMNS, "--estimate-only")
    assert result.exit_code == 0, result.output
    assert "warning: no row is labelled" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([*COLUMNS, "--prior", "wat"], "--prior must be agreement"),
        ([*COLUMNS, "--prior", "mean:x"], "--prior must be agreement"),
        ([*COLUMNS, "--prior", "mean:2"], "power must be a number in (0, 1]"),
        ([*COLUMNS, "--labeling", "some"], "--labeling"),
        ([*WEIGHTED, "--prior", "gaussian"], "Use --prior agreement, or leave out --weight."),
        ([*WEIGHTED, "--labeling", "one-per-class"], "that were labelled first, or --weight."),
    ],
)
def test_refusals_are_one_line(folder: Path, arguments: list[str], words: str) -> None:
    result = run(folder / "some.csv", *arguments)
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert words in result.stderr


def test_priors_in_words() -> None:
    assert priors_from_text("Agreement") == bc.ssme.Priors()
    assert priors_from_text("gaussian:1") == bc.ssme.Priors(bc.ssme.GaussianMixture(), 1, 0)
    assert priors_from_text("trusting") == bc.ssme.Priors.trusting()
    assert priors_from_text("student-t").label == bc.ssme.StudentTMixture()
    with pytest.raises(InputError, match="--prior must be"):
        priors_from_text("")


def test_the_classes_of_one_classifier_may_be_several(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    p = rng.dirichlet(np.ones(3), 80)
    y = [str(rng.choice(3, p=row)) if k < 30 else "" for k, row in enumerate(p)]
    lines = [
        f"{label},{','.join(map(repr, row.tolist()))}" for label, row in zip(y, p, strict=True)
    ]
    (tmp_path / "pets.csv").write_text("\n".join(["y,p_0,p_1,p_2", *lines]) + "\n")
    given = [tmp_path / "pets.csv", "--label", "y", "--score", "p_*", "--multiclass"]
    result = run(*given, "--estimate-only", "--json")
    assert result.exit_code == 0, result.output
    rows = json.loads(result.stdout)["results"]
    found = next(row for row in rows if row["method"] == "labeled")
    right = [row.argmax() == int(label) for label, row in zip(y[:30], p[:30], strict=True)]
    assert found["accuracy"] == pytest.approx(np.mean(right))


@pytest.mark.mcmc
def test_sensitivity(folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "grid.nc"
    priors = ["--prior", "agreement", "--prior", "agreement:1"]
    given = [folder / "some.csv", *COLUMNS, *priors, *FEW, "--metric", "auc"]
    result = run(*given, "-o", output, command="sensitivity ssme")
    assert result.exit_code in (0, 3), result.output
    kept = bc.load(output)
    assert kept.attrs["conclusion_var"] == "auc"
    assert list(kept["posterior"]["prior"].values) == ["agreement", "agreement:1"]
    assert "conclusion on the AUC of a" in result.stdout


def test_weights_are_those_of_python(folder: Path, tmp_path: Path) -> None:
    head, *rows = (folder / "some.csv").read_text().splitlines()
    weighted = [f"{row},{1 + place % 3}" for place, row in enumerate(rows)]
    path = tmp_path / "weighted.csv"
    path.write_text("\n".join([f"{head},w", *weighted]) + "\n")
    result = run(path, *COLUMNS, "--weight", "w", "--estimate-only", "--json")
    scores = bc.read_scores(path, label="y", score=["a", "b", "c"], weight="w")
    expected = bc.ssme.estimate(scores, ece="equal-mass").accuracy
    found = [row for row in json.loads(result.stdout)["results"] if row["method"] == "ssme-kde"]
    assert [row["accuracy"] for row in found] == pytest.approx(list(expected), abs=1e-9)
    plain = run(path, *COLUMNS, "--estimate-only", "--json")
    assert json.loads(plain.stdout)["results"] != json.loads(result.stdout)["results"]
