"""The pages on measures show the means and worst cells that the benchmark wrote."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"^\| `([\w.:]+)` \| ([\d.]+), ([\d.]+)[^|]*\| ([\d.]+), ([\d.]+)", re.MULTILINE)
THRESHOLDS = ("accuracy", "sensitivity", "specificity")


def measured(cells: str, name: str) -> tuple[float, float]:
    full = f"{name}:0.5" if name in THRESHOLDS else name.replace("ici", "tce")
    path = ROOT / "benchmarks" / "results" / f"measures_coverage_{cells}.json"
    held = [cell["measures"].get(full) for cell in json.loads(path.read_text())["cells"]]
    found = [one["coverage"] for one in held if one]
    return float(np.mean(found)), min(found)


@pytest.mark.parametrize("page", ["measures.md", "benchmarks.md"])
def test_tables_of_measures_are_those_of_the_benchmark(page: str) -> None:
    rows = ROW.findall((ROOT / "docs" / page).read_text(encoding="utf-8"))
    assert len(rows) >= 8
    for name, *shown in rows:
        found = [*measured("simulated", name), *measured("real", name)]
        # Two digits are shown.
        assert list(map(float, shown)) == pytest.approx(found, abs=0.0051), name
