"""What the command line must reach, from start to end: time, memory, and what is not loaded.

python benchmarks/speed.py                          # all targets, best of 3 runs each
python benchmarks/speed.py --repeat 1 --only report

Every figure is that of a process of its own, with compiled code on disk from an earlier run. What
grows with the rows is in cost.py, binning alone in binning.py.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from _common import print_machine, print_table
from binning import write_parquet
from cost import run_fresh, write_panel

from bayescal.quantities.ece.simulator import sample_panel

BATCH_ROWS = 1 << 19


class Run(NamedTuple):
    """Best of some runs of one command."""

    wall: float
    cpu: float
    peak: float


class Row(NamedTuple):
    """One target and what was reached."""

    what: str
    seconds: float
    cpu: float
    megabytes: float
    target: str
    met: bool


def best(repeat: int, *arguments: str) -> Run:
    """Run `bayescal ...` so often, after once for the caches."""
    found = [run_fresh(*arguments) for _ in range(repeat + 1)][1:]
    return Run(*(min(column) for column in zip(*found, strict=True)))


def posterior(directory: Path, repeat: int) -> Iterator[Row]:
    """A posterior from 1e5 rows, and what further classifiers and groups add."""
    path, further = str(directory / "scores.parquet"), 5
    one = best(repeat, "ece", path, *write_panel(Path(path), 10**5, 1, seed=1))
    yield Row("ece, 1e5 rows", *one, "10 s", one.wall <= 10)
    many = best(repeat, "ece", path, *write_panel(Path(path), 10**5, 1 + further, seed=1))
    yield _further("each further classifier", one, many, further)
    few = best(repeat, "ece", path, *write_groups(Path(path), 10**5, 3))
    many = best(repeat, "ece", path, *write_groups(Path(path), 10**5, 3 + further))
    yield Row("ece, 1e5 rows in 3 groups", *few, "", True)
    yield _further("each further group", few, many, further)


def _further(what: str, few: Run, many: Run, by: int) -> Row:
    added = [(after - before) / by for before, after in zip(few, many, strict=True)]
    return Row(what, *added, "0.6 s", added[0] <= 0.6)


def write_groups(path: Path, n: int, groups: int) -> list[str]:
    """Write a table of labels, scores and groups; give the options that name them."""
    import pyarrow as pa
    from pyarrow import parquet

    panel = sample_panel(n, 1, ("over",))
    group = np.random.default_rng(1).integers(groups, size=n)
    columns = {"y": panel.label, "p": panel.score["over"], "g": group}
    parquet.write_table(pa.table(columns), path)
    return ["--label", "y", "--score", "p", "--group", "g"]


def report(directory: Path, repeat: int) -> Iterator[Row]:
    """A report of ten classifiers with 1e6 rows."""
    path, target = str(directory / "scores.parquet"), str(directory / "calibration.html")
    options = write_panel(Path(path), 10**6, 10, seed=1)
    found = best(repeat, "report", path, *options, "-o", target)
    met = found.wall <= 40 and found.peak <= 1500
    yield Row("report, 10 classifiers, 1e6 rows", *found, "40 s, 1500 MB", met)


def estimate(directory: Path, repeat: int) -> Iterator[Row]:
    """The plug-in estimate of 1e6 rows, without PyMC."""
    path = str(directory / "scores.parquet")
    options = ["ece", path, *write_panel(Path(path), 10**6, 1, seed=1), "--estimate-only"]
    found = best(repeat, *options)
    yield Row("ece --estimate-only, 1e6 rows", *found, "1.5 s", found.wall <= 1.5)
    command = [sys.executable, "-X", "importtime", "-m", "bayescal", *options]
    traced = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    loaded = any(line.rsplit("|", 1)[-1].strip() == "pymc" for line in traced.splitlines())
    yield Row(f"  PyMC is {'' if loaded else 'not '}imported", 0, 0, 0, "not", not loaded)


def streaming(directory: Path, repeat: int) -> Iterator[Row]:
    """A posterior from 3e7 rows, against that from a single batch of them."""
    path = directory / "rows.parquet"
    options = ("ece", str(path), "--label", "y", "--score", "p")
    write_parquet(path, BATCH_ROWS)
    batch = best(repeat, *options)
    write_parquet(path, 3 * 10**7)
    found = best(repeat, *options)
    yield Row("ece, 1 batch of rows", *batch, "", True)
    more = found.peak - batch.peak
    yield Row("ece, 3e7 rows", *found, f"200 MB more, {more:.0f} MB", more <= 200)


def main() -> None:
    parts: dict[str, Callable[[Path, int], Iterator[Row]]] = {
        "posterior": posterior,
        "report": report,
        "estimate": estimate,
        "streaming": streaming,
    }
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=3, help="runs, of which the best counts")
    parser.add_argument("--only", choices=tuple(parts))
    given = parser.parse_args()
    print_machine("pymc", "nutpie", "pyarrow")
    rows: list[Sequence[object]] = []
    with tempfile.TemporaryDirectory() as name:
        for part, run in parts.items():
            if given.only in (None, part):
                rows += [
                    (*row[:4], row.target, "" if not row.target else "yes" if row.met else "NO")
                    for row in run(Path(name), given.repeat)
                ]
    print_table(
        f"Whole processes, warm caches, best of {given.repeat}",
        ("what", "seconds", "CPU seconds", "peak MB", "target", "met"),
        rows,
    )
    print_machine("pymc", "nutpie", "pyarrow")


if __name__ == "__main__":
    main()
