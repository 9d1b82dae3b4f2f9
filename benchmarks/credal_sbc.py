"""Simulation-based calibration of the probability of the label given its score, by NUTS.

python benchmarks/credal_sbc.py                         # 200 replications of each prior
python benchmarks/credal_sbc.py --models "average (default)"    # the others stay as they are
python benchmarks/credal_sbc.py --render

Figures are kept after every 20 replications, so that a run may be stopped.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from time import perf_counter, process_time
from typing import Any

import numpy as np
from _common import print_table
from _results import print_provenance, read, write
from _sbc import figures, print_ranks

import bayescal as bc
from bayescal.quantities.credal.simulator import truth
from bayescal.workflow.simulation import Sbc, sbc

MODELS = {
    "average (default)": (bc.credal.Priors(), ()),
    "rising curve": (bc.credal.Priors(bc.credal.MonotoneCurve()), ("intercept", "weight")),
    "isotonic steps": (bc.credal.Priors(bc.credal.IncrementIsotonic()), ()),
    "imprecise Dirichlet": (bc.credal.Priors(bc.credal.ImpreciseDirichlet()), ()),
}
ROWS = 200
SCORES = (np.arange(5) + 0.5) / 5
VARIABLES = ("prob", "intercept", "weight")
HEALTH = ("divergences", "fits_with_divergences", "rhat_max", "rhat_over", "ess_min", "unhealthy")
# Of a fit after its compilation: rows of each size, and fits that the least is taken of.
SIZES = (20, 1000, 100_000)
REPEATS = 3
# Replications after which figures are kept.
PART = 20


def run(name: str, given: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Rank probabilities at five scores, and the curve's coefficients, a part after another."""
    priors, coefficients = MODELS[name]
    data = truth("logistic").split(ROWS, SCORES, given.seed)
    seconds = {} if given.no_times else times(priors)
    start, parts = process_time(), []
    for number in range(-(-given.replications // PART)):
        part = sbc(
            bc.credal,
            data,
            PART,
            seed=given.seed + number,
            priors=priors,
            variables=["prob", *coefficients],
            method="nuts",
            draws=given.draws,
            tune=given.tune,
            chains=given.chains,
        )
        parts.append(part)
        done = PART * len(parts)
        cpu = (process_time() - start) / done
        about = {"model": name, "replications": done}
        yield about | figures(joined(parts)) | {"cpu_seconds_a_fit": cpu, "refit": seconds}


def joined(parts: Sequence[Sbc]) -> Sbc:
    """All replications of several parts."""
    ranks = {name: np.concatenate([part.ranks[name] for part in parts]) for name in parts[0].ranks}
    health = (np.concatenate(each) for each in list(zip(*parts, strict=True))[1:])
    return Sbc(ranks, *health)


def times(priors: bc.credal.Priors) -> dict[str, dict[str, float]]:
    """Seconds by the clock and of a core, of `bayescal.fit` once its model is compiled."""
    found = {}
    for n in SIZES:
        data = truth("logistic").split(n, 200, seed=1)
        bc.fit(bc.credal, data, priors=priors, seed=20, draws=50, tune=50, chains=1)
        wall, cpu = [], []
        for seed in range(REPEATS):
            clock, core = perf_counter(), process_time()
            bc.fit(bc.credal, data, priors=priors, seed=seed)
            wall.append(perf_counter() - clock)
            cpu.append(process_time() - core)
        found[str(n)] = {"wall": min(wall), "cpu": min(cpu)}
    return found


def render() -> None:
    content = read("credal_sbc")
    print_provenance(content)
    print_ranks(
        f"Simulation-based calibration, replications of {content['chains']} x {content['draws']} "
        f"draws, {ROWS} rows: ranks in 20 bins, chi-square; the least p-value of each variable's "
        "elements, and the level for each of all",
        {"model": "prior", "replications": "replications"},
        {name: f"p, {name}" for name in VARIABLES},
        (*HEALTH, "cpu_seconds_a_fit"),
        content["models"],
    )
    print_table(
        f"Seconds of a fit after compilation, 200 rows to answer for, least of {REPEATS}",
        ("prior", "rows", "wall", "CPU"),
        [
            (found["model"], int(n), seconds["wall"], seconds["cpu"])
            for found in content["models"]
            for n, seconds in found["refit"].items()
        ],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, default=200)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--tune", type=int, default=300)
    parser.add_argument("--chains", type=int, default=4)
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=[*MODELS])
    parser.add_argument("--no-times", action="store_true", help="leave the times out")
    parser.add_argument("--render", action="store_true", help="only print the figures on disk")
    given = parser.parse_args()
    settings = {name: vars(given)[name] for name in ("draws", "tune", "chains")}
    models: dict[str, Any] = {}
    for name in [] if given.render else given.models:
        for found in run(name, given):
            models[name] = found
            write("credal_sbc", **settings, seed=given.seed, models=list(models.values()))
            print(found, flush=True)
    render()


if __name__ == "__main__":
    main()
