"""The registry of quantities: the package's own, and those of installed packages.

The package's own are the folders here. Another package adds a quantity by an entry point of the
group ``bayescal.quantities`` that names a module of the shape `bayescal.core.quantity.Quantity`, a
program by `register`.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, Final, cast

from bayescal.core.errors import InputError

if TYPE_CHECKING:
    from bayescal.core.quantity import Quantity

OWN: Final = tuple(sorted(module.name for module in iter_modules(__path__) if module.ispkg))
"""Names of the package's own quantities."""
ENTRY_POINTS: Final = "bayescal.quantities"

_REGISTERED: dict[str, Quantity] = {}


def quantities() -> dict[str, Quantity]:
    """All quantities by name: the package's own, then those of entry points and `register`."""
    return {**_installed(), **_REGISTERED}


def register(quantity: Quantity) -> None:
    """Add a quantity for as long as the process lives.

    Parameters
    ----------
    quantity : Quantity
        A module of the shape `bayescal.core.quantity.Quantity`.

    Raises
    ------
    InputError
        If another quantity has its name.
    """
    quantity = _adapted(quantity)
    found = quantities().get(quantity.NAME, quantity)
    if found is not quantity:
        raise InputError(
            f"a quantity named {quantity.NAME!r} is registered already. Choose another NAME."
        )
    _REGISTERED[quantity.NAME] = quantity


def quantity_named(quantity: Quantity | str) -> Quantity:
    """Find a quantity by its name; a quantity itself is passed through."""
    if not isinstance(quantity, str):
        if not hasattr(quantity, "NAME"):
            raise InputError(
                f"quantity must be a quantity or its name; got {type(quantity).__name__}. "
                f"Pass one of {', '.join(map(repr, quantities()))}."
            )
        return _adapted(quantity)
    if quantity in OWN:
        return _own(quantity)
    from bayescal.core.checks import check_known

    found = quantities()
    check_known(quantity, tuple(found), "quantity", "bayescal")
    return found[quantity]


def of_tables() -> Quantity:
    """The quantity that a table of scores is fitted to where none is named."""
    return next(found for found in quantities().values() if found.COMMAND.reports)


def _adapted(quantity: Any) -> Quantity:
    if hasattr(quantity, "VARIABLES"):
        return cast("Quantity", quantity)
    from bayescal.quantities.base import adapted

    return adapted(quantity)


def _own(name: str) -> Quantity:
    """Load one of the package's own quantities, and no other."""
    return cast("Quantity", import_module(f"{__name__}.{name}"))


@cache
def _installed() -> dict[str, Quantity]:
    from importlib.metadata import entry_points

    own = map(_own, OWN)
    added = [_adapted(point.load()) for point in entry_points(group=ENTRY_POINTS)]
    return {quantity.NAME: quantity for quantity in (*own, *added)}


def __getattr__(name: str) -> Any:
    """Load one of the package's own quantities on first use (PEP 562)."""
    if name not in OWN:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")
