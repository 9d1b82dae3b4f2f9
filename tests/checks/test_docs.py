"""Readers find every quantity: in README, docs and notebooks; and the words are plain."""

import re
from pathlib import Path

import pytest

import bayescal
from bayescal import plots
from bayescal.core.quantity import DATA
from bayescal.quantities import OWN, quantities

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
PAGES += sorted((ROOT / "docs" / "details").glob("*.md"))
# Words of our own where the field has its terms.
QUAINT = (
    r"told|tells|hangs? on|holds? the truth|asked for|mend|yardsticks?|boastful|timid|the house"
    r"|rooms?"
)


def text(*parts: str) -> str:
    return ROOT.joinpath(*parts).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize(
    ("page", "mark"),
    [
        ("README.md", "(docs/{name}.md)"),
        ("docs/index.md", "{name}.md"),
        ("docs/api/{name}.md", "~bayescal.quantities.{name}.estimate"),
        ("docs/api/simulation.md", "bayescal.datasets.{name}.truth"),
        ("docs/architecture.md", "| `bayescal/quantities/{name}/` |"),
        ("docs/glossary.md", "({name}.md)"),
        ("docs/cli.md", "bayescal {command} "),
        ("docs/{name}.md", "notebooks/{name}"),
        ("CHANGELOG.md", "`{name}`"),
    ],
)
def test_readers_find_the_quantity(name: str, page: str, mark: str) -> None:
    wanted = mark.format(name=name, command=name.replace("_", "-"))
    found = page.format(name=name)
    assert wanted in text(*found.split("/")), f"{found} must hold {wanted!r}"


@pytest.mark.parametrize("name", OWN)
def test_a_quantity_has_a_notebook_and_tests(name: str) -> None:
    assert (ROOT / "notebooks" / f"{name}.ipynb").is_file()
    assert list((ROOT / "tests" / "quantities" / name).glob("test_*.py"))


def test_every_notebook_is_in_the_docs() -> None:
    pages = "".join(path.read_text(encoding="utf-8") for path in PAGES)
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        assert f"notebooks/{path.stem}" in pages, path.name


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_words_are_the_fields_terms(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    found = [line for line in lines if re.search(rf"\b({QUAINT})\b", line, flags=re.IGNORECASE)]
    assert found == []


def dims_of(name: str) -> set[str]:
    return {dim for one in quantities()[name].VARIABLES for dim in one.dims}


@pytest.mark.parametrize("name", OWN)
def test_dims_and_variables_are_in_the_schema(name: str) -> None:
    page = text("docs", "schema.md")
    shown = [one.name for one in quantities()[name].VARIABLES if one.role != DATA]
    for found in (*dims_of(name), *shown):
        assert f"`{found}`" in page, found


def test_the_registry_has_what_the_folders_have() -> None:
    assert set(OWN) <= set(quantities())


def documented(kind: str) -> set[str]:
    page = text("docs", "architecture.md")
    return set(re.findall(rf"^\| `{kind}(\w+)/` \|", page, flags=re.MULTILINE))


def packages(*parts: str) -> set[str]:
    return {path.parent.name for path in ROOT.joinpath("bayescal", *parts).glob("*/__init__.py")}


def test_the_architecture_page_lists_the_packages_that_exist() -> None:
    assert documented("bayescal/") == packages()
    assert documented("bayescal/quantities/") == packages("quantities")


def test_the_api_pages_list_every_public_name() -> None:
    pages = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs/api").glob("*.md"))
    listed = set(re.findall(r"bayescal\.(\w[\w.]*)", pages))
    modules = {"datasets", "measures", "plots", "__version__", *OWN}
    missing = [name for name in bayescal.__all__ if name not in modules | listed]
    assert missing == []
    assert [name for name in plots.__all__ if f"plots.{name}" not in listed] == []
