"""Faults of many fits in numbers: workers and runs killed, one bad data set of a thousand.

    python benchmarks/faults.py --fits 200 --kills 20 --many 1000 --trials 200 --flips 250

The fits are those of the tests: 60 rows, independent bins. All signals are real. What is checked is
that every result equals that of a run nobody disturbed, and that nothing finished is made again.
Files that change or are damaged while their rows are counted are in `_file_faults`; `--only files`
leaves out the fits.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

from _file_faults import changes, flips
from _results import write

import bayescal as bc

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "workflow"))

import made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fits", type=int, default=200)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--many", type=int, default=1000)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--flips", type=int, default=250)
    parser.add_argument("--only", choices=["files"])
    given = parser.parse_args()
    content: dict[str, Any] = {}
    undisturbed = made.fit(given.fits if given.only is None else 1)
    runs = (
        ("dask worker killed", lambda: dask(given.fits, undisturbed)),
        ("processes killed", lambda: processes(given.fits, undisturbed)),
        ("run killed", lambda: killed(given.fits, given.kills, undisturbed)),
        ("hostile", lambda: hostile(given.many)),
        ("files that change", lambda: changes(given.trials)),
        ("flipped bits", lambda: flips(given.flips)),
    )
    for name, run in runs if given.only is None else runs[-2:]:
        began = time.monotonic()
        content[name] = {**run(), "seconds": round(time.monotonic() - began, 1)}
        print(name, content[name], flush=True)
    write("faults" if given.only is None else "file_faults", fits=given.fits, **content)


def dask(fits: int, undisturbed: bc.ManyFits) -> dict[str, Any]:
    """SIGKILL a worker of a cluster after a third of the fits."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as here,
        Client(here) as client,
    ):
        victim = next(iter(here.workers.values())).pid

        def kill(label: str, done: int, total: int) -> None:
            if done == fits // 3:
                os.kill(victim, signal.SIGKILL)

        found = made.fit(fits, executor=client, progress=kill)
    made.same(found, undisturbed)
    return {"results": len(found), "failures": len(found.failures), "equal": True}


def processes(fits: int, undisturbed: bc.ManyFits) -> dict[str, Any]:
    """SIGKILL one of two worker processes after every twentieth fit."""
    import multiprocessing

    kills = 0

    def kill(label: str, done: int, total: int) -> None:
        nonlocal kills
        if done % 20 == 0 and (workers := multiprocessing.active_children()):
            os.kill(workers[0].pid or 0, signal.SIGKILL)
            kills += 1

    found = made.fit(fits, executor=2, progress=kill)
    made.same(found, undisturbed)
    return {"results": len(found), "failures": len(found.failures), "kills": kills, "equal": True}


def killed(fits: int, kills: int, undisturbed: bc.ManyFits) -> dict[str, Any]:
    """SIGKILL the run at random moments, over and over, then let it finish."""
    rng = random.Random(0)
    again = 0
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder, "store")
        times: dict[str, int] = {}
        for _ in range(kills):
            process = made.program(store, fits)
            # Somewhere between starting up and some fits later.
            last = len(made.stored(store)) + rng.randrange(12)
            while process.poll() is None and len(made.stored(store)) < last:
                time.sleep(0.001)
            time.sleep(0.05 * rng.random())
            process.kill()
            process.communicate()
            now = {path.name: path.stat().st_mtime_ns for path in (store / "fits").glob("*.npz")}
            again += sum(now.get(name) != at for name, at in times.items())
            times = now
        with warnings.catch_warnings():
            # A damaged file would be said.
            warnings.simplefilter("error", bc.ManyFitsWarning)
            found = made.fit(fits, store=store)
        made.same(found, undisturbed)
        made.same(bc.load_many(store), undisturbed)
        parts = len(list(store.rglob("*.part")))
    return {
        "kills": kills,
        "stored when killed": len(times),
        "fitted again": again,
        "left for the end": len(found.computed),
        "parts left": parts,
        "equal": True,
    }


def hostile(fits: int) -> dict[str, Any]:
    """One of many data sets cannot be used."""
    data = {**made.data(fits - 1), "bad": lambda: bc.Scores(y_true=[0, 1], y_prob=[0.5, 2])}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bc.ManyFitsWarning)
        found = bc.fit_many(bc.ece, data, priors=made.PRIORS, keep="scalars", **made.OPTIONS)
    reasons = {str(key): why.message for key, why in found.failures.items()}
    return {"results": len(found), "failures": reasons}


if __name__ == "__main__":
    main()
