"""Evaluating classifiers from few labels: every method on the same splits of real predictions.

python benchmarks/ssme.py --data DIR                               # all tasks, methods and counts
python benchmarks/ssme.py --data DIR --tasks digits --labels 20 --splits 5 --methods Labeled
python benchmarks/ssme.py --data DIR --groups                      # every group of Adult
python benchmarks/ssme.py --data DIR --curve                       # labelled rows alone, 10 to 1000
python benchmarks/ssme.py --render

DIR is that of `_ssme_tasks.py`. A run can be stopped and taken up again: what is on disk of
the same source is not computed anew, unless --redo says so. --first starts at another split, as
choices are to be made on splits that are not reported.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from _labeled_errors import SIZES, labeled_errors
from _results import begun, write
from _ssme_methods import (
    GROUPED,
    METHODS,
    METRICS,
    Found,
    Method,
    Split,
    grouped_split_of,
    split_of,
)
from _ssme_tables import file_of, render
from _ssme_tasks import Task, tasks

from bayescal.core.errors import InputError
from bayescal.quantities.ssme.metrics import Metrics, metrics

type Record = dict[str, Any]

COUNTS = (20, 100, 200, 500)
# The names, without the data that making the tasks needs.
TASKS = tuple(tasks(Path()))


def stored(name: str) -> dict[str, dict[str, Record]]:
    """Records of this source on disk, by method and split."""
    return begun(name).get("methods", {})


def store(name: str, task: str, n_labeled: int, seed: int, found: Mapping[str, Record]) -> None:
    """Add records of one split to those on disk, which another process may have added to."""
    methods = stored(name)
    for method, record in found.items():
        methods.setdefault(method, {})[str(seed)] = record
    write(name, task=task, n_labeled=n_labeled, methods=methods)


def rounded(value: float) -> float | None:
    """Five digits; None where a metric does not exist."""
    return round(float(value), 5) if np.isfinite(value) else None


def record_of(found: Found, truth: Metrics) -> Record:
    """Means over classifiers and groups: error; share of intervals below and above, width."""
    record: Record = {name: rounded(value) for name, value in (found.health or {}).items()}
    for metric, point in found.point.items():
        true = getattr(truth, metric)
        # Of groups, those in which the metric exists: a group may have no label, or one class.
        record[metric] = rounded(np.nanmean(np.abs(point - true)))
        if found.lower is None or found.upper is None:
            continue
        lower, upper = found.lower[metric], found.upper[metric]
        ends = (np.mean(upper < true), np.mean(lower > true), np.nanmean(upper - lower))
        record[f"{metric}_interval"] = [rounded(value) for value in ends]
    return record


def measure(split: Split, method: Method, seed: int) -> Record:
    """One method on one split; a refusal is a result too."""
    start = time.perf_counter()
    try:
        found = method(split, seed)
    except InputError as error:
        return {"refused": str(error)}
    return record_of(found, split.truth) | {"seconds": round(time.perf_counter() - start, 3)}


def run(
    task: Task,
    n_labeled: int,
    seeds: Sequence[int],
    methods: Mapping[str, Method],
    *,
    grouped: bool,
    redo: bool,
) -> None:
    """Every method on every split of one task with one number of labels."""
    name = file_of(task.name, n_labeled, grouped)
    if n_labeled >= len(task.labels) or (grouped and task.group is None):
        return
    draw = grouped_split_of if grouped else split_of
    for seed in seeds:
        before = {} if redo else stored(name)
        missing = [method for method in methods if str(seed) not in before.get(method, {})]
        if not missing:
            continue
        split = draw(task, n_labeled, seed)
        found = {method: measure(split, methods[method], seed) for method in missing}
        store(name, task.name, n_labeled, seed, found)
        took = sum(record.get("seconds", 0) for record in found.values())
        print(f"{name} split {seed}: {len(found)} methods, {took:.1f} s", flush=True)


def curve(made: Mapping[str, Callable[[], Task]], names: Sequence[str], redo: bool) -> None:
    """Mean absolute error of labelled rows alone, by their number."""
    known = begun("ssme_curve").get("tasks", {})
    for name in (name for name in names if redo or name not in known):
        task = made[name]()
        truth = metrics(task.probs, np.eye(task.probs.shape[2])[task.labels])
        errors = labeled_errors(task.probs, task.labels, truth, sizes=SIZES, seed=20)
        known[name] = {
            metric: [rounded(np.mean(one)) for one in getattr(errors, metric)] for metric in METRICS
        }
        write("ssme_curve", sizes=list(SIZES), tasks=known)
        print(name, json.dumps({m: v[:3] for m, v in known[name].items()}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="where the predictions are")
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=TASKS)
    parser.add_argument("--labels", nargs="+", type=int, default=COUNTS)
    parser.add_argument("--splits", type=int, default=50)
    parser.add_argument("--first", type=int, default=0, help="number of the first split")
    parser.add_argument("--methods", nargs="+", choices=[*METHODS], default=[*METHODS])
    parser.add_argument("--groups", action="store_true", help="metrics of every group")
    parser.add_argument("--redo", action="store_true", help="compute anew what is on disk")
    parser.add_argument("--curve", action="store_true", help="labelled rows alone, 10 to 1000")
    parser.add_argument("--render", action="store_true", help="only print the figures on disk")
    given = parser.parse_args()
    seeds = range(given.first, given.first + given.splits)
    if given.render:
        render(given.tasks, given.labels, seeds, given.methods, given.groups)
        return
    if given.data is None:
        parser.error("--data is needed to compute")
    made = tasks(given.data)
    if given.curve:
        curve(made, given.tasks, given.redo)
        return
    known = GROUPED if given.groups else METHODS
    methods = {name: known[name] for name in given.methods if name in known}
    for name in given.tasks:
        task = made[name]()
        for n_labeled in given.labels:
            run(task, n_labeled, seeds, methods, grouped=given.groups, redo=given.redo)


if __name__ == "__main__":
    main()
