"""Markdown tables of what `ssme_paper.py` has put on disk, beside the paper's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from _results import RESULTS, print_provenance, read
from _ssme_methods import METRICS
from _ssme_paper import PAPER, SPLITS, gains, printed
from _ssme_tables import file_of as file_of_all
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
    _print_gains(cells, read("ssme_curve"))


def errors(cell: Any, method: str, metric: str) -> Floats:
    """Error of each split that has one, in points."""
    records = cell["methods"].get(method, {}).values()
    return np.array([record[metric] for record in records if metric in record])


def _print_beside(cells: dict[tuple[str, int], Any]) -> None:
    """Mean and standard deviation here and there, and the difference in standard errors."""
    rows = []
    for (task, n_labeled), cell in cells.items():
        for method in cell["methods"]:
            # In the paper a method stands for all readings of it.
            theirs = method.split(" (")[0]
            both = [
                (errors(cell, method, metric), printed(task, n_labeled, theirs, metric))
                for metric in METRICS
            ]
            compared = [(here, there) for here, there in both if there and len(here) > 1]
            if compared:
                rows.append(
                    [
                        task,
                        str(n_labeled),
                        method,
                        str(len(compared[0][0])),
                        ", ".join(f"{h.mean():.2f} ± {h.std(ddof=1):.2f}" for h, _ in compared),
                        ", ".join(f"{t[0]:.2f} ± {t[1]:.2f}" for _, t in compared),
                        " ".join(number(_difference(*pair), 1) for pair in compared),
                    ]
                )
    header = ["task", "labels", "method", "splits", "here", "paper", "difference"]
    markdown("Mean ± standard deviation; difference in standard errors of both", header, rows)


def _difference(here: Floats, there: tuple[float, float]) -> float:
    """Difference of two means in standard errors of both."""
    error = np.hypot(here.std(ddof=1) / np.sqrt(len(here)), there[1] / np.sqrt(SPLITS))
    return float((here.mean() - there[0]) / error)


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


def _print_gains(cells: dict[tuple[str, int], Any], curve: Any) -> None:
    """How much a method gains here, in both of the paper's ways; the posterior by `ssme.py`."""
    rows = []
    for (task, n_labeled), cell in cells.items():
        rows += [
            [task, str(n_labeled), method, *_row(cell, method, task, curve)]
            for method in cell["methods"]
        ]
        name = file_of_all(task, n_labeled, grouped=False)
        if (RESULTS / f"{name}.json").exists():
            by_posterior = _in_points(read(name)["methods"])
            if by_posterior["methods"]["Posterior"]:
                row = _row(by_posterior, "Posterior", task, curve)
                rows.append([task, str(n_labeled), "Posterior", *row])
    markdown(
        "How many times smaller than Labeled's error, on the same splits; effective sample size",
        ["task", "labels", "method", "times", "size"],
        rows,
    )


def _row(cell: Any, method: str, task: str, curve: Any) -> list[str]:
    """Gains and sizes of one method, a number a metric."""
    times = [number(_gain(cell, method, metric), 1) for metric in METRICS]
    places = [_effective(cell, method, metric, curve["tasks"][task]) for metric in METRICS]
    sizes = ["-" if k is None else str(curve["sizes"][k]) for k in places]
    return [" ".join(times), " ".join(sizes)]


def _in_points(methods: Any) -> Any:
    """Errors of Labeled and of the posterior as this program has them."""
    return {
        "methods": {
            name: {
                seed: {m: 100 * record[m] for m in METRICS if record.get(m) is not None}
                for seed, record in methods.get(name, {}).items()
            }
            for name in ("Labeled", "Posterior")
        }
    }


def _gain(cell: Any, method: str, metric: str) -> float:
    """Labeled's mean error over a method's, on the splits that the method has."""
    own = {k: r[metric] for k, r in cell["methods"][method].items() if metric in r}
    base = [cell["methods"]["Labeled"][k][metric] for k in own if k in cell["methods"]["Labeled"]]
    return float(np.mean(base) / np.mean([*own.values()])) if base else np.nan


def _effective(cell: Any, method: str, metric: str, curve: Any) -> int | None:
    """Place of the size whose error of labelled rows alone is nearest."""
    here, known = errors(cell, method, metric), curve[metric]
    if not here.size or None in known:
        return None
    return effective_sample_size(float(here.mean()), range(len(known)), 100 * np.array(known))
