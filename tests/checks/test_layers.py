"""What import contracts cannot see: no layer above the quantities names one of them."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from bayescal.quantities import OWN

PACKAGE = Path(__file__).parents[2] / "bayescal"
LAYERS = ("cli", "report", "plots", "workflow", "results")
# Upgrades what older versions wrote, whose quantities it has to know.
LEGACY = {"results/legacy.py"}
# Variables and metrics have names of their own, and `ece` is one of them.
VARIABLES = {"ece"}


def strings(tree: ast.AST) -> Iterator[str]:
    """String constants, docstrings left out."""
    documented = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if id(node) in documented or not isinstance(node, ast.Constant):
            continue
        if isinstance(node.value, str):
            yield node.value


def imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


FILES = [
    path
    for layer in LAYERS
    for path in sorted((PACKAGE / layer).rglob("*.py"))
    if path.relative_to(PACKAGE).as_posix() not in LEGACY
]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_no_quantity_is_named(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {name for name in OWN if name not in VARIABLES}
    assert not [text for text in strings(tree) if text in names]
    modules = {f"bayescal.quantities.{name}" for name in OWN}
    assert not [name for name in imported(tree) if any(name.startswith(m) for m in modules)]
    assert not [name for name in imported(tree) if name in {f"bayescal.{own}" for own in OWN}]
