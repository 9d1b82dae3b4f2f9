"""Markdown tables of the figures that `ssme.py` has put on disk."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from _results import RESULTS, print_provenance, read
from _ssme_methods import METRICS
from numpy.typing import NDArray

from bayescal.quantities.ssme.bounds import effective_sample_size

type Floats = NDArray[np.float64]

LABELED = "Labeled"
RELEASE = "SSME-KDE (release)"
_SHORT = {"accuracy": "acc", "ece": "ECE", "auc": "AUC", "auprc": "AUPRC"}


class Cell:
    """Figures of one task and one number of labels."""

    def __init__(self, task: str, n_labeled: int, seeds: Sequence[int], content: Any) -> None:
        self.task, self.n_labeled, self.content = task, n_labeled, content
        self.seeds = [str(seed) for seed in seeds]

    def has(self, method: str) -> bool:
        """Whether a method was run on these splits and did not refuse them."""
        return any("refused" not in record for record in self.records(method))

    def records(self, method: str) -> list[dict[str, Any]]:
        """Records of a method on these splits."""
        of_method = self.content["methods"].get(method, {})
        return [of_method[seed] for seed in self.seeds if seed in of_method]

    def errors(self, method: str, metric: str) -> Floats:
        """Mean absolute error of each split in percentage points; nan where there is none."""
        of_method = self.content["methods"].get(method, {})
        found = [of_method.get(seed, {}).get(metric) for seed in self.seeds]
        return 100 * np.array([np.nan if value is None else value for value in found])

    def ratio(self, method: str, other: str, metric: str) -> float:
        """Error relative to another method's, on the splits that both have."""
        ours, theirs = self.errors(method, metric), self.errors(other, metric)
        both = np.isfinite(ours) & np.isfinite(theirs)
        return float(ours[both].mean() / theirs[both].mean()) if both.any() else np.nan

    def intervals(self, method: str, metric: str) -> Floats:
        """Mean over splits of the shares of intervals below and above, and the width in points."""
        found = [record.get(f"{metric}_interval") for record in self.records(method)]
        ends = [[np.nan if v is None else v for v in one] for one in found if one is not None]
        return np.nanmean(ends, axis=0) * [1, 1, 100] if ends else np.full(3, np.nan)


def file_of(task: str, n_labeled: int, grouped: bool) -> str:
    """Name of the file of one task and one number of labels."""
    return f"ssme_{task}_{n_labeled}" + ("_groups" if grouped else "")


def render(
    tasks: Sequence[str],
    counts: Sequence[int],
    seeds: Sequence[int],
    methods: Sequence[str],
    grouped: bool,
) -> None:
    """Print every table; effective sample sizes are of all rows together."""
    cells = list(_cells(tasks, counts, seeds, grouped))
    if not cells:
        print("nothing on disk for these tasks and numbers of labels")
        return
    print_provenance(cells[-1].content)
    for cell in cells:
        _print_cell(cell, methods)
    for n_labeled in counts:
        of_count = [cell for cell in cells if cell.n_labeled == n_labeled]
        _print_relative(of_count, n_labeled, methods, LABELED)
        _print_relative(of_count, n_labeled, methods, RELEASE)
    _print_intervals(cells, methods)
    _print_health(cells, methods)
    if grouped:
        return
    if (RESULTS / "ssme_curve.json").exists():
        _print_effective(cells, methods, read("ssme_curve"))


def markdown(title: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table; nothing if it has no rows."""
    lines = list(rows)
    if lines:
        print(f"\n**{title}**\n")
        for line in (header, ["---"] * len(header), *lines):
            print("| " + " | ".join(line) + " |")


def number(value: float, digits: int = 2) -> str:
    """A figure, or a dash where there is none."""
    return f"{value:.{digits}f}" if np.isfinite(value) else "-"


def with_error(values: Floats) -> str:
    """Mean and standard error over splits."""
    held = values[np.isfinite(values)]
    if not held.size:
        return "-"
    return f"{held.mean():.2f} ± {standard_error(held):.2f}"


def standard_error(values: Floats) -> float:
    """Standard error of the mean; nan of a single number."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else np.nan


def _mean(values: Floats) -> float:
    """Mean of the numbers there are; nan of none."""
    held = values[np.isfinite(values)]
    return float(held.mean()) if held.size else np.nan


def _cells(
    tasks: Sequence[str], counts: Sequence[int], seeds: Sequence[int], grouped: bool
) -> Iterable[Cell]:
    for n_labeled in counts:
        for task in tasks:
            name = file_of(task, n_labeled, grouped)
            if (RESULTS / f"{name}.json").exists():
                yield Cell(task, n_labeled, seeds, read(name))


def _print_cell(cell: Cell, methods: Sequence[str]) -> None:
    n_splits = max((len(cell.records(method)) for method in methods), default=0)
    rows = []
    for method in filter(cell.has, methods):
        against = [
            " ".join(number(cell.ratio(method, other, metric)) for metric in METRICS)
            for other in (LABELED, RELEASE)
        ]
        seconds = np.mean([record["seconds"] for record in cell.records(method)])
        errors = [with_error(cell.errors(method, metric)) for metric in METRICS]
        rows.append([method, *errors, *against, number(seconds)])
    markdown(
        f"{cell.task}, {cell.n_labeled} labels, {n_splits} splits: mean absolute error ± standard "
        "error in points; relative to others (acc ECE AUC AUPRC); seconds",
        ["method", *_SHORT.values(), f"/ {LABELED}", f"/ {RELEASE}", "s"],
        rows,
    )


def _print_relative(
    cells: Sequence[Cell], n_labeled: int, methods: Sequence[str], other: str
) -> None:
    """Error relative to another method's, averaged over metrics, by task."""
    rows = []
    for method in methods:
        ratios = [
            _mean(np.array([cell.ratio(method, other, metric) for metric in METRICS]))
            for cell in cells
        ]
        held = [ratio for ratio in ratios if np.isfinite(ratio)]
        if held:
            rows.append([method, *map(number, ratios), number(float(np.mean(held)))])
    markdown(
        f"{n_labeled} labels: error relative to {other}, mean over metrics",
        ["method", *(cell.task for cell in cells), "mean"],
        rows,
    )


def _print_intervals(cells: Sequence[Cell], methods: Sequence[str]) -> None:
    """Coverage and width of 90% intervals by task, and over tasks."""
    rows, summary = [], []
    for n_labeled in sorted({cell.n_labeled for cell in cells}):
        for method in methods:
            held, widths = [], []
            for cell in (cell for cell in cells if cell.n_labeled == n_labeled):
                found = np.array([cell.intervals(method, metric) for metric in METRICS])
                base = np.array([cell.intervals(LABELED, metric) for metric in METRICS])
                if not np.isfinite(found).any():
                    continue
                coverage = 1 - found[:, 0] - found[:, 1]
                held.append(_mean(coverage))
                widths.append(_mean(found[:, 2] / base[:, 2]))
                rows.append(
                    [
                        str(n_labeled),
                        cell.task,
                        method,
                        " ".join(map(number, coverage)),
                        number(held[-1]),
                        " ".join(number(width, 1) for width in found[:, 2]),
                        number(widths[-1]),
                    ]
                )
            if held:
                figures = (np.mean(held), np.min(held), np.mean(widths))
                summary.append([str(n_labeled), method, *(number(float(v)) for v in figures)])
    markdown(
        "90% intervals by task: coverage of the truth, width in points (acc ECE AUC AUPRC)",
        ["labels", "task", "method", "coverage", "mean", "width", f"width / {LABELED}'s"],
        rows,
    )
    markdown(
        "90% intervals over tasks",
        ["labels", "method", "mean coverage", "worst task", f"width / {LABELED}'s"],
        summary,
    )


def _print_health(cells: Sequence[Cell], methods: Sequence[str]) -> None:
    """What the sampler says of itself, over splits."""
    rows = []
    for cell in cells:
        for method in methods:
            held = [record for record in cell.records(method) if "rhat_max" in record]
            if held:
                rhat = np.array([record["rhat_max"] for record in held])
                divergences = np.array([record["divergences"] for record in held])
                rows.append(
                    [
                        str(cell.n_labeled),
                        cell.task,
                        method,
                        number(float(rhat.max()), 3),
                        number(float(np.mean(divergences > 0))),
                        number(float(divergences.max()), 0),
                    ]
                )
    markdown(
        "NUTS: worst R-hat of all splits, share of splits with divergences, most in a split",
        ["labels", "task", "method", "R-hat", "splits with", "most"],
        rows,
    )


def _print_effective(cells: Sequence[Cell], methods: Sequence[str], curve: Any) -> None:
    """Effective sample size of every method."""
    rows = []
    for cell in cells:
        of_metric = curve["tasks"].get(cell.task)
        if of_metric is None:
            continue
        for method in filter(cell.has, methods):
            found = []
            for metric in METRICS:
                values = cell.errors(method, metric)
                known = [None if v is None else 100 * v for v in of_metric[metric]]
                if not np.isfinite(values).any() or None in known:
                    found.append("-")
                    continue
                size = effective_sample_size(
                    float(np.nanmean(values)), curve["sizes"], np.array(known)
                )
                found.append(str(size))
            rows.append([str(cell.n_labeled), cell.task, method, *found])
    markdown(
        "Effective sample size: labels with which labelled rows alone err as much (10 to "
        f"{curve['sizes'][-1]})",
        ["labels", "task", "method", *_SHORT.values()],
        rows,
    )
