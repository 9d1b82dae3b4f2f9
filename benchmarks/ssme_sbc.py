"""Simulation-based calibration of the tilt of pooled classifiers, by NUTS.

python benchmarks/ssme_sbc.py                         # 200 replications a panel
python benchmarks/ssme_sbc.py --render
"""

from __future__ import annotations

import argparse
from time import perf_counter
from typing import Any

import numpy as np
from _common import print_table
from _results import print_provenance, read, write

import bayescal as bc
from bayescal.quantities.ssme.simulator import truth
from bayescal.results.schema import MAX_RHAT, MIN_ESS
from bayescal.workflow.simulation import sbc

# Of the power only 1 is the posterior of the model that simulates.
PRIORS = bc.ssme.Priors(power=1, discount=0)
PANELS = ("mixed",)
SIZE = (40, 260)
METRICS = ("accuracy", "ece", "auc", "auprc")
COEFFICIENTS = ("intercept", "slope", "weight", "bend", "own_bend")
LEVEL = 0.01


def run(panel: str, given: argparse.Namespace) -> dict[str, Any]:
    """Rank metrics and coefficients of one panel's scores."""
    start = perf_counter()
    found = sbc(
        bc.ssme,
        truth(panel).scores(*SIZE, seed=given.seed),
        given.replications,
        seed=given.seed,
        priors=PRIORS,
        variables=[*METRICS, *COEFFICIENTS],
        method="nuts",
        draws=given.draws,
        tune=given.tune,
        chains=given.chains,
    )
    sick = (found.divergences > 0) | (found.rhat_max > MAX_RHAT) | (found.ess_min < MIN_ESS)
    return {
        "panel": panel,
        "seconds_a_fit": (perf_counter() - start) / given.replications,
        "p_values": found.p_values(),
        "histograms": {
            name: np.bincount(ranks // 5, minlength=20).tolist()
            for name, ranks in found.ranks.items()
        },
        "divergences": int(found.divergences.sum()),
        "fits_with_divergences": int((found.divergences > 0).sum()),
        "rhat_max": float(found.rhat_max.max()),
        "rhat_over": int((found.rhat_max > MAX_RHAT).sum()),
        "ess_min": float(found.ess_min.min()),
        "ess_under": int((found.ess_min < MIN_ESS).sum()),
        "unhealthy": int(sick.sum()),
    }


def least(p_values: dict[str, float], variable: str) -> float:
    return min(p for name, p in p_values.items() if name.split("[")[0] == variable)


def render() -> None:
    content = read("ssme_sbc")
    print_provenance(content)
    print_table(
        f"Simulation-based calibration, {content['replications']} replications of "
        f"{content['chains']} x {content['draws']} draws: ranks in 20 bins, chi-square; the least "
        "p-value of each variable's elements, and the level for each of all",
        (
            "panel",
            *(f"p, {name}" for name in (*METRICS, *COEFFICIENTS)),
            "level",
            "divergences",
            "fits with",
            "largest R-hat",
            "least ESS",
            "fits off a mark",
            "seconds a fit",
        ),
        [
            (
                found["panel"],
                *(least(found["p_values"], name) for name in (*METRICS, *COEFFICIENTS)),
                LEVEL / len(found["p_values"]),
                found["divergences"],
                found["fits_with_divergences"],
                found["rhat_max"],
                found["ess_min"],
                found["unhealthy"],
                found["seconds_a_fit"],
            )
            for found in content["panels"]
        ],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, default=200)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--tune", type=int, default=300)
    parser.add_argument("--chains", type=int, default=4)
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--panels", nargs="+", default=[*PANELS])
    parser.add_argument("--render", action="store_true", help="only print the figures on disk")
    given = parser.parse_args()
    settings = {name: vars(given)[name] for name in ("replications", "draws", "tune", "chains")}
    panels: list[dict[str, Any]] = []
    for panel in [] if given.render else given.panels:
        found = run(panel, given)
        panels.append(found)
        write("ssme_sbc", **settings, seed=given.seed, size=SIZE, panels=panels)
    render()


if __name__ == "__main__":
    main()
