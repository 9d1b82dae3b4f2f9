"""Every public object is documented as numpydoc asks (the checks are in pyproject.toml)."""

import inspect
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from numpydoc.validate import validate

import bayescal

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"
LEFT_OUT = set(tomllib.loads(PYPROJECT.read_text())["tool"]["numpydoc_validation"]["checks"])


def public(module: ModuleType) -> Iterator[str]:
    """Full names of a module's public functions and classes, and of the classes' methods."""
    here = [name for name, value in vars(module).items() if _defined_in(module, name, value)]
    for name in getattr(module, "__all__", here):
        found = getattr(module, name)
        if inspect.ismodule(found):
            yield from public(found)
        elif inspect.isclass(found):
            yield (home := f"{found.__module__}.{found.__qualname__}")
            for member, value in vars(found).items():
                named = inspect.isroutine(value) or isinstance(value, property)
                # scikit-learn puts methods of its own into the classes that derive from its.
                ours = not type(value).__module__.startswith("sklearn.")
                if named and ours and not member.startswith("_"):
                    yield f"{home}.{member}"
        elif inspect.isfunction(found):
            yield f"{found.__module__}.{found.__qualname__}"


def _defined_in(module: ModuleType, name: str, value: object) -> bool:
    return not name.startswith("_") and getattr(value, "__module__", None) == module.__name__


@pytest.mark.parametrize("name", sorted(set(public(bayescal))))
def test_numpydoc_finds_nothing_to_say(name: str) -> None:
    errors = [(code, words) for code, words in validate(name)["errors"] if code not in LEFT_OUT]
    assert errors == []
