"""The README's example runs as it stands, and prints what the README shows."""

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.pictures
README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)
    assert found is not None
    return found[1]


# A probability of .9994 is "0.999", one of .9996 "above 0.999".
NUMBER = re.compile(r"(?:above )?([+-]?\d+\.\d+)")


def numbers(text: str) -> list[float]:
    return [float(found) for found in NUMBER.findall(text)]


@pytest.mark.mcmc
def test_the_example_prints_what_is_shown(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    exec(block("python"), {})
    printed, shown = capsys.readouterr().out, block("text")
    assert NUMBER.sub("#", printed).split() == NUMBER.sub("#", shown).split()
    # Between machines, means and quantiles of 4,000 draws differ by the sampler's error.
    assert numbers(printed) == pytest.approx(numbers(shown), rel=0.05, abs=0.002)
    assert (tmp_path / "calibration.html").stat().st_size > 10_000


def test_the_example_has_the_length_that_its_heading_says() -> None:
    lines = [line for line in block("python").splitlines() if line.strip()]
    assert len(lines) <= 15


def test_other_pages_show_the_same_numbers() -> None:
    pages = Path(__file__).parents[1] / "docs"
    of = re.compile(r"^(?:calibrated|overconfident) .*\d", flags=re.MULTILINE)
    table, printed = (list(map(numbers, of.findall(block(name)))) for name in ("text", "console"))
    assert list(map(numbers, of.findall((pages / "ece.md").read_text("utf-8")))) == table
    shown = list(map(numbers, of.findall((pages / "cli.md").read_text("utf-8"))))
    assert shown == printed[:2]
    rows = re.compile(r"^\d +0\.\d\d .*\d", flags=re.MULTILINE)
    shown = list(map(numbers, rows.findall((pages / "credal.md").read_text("utf-8"))))
    assert shown == list(map(numbers, rows.findall(block("pycon"))))
