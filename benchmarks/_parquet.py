"""Parquet data sets of simulated rows, and tasks on them that take turns in processes of theirs."""

from __future__ import annotations

import multiprocessing
import resource
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

FILE_ROWS = 10_000_000

type Task = Callable[[Path], dict[str, float]]


def generate(
    folder: Path,
    rows: int,
    sample: Callable[[int, int], Mapping[str, Any]],
    file_rows: int = FILE_ROWS,
    **written: Any,
) -> None:
    """Write files of rows, unless they are there; `sample` takes the file's number and rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(parents=True, exist_ok=True)
    for number, start in enumerate(range(0, rows, file_rows)):
        path = folder / f"{number:04d}.parquet"
        if path.exists():
            continue
        table = pa.table(sample(number, min(file_rows, rows - start)))
        partial = path.with_suffix(".partial")
        pq.write_table(table, partial, row_group_size=1 << 20, **written)
        partial.rename(path)


def run(task: Task, folder: Path) -> dict[str, float]:
    """Seconds, CPU seconds and peak GB of a task, and what it found."""
    wall, cpu = perf_counter(), process_time()
    found = task(folder)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return {"seconds": perf_counter() - wall, "CPU": process_time() - cpu, "peak GB": peak} | found


def in_turns(
    tasks: Mapping[str, Task], folder: Path, repeat: int
) -> dict[str, list[dict[str, float]]]:
    """Runs of each task, in a process of its own for its peak memory."""
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in tasks}
    for _ in range(repeat):
        for name, found in runs.items():
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                found.append(pool.apply(run, (tasks[name], folder)))
    return runs
