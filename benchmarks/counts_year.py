"""A year of daily counts: bytes on disk, and CPU seconds to add them up and to fit the sum.

python benchmarks/counts_year.py DIR

Each day has the counts of so many classifiers in one file. Some days are simulated, and read in
turn until there are 365.
"""

from __future__ import annotations

import argparse
from itertools import cycle, islice
from pathlib import Path
from time import process_time

import _results
import numpy as np
from _common import print_table, raw_parser

HEADER = ["scores", "rows a day", "cells a day", "MB a day", "GB a year", "bytes a row"]
HEADER += ["CPU s to sum", "fit"]


def logits(rng: np.random.Generator, n: int) -> np.ndarray:
    """Scores whose logits have the standard deviation 2.4."""
    return 1 / (1 + np.exp(-rng.normal(-1, 2.4, n)))


SCORES = {
    "float32": lambda rng, n: logits(rng, n).astype(np.float32),
    "three decimals": lambda rng, n: np.round(logits(rng, n), 3),
}


def year(folder: Path, kind: str, rows: int, given: argparse.Namespace) -> list[object]:
    """Write days, add up a year of them, and fit the sum of one classifier."""
    import bayescal as bc

    files, cells = [], []
    for day in range(given.simulated):
        parts = {}
        for place in range(given.classifiers):
            rng = np.random.default_rng([day, place, rows])
            score = SCORES[kind](rng, rows)
            label = (rng.random(rows) < score**1.1).astype(np.int8)
            parts[f"classifier {place:02d}"] = bc.Counts.from_arrays(label, score)
        cells.append(np.mean([len(one.cell) for one in parts.values()]))
        files.append(bc.CountTable(parts).save(folder / f"{kind}_{rows}_{day:03d}.counts"))
    size = float(np.mean([path.stat().st_size for path in files]))
    start = process_time()
    total = sum(bc.Counts.load(path) for path in islice(cycle(files), given.days))
    middle = process_time()
    assert all(one.n_labeled == rows * given.days for one in total.values())
    bc.fit(bc.ece, next(iter(total.values())), method="direct", seed=1)
    seconds = (middle - start, process_time() - middle)
    a_row = size / (rows * given.classifiers)
    return [kind, rows, float(np.mean(cells)), size / 1e6, size * 365 / 1e9, a_row, *seconds]


def main() -> None:
    """Measure, print and keep."""
    parser = raw_parser(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", nargs="*", type=float, default=[1e4, 1e5, 1e6])
    parser.add_argument("--classifiers", type=int, default=20)
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--simulated", type=int, default=4, help="different days (default 4)")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    table = [year(given.folder, kind, int(n), given) for kind in SCORES for n in given.rows]
    _results.write("counts_year", table=table)
    content = _results.read("counts_year")
    _results.print_provenance(content)
    print_table(f"{given.days} days of {given.classifiers} classifiers", HEADER, content["table"])


if __name__ == "__main__":
    main()
