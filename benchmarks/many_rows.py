"""Counts of a Parquet data set, against reading its columns by the same threads.

python benchmarks/many_rows.py DIR                  # 1e8 rows; DIR takes 1 GB and is left behind
python benchmarks/many_rows.py DIR --rows 1e8 1e9   # ... and 1e9 rows, which take 9 GB

Scores are float32 and labels int8, written by PyArrow as it does by default, and plain without
dictionaries. Each cell is a process of its own for its peak memory, and they take turns, so that
the machine's load is the same for all. The files are read once before the first, so that all find
them in the system's cache, where there is room. Dask's bins are those of
`dask.dataframe.read_parquet`, by threads of one process.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import _results
import numpy as np
from _common import print_table, raw_parser
from _parquet import generate, in_turns

if TYPE_CHECKING:
    from bayescal.core.sums import Batch

MEASURED = ("seconds", "CPU", "peak GB")
WRITTEN = {"default": {}, "plain": {"use_dictionary": False}}


def rows_of_file(number: int, rows: int) -> dict[str, np.ndarray]:
    """Scores and labels."""
    rng = np.random.default_rng([10, number])
    score = rng.beta(0.8, 1.2, rows).astype(np.float32)
    return {"label": (rng.random(rows) < score).astype(np.int8), "score": score}


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
    from bayescal.core.sums import summed
    from bayescal.core.tables import open_table

    return {"rows": summed(open_table(folder), ["label", "score"], Rows.of).n}


def bins(folder: Path) -> dict[str, float]:
    """Fifteen quantile bins, and the cells that a curve is fitted to."""
    import bayescal as bc

    found = bc.count_rows(folder, label="label", score="score")["score"]
    return {"rows": found.bins.n, "cells": found.cells.n_bins}


def dask_bins(folder: Path) -> dict[str, float]:
    """The same bins, of a Dask dataframe."""
    import dask.dataframe as dd

    import bayescal as bc

    frame = dd.read_parquet(folder)
    return {"rows": bc.count_rows(frame, label="label", score="score")["score"].bins.n}


TASKS = {"read": read, "bins": bins, "bins, Dask": dask_bins}


def main() -> None:
    """Measure, print and keep."""
    parser = raw_parser(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", nargs="*", type=float, default=[1e8], help="default 1e8")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each cell (default 3)")
    parser.add_argument("--written", nargs="*", choices=WRITTEN, default=list(WRITTEN))
    parser.add_argument("--tasks", nargs="*", choices=TASKS, default=list(TASKS))
    given = parser.parse_args()
    for rows in map(int, given.rows):
        table = [line for name in given.written for line in compare(rows, name, given)]
        kept = f"many_rows_{rows:.0e}"
        _results.write(kept, table=table)
        show(kept)


def compare(rows: int, name: str, given: argparse.Namespace) -> list[list[object]]:
    """Run the tasks in turn; a line of medians each."""
    folder = given.folder / f"{rows:.0e}" / name
    generate(folder, rows, rows_of_file, **WRITTEN[name])
    read(folder)
    runs = in_turns({task: TASKS[task] for task in given.tasks}, folder, given.repeat)
    lines = []
    for task, found in runs.items():
        wall, cpu, peak = (statistics.median(one[figure] for one in found) for figure in MEASURED)
        lines.append([name, rows, task, wall, cpu, wall, cpu, peak])
    for line in lines:
        line[5:7] = [line[5] / lines[0][3], line[6] / lines[0][4]]
    return lines


def show(kept: str) -> None:
    """Print what was kept."""
    content = _results.read(kept)
    _results.print_provenance(content)
    header = ["written", "rows", "task", "seconds", "CPU", "ratio", "ratio of CPU", "peak GB"]
    print_table("Two columns of a Parquet data set", header, content["table"])


if __name__ == "__main__":
    main()
