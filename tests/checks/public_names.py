"""The public functions, classes and methods of the package."""

import inspect
from collections.abc import Iterator
from types import ModuleType

import bayescal


def public(module: ModuleType = bayescal) -> Iterator[str]:
    """Full names of a module's public functions and classes, and of the classes' methods."""
    here = [name for name, value in vars(module).items() if _defined_in(module, name, value)]
    for name in getattr(module, "__all__", here):
        found = getattr(module, name)
        if inspect.ismodule(found):
            yield from public(found)
        elif inspect.isclass(found):
            yield (home := f"{found.__module__}.{found.__qualname__}")
            for member, value in _members(found):
                named = inspect.isroutine(value) or isinstance(value, property)
                # scikit-learn puts methods of its own into the classes that derive from its.
                ours = not type(value).__module__.startswith("sklearn.")
                if named and ours and not member.startswith("_"):
                    yield f"{home}.{member}"
        elif inspect.isfunction(found):
            yield f"{found.__module__}.{found.__qualname__}"


def _members(kind: type) -> Iterator[tuple[str, object]]:
    """What a class defines, or takes from a base that is not public itself."""
    yield from vars(kind).items()
    if kind is bayescal.Scores:
        yield from vars(kind.__base__).items()


def _defined_in(module: ModuleType, name: str, value: object) -> bool:
    return not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
