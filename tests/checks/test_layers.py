"""What import contracts cannot see: no layer above the quantities names one of them."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from bayescal.quantities import OWN, quantities
from bayescal.results import schema

PACKAGE = Path(__file__).parents[2] / "bayescal"
LAYERS = ("cli", "report", "plots", "workflow", "results")
# Upgrades what older versions wrote, whose quantities it has to know.
LEGACY = {"results/io.py"}
# Variables and metrics have names of their own, and `ece` is one of them.
VARIABLES = {"ece"}
# Layers that read results by the roles of their variables.
READ_BY_ROLE = ("results", "cli", "plots", "report")


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


# Functions that read a variable of a result by its name.
READERS = {
    *("variable", "has_variable", "scalar", "flat_draws", "posterior_mean", "described", "has"),
    *("interval", "reference_estimates", "number_of"),
}
# The names that the schema itself defines for every result.
OWN_NAMES = {value for value in vars(schema).values() if isinstance(value, str)}
# Columns of tables that are named as a variable is.
COLUMNS = {"curve"}
# What only one quantity shows: its figures and its sections.
OF_ONE_QUANTITY = {"plots/sections.py", "report/quantity_sections.py"}


def variables_named(tree: ast.AST) -> Iterator[str]:
    """Variables of a quantity that are read, looked up or compared with by their names."""
    for node in ast.walk(tree):
        found: list[ast.AST] = []
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            found = [*node.args] if name in READERS else []
        elif isinstance(node, ast.Compare):
            sides = (node.left, *node.comparators)
            found = [one for side in sides for one in getattr(side, "elts", [side])]
        elif isinstance(node, ast.Subscript) and not isinstance(node.value, ast.Call):
            found = [node.slice]
        for one in found:
            if isinstance(one, ast.Constant) and one.value in NAMES:
                yield f"line {one.lineno}: {one.value}"


NAMES = (
    {
        one.name.rpartition("/")[2]
        for quantity in quantities().values()
        for one in quantity.VARIABLES
    }
    - OWN_NAMES
    - COLUMNS
)


@pytest.mark.parametrize(
    "path",
    [
        path
        for path in FILES
        if path.relative_to(PACKAGE).parts[0] in READ_BY_ROLE
        and path.relative_to(PACKAGE).as_posix() not in OF_ONE_QUANTITY
    ],
    ids=lambda path: path.relative_to(PACKAGE).as_posix(),
)
def test_no_variable_of_a_quantity_is_named(path: Path) -> None:
    """What reads results asks their variables by role, or by names that the schema has."""
    assert list(variables_named(ast.parse(path.read_text(encoding="utf-8")))) == []


def test_a_type_of_arrays_is_defined_once() -> None:
    text = "type Floats = NDArray[np.float64]\n"
    found = [path for path in PACKAGE.rglob("*.py") if text in path.read_text(encoding="utf-8")]
    assert found == [PACKAGE / "core" / "columns.py"]
