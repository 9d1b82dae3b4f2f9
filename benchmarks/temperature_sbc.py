"""Simulation-based calibration of temperatures by NUTS: ranks of what gave the labels, and health.

python benchmarks/temperature_sbc.py                     # 200 replications of each prior
python benchmarks/temperature_sbc.py --render

Ranks are written every 20 replications; a run goes on where the figures on disk end.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from _common import print_table
from _results import begun, print_provenance, read, write
from scipy.stats import chisquare

import bayescal as bc
from bayescal.results.schema import MAX_RHAT, MIN_ESS
from bayescal.workflow.simulation import sbc

NAME = "temperature_sbc"
PRIORS = {
    "default": bc.temperature.Priors(),
    "predicted classes": bc.temperature.Priors(shared=0, vector=0),
    "one temperature or one a class": bc.temperature.Priors(shared=0.5, vector=0),
}
ROWS = 200
BLOCK = 20
RANKS = 100


def run(name: str, replications: int, seed: int) -> None:
    """Add replications to those on disk."""
    data = bc.datasets.temperature.truth("heterogeneous").scores(ROWS, seed=seed)
    kept = on_disk()
    found: dict[str, Any] = kept.get(name, {"ranks": {}, "divergences": [], "rhat": [], "ess": []})
    while len(found["divergences"]) < replications:
        done = len(found["divergences"])
        block = sbc(
            bc.temperature, data, BLOCK, seed=seed + done, priors=PRIORS[name], method="nuts"
        )
        for variable, ranks in block.ranks.items():
            found["ranks"].setdefault(variable, []).extend(ranks.tolist())
        found["divergences"] += block.divergences.tolist()
        found["rhat"] += block.rhat_max.tolist()
        found["ess"] += block.ess_min.tolist()
        write(NAME, rows=ROWS, seed=seed, priors=on_disk() | {name: found})
        print(name, len(found["divergences"]), sum(found["divergences"]), flush=True)


def on_disk() -> dict[str, Any]:
    return begun(NAME).get("priors", {})


def p_values(ranks: dict[str, list[int]]) -> dict[str, float]:
    """Chi-square tests of uniform ranks, in ten bins."""
    return {
        name: float(chisquare(np.bincount(np.array(each) * 10 // RANKS, minlength=10)).pvalue)
        for name, each in ranks.items()
    }


def render() -> None:
    print_provenance(read(NAME))
    rows = []
    for name, found in read(NAME)["priors"].items():
        each = p_values(found["ranks"])
        least = min(each, key=each.get)
        rows.append(
            (
                name,
                len(found["divergences"]),
                each[least],
                least,
                0.01 / len(each),
                sum(found["divergences"]),
                max(found["rhat"]),
                sum(value > MAX_RHAT for value in found["rhat"]),
                min(found["ess"]),
                sum(value < MIN_ESS for value in found["ess"]),
            )
        )
    columns = ("prior", "fits", "least p", "of", "level", "divergences", "largest R-hat")
    columns += ("over", "least ESS", "under")
    print_table(f"Ranks of {ROWS} rows' models and numbers, by NUTS", columns, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, default=200)
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--priors", nargs="+", choices=PRIORS, default=[*PRIORS])
    parser.add_argument("--render", action="store_true", help="only print the figures on disk")
    given = parser.parse_args()
    for name in [] if given.render else given.priors:
        run(name, given.replications, given.seed)
    render()


if __name__ == "__main__":
    main()
