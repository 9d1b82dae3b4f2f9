"""The README's example runs as it stands, and prints what the README shows."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)
    assert found is not None
    return found[1]


def words(text: str) -> list[str]:
    """What must be the same on every machine: the words, and numbers to their second digit."""
    return [f"{float(part):.1e}" if _is_number(part) else part for part in text.split()]


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[+-]?\d+(\.\d+)?", text) is not None


@pytest.mark.mcmc
def test_the_example_prints_what_is_shown(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", block("python")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert words(run.stdout) == words(block("text"))
    assert (tmp_path / "calibration.html").stat().st_size > 10_000


def test_the_example_has_the_length_that_its_heading_says() -> None:
    lines = [line for line in block("python").splitlines() if line.strip()]
    assert len(lines) <= 15
