"""Pictures of the benchmarks, from benchmarks/results: python docs/benchmark_pictures.py."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

TARGET = Path(__file__).parent / "_static"
RESULTS = Path(__file__).parents[1] / "benchmarks" / "results"
STRESS = ("jump", "fast_wiggle", "far_over")
METRICS = ("accuracy", "ece", "auc", "auprc")
OURS, OTHER = "#2a6fb0", "#d07a1e"
CELLS = "coverage of 90 % intervals, a dot a cell, a bar their mean"


def read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return found


def save(figure: plt.Figure, name: str) -> None:
    figure.savefig(TARGET / f"benchmark_{name}.png", dpi=130, bbox_inches="tight")
    plt.close(figure)


def dots(
    axes: plt.Axes, rows: dict[str, list[float]], colors: list[str], goal: float | None = 0.9
) -> None:
    """One row a group: a dot for each cell, spread evenly in height, and a bar at the mean."""
    for place, (values, color) in enumerate(zip(rows.values(), colors, strict=True)):
        spread = 0.3 * ((np.arange(len(values)) * 0.618) % 1 - 0.5)
        axes.plot(values, place + spread, "o", ms=4.5, mew=0, alpha=0.5, color=color)
        axes.plot([np.mean(values)] * 2, [place - 0.32, place + 0.32], lw=2.5, color=color)
    axes.set_yticks(range(len(rows)), list(rows))
    axes.set_ylim(len(rows) - 0.5, -0.5)
    if goal is not None:
        axes.axvline(goal, color="0.35", ls="--", lw=1)
    axes.spines[["top", "right"]].set_visible(False)


def coverage() -> None:
    """Intervals of the calibration error, simulated and real, cell by cell."""
    simulated, fitted, real = (
        read(name)["cells"]
        for name in (
            "stress_coverage",
            "real_coverage_rates",
            "real_coverage_report",
        )
    )
    kinds = {
        "smooth": "smooth",
        "stress": "jumps and wiggles",
        "mislabeled": "labels wrong",
        "certain": "rates of 0 or 1",
    }
    rows = {
        f"simulated,\n{words}": [c["coverage"] for c in simulated if c["key"][0] == kind]
        for kind, words in kinds.items()
    }
    rows["real classifiers,\nfitted rates"] = [c["coverage"] for c in fitted]
    for name in ("adult", "digit"):
        own = [c for c in real if c["key"][0].startswith(name)]
        few = [c["coverage"] for c in own if c["label_noise"] < 0.4 * c["truth"]]
        noisy = [c["coverage"] for c in own if c["label_noise"] >= 0.4 * c["truth"]]
        words = {"adult": "Adult", "digit": "digits"}[name]
        rows |= {f"{words},\nerror above its noise": few, f"{words},\nerror mostly noise": noisy}
    figure, axes = plt.subplots(figsize=(8, 5.4))
    dots(axes, rows, [*[OURS] * 5, *[OTHER] * 4])
    axes.set(xlabel=CELLS, xlim=(0, 1.02))
    save(figure, "coverage")


def bootstrap() -> None:
    """Coverage, width and error of the default, of bins and of the bootstrap."""
    cells = [c for c in read("coverage")["cells"] if c["truth"] not in STRESS]
    base = [c["methods"]["basic bootstrap"] for c in cells]
    names = {
        "curve (default)": "default",
        "Jeffreys bins": "Jeffreys bins",
        "hierarchical bins": "hierarchical bins",
        "Jeffreys bins, no p0": "Jeffreys bins,\nnever calibrated",
        "basic bootstrap": "basic bootstrap",
        "percentile bootstrap": "percentile bootstrap",
    }
    colors = [OURS, *[OTHER] * 5]
    figure, (left, *others) = plt.subplots(1, 3, figsize=(10, 3.6), sharey=True, layout="tight")
    values = {w: [c["methods"][n]["coverage"] for c in cells] for n, w in names.items()}
    dots(left, values, colors)
    left.set(xlabel="coverage", xlim=(-0.02, 1.04))
    titles = {"width": "width / basic bootstrap's", "rmse": "RMSE / plug-in's"}
    for axes, (what, title) in zip(others, titles.items(), strict=True):
        values = {
            word: [c["methods"][n][what] / b[what] for c, b in zip(cells, base, strict=True)]
            for n, word in names.items()
        }
        dots(axes, values, colors, goal=1)
        axes.set(xlabel=title, xscale="log")
        axes.set_xticks(ticks := [0.1, 0.25, 0.5, 1, 2, 4], [f"{t:g}" for t in ticks])
        axes.minorticks_off()
    others[0].set_xlim(0.45, 5)
    others[1].set_xlim(0.018, 7)
    others[1].set_xticks(ticks := [0.02, 0.1, 0.5, 1, 2], [f"{t:g}" for t in ticks])
    left.set_ylim(len(names) - 0.5, -0.5)
    save(figure, "bootstrap")


def pu() -> None:
    """Positives and unlabelled rows: what is known of the class prior decides."""
    simulated, comments = read("pu_coverage")["cells"], read("pu_acceptance")["figures"]
    names = {
        "known": "simulated: known",
        "sd .05": "simulated: sd .05",
        "10% off": "simulated: 10 % too high, sd .05",
        "known, 10% off": "simulated: 10 % too high, fixed",
        "basic bootstrap": "simulated: basic bootstrap, known",
    }
    rows = {w: [c["methods"][n]["coverage"] for c in simulated] for n, w in names.items()}
    for spread, file in ((".005", ""), (".05", "_spread_05"), (".11", "_spread_11")):
        real = read("pu_real_coverage_report" + file)["cells"]
        rows["Adult, digits: sd " + spread] = [c["coverage"] for c in real]
    for belief in ("known", "sd .02", "25% off, sd .02"):
        words = f"comments: {belief}".replace("25% off", "25 % too high")
        rows[words] = [c["coverage"] for c in comments if c["belief"] == belief]
    figure, axes = plt.subplots(figsize=(8, 5.2))
    dots(axes, rows, [OURS] * 4 + ["0.5"] + [OTHER] * 6)
    axes.set(xlabel=CELLS, xlim=(-0.02, 1.02))
    save(figure, "pu_ece")


def ssme() -> None:
    """Few labels: coverage, and error over that of the ensemble, by number of labels."""
    names = {"default": "default", "labeled": "labelled rows alone"}
    covered: dict[str, list[float]] = {}
    error: dict[str, list[float]] = {}
    for n in (20, 100, 500):
        for name, word in names.items():
            row = f"{n} labels,\n{word}"
            covered[row], error[row] = [], []
            for key, splits in read("ssme_bank_report")["cells"].items():
                own = [s for s in splits.values() if "default" in s and key.endswith(f" {n}")]
                for metric in METRICS if own else ():
                    mean = np.mean([s[name][metric] for s in own], axis=0)
                    pool = np.mean([s["ensemble"][metric][0] for s in own])
                    covered[row].append(mean[1])
                    error[row].append(mean[0] / pool)
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), sharey=True, layout="tight")
    dots(left, covered, [OURS, OTHER] * 3)
    left.set(xlabel="coverage of 90 % intervals", xlim=(0.08, 1.02))
    dots(right, error, [OURS, OTHER] * 3, goal=1)
    right.set(xlabel="mean absolute error / the ensemble's", xscale="log")
    right.set_xticks(ticks := [0.05, 0.1, 0.25, 0.5, 1, 2, 4], [f"{t:g}" for t in ticks])
    right.minorticks_off()
    save(figure, "ssme")


def credal() -> None:
    """Bounds of single rows, by kind of the true curve and rows to calibrate on."""
    names = {
        "average (default)": "default",
        "rising curve": "rising curve",
        "imprecise Dirichlet": "imprecise Dirichlet",
        "Venn-Abers [p0, p1]": "Venn-Abers p0 to p1",
    }
    titles = {"smooth": "smooth, rising", "step": "steps", "non-monotone": "not rising"}
    figure, places = plt.subplots(1, 3, figsize=(10, 3.2), sharey=True, layout="tight")
    cells = read("credal_coverage")["cells"]
    marks = [OURS, OTHER, "0.45", "#7a4fa3"]
    for axes, (kind, title) in zip(places, titles.items(), strict=True):
        for (name, word), color in zip(names.items(), marks, strict=True):
            own = [c for c in cells if c["kind"] == kind]
            counts = sorted({c["n"] for c in own})
            of = [[c["methods"][name]["coverage"] for c in own if c["n"] == n] for n in counts]
            axes.plot(counts, [np.mean(v) for v in of], "o-", color=color, label=word)
            axes.vlines(counts, [min(v) for v in of], [np.mean(v) for v in of], color=color, lw=1)
        axes.axhline(0.9, color="0.35", ls="--", lw=1)
        axes.set(title=title, xscale="log", xlabel="calibration rows", ylim=(0, 1.02))
        axes.set_xticks([20, 100, 1000], ["20", "100", "1,000"])
        axes.spines[["top", "right"]].set_visible(False)
    places[0].set_ylabel("coverage of 90 % bounds")
    figure.legend(*places[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    figure.set_layout_engine("constrained")
    save(figure, "credal")


def speed() -> None:
    """Seconds of a warm fit, by quantity and method; of two data sets the first."""
    text = (RESULTS / "speed.txt").read_text(encoding="utf-8")
    lines = re.findall(r"^(\w+) (NUTS|direct) {2,}.*? {2,}([\d.]+) ", text, flags=re.MULTILINE)
    seconds = {(name, method): float(took) for name, method, took in reversed(lines)}
    names = sorted({name for name, _ in seconds})
    figure, axes = plt.subplots(figsize=(8, 3.2))
    for shift, (method, color) in enumerate((("NUTS", OURS), ("direct", OTHER))):
        took = [seconds.get((name, method), np.nan) for name in names]
        bars = axes.barh(np.arange(len(names)) + 0.38 * shift, took, 0.36, color=color)
        bars.set_label({"NUTS": "NUTS, 4 × 1,000 draws", "direct": "direct draws"}[method])
        axes.bar_label(bars, fmt="%.2f", padding=3)
    axes.set_yticks(np.arange(len(names)) + 0.19, names)
    axes.invert_yaxis()
    axes.set(xlabel="seconds of a warm fit of 2,000 rows (temperature: 5,000), two cores")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    save(figure, "speed")


if __name__ == "__main__":
    mpl.use("agg")
    for make in (coverage, bootstrap, pu, ssme, credal, speed):
        make()
