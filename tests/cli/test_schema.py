"""What ``--json`` prints, against the JSON Schema in the package."""

from __future__ import annotations

import json
from importlib.resources import files as resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from bayescal.cli.main import cli

jsonschema = pytest.importorskip("jsonschema")
SCHEMA = json.loads((resources("bayescal.cli") / "output.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
HONEST = ("--label", "y", "--score", "honest")


def printed(*given: object) -> Any:
    found = CliRunner().invoke(cli, [*map(str, given), "--json"])
    assert found.exit_code in (0, 1)
    return json.loads(found.stdout)


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize(
    "given",
    [
        ("ece", *HONEST, "--quick", "--measure", "e90"),
        ("ece", *HONEST, "--score", "bold", "--quick", "--group", "region"),
        ("ece", *HONEST, "--quick", "--prior", "jeffreys"),
        ("ece", *HONEST, "--estimate-only"),
        ("check", *HONEST, "--score", "bold", "--max", "tce=.05", "--min", "auc=.8"),
    ],
)
def test_what_is_printed_is_valid(given: tuple[str, ...], files: Path) -> None:
    command, *options = given
    VALIDATOR.validate(printed(command, files / "scores.csv", *options))


@pytest.mark.parametrize("multiclass", ["marginal", "class-wise", "top-label"])
def test_classes_are_valid(multiclass: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    scores = rng.dirichlet([1, 1, 1], 120)
    label = [rng.choice(3, p=row) for row in scores]
    lines = [f"{k},{a},{b},{c}" for k, (a, b, c) in zip(label, scores, strict=True)]
    path = tmp_path / "classes.csv"
    path.write_text("\n".join(["y,p_0,p_1,p_2", *lines]))
    given = ("--label", "y", "--score", "p_*", "--multiclass", multiclass)
    VALIDATOR.validate(printed("ece", path, *given, "--quick"))
    VALIDATOR.validate(printed("check", path, *given, "--max", "tce=.2"))


@pytest.fixture(scope="module")
def checked(files: Path) -> Any:
    return printed("check", files / "scores.csv", *HONEST, "--max", "tce=.05")


@pytest.mark.parametrize(
    ("name", "value"),
    [("schema_version", 2), ("holds", "yes"), ("with_probability", 90), ("results", [])],
)
def test_what_has_another_form_is_not_valid(name: str, value: object, checked: Any) -> None:
    assert not VALIDATOR.is_valid({**checked, name: value})
    assert not VALIDATOR.is_valid({key: one for key, one in checked.items() if key != name})
