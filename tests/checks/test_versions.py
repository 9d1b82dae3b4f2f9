"""The versions that are tested are among those that pyproject.toml allows."""

import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"].values()
NEEDED = [Requirement(line) for part in (PROJECT["dependencies"], *EXTRAS) for line in part]


def pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pairs = [line.split("==") for line in lines if not line.startswith("#")]
    return {canonicalize_name(name): version for name, version in pairs}


@pytest.mark.parametrize("needed", NEEDED, ids=lambda needed: needed.name)
def test_the_version_tested_is_allowed(needed: Requirement) -> None:
    assert needed.specifier.contains(pins()[canonicalize_name(needed.name)])


@pytest.mark.parametrize("needed", NEEDED, ids=lambda needed: needed.name)
def test_the_lowest_version_is_said(needed: Requirement) -> None:
    assert any(one.operator == ">=" for one in needed.specifier)


def test_a_package_asked_for_twice_has_one_bound() -> None:
    assert len({(one.name, one.specifier) for one in NEEDED}) == len({one.name for one in NEEDED})


def test_the_pythons_named_are_allowed() -> None:
    python = "Programming Language :: Python :: "
    named = {one.removeprefix(python) for one in PROJECT["classifiers"] if one.startswith(python)}
    versions = named - {"3 :: Only"}
    assert min(versions) == PROJECT["requires-python"].removeprefix(">=")
    assert all(SpecifierSet(PROJECT["requires-python"]).contains(one) for one in versions)
