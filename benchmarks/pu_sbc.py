"""Simulation-based calibration of the models of positives and unlabelled rows, by NUTS.

python benchmarks/pu_sbc.py                         # 200 replications a model
python benchmarks/pu_sbc.py --models "mixture bins" --replications 20
python benchmarks/pu_sbc.py --render

Evidence counts in full: a power below 1, the default's, is not the posterior of what is simulated.
Of the default at its own powers only the diagnostics matter.
"""

from __future__ import annotations

import argparse
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from time import perf_counter
from typing import Any
from unittest.mock import patch

from _results import print_provenance, read, write
from _sbc import figures, print_ranks

import bayescal as bc
from bayescal.quantities.pu_ece.models.average import CaseControlAverage
from bayescal.quantities.pu_ece.simulator import truth
from bayescal.workflow.simulation import sbc

FILE = "pu_sbc"
BELIEF = bc.Beta(50, 50)
KNOWN = "average, class prior known"
OWN = "average, its own powers"
MODELS = {
    "smooth curve": bc.pu_ece.Priors(BELIEF, bc.pu_ece.SmoothCurve()),
    "average": bc.pu_ece.Priors(BELIEF),
    "average, class prior wide": bc.pu_ece.Priors(bc.Beta(8, 12)),
    KNOWN: bc.pu_ece.Priors(0.5),
    OWN: bc.pu_ece.Priors(BELIEF),
    "mixture bins": bc.pu_ece.Priors(BELIEF, bc.pu_ece.MixtureBins()),
}
SIZE = (300, 2000)
N_BINS = 6
VARIABLES = {
    "tce": "p, tce",
    "ece": "ece",
    "class_prior": "class prior",
    "label_rate": "label rates",
}
HEALTH = ("divergences", "rhat_max", "ess_min", "unhealthy", "seconds_a_fit")


def exact() -> AbstractContextManager[Any]:
    """Let evidence count in full: a power below 1 is not the posterior of what is simulated."""
    joined = CaseControlAverage.joined
    in_full = staticmethod(
        lambda *given, **more: replace(joined(*given, **more), power=1.0, class_prior_power=1.0)
    )
    return patch.object(CaseControlAverage, "joined", in_full)


def run(name: str, replications: int, seed: int, draws: int) -> dict[str, Any]:
    """Rank one model's quantities."""
    variables = ["tce", "ece", "label_rate"] + ["class_prior"] * (name != KNOWN)
    start = perf_counter()
    found = sbc(
        bc.pu_ece,
        truth("less").scores(SIZE, seed),
        replications,
        seed=seed,
        priors=MODELS[name],
        variables=variables,
        method="nuts",
        draws=draws,
        n_bins=N_BINS,
    )
    seconds = (perf_counter() - start) / replications
    return {"model": name, "seconds_a_fit": seconds, **figures(found)}


def render() -> None:
    content = read(FILE)
    print_provenance(content)
    print_ranks(
        f"Simulation-based calibration, {content['replications']} replications: ranks in 20 bins, "
        "chi-square; the least p-value where there are several, and the level for each of all",
        {"model": "model"},
        VARIABLES,
        HEALTH,
        content["models"],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, default=200)
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--draws", type=int, default=1000, help="of each of four chains")
    parser.add_argument("--models", nargs="+", choices=MODELS, default=[*MODELS])
    parser.add_argument("--render", action="store_true", help="only print the figures on disk")
    given = parser.parse_args()
    settings = {"replications": given.replications, "seed": given.seed, "draws": given.draws}
    models: list[dict[str, Any]] = []
    for name in [] if given.render else given.models:
        with nullcontext() if name == OWN else exact():
            models.append(run(name, given.replications, given.seed, given.draws))
        write(FILE, **settings, models=models)
    render()


if __name__ == "__main__":
    main()
