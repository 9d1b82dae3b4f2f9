"""Packages whose names load on first use (PEP 562), so that arithmetic never loads a sampler."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(
    package: dict[str, Any], home: Mapping[str, str], modules: Iterable[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make the `__getattr__` and `__dir__` of a package."""
    own: str = package["__name__"]
    packages = frozenset(modules)

    def getattr_(name: str) -> Any:
        if name in home:
            value = getattr(import_module(f"{own}.{home[name]}"), name)
        elif name in packages:
            value = import_module(f"{own}.{name}")
        else:
            raise AttributeError(f"module {own!r} has no attribute {name!r}")
        package[name] = value
        return value

    def dir_() -> list[str]:
        return sorted(set(package) | set(home) | packages)

    return getattr_, dir_
