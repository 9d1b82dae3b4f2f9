"""Convergence of NUTS under wide class priors, and its posterior against direct draws.

python benchmarks/pu_wide.py                # 10 samples, three class priors, two truths
python benchmarks/pu_wide.py --render
"""

from __future__ import annotations

import argparse
import warnings
from time import perf_counter
from typing import Any

import numpy as np
from _common import print_table
from _results import print_provenance, read, write

import bayescal as bc
from bayescal.quantities.pu_ece.simulator import truth

NAME = "pu_wide"
SIZE = (500, 5000)
CLASS_PRIORS = ((2, 8), (8, 12), (4, 16))
TRUTHS = ("near", "over")
VARIABLES = ("tce", "class_prior")


def run(name: str, rows: tuple[int, int], seed: int) -> dict[str, Any]:
    """Fit one sample by NUTS and by direct draws."""
    data, priors = truth(name).scores(SIZE, seed), bc.pu_ece.Priors(bc.Beta(*rows))
    start = perf_counter()
    nuts = bc.fit(bc.pu_ece, data, priors=priors, seed=seed)
    seconds = perf_counter() - start
    direct = bc.fit(bc.pu_ece, data, priors=priors, seed=seed, method="direct")
    apart = {}
    for variable in VARIABLES:
        one, other = (fit["posterior"][variable].to_numpy() for fit in (nuts, direct))
        apart[f"{variable}_off"] = float((one.mean() - other.mean()) / other.std())
    health = {
        key: float(nuts["diagnostics"][key].item())
        for key in ("rhat_max", "ess_min", "divergences", "pareto_k", "converged")
    }
    return {"truth": name, "prior": rows, "seed": seed, "seconds": seconds} | health | apart


def render() -> None:
    content = read(NAME)
    print_provenance(content)
    lines = []
    for rows in CLASS_PRIORS:
        for name in TRUTHS:
            found = [
                one
                for one in content["fits"]
                if one["truth"] == name and tuple(one["prior"]) == rows
            ]
            if not found:
                continue
            lines.append(
                (
                    f"Beta{rows}, {name}",
                    len(found),
                    sum(not one["converged"] for one in found),
                    int(sum(one["divergences"] for one in found)),
                    max(one["rhat_max"] for one in found),
                    min(one["ess_min"] for one in found),
                    *(
                        float(np.sqrt(np.mean([one[f"{v}_off"] ** 2 for one in found])))
                        for v in VARIABLES
                    ),
                    float(np.median([one["seconds"] for one in found])),
                )
            )
    print_table(
        "Fits by NUTS; means less those of direct draws in standard deviations, root mean square",
        (
            "case",
            "fits",
            "not converged",
            "divergences",
            "largest R-hat",
            "least ESS",
            *VARIABLES,
            "median seconds",
        ),
        lines,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, default=10)
    parser.add_argument("--render", action="store_true", help="only print the figures on disk")
    given = parser.parse_args()
    fits: list[dict[str, Any]] = []
    # Fits that have not converged are counted.
    warnings.simplefilter("ignore", bc.ConvergenceWarning)
    for seed in [] if given.render else range(given.replications):
        for rows in CLASS_PRIORS:
            for name in TRUTHS:
                fits.append(run(name, rows, seed))
                write(NAME, size=SIZE, fits=fits)
    render()


if __name__ == "__main__":
    main()
