"""A warm default fit beside a busy process: BLAS with one thread against the machine's own.

python benchmarks/blas_threads.py

bayescal limits BLAS to one thread inside a fit. Each run is a process of its own, alternately as
bayescal is, and with OMP_NUM_THREADS=1 for the whole process; the former must not take more than
1.2 times the latter. ``free`` lifts the limit, for comparison.
"""

from __future__ import annotations

import multiprocessing
import os
import statistics
import subprocess
import sys

from _common import print_machine, print_table, raw_parser

FIT = """
import time
from contextlib import nullcontext
import sys
import bayescal as bc
import bayescal.workflow.sampling as sampling
if sys.argv[1] == "free":
    sampling.one_blas_thread = nullcontext
scores = bc.datasets.ece.truth("over").scores(1000, seed=1)
bc.fit(bc.ece, scores, seed=1)
times = []
for seed in range(5):
    began = time.perf_counter()
    bc.fit(bc.ece, scores, seed=seed)
    times.append(time.perf_counter() - began)
print(sorted(times)[2])
"""


def seconds(how: str) -> float:
    """Median of five warm fits in a fresh process."""
    own = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    if how == "one":
        own |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    run = subprocess.run(
        [sys.executable, "-c", FIT, how], env=own, capture_output=True, text=True, check=True
    )
    return float(run.stdout)


def _spin() -> None:
    while True:
        sum(range(1000))


def main() -> None:
    """Measure with and without a busy process."""
    parser = raw_parser(__doc__)
    parser.add_argument("--repeat", type=int, default=3, help="processes of each kind (default 3)")
    repeat = parser.parse_args().repeat
    print_machine("nutpie", "threadpoolctl")
    rows = []
    for busy in (0, 1):
        spinning = [multiprocessing.Process(target=_spin, daemon=True) for _ in range(busy)]
        for process in spinning:
            process.start()
        found = {how: [] for how in ("bayescal", "one", "free")}
        for _ in range(repeat):
            for how, times in found.items():
                times.append(seconds(how))
        for process in spinning:
            process.terminate()
        middle = {how: statistics.median(times) for how, times in found.items()}
        rows.append([busy, *middle.values(), middle["bayescal"] / middle["one"]])
    header = ["busy processes", "bayescal, s", "one thread, s", "free, s", "ratio to one thread"]
    print_table("Warm default fit of 1,000 rows, target ratio <= 1.2", header, rows)


if __name__ == "__main__":
    main()
