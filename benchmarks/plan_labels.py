"""Does a plan of labels from a small pilot foretell what fresh samples give?

    python benchmarks/plan_labels.py --data DIR
    python benchmarks/plan_labels.py --render      # the figures on disk

From each of several pilots of 500 labelled rows a plan is made, and set beside fits of fresh
samples of the same population: the width of the 90 % interval of the calibration error, and how
often it excludes a limit, for limits .02 below and above the true error. A plan averages over what
its pilot leaves open, so that plans of several pilots differ; `oracle` plans from pilots of 30,000
rows, which nearly know the population, and so show what is due to the simulation itself.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from _common import print_table
from _populations import Where, add_options, population, where
from _results import print_provenance, read, write
from numpy.typing import NDArray

import bayescal as bc

type Floats = NDArray[np.float64]

PILOT, KNOWN = 500, 30_000
SIZES = (1000, 3000)
LIMITS = (-0.02, 0.02)
TRUTHS = ("boosted", "NB", "simulated")


def source(name: str, given: Where) -> tuple[Callable[[int, int], bc.Scores], float]:
    """Draws rows of a population, from their number and a seed; and its calibration error."""
    if name == "simulated":
        truth = bc.datasets.ece.truth("over")
        return lambda n, seed: truth.scores(n, seed=seed), truth.tce
    found = population("adult-10", given)
    return lambda n, seed: found.scores(n, np.random.default_rng(seed), name), found.tce(name)


def ends(name: str, n: int, seed: int, given: Where) -> Floats:
    """Interval of one fresh sample."""
    draw, _ = source(name, given)
    with warnings.catch_warnings():
        # The width alone is asked for, as in the plan.
        warnings.simplefilter("ignore", bc.ConvergenceWarning)
        result = bc.fit(bc.ece, draw(n, 10_000 + seed), method="direct", seed=seed)
    return np.asarray(bc.interval(result, "tce").values).reshape(2)


def plan(name: str, pilot: int, seed: int, given: Where, replications: int) -> Floats:
    """Intervals of the simulated samples of a plan, (n, replication, 2)."""
    draw, _ = source(name, given)
    rows = draw(pilot, seed)
    found = bc.plan_labels(rows, n=SIZES, replications=replications, seed=seed)
    return found.ends


def figures(intervals: Floats, limits: list[float]) -> Floats:
    """Mean width, then the share of intervals that exclude each limit, (n, ...)."""
    lower, upper = intervals[..., 0], intervals[..., 1]
    excluded = [((upper < limit) | (lower > limit)).mean(axis=1) for limit in limits]
    return np.stack([(upper - lower).mean(axis=1), *excluded], axis=-1)


def show(name: str, found: Mapping[str, Any]) -> None:
    """Print the figures of a population."""
    fresh, plans, oracle = (np.array(found[part]) for part in ("fresh", "plans", "oracle"))
    whats = ["width", *(f"P, {found['tce'] + off:.3f}" for off in LIMITS)]
    print_table(
        name,
        ("population", "n", "", "fresh", "plans, mean", "plans, SD", "oracle"),
        [
            (name, n, what, fresh[k, j], own.mean(), own.std(ddof=1), oracle[k, j])
            for k, n in enumerate(SIZES)
            for j, (what, own) in enumerate(zip(whats, plans[:, k].T, strict=True))
        ],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_options(parser)
    parser.add_argument("--pilots", type=int, default=10)
    parser.add_argument("--oracles", type=int, default=5, help="pilots that know the population")
    parser.add_argument("--replications", type=int, default=50, help="of a plan")
    parser.add_argument("--fresh", type=int, default=300, help="fresh samples")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--render", action="store_true", help="only print the figures on disk")
    given = parser.parse_args()
    if given.render:
        content = read("plan_labels")
        print_provenance(content)
        for name, found in content["found"].items():
            show(name, found)
        return
    place, kept = where(given), {}
    with ProcessPoolExecutor(given.workers) as pool:
        for name in TRUTHS:
            tce = source(name, place)[1]
            limits = [tce + off for off in LIMITS]
            fresh = [
                list(pool.map(partial(ends, name, n, given=place), range(given.fresh)))
                for n in SIZES
            ]
            actual = figures(np.array(fresh), limits)
            make = partial(plan, name, given=place, replications=given.replications)
            plans = np.array(
                [
                    figures(one, limits)
                    for one in pool.map(partial(make, PILOT), range(given.pilots))
                ]
            )
            known = pool.map(partial(make, KNOWN), range(given.oracles))
            oracle = np.mean([figures(one, limits) for one in known], axis=0)
            kept[name] = {
                "tce": tce,
                "fresh": actual.tolist(),
                "plans": plans.tolist(),
                "oracle": oracle.tolist(),
            }
            show(name, kept[name])
    write("plan_labels", pilot=PILOT, known=KNOWN, sizes=SIZES, limits=LIMITS, found=kept)


if __name__ == "__main__":
    main()
