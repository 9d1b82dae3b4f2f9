"""What ``--json`` prints, against the JSON Schema in the package."""

import json
from importlib.resources import files as resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cli.commands import run

jsonschema = pytest.importorskip("jsonschema")
SCHEMA = json.loads((resources("bayescal.cli") / "output.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
SCORES = "scores.csv"
HONEST = ("--label", "y", "--score", "honest")


def printed(*given: object) -> Any:
    few = ("--draws", "250") if {"--quick", "check"} & {*given} else ()
    found = run(*given, *few, "--json")
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
        ("ssme", *HONEST, "--score", "bold", "--group", "region", "--estimate-only"),
        ("credal", SCORES, *HONEST, "--quick", "--prior", "bins"),
        ("credal", SCORES, *HONEST, "--estimate-only"),
        ("agnostic", *HONEST, "--score", "bold", "--quick"),
        ("agnostic", *HONEST, "--estimate-only"),
        ("plan", *HONEST, "--n", "50", "--replications", "2", "--limit", ".05"),
        ("sensitivity", "ece", *HONEST, "--quick"),
        ("sensitivity", "agnostic", *HONEST, "--quick", "--metric", "c"),
        (
            "sensitivity",
            "credal",
            SCORES,
            *HONEST,
            "--quick",
            "--prior",
            "bins",
            "--prior",
            "bins:5",
        ),
    ],
)
def test_what_is_printed_is_valid(given: tuple[str, ...], files: Path) -> None:
    options = [files / word if word == SCORES else word for word in given]
    place = 2 if given[0] == "sensitivity" else 1
    VALIDATOR.validate(printed(*options[:place], files / SCORES, *options[place:]))


@pytest.mark.parametrize("how", ["--quick", "--estimate-only"])
def test_positive_and_unlabelled_rows_are_valid(how: str, tmp_path: Path) -> None:
    score = np.random.default_rng(5).random(200)
    lines = [f"{int(place < 60)},{value}" for place, value in enumerate(score)]
    (tmp_path / "pu.csv").write_text("\n".join(["s,p", *lines]))
    given = ("--positive-column", "s", "--class-prior", "0.3..0.45", how)
    VALIDATOR.validate(printed("pu-ece", tmp_path / "pu.csv", *given))


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
    if multiclass == "marginal":
        for how in ("--quick", "--estimate-only"):
            VALIDATOR.validate(printed("temperature", path, *given[:-1], how))


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
