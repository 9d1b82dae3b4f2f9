"""Fields of what a function returns, on its page: of a result that has no page itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from inspect import get_annotations, getdoc
from pathlib import Path
from textwrap import indent
from types import FunctionType
from typing import Any

from numpydoc.docscrape import NumpyDocString
from sphinx.application import Sphinx
from sphinx.pycode import ModuleAnalyzer
from sphinx.util import logging
from sphinx.util.typing import ExtensionMetadata

_LOGGER = logging.getLogger(__name__)
_PAGES = Path(__file__).parent / "api"
_SPELLING = {
    "Floats": "ndarray of float",
    "Whole": "ndarray of int",
    "NDArray[np.float64]": "ndarray of float",
    "NDArray[np.bool_]": "ndarray of bool",
    "xr.": "xarray.",
    "pd.": "pandas.",
}


@cache
def _listed() -> frozenset[str]:
    """Names of what has a page or a place on one."""
    text = "".join(page.read_text(encoding="utf-8") for page in _PAGES.glob("*.md"))
    return frozenset(re.findall(r"\bbayescal\.(?:\w+\.)*(\w+)", text))


def _returned(function: FunctionType) -> list[type]:
    """The package's classes that a function is annotated to return."""
    names = re.findall(r"\w+", str(function.__annotations__.get("return", "")))
    found = [function.__globals__.get(name) for name in names if name not in _listed()]
    return [
        one for one in found if isinstance(one, type) and one.__module__.startswith("bayescal.")
    ]


def _fields(of: type) -> Iterator[str]:
    """Definitions of the fields and properties of a class, as reStructuredText."""
    documented = NumpyDocString(getdoc(of) or "")
    known = [*documented["Parameters"], *documented["Attributes"]]
    for one in known:
        yield from _definition(one.name, one.type, "\n".join(one.desc))
    comments = ModuleAnalyzer.for_module(of.__module__).find_attr_docs()
    named = {name for one in known for name in re.findall(r"\w+", one.name)}
    for name, kind in get_annotations(of).items():
        if name not in named and not name.startswith("_"):
            said = " ".join(comments.get((of.__name__, name), []))
            if not said:
                _LOGGER.warning("%s.%s has no description", of.__qualname__, name)
            yield from _definition(name, _spelled(getattr(kind, "__forward_arg__", kind)), said)
    for name, value in vars(of).items():
        if isinstance(value, property) and not name.startswith("_"):
            kind = _spelled(str(value.fget.__annotations__.get("return", "")))
            yield from _definition(name, kind, getdoc(value) or "")


def _spelled(kind: str) -> str:
    for ours, theirs in _SPELLING.items():
        kind = kind.replace(ours, theirs)
    return kind


def _definition(name: str, kind: str, said: str) -> list[str]:
    return ["", f"**{name}** : {kind}", *indent(said, "    ").splitlines()]


def add_fields(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Add the fields of what a function returns to the section on it."""
    if not isinstance(obj, FunctionType) or "Returns" not in lines:
        return
    found = _returned(obj)
    heads = {one: ["", f"{one.__name__}:"] * (len(found) > 1) for one in found}
    fields = [line for one in found for line in [*heads[one], *_fields(one)]]
    start = lines.index("Returns") + 2
    rules = (n for n, line in enumerate(lines[start:], start) if set(line.strip()) == {"-"})
    end = next(rules, len(lines) + 1) - 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    lines[end:end] = [*indent("\n".join(fields), "    ").splitlines(), ""]


def setup(app: Sphinx) -> ExtensionMetadata:
    """Let Sphinx change docstrings before numpydoc reads them."""
    app.connect("autodoc-process-docstring", add_fields, priority=400)
    return {"parallel_read_safe": True}
