"""Every public object is documented as numpydoc asks (the checks are in pyproject.toml)."""

import tomllib
from pathlib import Path

import pytest
from numpydoc.validate import validate

from tests.checks.public_names import public

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"
LEFT_OUT = set(tomllib.loads(PYPROJECT.read_text())["tool"]["numpydoc_validation"]["checks"])


@pytest.mark.parametrize("name", sorted(set(public())))
def test_numpydoc_finds_nothing_to_say(name: str) -> None:
    errors = [(code, words) for code, words in validate(name)["errors"] if code not in LEFT_OUT]
    assert errors == []
