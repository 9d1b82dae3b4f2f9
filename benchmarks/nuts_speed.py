"""NUTS on the compiled density as a C function, against the same density called from Python.

python benchmarks/nuts_speed.py                        # some minutes
python benchmarks/nuts_speed.py --only ece --repeat 9

Both ways take turns in one process, on warm models: the machine's load is the same for both, and
the draws are equal. Set OMP_NUM_THREADS=1 for one thread of BLAS.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from time import perf_counter
from typing import Any

import _results
import numpy as np
from _common import print_table, raw_parser, time_best

import bayescal as bc
from bayescal.inference import sampler
from bayescal.workflow import sampling

FITS = 8


def data() -> dict[str, Callable[[], Any]]:
    """Data of each quantity's fit."""
    sets = bc.datasets
    return {
        "ece": lambda: sets.ece.truth("over").scores(1000, seed=1),
        "pu_ece": lambda: sets.pu_ece.truth("over").scores((500, 5000), seed=1),
        "ssme": lambda: sets.ssme.truth("mixed").scores(100, 2900, seed=1),
        "credal": lambda: _split(sets.ece.truth("over").scores(1000, seed=1)),
        "agnostic": lambda: sets.agnostic.truth("over").scores(1000, seed=1),
        "temperature": lambda: sets.temperature.truth("heterogeneous").scores(5000, seed=1),
    }


# Priors where a quantity has no default ones.
PRIORS = {"pu_ece": bc.pu_ece.Priors(bc.Beta(8, 12))}


def _split(calibration: Any) -> Any:
    return bc.CalibrationSplit(calibration=calibration, target=np.linspace(0.05, 0.95, 20))


@contextmanager
def timed_nuts(spent: list[float]) -> Iterator[None]:
    """Note the seconds of every run of NUTS inside the block."""
    run = sampler._run

    def timed(*args: Any, **settings: Any) -> Any:
        began = perf_counter()
        try:
            return run(*args, **settings)
        finally:
            spent.append(perf_counter() - began)

    sampler._run = timed
    try:
        yield
    finally:
        sampler._run = run


def one_fit(name: str, given: Any, repeat: int) -> list[Any]:
    """Seconds of a warm fit and of its NUTS both ways: the medians, and their ratios."""
    sampling._COMPILED.clear()
    priors = PRIORS.get(name)
    bc.fit(name, given, seed=0, priors=priors)
    ways = _both_ways()
    found: dict[str, list[Any]] = defaultdict(list)
    for seed in range(repeat):
        for way, compiled in ways.items():
            sampling._COMPILED.update(compiled)
            spent: list[float] = []
            with timed_nuts(spent):
                whole = time_best(lambda seed=seed: bc.fit(name, given, seed=seed, priors=priors))
            found[way].append((whole.wall, whole.cpu, sum(spent)))
    sampling._COMPILED.update(ways["C"])
    middle = {
        way: [statistics.median(of) for of in zip(*runs, strict=True)]
        for way, runs in found.items()
    }
    c, python = middle["C"], middle["Python"]
    return [name, c[0], python[0], c[0] / python[0], c[2], python[2], c[2] / python[2], c[1]]


def _both_ways() -> dict[str, dict[Any, Any]]:
    """Models compiled so far, with and without their C function."""
    compiled = dict(sampling._COMPILED)
    if any(model.native is None for model in compiled.values()):
        raise RuntimeError("a density has no C function; it would be compared with itself.")
    called = {key: replace(model, native=None) for key, model in compiled.items()}
    return {"C": compiled, "Python": called}


def eight_fits(repeat: int) -> list[list[Any]]:
    """Seconds of eight fits in one and in two threads, their chains on one core and on all."""
    given = data()["ece"]()
    sampling._COMPILED.clear()
    bc.fit("ece", given, seed=0)
    ways = _both_ways()
    cores = sampler.processors
    cells = [
        ("C function, chains on one core", "C", lambda: 1),
        ("C function, chains on all cores", "C", cores),
        ("called from Python", "Python", cores),
    ]
    found: dict[tuple[str, int], list[float]] = defaultdict(list)
    for _ in range(repeat):
        for label, way, limit in cells:
            sampling._COMPILED.update(ways[way])
            sampler.processors = limit
            for threads in (1, 2):
                found[label, threads].append(_seconds_in(threads, given))
    sampler.processors = cores
    rows = []
    for label, *_ in cells:
        one, two = (statistics.median(found[label, threads]) for threads in (1, 2))
        rows.append([label, one, two, one / two])
    return rows


def _seconds_in(threads: int, given: Any) -> float:
    began = perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda seed: bc.fit("ece", given, seed=seed), range(FITS)))
    return perf_counter() - began


FIT = ["quantity", "fit, s", "from Python, s", "ratio", "NUTS, s", "from Python, s", "ratio", "CPU"]
MANY = ["chains", "one thread, s", "two threads, s", "rate to one"]


def main() -> None:
    """Measure, print and keep."""
    parser = raw_parser(__doc__)
    parser.add_argument("--only", nargs="*", choices=data(), default=list(data()))
    parser.add_argument("--repeat", type=int, default=5, help="fits each way (default 5)")
    given = parser.parse_args()
    fits = [one_fit(name, data()[name](), given.repeat) for name in given.only]
    many = eight_fits(max(given.repeat // 2, 1)) if "ece" in given.only else []
    _results.write("nuts_speed", fit=fits, many=many)
    show()


def show() -> None:
    """Print what was kept."""
    content = _results.read("nuts_speed")
    _results.print_provenance(content)
    print_table("A warm default fit; target of ece: ratio <= .6", FIT, content["fit"])
    print_table(f"{FITS} fits of ece; target: rate >= 1.7", MANY, content["many"])


if __name__ == "__main__":
    main()
