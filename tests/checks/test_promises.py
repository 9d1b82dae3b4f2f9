"""The page on scale and failure names tests that exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_promise_has_its_test() -> None:
    page = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
    tests = (ROOT / "tests" / "workflow" / "test_faults.py").read_text(encoding="utf-8")
    there = set(re.findall(r"^def (test_\w+)", tests, flags=re.MULTILINE))
    named = set(re.findall(r"`(test_\w+)`", page))
    assert len(named) >= 10
    assert named <= there
