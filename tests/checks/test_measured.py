"""Tables of the pages show the means and worst cells that the benchmarks wrote."""

import importlib
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"^\| `([\w.:]+)` \| ([\d.]+), ([\d.]+)[^|]*\| ([\d.]+), ([\d.]+)", re.MULTILINE)
THRESHOLDS = ("accuracy", "sensitivity", "specificity")


def result(name: str) -> Any:
    path = ROOT / "benchmarks" / "results" / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8"))


def measured(cells: str, name: str) -> tuple[float, float]:
    full = f"{name}:0.5" if name in THRESHOLDS else name.replace("ici", "tce")
    cells_of = result(f"measures_coverage_{cells}")["cells"]
    held = [cell["measures"].get(full) for cell in cells_of]
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


def shown(start: str) -> list[list[float]]:
    """Give the numbers of each cell of the row of benchmarks.md that starts so."""
    lines = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8").splitlines()
    (line,) = [line for line in lines if line.startswith(f"| {start} |")]
    return [
        [float(number) for number in re.findall(r"\d*\.?\d+", cell)] for cell in line.split("|")
    ]


@pytest.mark.parametrize(
    ("row", "file", "of"),
    [
        ("simulated, smooth curves", "stress_coverage", "smooth"),
        ("simulated, jumps, bumps and wiggles", "stress_coverage", "stress"),
        ("simulated, a share of labels wrong", "stress_coverage", "mislabeled"),
        ("simulated, rates of 0 or 1 in parts", "stress_coverage", "certain"),
        ("Adult, fitted rates", "real_coverage_rates", "adult"),
        ("digits, fitted rates", "real_coverage_rates", "digit"),
        ("Adult, own labels", "real_coverage_report", "adult"),
        ("digits, own labels", "real_coverage_report", "digit"),
    ],
)
def test_coverage_is_that_of_the_benchmark(row: str, file: str, of: str) -> None:
    cells = [cell for cell in result(file)["cells"] if cell["key"][0].startswith(of)]
    found = np.array([cell["coverage"] for cell in cells])
    _, _, (n, _), (mean,), worst, (below,), _ = shown(row)
    # Three digits are shown, and two.
    assert (n, below) == (len(found), (found < 0.7999).sum())
    assert (mean, worst[0]) == (
        pytest.approx(found.mean(), abs=6e-4),
        pytest.approx(found.min(), abs=0.0051),
    )


@pytest.mark.parametrize(
    ("row", "method"),
    [
        ("default", "curve (default)"),
        *((name, name) for name in ("Jeffreys bins", "flat bins", "hierarchical bins")),
        *((name, name) for name in ("basic bootstrap", "percentile bootstrap")),
    ],
)
def test_coverage_beside_the_bootstrap_is_that_of_the_benchmark(row: str, method: str) -> None:
    stress = ("jump", "fast_wiggle", "far_over")
    cells = [cell for cell in result("coverage")["cells"] if cell["truth"] not in stress]
    found = [cell["methods"][method]["coverage"] for cell in cells]
    _, _, (mean,), worst, *_ = shown(row)
    assert mean == pytest.approx(np.mean(found), abs=6e-4)
    assert worst[0] == pytest.approx(min(found), abs=0.0051)


@pytest.mark.parametrize("n", [100, 1000])
@pytest.mark.parametrize(
    ("row", "kind"),
    [("smooth, rising", "smooth"), ("steps", "step"), ("not rising", "non-monotone")],
)
def test_credal_coverage_is_that_of_the_benchmark(row: str, kind: str, n: int) -> None:
    cells = [c for c in result("credal_coverage")["cells"] if (c["kind"], c["n"]) == (kind, n)]
    default = [cell["methods"]["average (default)"]["coverage"] for cell in cells]
    others = ("rising curve", "imprecise Dirichlet", "Venn-Abers [p0, p1]")
    found = [np.mean([cell["methods"][name]["coverage"] for cell in cells]) for name in others]
    _, _, _, both, *rest = shown(f"{row} | {n:,}")
    assert both == pytest.approx([np.mean(default), min(default)], abs=0.0051)
    assert [one for (one,) in rest[:3]] == pytest.approx(found, abs=0.0051)


@pytest.mark.parametrize("page", ["docs/measures.md", "bayescal/report/page.py"])
def test_the_series_with_a_false_alarm_are_those_of_the_benchmark(page: str) -> None:
    """Readers of the report see the same share as readers of the documentation."""
    most = max(cell["series_with_alarm"] for cell in result("change")["stable"])
    text = " ".join((ROOT / page).read_text(encoding="utf-8").replace('"', "").split())
    assert re.findall(r"up to (\d+) ?%[^.]* had one somewhere", text) == [f"{100 * most:.0f}"]


@pytest.mark.parametrize(
    ("words", "cells"),
    [
        ("of real classifiers: X on average over N cells, worst X", "real_difference_report"),
        ("covered X on average over N cells of 60 samples, X", "weighted_coverage_ece"),
    ],
)
def test_coverage_in_words_is_that_of_the_benchmark(words: str, cells: str) -> None:
    text = " ".join((ROOT / "docs" / "ece.md").read_text(encoding="utf-8").replace("*", "").split())
    (shown,) = re.findall(words.replace("X", r"(\.\d+)").replace("N", r"(\d+)"), text)
    held = result(cells)
    found = [one.get("weighted", one)["coverage"] for one in held.get("cells", held.get("rows"))]
    wanted = [np.mean(found), len(found), min(found)]
    assert list(map(float, shown)) == pytest.approx(wanted, abs=0.0051)


def test_figures_of_another_source_or_setting_are_not_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    results = importlib.import_module("_results")
    monkeypatch.setattr(results, "RESULTS", tmp_path)
    assert results.begun("runs", seeds=3) == {}
    results.write("runs", seeds=3, runs=[0.5])
    assert results.begun("runs", seeds=3)["runs"] == [0.5]
    assert results.begun("runs", seeds=4) == {}
    monkeypatch.setattr(results, "source", lambda: "another")
    assert results.begun("runs", seeds=3) == {}
