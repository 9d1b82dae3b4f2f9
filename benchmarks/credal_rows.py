"""Bounds of every target row from a fitted result: how long, in how much memory, how exact.

python benchmarks/credal_rows.py            # minutes
python benchmarks/credal_rows.py --render   # the figures on disk

Targets are held against the seconds that the process had a core.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from _common import print_machine, print_table, time_best
from _results import print_provenance, read, write
from numpy.typing import NDArray

import bayescal as bc

type Floats = NDArray[np.float64]
HEADER = ("what", "seconds", "of a core", "peak MB", "target", "")


def megabytes() -> int:
    """Peak memory of the process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def classes(n: int, target: int, seed: int) -> tuple[bc.CalibrationSplit, Floats]:
    """A calibrated classifier of ten classes, and new scores."""
    rng = np.random.default_rng(seed)
    prob = rng.dirichlet(np.full(10, 0.5), n + target)
    label = (prob[:n].cumsum(axis=1) < rng.random((n, 1))).sum(axis=1).clip(0, 9)
    split = bc.CalibrationSplit(
        calibration=bc.Scores(y_true=label, y_prob=prob[:n]), target=prob[n : n + 20]
    )
    return split, prob[n:]


def timings() -> Iterator[tuple[str, float, float, int, str, str]]:
    """Times and peak memory, each with its target."""

    def row(what: str, task: Any, seconds: float | None) -> Any:
        wall, cpu = time_best(task, 1)
        target = "" if seconds is None else f"{seconds:g} s, 1,000 MB"
        met = seconds is not None and cpu <= seconds and megabytes() <= 1000
        word = "" if seconds is None else "met" if met else "missed"
        return what, wall, cpu, megabytes(), target, word

    steps = bc.credal.Priors(bc.credal.IncrementIsotonic())
    split, many = classes(2000, 10**5, 4)
    ten = bc.fit(bc.credal, split, priors=steps, seed=1, method="direct")
    yield row("1e5 rows of 10 classes, steps", lambda: bc.credal.bounds_for(ten, many), 30)
    truth = bc.datasets.credal.truth("logistic")
    curve = bc.fit(bc.credal, truth.split(1000, 200, 1), seed=20)
    new = np.random.default_rng(0).random(10**6)
    yield row("1e6 rows of 2 classes, curve", lambda: bc.credal.bounds_for(curve, new), 5)
    with tempfile.TemporaryDirectory() as folder:
        for ending in ("csv", "parquet"):
            path = Path(folder) / f"rows.{ending}"
            yield row(
                f"the same, written as {ending}",
                lambda path=path: bc.credal.write_rows(curve, path, new),
                5,
            )
    data = truth.split(1000, 200, 2)
    yield row("another fit of the compiled models", lambda: bc.fit(bc.credal, data, seed=2), 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--render", action="store_true", help="only print the figures on disk")
    if parser.parse_args().render:
        content = read("credal_rows")
        print_provenance(content)
        print_table("Every row", HEADER, content["rows"])
        return
    print_machine("scipy", "pyarrow")
    found = list(timings())
    print_table("Every row", HEADER, found)
    write("credal_rows", rows=found)


if __name__ == "__main__":
    main()
