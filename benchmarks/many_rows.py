"""Bins and the interval measure of a Parquet data set, against reading its columns alone.

python benchmarks/many_rows.py DIR                  # 1e8 rows; DIR takes 2 GB and is left behind
python benchmarks/many_rows.py DIR --rows 1e8 1e9   # ... and 1e9 rows, which take 18 GB

Each cell is a process of its own for its peak memory, and they take turns, so that the machine's
load is the same for all. The files are read once before the first, so that all find them in the
system's cache, where there is room. Dask's bins are those of `dask.dataframe.read_parquet`, by
threads of one process.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time
from typing import TYPE_CHECKING

import _results
import numpy as np
from _common import print_table

if TYPE_CHECKING:
    from bayescal.core.partial_sums import Batch

FILE_ROWS = 10_000_000
# The power of the score that is the probability of the event.
POWERS = {"calibrated": 1.0, "over": 1.3}


def generate(folder: Path, rows: int, power: float) -> None:
    """Write scores and labels, unless they are there."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(parents=True, exist_ok=True)
    for number, start in enumerate(range(0, rows, FILE_ROWS)):
        path = folder / f"{number:04d}.parquet"
        if path.exists():
            continue
        rng = np.random.default_rng([int(10 * power), number])
        score = rng.beta(0.8, 1.2, min(FILE_ROWS, rows - start))
        label = (rng.random(len(score)) < score**power).astype(np.int8)
        partial = path.with_suffix(".partial")
        table = pa.table({"label": label, "score": score})
        pq.write_table(table, partial, row_group_size=1 << 20, use_dictionary=False)
        partial.rename(path)


@dataclass
class Rows:
    """A number of rows."""

    n: int

    @classmethod
    def of(cls, batches: Iterator[Batch]) -> Rows:
        """Go through rows."""
        return cls(sum(len(batch.columns["score"]) for batch in batches))

    def plus(self, other: Rows) -> Rows:
        """Add those of another part."""
        return Rows(self.n + other.n)


def read(folder: Path) -> dict[str, float]:
    """Read the two columns by the same threads, and do nothing."""
    from bayescal.core.partial_sums import summed
    from bayescal.core.tables import open_table

    return {"rows": summed(open_table(folder), ["label", "score"], Rows.of).n}


def bins(folder: Path) -> dict[str, float]:
    """Fifteen quantile bins, and the cells that a curve is fitted to."""
    import bayescal as bc

    found = bc.count_rows(folder, label="label", score="score")["score"]
    return {"rows": found.bins.n, "cells": found.cells.n_bins}


def measure(folder: Path) -> dict[str, float]:
    """The largest deviation over all score intervals."""
    import bayescal as bc

    return {"c": bc.agnostic.interval_measure_of_rows(folder, label="label", score="score").c}


def dask_bins(folder: Path) -> dict[str, float]:
    """The same bins, of a Dask dataframe."""
    import dask.dataframe as dd

    import bayescal as bc

    frame = dd.read_parquet(folder)
    return {"rows": bc.count_rows(frame, label="label", score="score")["score"].bins.n}


TASKS = {"read": read, "bins": bins, "c_emp": measure, "bins, Dask": dask_bins}


def run(task: str, folder: Path) -> tuple[float, float, float, dict[str, float]]:
    """Seconds, CPU seconds and peak GB of a task."""
    wall, cpu = perf_counter(), process_time()
    found = TASKS[task](folder)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return perf_counter() - wall, process_time() - cpu, peak, found


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", nargs="*", type=float, default=[1e8], help="default 1e8")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each cell (default 3)")
    parser.add_argument("--labels", nargs="*", choices=POWERS, default=list(POWERS))
    given = parser.parse_args()
    for rows in map(int, given.rows):
        table = [
            line
            for name in given.labels
            for line in compare(given.folder / f"{rows:.0e}" / name, name, rows, given.repeat)
        ]
        kept = f"many_rows_{rows:.0e}"
        _results.write(kept, table=table)
        show(kept)


def compare(folder: Path, name: str, rows: int, repeat: int) -> list[list[object]]:
    """Run the tasks in turn; a line of medians each."""
    generate(folder, rows, POWERS[name])
    read(folder)
    runs = {task: [] for task in TASKS}
    for _ in range(repeat):
        for task, found in runs.items():
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                found.append(pool.apply(run, (task, folder)))
    alone = statistics.median(one[0] for one in runs["read"])
    lines = []
    for task, found in runs.items():
        wall, cpu, peak = (statistics.median(one[place] for one in found) for place in range(3))
        lines.append([name, rows, task, wall, cpu, wall / alone, peak])
    return lines


def show(kept: str) -> None:
    """Print what was kept."""
    content = _results.read(kept)
    _results.print_provenance(content)
    header = ["labels", "rows", "task", "seconds", "CPU", "ratio to reading", "peak GB"]
    print_table("Two columns of a Parquet data set", header, content["table"])


if __name__ == "__main__":
    main()
