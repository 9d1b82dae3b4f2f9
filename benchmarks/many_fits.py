"""Rate, memory and disk of many fits: one process, several, and what storing costs.

    python benchmarks/many_fits.py --fits 1000 --workers 2 --method direct
    python benchmarks/many_fits.py --fits 200 --workers 2 --method nuts

Each run is a process of its own, so that its memory is its own; its rate is that of the fits after
the first, which compiles the model. "stored" and "in memory" are the same fits with and without a
store, "resumed" the second call, which takes all from the store. Chains of NUTS use all cores, so
that workers are compared with one process on one core ("one core"), beside one on all of them.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from _results import print_provenance, provenance, write

import bayescal as bc

ROWS = 10_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fits", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--method", default="nuts")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(_measure(**json.loads(given.one))))
        return
    content: dict[str, Any] = {"fits": given.fits, "rows": ROWS, "method": given.method}
    common = {"fits": given.fits, "method": given.method}
    with tempfile.TemporaryDirectory() as folder:
        runs = {
            "in memory": {"store": None, "workers": 0},
            "stored": {"store": f"{folder}/one", "workers": 0},
            "resumed": {"store": f"{folder}/one", "workers": 0},
            "one core": {"store": f"{folder}/core", "workers": 0, "cores": 1},
            "several workers": {"store": f"{folder}/two", "workers": given.workers},
        }
        for name, how in runs.items():
            content[name] = _alone({**common, **how})
            print(name, content[name], flush=True)
        content["bytes a fit"] = _size(Path(folder, "one")) // given.fits
    content["workers"] = given.workers
    for name, other in (("speed-up", "one core"), ("speed-up, all cores", "stored")):
        content[name] = round(content["several workers"]["rate"] / content[other]["rate"], 2)
    for name in ("speed-up", "speed-up, all cores", "bytes a fit"):
        print(name, content[name])
    print_provenance({"provenance": provenance()})
    write(f"many_fits_{given.method}", **content)


def _alone(how: dict[str, Any]) -> dict[str, Any]:
    """Run one measurement in a process of its own."""
    command = [sys.executable, __file__, "--one", json.dumps(how)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return found


def _measure(
    fits: int, method: str, store: str | None, workers: int, cores: int = 0
) -> dict[str, Any]:
    if cores:
        os.sched_setaffinity(0, range(cores))
    truth = bc.datasets.ece.truth("over")
    data = {key: (lambda key=key: truth.scores(ROWS, seed=key)) for key in range(fits)}
    times: list[float] = []

    def note(*_: object) -> None:
        times.append(time.perf_counter())

    began, cpu = time.perf_counter(), time.process_time()
    bc.fit_many(
        bc.ece,
        data,
        method=method,
        seed=1,
        store=store,
        executor=workers or None,
        keep="scalars",
        progress=note,
    )
    seconds = time.perf_counter() - began
    # The first fit of each process compiles or loads the model.
    first = max(1, workers)
    warm = times[-1] - times[first - 1] if len(times) > first else seconds
    number = len(times) - first if len(times) > first else fits
    ours = resource.getrusage(resource.RUSAGE_SELF)
    theirs = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "seconds": round(seconds, 2),
        "rate": round(number / warm, 3),
        "cpu_seconds": round(time.process_time() - cpu + theirs.ru_utime + theirs.ru_stime, 2),
        "peak_mb": round((ours.ru_maxrss + workers * theirs.ru_maxrss) / 1024),
        "load": round(os.getloadavg()[0], 1),
    }


def _size(path: Path) -> int:
    return sum(file.stat().st_size for file in path.rglob("*.npz"))


if __name__ == "__main__":
    main()
