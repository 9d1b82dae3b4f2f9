"""``bayescal ece --multiclass marginal``."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import bayescal as bc
from bayescal.cli.main import cli

CLASSES = ("cat", "dog", "owl")


@pytest.fixture(scope="module")
def pets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(4)
    p = rng.dirichlet((1, 2, 3), 400)
    y = (rng.random((400, 1)) > p.cumsum(axis=1)).sum(axis=1)
    path = tmp_path_factory.mktemp("pets") / "pets.csv"
    rows = [f"{CLASSES[k]},{a:.17g},{b:.17g},{c:.17g}" for k, (a, b, c) in zip(y, p, strict=True)]
    path.write_text("\n".join(["y,cat,dog,owl", *rows]))
    return path


def options(path: Path) -> list[str]:
    scores = [word for name in CLASSES for word in ("--score", name)]
    given = ["ece", str(path), "--label", "y", *scores, "--multiclass", "marginal"]
    return [*given, "--quick", "--seed", "2", "--n-bins", "5"]


@pytest.mark.mcmc
def test_the_json_has_the_classes_and_their_mean(pets: Path, tmp_path: Path) -> None:
    kept = tmp_path / "pets.nc"
    result = CliRunner().invoke(cli, [*options(pets), "--json", "-o", str(kept)])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    *rows, mean = found["results"]
    assert [row["class"] for row in rows] == list(CLASSES)
    assert mean["case"] == "mean over classes"
    expected = bc.marginal(bc.load(kept))
    assert mean["ece_mean"] == pytest.approx(expected.mean)
    assert (mean["ece_lower"], mean["ece_upper"]) == pytest.approx(expected[1:3])
    assert mean["ece_point"] == pytest.approx(np.mean([r["ece_point"] for r in rows]))
    assert mean["tce_mean"] == pytest.approx(np.mean([r["tce_mean"] for r in rows]))


@pytest.mark.slow
def test_the_table_ends_with_the_mean(pets: Path) -> None:
    result = CliRunner().invoke(cli, options(pets))
    assert result.exit_code == 0, result.output
    assert result.stdout.index("owl") < result.stdout.index("mean over classes")
