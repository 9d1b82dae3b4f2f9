"""Markdown tables of what `ssme_paper.py` has put on disk, beside the paper's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from _results import RESULTS, print_provenance, read
from _ssme_methods import METRICS
from _ssme_paper import BY_CLASSIFIER, ESTIMATES, PAPER, SPLITS, gains, printed
from _ssme_tables import markdown, number, with_error
from numpy.typing import NDArray

from bayescal.quantities.ssme.bounds import effective_sample_size

type Floats = NDArray[np.float64]
type Cells = dict[tuple[str, int], Any]
type Pair = tuple[Floats, tuple[float, float]]

COUNTS = (20, 50, 100)
# Methods whose account rests on standard errors.
WITH_ERRORS = ("SSME-KDE-M", "SSME-NF")
# Other readings of a method, whose errors hardly differ or are not the paper's.
READINGS = (
    "SSME-KDE-M (release, weighted start)",
    "Majority-Vote (drawn, threshold)",
    "SSME-KDE (release)",
    "SSME-KDE (class bandwidths)",
    "SSME-KDE (first class)",
    "SSME-KDE (1000 epochs)",
    "SSME-KDE (unbinned)",
)
# Of these the account of the tables says what there is to say.
NOT_BESIDE = ("SSME-KDE (first class)", "SSME-KDE (unbinned)")


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
    _print_with_errors(cells)
    _print_by_classifier(cells[("civilcomments", BY_CLASSIFIER)])
    _print_headlines()
    _print_gains(cells, read("ssme_curve"))


def _methods(cells: Cells, task: str) -> list[str]:
    """Methods of one task, in the order of its first cell."""
    found = [cell["methods"] for (name, _), cell in cells.items() if name == task]
    return [*found[0]] if found else []


def errors(cell: Any, method: str, metric: str) -> Floats:
    """Error of each split that has one, in points."""
    records = cell["methods"].get(method, {}).values()
    return np.array([record[metric] for record in records if metric in record])


def _pairs(cell: Any, task: str, n_labeled: int, method: str) -> list[Pair]:
    """Errors here, and mean and standard deviation in the paper, of each metric that it has."""
    # In the paper a method stands for all readings of it.
    theirs = method.split(" (")[0]
    both = [
        (errors(cell, method, metric), printed(task, n_labeled, theirs, metric))
        for metric in METRICS
    ]
    return [(here, there) for here, there in both if there and len(here) > 1]


def _print_beside(cells: Cells) -> None:
    """Means here and there, and the difference in standard errors."""
    rows = []
    for task in PAPER:
        for method in _methods(cells, task):
            of_count = [_pairs(cells[task, n], task, n, method) for n in COUNTS]
            if all(of_count) and not method.startswith((*WITH_ERRORS, *NOT_BESIDE)):
                n_splits = min(len(here) for pairs in of_count for here, _ in pairs)
                rows.append([task, method, str(n_splits), *map(_beside, of_count)])
    header = ["task", "method", "splits", *map(str, COUNTS)]
    markdown("Mean error here / in the paper / difference in standard errors", header, rows)


def _beside(pairs: list[Pair]) -> str:
    here = " ".join(number(h.mean()) for h, _ in pairs)
    there = " ".join(number(t[0]) for _, t in pairs)
    return f"{here} / {there} / {' '.join(number(_difference(*pair), 1) for pair in pairs)}"


def _print_with_errors(cells: Cells) -> None:
    """Means here and there with their standard errors."""
    rows = [
        [
            *(task, str(n), method, str(len(pairs[0][0]))),
            *(f"{with_error(here)} / {_printed_with_error(there)}" for here, there in pairs),
        ]
        for (task, n), cell in cells.items()
        for method in cell["methods"]
        if method.startswith(WITH_ERRORS) and (pairs := _pairs(cell, task, n, method))
    ]
    markdown(
        "Mean error ± standard error here / in the paper",
        ["task", "labels", "method", "splits", *METRICS],
        [[*row, *["-"] * (len(METRICS) + 4 - len(row))] for row in rows],
    )


def _printed_with_error(there: tuple[float, float]) -> str:
    return f"{there[0]:.2f} ± {there[1] / np.sqrt(SPLITS):.2f}"


def _print_by_classifier(cell: Any) -> None:
    """Mean estimates of each classifier against those of tables S8 to S11; the truth likewise."""
    methods = ["Truth", *(method for method in cell["methods"] if method not in READINGS)]
    rows = [[method, *(_by_classifier(cell, method, m) for m in METRICS)] for method in methods]
    markdown(
        f"Estimates by classifier, {BY_CLASSIFIER} labels: difference of means, mean and largest "
        "over classifiers; largest in standard errors",
        ["method", *METRICS],
        [row for row in rows if set(row[1:]) != {"-"}],
    )
    print("\nMean correlation of two classifiers:", cell["correlation"])


def _by_classifier(cell: Any, method: str, metric: str) -> str:
    """One cell: how far the estimates of the classifiers are from the printed ones."""
    of_metric = ESTIMATES[ESTIMATES["metric"] == metric].set_index(["method", "classifier"])
    theirs = method.split(" (")[0]
    records = [r["estimates"] for r in cell["methods"].get(method, {}).values() if "estimates" in r]
    found = np.array([record[metric] for record in records if metric in record])
    if method == "Truth":
        found = np.array([cell["truth"][metric]])
    if not len(found) or theirs not in of_metric.index:
        return "-"
    paper = of_metric.loc[theirs].loc[cell["classifiers"]]
    away = np.abs(found.mean(axis=0) - paper["mean"].to_numpy())
    sizes = f"{away.mean():.1f}, {away.max():.1f}"
    if method == "Truth":
        return sizes
    theirs_error = paper["sd"].to_numpy() / np.sqrt(SPLITS)
    error = np.hypot(found.std(axis=0, ddof=1) / np.sqrt(len(found)), theirs_error)
    return f"{sizes}; {(away / error).max():.1f}"


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


def _print_gains(cells: Cells, curve: Any) -> None:
    """How much a method gains here, in both of the paper's ways."""
    rows = []
    for task in PAPER:
        for method in _methods(cells, task):
            if method not in READINGS:
                of_task = [_row(cells[task, n], method, task, curve) for n in COUNTS]
                rows.append([task, method, *(times for times, _ in of_task), of_task[0][1]])
    markdown(
        "How many times smaller than Labeled's error, on the same splits; effective sample size",
        ["task", "method", *(f"times, {n}" for n in COUNTS), f"size, {COUNTS[0]}"],
        rows,
    )


def _row(cell: Any, method: str, task: str, curve: Any) -> tuple[str, str]:
    """Gains and sizes of one method, a number a metric."""
    metrics = [m for m in METRICS if printed(task, COUNTS[0], "Labeled", m)]
    known = curve["tasks"][task]
    sizes = [_effective(cell, method, m, curve["sizes"], known[m]) for m in metrics]
    return " ".join(number(_gain(cell, method, m), 1) for m in metrics), " ".join(sizes)


def _gain(cell: Any, method: str, metric: str) -> float:
    """Labeled's mean error over a method's, on the splits that the method has."""
    own = {k: r[metric] for k, r in cell["methods"][method].items() if metric in r}
    base = [cell["methods"]["Labeled"][k][metric] for k in own if k in cell["methods"]["Labeled"]]
    return float(np.mean(base) / np.mean([*own.values()])) if base else np.nan


def _effective(cell: Any, method: str, metric: str, sizes: Any, known: Any) -> str:
    """Size whose error of labelled rows alone, which is known, is nearest."""
    here = errors(cell, method, metric)
    if not here.size or None in known:
        return "-"
    return str(effective_sample_size(float(here.mean()), sizes, 100 * np.array(known)))
