"""Small fits that take a fraction of a second, and the program that makes them in its own process.

python made.py STORE NUMBER WORKERS
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import bayescal as bc

OPTIONS: dict[str, Any] = {"method": "direct", "draws": 250, "chains": 2, "seed": 20, "n_bins": 5}
PRIORS = bc.ece.Priors(label_rate=bc.ece.IndependentBins())


def data(number: int = 6) -> dict[Any, bc.Scores]:
    """Data by key: months of 60 rows."""
    truth = bc.datasets.ece.truth("over")
    return {("north", month): truth.scores(60, seed=month) for month in range(number)}


def fit(number: int = 6, **options: Any) -> bc.ManyFits:
    """Fit them."""
    return bc.fit_many(bc.ece, data(number), priors=PRIORS, **{**OPTIONS, **options})


def checkpointed(directory: Path) -> Any:
    """Fit the first of them, its case kept in a directory."""
    return bc.fit("ece", data(1)["north", 0], priors=PRIORS, checkpoint=directory, **OPTIONS)


def same(first: bc.ManyFits, second: bc.ManyFits) -> None:
    """Assert that two runs have the same draws, estimates and summaries."""
    same_fits(first, second)
    assert first.summary().equals(second.summary())


def same_fits(first: bc.ManyFits, second: bc.ManyFits) -> None:
    """Assert that two runs have the same draws and estimates, whatever failed in one."""
    assert list(first) == list(second)
    for key in first:
        one, other = first[key], second[key]
        assert set(one.children) == set(other.children)
        for group in one.children:
            assert one[group].to_dataset().identical(other[group].to_dataset()), (key, group)
        assert without_date(one.attrs) == without_date(other.attrs)


def without_date(attrs: dict[Any, Any]) -> dict[Any, Any]:
    """Attributes but for the time at which the result was made."""
    return {name: value for name, value in attrs.items() if name != "created"}


def program(store: Path, number: int = 40, workers: int = 0) -> subprocess.Popen[str]:
    """Start this file as a program of its own, which Ctrl-C reaches as from a terminal."""
    return subprocess.Popen(
        [sys.executable, __file__, str(store), str(number), str(workers)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(bc.__file__).parents[1])},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def stored(store: Path) -> set[str]:
    """Names of the files of finished fits."""
    return {path.name for path in (store / "fits").glob("*.npz")}


def wait_for(store: Path, number: int, process: subprocess.Popen[str]) -> None:
    """Wait until so many fits are stored."""
    deadline = time.monotonic() + 120
    while len(stored(store)) < number:
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(0.005)


class Deadly:
    """Data that end the process that reads them."""

    def __getstate__(self) -> dict[str, int]:
        return {"pid": os.getpid()}

    def __setstate__(self, state: dict[str, int]) -> None:
        if state["pid"] != os.getpid():
            os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    path, fits, workers = sys.argv[1:]
    done = fit(int(fits), store=path, executor=int(workers) or None)
    print(json.dumps([list(key) for key in done.computed]))
