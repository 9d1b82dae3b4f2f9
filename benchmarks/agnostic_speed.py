"""The interval measure: how fast it is, beside one argsort and one cumulative sum.

python benchmarks/agnostic_speed.py                 # 1e6 and 1e7 rows
python benchmarks/agnostic_speed.py --rows 1e8      # 1e8 rows: 4 GB of memory

Seconds are those that the process had a core. Memory is the peak above the scores and labels, as a
multiple of the scores.
"""

from __future__ import annotations

import argparse
import tracemalloc

import numpy as np
from _common import print_machine, print_table, time_best

from bayescal.quantities.agnostic.estimator import interval_measure


def argsort_and_cumsum(score: np.ndarray, label: np.ndarray) -> float:
    """The measure of distinct scores in the plainest way."""
    order = np.argsort(score)
    sums = np.cumsum(score[order] - label[order])
    return float(max(sums.max(), 0) - min(sums.min(), 0)) / len(score)


def peak(score: np.ndarray, label: np.ndarray) -> float:
    """Peak of the memory allocated, in multiples of the scores."""
    tracemalloc.start()
    interval_measure(score, label=label)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most / score.nbytes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, nargs="+", default=[1e6, 1e7])
    parser.add_argument("--repeat", type=int, default=5)
    given = parser.parse_args()
    print_machine()
    lines = []
    for n in map(int, given.rows):
        rng = np.random.default_rng(20)
        score = rng.random(n)
        label = (rng.random(n) < score).astype(np.uint8)
        own = time_best(lambda: interval_measure(score, label=label), given.repeat)  # noqa: B023  # called at once
        plain = time_best(lambda: argsort_and_cumsum(score, label), given.repeat)  # noqa: B023  # at once
        apart = abs(interval_measure(score, label=label).c - argsort_and_cumsum(score, label))
        lines.append((n, own.cpu, plain.cpu, plain.cpu / own.cpu, peak(score, label), apart))
    header = ("rows", "c_emp, s", "argsort + cumsum, s", "ratio", "memory, scores", "difference")
    print_table("Interval measure", header, lines)


if __name__ == "__main__":
    main()
