"""Call every public function, fit and command with hostile arrays and files, many times.

    python benchmarks/fuzz.py --cases 100000

Every call must end, within seconds, with a result without NaN or with a documented exception. What
does not is listed, once for each function and kind of trouble.
"""

from __future__ import annotations

import argparse
import resource
import signal
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from _results import write
from hypothesis import HealthCheck, Phase, given, seed, settings

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from hostile import calls, files, judge, objects

# Shares of all cases, and of the time there is; fits take a hundred times as long as other calls.
KINDS = {
    "functions": (calls.calls, 0.90, 0.6),
    "commands": (files.commands, 0.09, 0.2),
    "fits": (calls.fits, 0.01, 0.2),
}
LONGEST = 30
"""Seconds after which a call counts as a hang."""
MOST_MEMORY = 6 << 30
CHUNK = 200
"""Cases after which the time is looked at."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=120.0, help="Stop after so long.")
    chosen = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    signal.signal(signal.SIGALRM, _hang)
    objects.results()
    run = Run()
    for kind, (strategy, share, of_time) in KINDS.items():
        run.until = time.monotonic() + 60 * chosen.minutes * of_time
        number = round(chosen.cases * share)
        for start in range(0, number, CHUNK):
            if time.monotonic() < run.until:
                _many(strategy(), run, min(CHUNK, number - start), chosen.seed + start)
        print(f"{kind}: {sum(run.called.values())} cases so far", flush=True)
    total = sum(run.called.values())
    print(f"{total} cases, {len(run.called)} functions, {len(run.trouble)} kinds of trouble")
    for name, what in run.trouble.items():
        print(f"- {name}\n    {what}")
    write(
        "fuzz",
        cases=total,
        functions=dict(run.called),
        minutes=round((time.monotonic() - run.began) / 60, 1),
        slowest={"seconds": round(run.slowest[0], 1), "name": run.slowest[1]},
        trouble=run.trouble,
    )


@dataclass
class Run:
    """What was called so far, and what was wrong with it."""

    until: float = 0.0
    began: float = field(default_factory=time.monotonic)
    called: Counter[str] = field(default_factory=Counter)
    trouble: dict[str, str] = field(default_factory=dict)
    slowest: tuple[float, str] = (0.0, "")

    def take(self, case: judge.Case) -> None:
        """Carry out one case."""
        start = time.monotonic()
        signal.alarm(LONGEST)
        said = judge.trouble(case)
        signal.alarm(0)
        self.slowest = max(self.slowest, (time.monotonic() - start, case.name))
        self.called[case.name] += 1
        name = f"{case.name}: {said and said[:60]}"
        if said is not None and name not in self.trouble:
            self.trouble[name] = f"{said[:300]} <- {_arguments(case)}"
            print(name, flush=True)


def _many(strategy: Any, run: Run, number: int, start: int) -> None:
    @seed(start)
    @settings(
        max_examples=number,
        phases=[Phase.generate],
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def one(case: judge.Case) -> None:
        run.take(case)

    one()


def _arguments(case: judge.Case) -> str:
    return f"{getattr(case.run, 'args', '')} {getattr(case.run, 'keywords', '')}"[:500]


def _hang(*_: object) -> None:
    raise TimeoutError(f"no end after {LONGEST} s")


if __name__ == "__main__":
    main()
