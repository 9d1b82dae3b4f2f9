"""Import a package without a package that it imports and hardly needs.

importlib's LazyLoader does not serve: importing a module whose loading it puts off loads it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any


@contextmanager
def on_demand(name: str) -> Iterator[None]:
    """Within the block, importing a module costs nothing until something of it is used."""
    if name in sys.modules:
        yield
        return
    stand_in = sys.modules[name] = _StandIn(name)
    try:
        yield
    finally:
        stand_in._leave()


class _StandIn(ModuleType):
    """A module that is loaded when something of it is used."""

    def __getattr__(self, name: str) -> Any:
        self._leave()
        return getattr(import_module(self.__name__), name)

    def _leave(self) -> None:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
