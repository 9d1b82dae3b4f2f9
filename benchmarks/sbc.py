"""Simulation-based calibration of every prior family by NUTS, with the health of every fit.

python benchmarks/sbc.py                            # 200 replications a family by NUTS
python benchmarks/sbc.py --quick --replications 1000
python benchmarks/sbc.py --render
"""

from __future__ import annotations

import argparse
from time import perf_counter
from typing import Any

import numpy as np
from _results import print_provenance, read, write
from _sbc import figures, print_ranks

import bayescal as bc
from bayescal.workflow.simulation import sbc

FAMILIES = {
    "average": bc.ece.Priors(),
    "smooth": bc.ece.Priors(bc.ece.CurveAverage(rough=0, segments=0, linear=0)),
    "rough": bc.ece.Priors(bc.ece.CurveAverage(smooth=0, segments=0, linear=0)),
    "segments": bc.ece.Priors(bc.ece.CurveAverage(smooth=0, rough=0, linear=0)),
    "linear": bc.ece.Priors(bc.ece.CurveAverage(smooth=0, rough=0, segments=0)),
    "smooth curve alone": bc.ece.Priors(bc.ece.SmoothCurve()),
    "flat bins": bc.ece.Priors(bc.ece.IndependentBins()),
    "Jeffreys bins": bc.ece.Priors(bc.ece.IndependentBins(bc.Beta(0.5, 0.5))),
    "hierarchical bins": bc.ece.Priors(bc.ece.HierarchicalBins()),
}
GROUPED = "smooth curve alone, 4 groups"
VARIABLES = {"tce": "p, tce", "ece": "ece", "mce": "mce", "label_rate": "label rates"}
HEALTH = ("divergences", "rhat_max", "ess_min", "unhealthy", "seconds_a_fit")


def run(name: str, n: int, replications: int, seed: int, quick: bool) -> dict[str, Any]:
    """Rank one family's quantities."""
    data = rows(n, seed, grouped=name == GROUPED)
    start = perf_counter()
    found = sbc(
        bc.ece,
        data,
        replications,
        seed=seed,
        priors=FAMILIES["smooth curve alone" if name == GROUPED else name],
        variables=[*VARIABLES],
        method="direct" if quick else "nuts",
    )
    return {
        "family": name,
        "n": n,
        "seconds_a_fit": (perf_counter() - start) / replications,
        "tce_ranks": {k: v.tolist() for k, v in found.ranks.items() if k.startswith("tce")},
        **figures(found),
    }


def rows(n: int, seed: int, grouped: bool) -> bc.Scores:
    """Scores, whose labels will be replaced; groups of very different sizes."""
    rng = np.random.default_rng(seed)
    score, label = bc.datasets.ece.truth("less").sample(n, rng)
    groups = rng.choice(list("abcd"), n, p=[0.5, 0.3, 0.15, 0.05]) if grouped else None
    return bc.Scores(y_true=label, y_prob=score, group=groups)


def render(name: str) -> None:
    """Print the table."""
    content = read(name)
    print_provenance(content)
    print_ranks(
        f"Simulation-based calibration, {content['replications']} replications: ranks in 20 bins, "
        "chi-square; the least p-value where there are several, and the level for each of all",
        {"family": "family", "n": "n"},
        VARIABLES,
        HEALTH,
        content["families"],
    )


def main() -> None:
    names = [*FAMILIES, GROUPED]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, default=200)
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--sizes", nargs="+", type=int, default=(1000,))
    parser.add_argument("--families", nargs="+", choices=names, default=names)
    parser.add_argument("--quick", action="store_true", help="direct draws instead of NUTS")
    parser.add_argument("--render", action="store_true", help="only print the figures on disk")
    given = parser.parse_args()
    name = "sbc_quick" if given.quick else "sbc"
    families: list[dict[str, Any]] = []
    for n in [] if given.render else given.sizes:
        for family in given.families:
            families.append(run(family, n, given.replications, given.seed, given.quick))
            write(name, replications=given.replications, seed=given.seed, families=families)
    render(name)


if __name__ == "__main__":
    main()
