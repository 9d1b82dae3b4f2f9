"""Simulation-based calibration of the tilt of pooled classifiers, by NUTS.

python benchmarks/ssme_sbc.py                         # 200 replications a panel
python benchmarks/ssme_sbc.py --render
"""

from __future__ import annotations

import argparse
from time import perf_counter
from typing import Any

from _results import print_provenance, read, write
from _sbc import figures, print_ranks

import bayescal as bc
from bayescal.quantities.ssme.simulator import truth
from bayescal.workflow.simulation import sbc

# Of the power only 1 is the posterior of the model that simulates.
PRIORS = bc.ssme.Priors(power=1, discount=0)
PANELS = ("mixed",)
SIZE = (40, 260)
METRICS = ("accuracy", "ece", "auc", "auprc")
COEFFICIENTS = ("intercept", "slope", "weight", "bend", "own_bend")
HEALTH = ("divergences", "fits_with_divergences", "rhat_max", "ess_min", "unhealthy")


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
    seconds = (perf_counter() - start) / given.replications
    return {"panel": panel, "seconds_a_fit": seconds, **figures(found)}


def render() -> None:
    content = read("ssme_sbc")
    print_provenance(content)
    print_ranks(
        f"Simulation-based calibration, {content['replications']} replications of "
        f"{content['chains']} x {content['draws']} draws: ranks in 20 bins, chi-square; the least "
        "p-value of each variable's elements, and the level for each of all",
        {"panel": "panel"},
        {name: f"p, {name}" for name in (*METRICS, *COEFFICIENTS)},
        (*HEALTH, "seconds_a_fit"),
        content["panels"],
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
