"""Markdown tables of what `ssme_paper.py` has put on disk, beside the paper's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from _results import RESULTS, print_provenance, read
from _ssme_methods import METRICS
from _ssme_paper import PAPER, SPLITS, gains, printed
from _ssme_tables import markdown, number
from numpy.typing import NDArray

from bayescal.quantities.ssme.metrics.effective_sample_size import effective_sample_size

type Floats = NDArray[np.float64]

COUNTS = (20, 50, 100)


def file_of(task: str, n_labeled: int) -> str:
    """Name of the file of one task and one number of labels."""
    return f"ssme_paper_{task}_{n_labeled}"


def render() -> None:
    """Print every table."""
    cells = {
        (task, n_labeled): read(file_of(task, n_labeled))
        for task in PAPER
        for n_labeled in COUNTS
        if (RESULTS / f"{file_of(task, n_labeled)}.json").exists()
    }
    if not cells:
        print("nothing on disk")
        return
    print_provenance(next(iter(cells.values())))
    _print_beside(cells)
    _print_headlines()
    _print_gains(cells)
    if (RESULTS / "ssme_curve.json").exists():
        _print_effective(cells, read("ssme_curve"))


def errors(cell: Any, method: str, metric: str) -> Floats:
    """Error of each split that has one, in points."""
    records = cell["methods"].get(method, {}).values()
    return np.array([record[metric] for record in records if metric in record])


def _print_beside(cells: dict[tuple[str, int], Any]) -> None:
    """Mean and standard deviation here and there, and the difference in standard errors."""
    rows = []
    for (task, n_labeled), cell in cells.items():
        for method in cell["methods"]:
            for metric in METRICS:
                here = errors(cell, method, metric)
                # In the table beside the text a reading of a method stands beside the method.
                there = printed(task, n_labeled, method.split(" (")[0], metric)
                if there is None or not here.size:
                    continue
                sd = here.std(ddof=1) if len(here) > 1 else np.nan
                both = np.hypot(sd / np.sqrt(len(here)), there[1] / np.sqrt(SPLITS))
                rows.append(
                    [
                        task,
                        str(n_labeled),
                        method,
                        metric,
                        str(len(here)),
                        f"{here.mean():.2f} ± {sd:.2f}",
                        f"{there[0]:.2f} ± {there[1]:.2f}",
                        number((here.mean() - there[0]) / both, 1),
                    ]
                )
    header = ["task", "labels", "method", "metric", "splits", "here", "paper", "difference"]
    markdown("Mean ± standard deviation; difference in standard errors of both", header, rows)


def _print_headlines() -> None:
    """The paper's multiples from its own tables, averaged in two ways."""
    rows = []
    for kind, multiclass in (("binary", False), ("multi-class", True)):
        of_kind = gains(multiclass)
        for (n_labeled, metric), table in of_kind.groupby(level=["labels", "metric"]):
            rows.append([kind, str(n_labeled), metric, *_two_averages(table)])
        for n_labeled, table in of_kind.groupby(level="labels"):
            rows.append([kind, str(n_labeled), "all", *_two_averages(table)])
    markdown(
        "How many times smaller than Labeled's error, in the paper's tables: mean of the ratios "
        "over tasks, and 1 / mean RMAE",
        ["tasks", "labels", "metric", *gains(False).columns.union(gains(True).columns)],
        rows,
    )


def _two_averages(table: pd.DataFrame) -> list[str]:
    names = gains(False).columns.union(gains(True).columns)
    complete = table.reindex(columns=names)
    pairs = zip(complete.mean(), 1 / (1 / complete).mean(), strict=True)
    return [f"{number(one, 1)} ({number(other, 1)})" for one, other in pairs]


def _print_gains(cells: dict[tuple[str, int], Any]) -> None:
    """The same of the errors here, by task and number of labels."""
    rows = []
    for (task, n_labeled), cell in cells.items():
        for method in cell["methods"]:
            ratios = []
            for metric in METRICS:
                known = [m for m in ("Labeled", method) if errors(cell, m, metric).size]
                # On the splits that both have.
                seeds = cell["methods"][method].keys() & cell["methods"]["Labeled"].keys()
                if len(known) < 2 and method != "Labeled":
                    ratios.append("-")
                    continue
                base, own = (
                    np.mean([cell["methods"][m][seed][metric] for seed in seeds])
                    for m in ("Labeled", method)
                )
                ratios.append(number(float(base / own), 1))
            rows.append([task, str(n_labeled), method, *ratios])
    markdown(
        "How many times smaller than Labeled's error, here",
        ["task", "labels", "method", *METRICS],
        rows,
    )


def _print_effective(cells: dict[tuple[str, int], Any], curve: Any) -> None:
    """Effective sample sizes, with the error of labelled rows alone from `ssme.py --curve`."""
    rows = []
    for (task, n_labeled), cell in cells.items():
        for method in cell["methods"]:
            found = []
            for metric in METRICS:
                here, known = errors(cell, method, metric), curve["tasks"][task][metric]
                if not here.size or None in known:
                    found.append("-")
                    continue
                size = effective_sample_size(
                    float(here.mean()), curve["sizes"], 100 * np.array(known)
                )
                found.append(str(size))
            rows.append([task, str(n_labeled), method, *found])
    markdown("Effective sample size", ["task", "labels", "method", *METRICS], rows)
