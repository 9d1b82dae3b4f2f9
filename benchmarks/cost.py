"""What a posterior costs: as rows grow, for further classifiers, and the memory of commands.

python benchmarks/cost.py                           # all parts
python benchmarks/cost.py --only rows
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from _common import Timing, print_machine, print_table, time_best
from binning import write_parquet

import bayescal as bc
from bayescal.core.bin_counts import BinCounts
from bayescal.quantities.ece.simulator import Truth, sample_panel, truth

SIZES = (10**3, 10**4, 10**5, 10**6, 10**7, 10**8)
CELLS = 100
BATCH_ROWS = 1 << 19


def counts_of(simulated: Truth, n: int, seed: int) -> BinCounts:
    """Counts of n rows in 100 equal-mass cells, without drawing the rows."""
    rng = np.random.default_rng([seed, n])
    score = np.sort(simulated.sample(400_000, rng)[0]).reshape(CELLS, -1)
    edges = np.concatenate([[0.0], score[:-1, -1], [1.0]])
    count = rng.multinomial(n, np.full(CELLS, 1 / CELLS))
    positives = rng.binomial(count, simulated.probability(score).mean(axis=1))
    return BinCounts(edges, count, positives, score.mean(axis=1))


def by_rows(repeat: int, seed: int) -> None:
    """The same fit from counts of more and more rows."""
    bc.fit(bc.ece, counts_of(truth("over"), 1000, seed), seed=seed)
    rows = []
    for name in ("over", "calibrated"):
        times = {}
        for n in SIZES:
            data = counts_of(truth(name), n, seed)
            times[n] = time_best(lambda data=data: bc.fit(bc.ece, data, seed=seed), repeat)
            figures = bc.fit(bc.ece, data, seed=seed)["diagnostics"]
            rows.append(
                (
                    name,
                    f"{n:.0e}",
                    times[n].wall,
                    times[n].cpu,
                    figures["ess_min"].item(),
                    figures["rhat_max"].item(),
                    figures["divergences"].item(),
                )
            )
        slowest, fastest = (end(time.cpu for time in times.values()) for end in (max, min))
        rows.append((name, "max / min", "", slowest / fastest, "", "", ""))
    print_table(
        f"NUTS posterior from counts in a warm process, best of {repeat}",
        ("truth", "rows", "seconds", "CPU seconds", "least ESS", "R-hat", "divergences"),
        rows,
    )


def by_classifiers(n: int, repeat: int, seed: int) -> None:
    """Time of each further classifier, in a warm process."""
    panel = sample_panel(n, seed)
    names = list(panel.score)

    def fit(size: int, method: str) -> Timing:
        scores = bc.Scores.stack({k: panel.score[k] for k in names[:size]}, y_true=panel.label)
        return time_best(lambda: bc.fit(bc.ece, scores, seed=seed, method=method), repeat)

    rows = []
    for method in ("nuts", "direct"):
        one, all_of_them = fit(1, method), fit(len(names), method)
        further = len(names) - 1
        rows.append(
            (
                "NUTS" if method == "nuts" else "direct",
                one.wall,
                one.cpu,
                (all_of_them.wall - one.wall) / further,
                (all_of_them.cpu - one.cpu) / further,
            )
        )
    print_table(
        f"Further classifiers, {n:.0e} rows, binning included, warm process, best of {repeat}",
        ("posterior", "first, seconds", "CPU", "each further, seconds", "CPU"),
        rows,
    )


_TIMED = """
import resource, subprocess, sys, time
start = time.perf_counter()
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
"""


def run_fresh(*arguments: str) -> tuple[float, float, float]:
    """Wall seconds, CPU seconds and peak megabytes of `bayescal ...` in a process of its own."""
    command = [sys.executable, "-m", "bayescal", *arguments]
    # A small parent: a child's peak begins with that of the process it was forked from.
    done = subprocess.run(
        [sys.executable, "-c", _TIMED, *command], check=True, capture_output=True, text=True
    )
    wall, cpu, peak = (float(word) for word in done.stdout.split())
    return wall, cpu, peak


def write_panel(path: Path, n: int, size: int, seed: int) -> list[str]:
    """Write a table of labels and so many classifiers' scores; give the options that name them."""
    import pyarrow as pa
    from pyarrow import parquet

    panel = sample_panel(n, seed)
    found = list(panel.score.values())
    rng = np.random.default_rng(seed)
    columns = {"y": panel.label}
    for place in range(size):
        # Beyond the panel's five: the same classifiers with noise of their own.
        logit = np.log(found[place % 5]) - np.log1p(-found[place % 5])
        noise = rng.normal(0, 0.2, n) * (place >= 5)
        columns[f"p{place}"] = (1 / (1 + np.exp(-logit - noise))).astype(np.float32)
    parquet.write_table(pa.table(columns), path)
    return ["--label", "y", *(word for k in range(size) for word in ("--score", f"p{k}"))]


def commands(directory: Path, repeat: int, seed: int) -> None:
    """The commands from start to end, caches warm; streamed rows need hardly more memory."""
    path, target = directory / "scores.parquet", str(directory / "calibration.html")
    rows: list[Sequence[object]] = []

    def add(name: str, n: int, size: int, *options: str) -> None:
        found = [run_fresh(name, str(path), *options) for _ in range(repeat + 1)][1:]
        best = (min(column) for column in zip(*found, strict=True))
        rows.append((f"bayescal {name}", f"{n:.0e}", size, *best))

    for size in (1, 4):
        add("ece", 10**5, size, *write_panel(path, 10**5, size, seed))
    add("report", 10**6, 10, *write_panel(path, 10**6, 10, seed), "-o", target)
    for n in (BATCH_ROWS, 3 * 10**7):
        write_parquet(path, n)
        add("ece", n, 1, "--label", "y", "--score", "p")
    print_table(
        f"Commands in a fresh process, warm caches, best of {repeat}",
        ("command", "rows", "classifiers", "seconds", "CPU seconds", "peak MB"),
        rows,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=3, help="runs, of which the best counts")
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--only", choices=("rows", "classifiers", "commands"))
    given = parser.parse_args()
    print_machine("pymc", "nutpie")
    with tempfile.TemporaryDirectory() as name:
        parts = {
            "rows": lambda: by_rows(given.repeat, given.seed),
            "classifiers": lambda: by_classifiers(10**5, given.repeat, given.seed),
            "commands": lambda: commands(Path(name), given.repeat, given.seed),
        }
        for part, run in parts.items():
            if given.only in (None, part):
                run()
    print_machine("pymc", "nutpie")


if __name__ == "__main__":
    main()
