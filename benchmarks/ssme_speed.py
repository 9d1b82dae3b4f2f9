"""What SSME-KDE costs, and what near rows only lose against all pairs.

python benchmarks/ssme_speed.py DIR                 # all, best of 3 runs each
python benchmarks/ssme_speed.py DIR --repeat 1 --only large

DIR holds civilcomments.npz and multinli.npz. Set OMP_NUM_THREADS=1 for figures of one core.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter, process_time
from typing import NamedTuple

import numpy as np
from _common import print_machine, print_table, time_best
from _ssme_tasks import Task, civilcomments, multinli

from bayescal.quantities.ssme.data import ScoreMatrix
from bayescal.quantities.ssme.estimator import KDESettings, estimate, estimate_each
from bayescal.quantities.ssme.kde import MOST_PAIRS, alr
from bayescal.quantities.ssme.metrics import metrics

N, DRAWS, LARGE, PAIRED = 1020, 500, 100_000, 5_000
# Moves repeated rows apart, by less than the bandwidth.
JITTER = 0.02


class Row(NamedTuple):
    """One target and what was reached."""

    what: str
    reached: float
    cpu: float
    unit: str
    target: str
    met: bool


def small(data: Path, repeat: int) -> Iterator[Row]:
    """The paper's size."""
    for task in (civilcomments(data), multinli(data)):
        scores, _ = task.split(20, 0)
        for variant in ("paper", "release"):
            time = time_best(lambda s=scores, v=variant: estimate(s, settings=v), repeat)
            what = f"estimate, {task.name}, {variant}, n = {N}"
            yield Row(what, *time, "s", "0.25", time.wall <= 0.25)


def draws(data: Path, repeat: int) -> Iterator[Row]:
    """Metrics alone."""
    task = civilcomments(data)
    rng = np.random.default_rng(0)
    rows = rng.choice(len(task.labels), N, replace=False)
    probs = task.probs[:, rows]
    label = (rng.random((DRAWS, N)) < probs[..., 1].mean(axis=0)).astype(np.float64)
    time = time_best(lambda: metrics(probs, label), max(repeat, 5))
    yield Row(f"all metrics, {DRAWS} draws, n = {N}, M = 7", *time, "s", "0.1", time.wall <= 0.1)


def large(data: Path, _: int) -> Iterator[Row]:
    """Many rows, each in a process of its own for its peak memory."""
    jobs: list[tuple[str, bool, str | KDESettings]] = [
        ("paper", False, "paper"),
        ("release", False, "release"),
        ("leave-one-out", False, KDESettings(leave_one_out=True)),
        ("one at a time", True, "paper"),
    ]
    for name, each, variant in jobs:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            wall, cpu, peak = pool.apply(_large_run, (data, each, variant))
        what = f"{name}, n = {LARGE}, M = 7"
        yield Row(what, wall, cpu, "s", "30", wall <= 30)
        yield Row(f"{what}, peak memory", peak, cpu, "GB", "2", peak <= 2)


def _large_run(data: Path, each: bool, variant: str | KDESettings) -> tuple[float, float, float]:
    matrix = large_panel(civilcomments(data), LARGE, 100)
    run = estimate_each if each else estimate
    wall, cpu = perf_counter(), process_time()
    run(matrix, settings=variant)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return perf_counter() - wall, process_time() - cpu, peak


def large_panel(task: Task, n: int, n_labeled: int) -> ScoreMatrix:
    """Rows drawn with replacement, apart by a little."""
    rng = np.random.default_rng(1)
    rows = rng.integers(len(task.labels), size=n)
    odds = np.log(task.probs[:, rows, 1] / task.probs[:, rows, 0])
    score = 1 / (1 + np.exp(-odds - JITTER * rng.normal(size=odds.shape)))
    y = task.labels[rows].astype(np.int32)
    y[n_labeled:] = -1
    return ScoreMatrix(np.stack([1 - score, score], axis=-1), y, tuple(task.classifiers), (0, 1))


def difference(data: Path, _: int) -> Iterator[Row]:
    """Largest difference of a label probability on rows that can be taken both ways."""
    places = {
        "M = 7": (civilcomments(data), range(7)),
        "M = 3": (civilcomments(data), (0, 5, 6)),
        "M = 1": (civilcomments(data), (0,)),
        "M = 4, K = 3": (multinli(data), range(4)),
    }
    variants = {
        "paper": KDESettings(),
        "from the mean": KDESettings(start="mean"),
        "from the mean, 3 x bandwidth": KDESettings(start="mean", bandwidth_scale=3.0),
        "leave-one-out": KDESettings(start="mean", leave_one_out=True),
    }
    for name, (task, which) in places.items():
        rows = np.random.default_rng(2).choice(len(task.labels), PAIRED, replace=False)
        probs = task.probs[list(which)][:, rows]
        y = task.labels[rows].astype(np.int32)
        y[100:] = -1
        names = tuple(task.classifiers[i] for i in which)
        matrix = ScoreMatrix(probs, y, names, tuple(range(probs.shape[2])))
        for label, variant in variants.items():
            cpu = process_time()
            found = largest_difference(matrix, variant)
            what = f"|dP| near rows against all pairs, {name}, {label}, n = {PAIRED}"
            yield Row(what, found, process_time() - cpu, "", "1e-3", found <= 1e-3)


def largest_difference(matrix: ScoreMatrix, variant: KDESettings) -> float:
    """Fit both ways."""
    from bayescal.quantities.ssme import kde

    assert len(alr(matrix.probs)) ** 2 * 2 <= MOST_PAIRS
    dense = estimate(matrix, settings=variant, n_draws=None).prob_label
    kde.MOST_PAIRS = 0
    try:
        near = estimate(matrix, settings=variant, n_draws=None).prob_label
    finally:
        kde.MOST_PAIRS = MOST_PAIRS
    return float(np.abs(near - dense).max())


PARTS: dict[str, Callable[[Path, int], Iterator[Row]]] = {
    "small": small,
    "draws": draws,
    "large": large,
    "difference": difference,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", choices=PARTS, nargs="*", default=list(PARTS))
    options = parser.parse_args()
    print_machine("scipy")
    for name in options.only:
        rows = list(PARTS[name](options.data, options.repeat))
        cells = [(*row[:5], "yes" if row.met else "NO") for row in rows]
        print_table(name, ("what", "reached", "CPU s", "unit", "target", "met"), cells)


if __name__ == "__main__":
    main()
