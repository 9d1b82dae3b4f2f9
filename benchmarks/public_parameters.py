"""Give each parameter of every public callable in turn values that cannot be right.

    python benchmarks/public_parameters.py

All other arguments are right. Each call must end with a result without NaN or with a documented
exception. What does not is counted, and listed once for each callable and parameter.
"""

from __future__ import annotations

import argparse
import os
import resource
import signal
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

from _results import write

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
os.environ.setdefault("MPLBACKEND", "Agg")

from hostile import judge, public, sweep

LONGEST = 20
"""Seconds of processor time after which a call counts as a hang."""
MOST_MEMORY = 6 << 30


class Found(NamedTuple):
    """What came of the calls of one callable."""

    name: str
    calls: int
    exceptions: int
    nan: int
    cut_short: bool
    trouble: dict[str, str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="Processor time a callable.")
    parser.add_argument("--only", default="", help="Callables whose names contain this.")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--result", default="public_parameters", help="Name of the result.")
    chosen = parser.parse_args()
    names = [name for name in public.callables() if chosen.only in name]
    found = []
    with ProcessPoolExecutor(chosen.workers, initializer=_prepare) as pool:
        for one in pool.map(partial(_swept, seconds=chosen.seconds), names):
            found.append(one)
            print(f"{one.name}: {one.calls} calls, {one.exceptions}, {one.nan}", flush=True)
            for parameter, what in one.trouble.items():
                print(f"  - {parameter} {what}", flush=True)
    totals = {
        "callables": len(found),
        "calls": sum(one.calls for one in found),
        "exceptions": sum(one.exceptions for one in found),
        "nan": sum(one.nan for one in found),
        "cut_short": [one.name for one in found if one.cut_short],
    }
    print(totals)
    trouble = {one.name: one.trouble for one in found if one.trouble}
    write(chosen.result, **totals, trouble=trouble)


def _prepare() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    signal.signal(signal.SIGPROF, _hang)
    # Words that name files are written here; 0 is the standard input.
    os.chdir(tempfile.mkdtemp())
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)


def _swept(name: str, seconds: float) -> Found:
    calls, count, trouble = 0, {True: 0, False: 0}, {}
    began = time.process_time()
    for said, case in sweep.cases(name, sweep.MANY):
        if time.process_time() - began > seconds:
            return Found(name, calls, count[False], count[True], True, trouble)
        found = _timed(case)
        calls += 1
        if found is not None:
            count[found.startswith("NaN at")] += 1
            trouble.setdefault(said.partition(":")[0], f"{said}: {found[:300]}")
    return Found(name, calls, count[False], count[True], False, trouble)


def _timed(case: judge.Case) -> str | None:
    signal.setitimer(signal.ITIMER_PROF, LONGEST)
    try:
        return judge.trouble(case)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _hang(*_: object) -> None:
    raise TimeoutError(f"no end after {LONGEST} s")


if __name__ == "__main__":
    main()
