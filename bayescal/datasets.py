"""Simulators with known truth: ``datasets.ece`` is the simulator of the quantity ``ece``."""

from importlib import import_module
from types import ModuleType

from bayescal.quantities import OWN

__all__ = list(OWN)


def __getattr__(name: str) -> ModuleType:
    """Load the simulator of a quantity on first use (PEP 562)."""
    if name not in OWN:
        raise AttributeError(f"module 'bayescal.datasets' has no attribute {name!r}")
    return import_module(f"bayescal.quantities.{name}.simulator")


def __dir__() -> list[str]:
    """List the simulators, loaded or not."""
    return sorted({*globals(), *OWN})
