"""Binning: how fast, in how much memory, and the same numbers as elsewhere.

python benchmarks/binning.py                     # 1e8 rows in memory, 2e7 in a file
python benchmarks/binning.py --rows 1e7 --file-rows 5e6 --only speed
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from _common import print_machine, print_table, time_best

from bayescal.core.bin_edges import bin_edges
from bayescal.core.binning import count_into, fine_counts
from bayescal.core.scores import Task
from bayescal.quantities.ece.estimator import estimate

N_BINS = 15


def make_task(n: int, seed: int = 0, decimals: int | None = None) -> Task:
    """Uniform float32 scores; labels from a curve a little off the diagonal."""
    rng = np.random.default_rng(seed)
    score = rng.random(n, dtype=np.float32)
    event = (rng.random(n, dtype=np.float32) < score**1.2).astype(np.uint8)
    return Task({}, score if decimals is None else score.round(decimals), event)


def speed(n: int, repeat: int) -> None:
    """Counts, positives and score sums: one pass here, three np.histogram calls there."""
    task = make_task(n)
    score, event = task.score, task.event
    uniform = bin_edges(score, N_BINS, "uniform")
    skewed = np.concatenate(([0.0], np.geomspace(1e-4, 1, N_BINS)))
    cells = np.arange(116) / 115

    double = score.astype(np.float64)

    def histograms(**bins: Any) -> None:
        np.histogram(score, **bins)
        np.histogram(score, weights=event, **bins)
        np.histogram(score, weights=score, **bins)

    tasks: dict[str, Callable[[], object]] = {
        "3 np.histogram, bins=15, range=(0, 1)": lambda: histograms(bins=N_BINS, range=(0, 1)),
        "count_into, 15 uniform bins": lambda: count_into(score, event, uniform),
        "count_into, left-closed": lambda: count_into(score, event, uniform, "left"),
        "count_into, 15 uneven bins": lambda: count_into(score, event, skewed),
        "count_into, 115 cells": lambda: count_into(score, event, cells),
        "count_into, 15 uniform bins, float64": lambda: count_into(double, event, uniform),
        "quantile edges and 100 cells": lambda: fine_counts(task, uniform),
    }
    times = {name: time_best(run, repeat) for name, run in tasks.items()}
    reference = next(iter(times.values()))
    print_table(
        f"Binning {n:.0e} float32 rows with uint8 labels, one thread, best of {repeat}",
        ("what", "seconds", "CPU seconds", "CPU ns a row", "times faster", "by CPU"),
        [
            (name, t.wall, t.cpu, t.cpu / n * 1e9, reference.wall / t.wall, reference.cpu / t.cpu)
            for name, t in times.items()
        ],
    )


def accuracy() -> None:
    """The same ECE as other libraries: tie-free scores, and each convention on tied ones."""
    rows = []
    for name, decimals, closed in (
        ("tie-free", None, "right"),
        ("tie-free", None, "left"),
        ("rounded to 0.1", 1, "right"),
        ("rounded to 0.1", 1, "left"),
    ):
        task = make_task(100_000, decimals=decimals)
        task = Task({}, task.score.astype(np.float64).round(decimals or 17), task.event)
        edges = np.linspace(0, 1, N_BINS + 1 if decimals is None else 11)
        ours = estimate(task, strategy=edges, closed=closed).ece
        for other, ece, convention in references(task, len(edges) - 1):
            if decimals is None or convention == closed:
                rows.append((name, closed, other, float(ours), float(abs(ece - ours))))
    print_table(
        "ECE against other libraries, 1e5 rows",
        ("scores", "closed", "reference", "ECE", "|difference|"),
        rows,
    )


def references(task: Task, n_bins: int) -> list[tuple[str, float, str]]:
    """Others' ECE, and which end their bins close."""
    from sklearn.calibration import calibration_curve

    edges = np.linspace(0, 1, n_bins + 1)
    rate, confidence = calibration_curve(task.event, task.score, n_bins=n_bins)
    mass = np.bincount(np.searchsorted(edges[1:-1], task.score), minlength=n_bins) / task.n
    found = [("scikit-learn", float((mass[mass > 0] * abs(rate - confidence)).sum()), "right")]
    place = np.minimum(np.searchsorted(edges, task.score, side="right") - 1, n_bins - 1)
    gap = np.bincount(place, task.event - task.score, minlength=n_bins) / task.n
    found.append(("torchmetrics' formula", float(np.abs(gap).sum()), "left"))
    if find_spec("netcal"):
        from netcal.metrics import ECE

        found.append(("netcal", ECE(n_bins).measure(task.score, task.event.astype(int)), "left"))
    return found


def write_parquet(path: Path, n: int) -> None:
    """Write labels and float32 scores, a row group at a time."""
    import pyarrow as pa
    from pyarrow import parquet

    schema = pa.schema({"y": pa.uint8(), "p": pa.float32()})
    with parquet.ParquetWriter(path, schema) as writer:
        for seed, start in enumerate(range(0, n, 1 << 20)):
            task = make_task(min(1 << 20, n - start), seed)
            writer.write_table(pa.table({"y": task.event, "p": task.score}, schema))


_READ = """
import sys, time
import bayescal as bc
from bayescal.core.many_rows import batches_of
from bayescal.core.tables import open_table
def peak():
    # Linux: unlike ru_maxrss, it does not hand down the peak of the parent process.
    lines = open("/proc/self/status").read().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024
table = open_table(sys.argv[1])
for batch in batches_of(table, ["y", "p"]):
    pass
before, start = peak(), time.perf_counter()
found = bc.count_rows(table, label="y", score="p", strategy=sys.argv[2])["p"]
found.bins, found.cells
print(before, peak(), time.perf_counter() - start)
"""


def streaming(directory: Path, n: int) -> None:
    """Peak memory of a process that bins a file, above the peak of only reading it."""
    path = directory / "rows.parquet"
    rows = []
    for size in (n // 10, n):
        write_parquet(path, size)
        for strategy in ("uniform", "quantile"):
            done = subprocess.run(
                [sys.executable, "-c", _READ, str(path), strategy],
                check=True,
                capture_output=True,
                text=True,
            )
            before, after, time = (float(word) for word in done.stdout.split())
            rows.append((f"{size:.0e}", strategy, before, after, after - before, time))
    print_table(
        "Binning a Parquet file in batches, 15 bins and 100 cells, whole process",
        ("rows", "strategy", "MB, only reading", "MB, binning", "MB more", "seconds"),
        rows,
    )


def estimate_only(directory: Path, n: int, repeat: int) -> None:
    """The command line from start to finish, and whether it loaded PyMC."""
    path = directory / "scores.parquet"
    write_parquet(path, n)
    options = ["-m", "bayescal", "ece", str(path), "--label", "y", "--score", "p"]
    command = [sys.executable, *options, "--estimate-only"]

    def run() -> None:
        subprocess.run(command, check=True, capture_output=True)

    time = time_best(run, repeat).wall
    traced = subprocess.run(
        [sys.executable, "-X", "importtime", *command[1:]],
        check=True,
        capture_output=True,
        text=True,
    )
    modules = [line.rsplit("|", 1)[-1].strip() for line in traced.stderr.splitlines()]
    loaded = "yes" if "pymc" in modules else "no"
    print_table(
        f"bayescal ece --estimate-only, {n:.0e}-row Parquet, best of {repeat}",
        ("seconds", "target", "PyMC imported"),
        [(time, 1.5, loaded)],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=float, default=1e8, help="rows in memory")
    parser.add_argument("--file-rows", type=float, default=2e7, help="rows of the streamed file")
    parser.add_argument("--repeat", type=int, default=3, help="runs, of which the best counts")
    parser.add_argument("--only", choices=("speed", "accuracy", "streaming", "command"))
    given = parser.parse_args()
    print_machine("pyarrow", "scikit-learn")
    with tempfile.TemporaryDirectory() as name:
        parts = {
            "speed": lambda: speed(int(given.rows), given.repeat),
            "accuracy": accuracy,
            "streaming": lambda: streaming(Path(name), int(given.file_rows)),
            "command": lambda: estimate_only(Path(name), 1_000_000, 2 * given.repeat),
        }
        for part, run in parts.items():
            if given.only in (None, part):
                run()


if __name__ == "__main__":
    main()
