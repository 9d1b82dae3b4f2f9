"""NUTS of the descriptions that matter, against NUTS of all of them.

python benchmarks/nuts_members.py
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any
from unittest.mock import patch

import numpy as np
from _common import print_table
from _results import print_provenance, read, write
from numpy.typing import NDArray
from scipy.special import expit

import bayescal as bc
from bayescal.core.quantity import Case
from bayescal.curves.average import Average
from bayescal.curves.priors import COMPONENTS
from bayescal.workflow import sampling

FIGURES = ("mean", "lower end", "upper end", "P(calibrated)")
# Factor of the true logits that makes the scores, and rows.
SHAPES = {"near": (0.95, 2000), "over": (1.6, 2000), "calibrated": (1.0, 20_000)}


def data(kind: str, seed: int) -> bc.Scores:
    """Scores that are off by a slope; over: over-confident."""
    slope, n = SHAPES[kind]
    rng = np.random.default_rng(seed)
    logit = 2 * rng.standard_normal(n)
    return bc.Scores(y_true=rng.random(n) < expit(logit), y_prob=expit(slope * logit))


def figures(case: Case, repetition: int, seed: int) -> tuple[NDArray[Any], NDArray[Any], bool]:
    """What a fit says of the calibration error, draws by NUTS, and whether it converged."""
    found = sampling.fit_case("ece", case, sampling.Settings(seed=seed), repetition)
    lower = np.quantile(found.posterior["tce"], 0.05)
    upper = np.quantile(found.given_miscalibration["tce"], 0.95)
    average = found.model_average
    values = [found.posterior["tce"].mean(), lower, upper, average["p_calibrated"]]
    return np.array(values), average["nuts_draws"], bool(found.diagnostics["converged"])


def compare(kind: str, seed: int, fits: int) -> dict[str, Any]:
    """Differences of means over fits in their standard errors, and of one fit's errors."""
    case = bc.ece.plan(data(kind, seed), bc.ece.Priors()).cases[0]
    default = [figures(case, index, seed) for index in range(fits)]
    with patch.object(Average, "members_to_sample", lambda self, direct: tuple(self.members)):
        full = [figures(case, fits + index, seed) for index in range(fits)]
    one, other = (np.array([values for values, _, _ in found]) for found in (default, full))
    error = np.sqrt((one.var(axis=0, ddof=1) + other.var(axis=0, ddof=1)) / fits)
    difference = one.mean(axis=0) - other.mean(axis=0)
    return {
        "data": kind,
        "seed": seed,
        "nuts_draws": default[0][1].tolist(),
        "z": np.divide(difference, error, out=np.zeros(len(error)), where=error > 0).tolist(),
        "full": other.mean(axis=0).tolist(),
        "spread": one.std(axis=0, ddof=1).tolist(),
        "spread_full": other.std(axis=0, ddof=1).tolist(),
        "converged": [sum(ok for *_, ok in found) for found in (default, full)],
    }


def render() -> None:
    content = read("nuts_members")
    print_provenance(content)
    rows: list[Mapping[str, Any]] = content["rows"]
    drawn = [COMPONENTS.index(name) for name in ("smooth", "rough")]
    print_table(
        f"TCE: {content['fits']} default fits less as many of all descriptions, in standard errors",
        ("data", "seed", "smooth", "rough", *FIGURES, *(f"full {name}" for name in FIGURES)),
        [
            [row["data"], row["seed"], *(row["nuts_draws"][d] for d in drawn)]
            + row["z"]
            + row["full"]
            for row in rows
        ],
    )
    z = np.array([row["z"] for row in rows])
    ratio = [np.array([row[name] for row in rows]) for name in ("spread", "spread_full")]
    pooled = np.sqrt((ratio[0] ** 2).sum(axis=0) / (ratio[1] ** 2).sum(axis=0))
    print(f"root mean square {np.sqrt((z**2).mean()):.2f}, largest of {z.size}: {abs(z).max():.2f}")
    print(
        "Monte Carlo errors of a default fit, of one in full: "
        + ", ".join(f"{name} {one:.2f}" for name, one in zip(FIGURES, pooled, strict=True))
    )
    converged = np.array([row["converged"] for row in rows]).sum(axis=0)
    print(f"converged: {converged[0]} and {converged[1]} of {len(rows) * content['fits']}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=2, help="data sets of each kind")
    parser.add_argument("--fits", type=int, default=12)
    parser.add_argument("--render", action="store_true", help="only print the figures on disk")
    given = parser.parse_args()
    if not given.render:
        rows = [compare(kind, seed, given.fits) for kind in SHAPES for seed in range(given.seeds)]
        write("nuts_members", fits=given.fits, rows=rows)
    render()


if __name__ == "__main__":
    main()
