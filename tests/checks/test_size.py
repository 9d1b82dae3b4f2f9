"""The package stays small enough for one head: lines by folder, files, and the longest file."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "bayescal"
# Lines of .py and .pyi. What a change adds to one folder it takes from there or says why not.
BUDGET = {
    "": 120,
    "quantities": 223,
    "cli": 2355,
    "core": 9596,
    "curves": 2662,
    "inference": 1979,
    "measures": 947,
    "plots": 3348,
    "quantities/agnostic": 3798,
    "quantities/credal": 6459,
    "quantities/ece": 2982,
    "quantities/pu_ece": 6224,
    "quantities/ssme": 5725,
    "quantities/temperature": 5030,
    "report": 3143,
    "results": 6846,
    "workflow": 2862,
}
MOST_FILES = 210
LONGEST = 600
TEST_LINES = 53_877


def lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def sources(folder: str) -> list[Path]:
    """Source files of a folder and below it; of the package and `quantities` only their own."""
    deep = folder not in {"", "quantities"}
    found = (PACKAGE / folder).rglob("*.py*") if deep else (PACKAGE / folder).glob("*.py*")
    return sorted(path for path in found if path.suffix in {".py", ".pyi"})


def folders() -> set[str]:
    """The layers, and each quantity."""
    parts = [path.relative_to(PACKAGE).parent.parts for path in PACKAGE.rglob("*.py")]
    return {"/".join(p[: 2 if p[:1] == ("quantities",) else 1]) for p in parts}


@pytest.mark.parametrize("folder", BUDGET)
def test_a_folder_keeps_to_its_lines(folder: str) -> None:
    assert sum(map(lines, sources(folder))) <= BUDGET[folder]


def test_every_folder_has_a_budget() -> None:
    assert folders() == set(BUDGET)


def test_there_are_few_files_and_none_is_long() -> None:
    every = [path for path in PACKAGE.rglob("*.py*") if path.suffix in {".py", ".pyi"}]
    assert len(every) <= MOST_FILES
    assert [path for path in every if lines(path) > LONGEST] == []


def test_the_tests_stay_small_too() -> None:
    assert sum(map(lines, (ROOT / "tests").rglob("*.py"))) <= TEST_LINES
