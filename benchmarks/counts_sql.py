"""From rows of Parquet to a posterior: counted by DuckDB's GROUP BY, and by bayescal.

python benchmarks/counts_sql.py DIR                 # 1e8 rows; DIR takes .5 GB and is left behind
python benchmarks/counts_sql.py DIR --rows 2e7

Scores are float32, labels int8. Each run is a process of its own for its peak memory; they take
turns. The files are read once before the first, so that all find them in the system's cache.
"""

from __future__ import annotations

import statistics
from pathlib import Path
from time import perf_counter

import _results
import numpy as np
from _common import print_table, raw_parser
from _parquet import generate, in_turns


def rows_of_file(number: int, rows: int) -> dict[str, np.ndarray]:
    """Overconfident scores and labels."""
    rng = np.random.default_rng(number)
    score = rng.beta(0.8, 1.2, rows).astype(np.float32)
    return {"label": (rng.random(rows) < score**1.3).astype(np.int8), "score": score}


def read(folder: Path) -> dict[str, float]:
    """Read the two columns and do nothing."""
    from bayescal.core.sums import batches_of
    from bayescal.core.tables import open_table

    batches = batches_of(open_table(folder), ["label", "score"])
    return {"rows": sum(len(batch.columns["score"]) for batch in batches)}


def by_duckdb(folder: Path) -> dict[str, float]:
    """The query, its result as counts, and the posterior."""
    import duckdb

    import bayescal as bc

    query = bc.counts_sql(str(folder / "*.parquet"), label="label", score="score")
    return fitted(lambda: bc.Counts.from_frame(duckdb.sql(query).to_arrow_table()))


def by_bayescal(folder: Path) -> dict[str, float]:
    """The same by `count_rows`."""
    import bayescal as bc

    return fitted(lambda: bc.count_rows(folder, label="label", score="score")["score"])


def fitted(count) -> dict[str, float]:
    """Count, fit, and say how long each took."""
    import bayescal as bc

    start = perf_counter()
    counts = count()
    middle = perf_counter()
    tree = bc.fit(bc.ece, counts, method="direct", seed=1)
    lower, upper = bc.interval(tree, "ece").to_numpy().ravel()
    return {
        "rows": counts.n_labeled,
        "cells": len(counts.cell),
        "counting": middle - start,
        "fitting": perf_counter() - middle,
        "lower": float(lower),
        "upper": float(upper),
    }


TASKS = {"read": read, "DuckDB": by_duckdb, "count_rows": by_bayescal}


def main() -> None:
    """Measure, print and keep."""
    parser = raw_parser(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=float, default=1e8, help="default 1e8")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each (default 3)")
    given = parser.parse_args()
    folder = given.folder / f"{given.rows:.0e}"
    generate(folder, int(given.rows), rows_of_file, use_dictionary=False)
    read(folder)
    runs = in_turns(TASKS, folder, given.repeat)
    lines = []
    for task, found in runs.items():
        lines.append([task, *(middle(found, name) for name in HEADER[1:])])
    _results.write("counts_sql", table=lines)
    content = _results.read("counts_sql")
    _results.print_provenance(content)
    print_table("Two columns of Parquet, to a posterior of the ECE", HEADER, content["table"])


def middle(found: list[dict[str, float]], name: str) -> float | str:
    """Median of what the runs of a task found; nothing where the task does not find it."""
    return statistics.median(one[name] for one in found) if name in found[0] else ""


HEADER = ["task", "rows", "cells", "seconds", "CPU", "counting", "fitting", "peak GB", "lower"]
HEADER += ["upper"]

if __name__ == "__main__":
    main()
