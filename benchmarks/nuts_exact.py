"""NUTS against the posterior without NUTS: mean, 5% and 95% quantile, in Monte Carlo errors.

python benchmarks/nuts_exact.py
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any, NamedTuple

import arviz as az
import numpy as np
from _common import print_table
from _results import print_provenance, read, write
from numpy.typing import NDArray
from sbc import FAMILIES

import bayescal as bc
from bayescal.workflow.sampling import Settings, fit_case

TAILS = (0.05, 0.95)
EXACT_DRAWS = 30_000
FIGURES = ("mean", "5%", "95%")


def rare(n: int, seed: int) -> bc.Scores:
    """Scores about 0.003, where one hundred rows hold no event or one."""
    rng = np.random.default_rng(seed)
    score = 1 / (1 + np.exp(-rng.normal(-6, 0.8, n)))
    return bc.Scores(y_true=rng.random(n) < score, y_prob=score, pos_label=True)


def data_sets(seed: int) -> dict[str, bc.Scores]:
    """Small and large, calibrated and not, and rare events."""
    cells = (("over", 100), ("calibrated", 1000), ("wiggle", 1000), ("less", 100_000))
    named = {f"{name}, n = {n}": bc.datasets.ece.truth(name).scores(n, seed) for name, n in cells}
    return named | {"rare events, n = 300": rare(300, seed)}


class Summary(NamedTuple):
    """Figures of one quantity's draws with their Monte Carlo standard errors."""

    figures: NDArray[np.float64]
    errors: NDArray[np.float64]


def summarise(draws: NDArray[Any]) -> Summary:
    """Figures of draws (chain, draw)."""
    quantiles = [az.mcse(draws, method="quantile", prob=level) for level in TAILS]
    return Summary(
        np.array([draws.mean(), *np.quantile(draws, TAILS)]),
        np.array([az.mcse(draws, method="mean"), *quantiles], dtype=float),
    )


def average(fits: list[Summary]) -> Summary:
    """Figures of several independent fits."""
    figures, errors = (np.array(values) for values in zip(*fits, strict=True))
    return Summary(figures.mean(axis=0), np.sqrt((errors**2).sum(axis=0)) / len(fits))


def compare(name: str, scores: bc.Scores, seed: int, fits: int, var: str) -> dict[str, Any]:
    """Differences in units of their standard errors."""
    case = bc.ece.plan(scores, FAMILIES[name] or bc.ece.Priors()).cases[0]

    def run(index: int, draws: int, chains: int, method: str) -> Summary:
        settings = Settings(
            draws=draws,
            tune=300,
            chains=chains,
            seed=seed,
            method=method,
        )
        found = fit_case(bc.ece.NAME, case, settings, index)
        # Draws of calibration are 0, and tell nothing of the sampler.
        return summarise(found.given_miscalibration[var])

    nuts = average([run(index, 1000, 4, method="nuts") for index in range(fits)])
    exact = average([run(fits + index, EXACT_DRAWS, 1, method="direct") for index in range(2)])
    error = np.hypot(nuts.errors, exact.errors)
    return {
        "nuts": nuts.figures.tolist(),
        "exact": exact.figures.tolist(),
        "z": ((nuts.figures - exact.figures) / error).tolist(),
        "error_in_widths": (error / (exact.figures[2] - exact.figures[1])).tolist(),
    }


def render() -> None:
    content = read("nuts_exact")
    print_provenance(content)
    rows: list[Mapping[str, Any]] = content["rows"]
    print_table(
        f"{content['var']} by NUTS ({content['fits']} fits of 4 x 1000 draws) less without, in "
        "Monte Carlo standard errors of the difference",
        ("family", "data", *FIGURES, *(f"exact {figure}" for figure in FIGURES)),
        [(row["family"], row["data"], *row["z"], *row["exact"]) for row in rows],
    )
    largest = max(abs(z) for row in rows for z in row["z"])
    size = 3 * len(rows)
    print(
        f"largest of {size}: {largest:.2f}. At most 3 is expected; by chance alone one "
        f"of {size} would exceed it with probability {1 - 0.9973**size:.2f}."
    )
    print(
        f"largest standard error: {max(max(r['error_in_widths']) for r in rows):.2%} of the width"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--fits", type=int, default=4, help="NUTS fits of each posterior")
    parser.add_argument("--var", default="tce", choices=("tce", "ece", "mce"))
    parser.add_argument("--render", action="store_true", help="only print the figures on disk")
    given = parser.parse_args()
    if not given.render:
        rows = [
            {"family": family, "data": data}
            | compare(family, scores, given.seed, given.fits, given.var)
            for data, scores in data_sets(given.seed).items()
            for family in FAMILIES
        ]
        write("nuts_exact", seed=given.seed, fits=given.fits, var=given.var, rows=rows)
    render()


if __name__ == "__main__":
    main()
