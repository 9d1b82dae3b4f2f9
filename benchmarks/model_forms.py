"""Forms of the calibration curve's prior: scale, length scales, and averages over both.

python benchmarks/model_forms.py                    # 24 smooth cells, 50 replications
python benchmarks/model_forms.py --render

All forms see the same rows, cells and masses. The averages weigh each form's draws by its evidence.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from _bootstrap import bootstrap
from _common import print_table
from _results import print_provenance, read, write
from interval_coverage import MISCALIBRATED, SIZES, cell_seed
from numpy.typing import NDArray
from scipy.special import expit, logsumexp

import bayescal as bc
from bayescal.core.functionals import expected_calibration_error
from bayescal.curves.cells import Problem, draw_masses, score_logit
from bayescal.curves.priors import SmoothCurve
from bayescal.curves.smooth import curve_basis
from bayescal.inference.direct import (
    BinomialCells,
    Regression,
    importance_sample,
    variational_gaussian,
)
from bayescal.quantities.ece.posterior import probability_calibrated
from bayescal.quantities.ece.simulator import SMOOTH, TRUTHS, Truth

type Floats = NDArray[np.float64]

DRAWS = 1000
BASIS = 47


class Kernel(NamedTuple):
    """One fixed prior: scale of intercept and slope, amplitude of the process, length scales."""

    line: float
    process: float
    lengthscales: tuple[float, ...]


def single(scale: float, *lengthscales: float) -> list[Kernel]:
    return [Kernel(scale, scale, lengthscales)]


FORMS: Mapping[str, list[Kernel]] = {
    "scale 0.7, lengths 0.25 + 1 (default)": single(0.7, 0.25, 1.0),
    "scale 0.5, lengths 0.25 + 1": single(0.5, 0.25, 1.0),
    "scale 1.0, lengths 0.25 + 1": single(1.0, 0.25, 1.0),
    "scale 0.7, lengths 0.12 + 0.5 + 1.5": single(0.7, 0.12, 0.5, 1.5),
    "scale 0.7, length 0.5": single(0.7, 0.5),
    "average of scales 0.3, 1; lengths 0.25 + 1": [
        *single(0.3, 0.25, 1.0),
        *single(1.0, 0.25, 1.0),
    ],
    "average of 12": [
        Kernel(line, process, (length,))
        for line, process, length in product((0.3, 1.0), (0.3, 1.0), (0.12, 0.5, 1.5))
    ],
}
DEFAULT = next(iter(FORMS))


class Fit(NamedTuple):
    """Draws of the error, their log weights, and the evidence."""

    tce: Floats
    log_weights: Floats
    log_evidence: float


def fit(problem: Problem, kernel: Kernel, mass: Floats, rng: np.random.Generator) -> Fit:
    """Posterior of the error under one prior."""
    cells = problem.cells
    basis = curve_basis(cells.mean_score, cells.count, SmoothCurve(1.0, kernel.lengthscales), BASIS)
    scales = np.r_[kernel.line, kernel.line, np.full(basis.size - 2, kernel.process)]
    regression = Regression(
        score_logit(cells.mean_score),
        basis.design(cells.mean_score) * scales,
        BinomialCells(cells.count, cells.positives),
    )
    weighted = importance_sample(regression, variational_gaussian(regression), len(mass), rng)
    rates = expit(regression.logit(weighted.draws))
    tce = expected_calibration_error(mass, rates, cells.mean_score)
    log_weights = weighted.log_weights - logsumexp(weighted.log_weights)
    return Fit(tce, log_weights, weighted.log_evidence)


def answer(problem: Problem, fits: Sequence[Fit]) -> tuple[float, float, float, float]:
    """Conservative interval, averaged mean and probability of calibration."""
    evidence = np.array([one.log_evidence for one in fits])
    total = float(logsumexp(evidence) - np.log(len(fits)))
    tce = np.concatenate([one.tce for one in fits])
    log_weights = [one.log_weights + log for one, log in zip(fits, evidence, strict=True)]
    weights = np.exp(np.concatenate(log_weights) - logsumexp(evidence))
    p_calibrated = probability_calibrated(problem.cells, total, 0.5)
    order = np.argsort(tce)
    level = np.cumsum(weights[order])

    def quantile(at: float) -> float:
        return float(tce[order][min(np.searchsorted(level, at * level[-1]), len(tce) - 1)])

    lower = 0.0 if p_calibrated >= 0.05 else quantile((0.05 - p_calibrated) / (1 - p_calibrated))
    return lower, quantile(0.95), float((1 - p_calibrated) * weights @ tce), p_calibrated


def run_cell(truth: Truth, n: int, replications: int, seed: int) -> dict[str, Any]:
    """All forms on the same rows."""
    found: dict[str, list[tuple[float, ...]]] = {name: [] for name in FORMS}
    others = []
    for child in np.random.SeedSequence(cell_seed(seed, truth, n)).spawn(replications):
        rng = np.random.default_rng(child)
        score, label = truth.sample(n, rng)
        scores = bc.Scores(y_true=label, y_prob=score)
        problem = bc.ece.plan(scores, bc.ece.Priors()).cases[0].problem
        mass = draw_masses(problem.cells.count, (DRAWS,), rng)
        for name, kernels in FORMS.items():
            fits = [fit(problem, kernel, mass, rng) for kernel in kernels]
            found[name].append(answer(problem, fits))
        others.append(bootstrap(score, label, rng))
    plug_in = np.array([other.estimate for other in others]) - truth.tce
    return {
        "truth": truth.name,
        "n": n,
        "basic_width": float(np.mean([np.ptp(other.basic) for other in others])),
        "plug_in_rmse": float(np.sqrt(np.mean(plug_in**2))),
        "forms": {name: figures(np.array(rows), truth.tce) for name, rows in found.items()},
    }


def figures(rows: Floats, tce: float) -> dict[str, float]:
    lower, upper, mean, p_calibrated = rows.T
    return {
        "coverage": float(np.mean((lower <= tce) & (tce <= upper))),
        "width": float(np.mean(upper - lower)),
        "rmse": float(np.sqrt(np.mean((mean - tce) ** 2))),
        "p_calibrated": float(p_calibrated.mean()),
    }


def render() -> None:
    content = read("model_forms")
    print_provenance(content)
    print_table(
        f"Forms of the curve's prior: {len(content['cells'])} smooth cells, "
        f"{content['replications']} replications each",
        (
            "form",
            "mean coverage",
            "worst",
            "in cell",
            "width ratio",
            "largest",
            "in cell",
            "RMSE ratio, pooled",
            "mean of cells",
        ),
        [summary(content["cells"], name) for name in FORMS],
    )


def summary(cells: Sequence[Mapping[str, Any]], name: str) -> tuple[object, ...]:
    """Coverage over all cells; widths where miscalibrated and n is at least 1000."""
    worst = min(cells, key=lambda cell: cell["forms"][name]["coverage"])
    wide = [c for c in cells if c["truth"] in MISCALIBRATED and c["n"] >= 1000]
    widths = [cell["forms"][name]["width"] / cell["basic_width"] for cell in wide]
    widest = wide[int(np.argmax(widths))]
    own = np.array([cell["forms"][name]["rmse"] for cell in cells])
    other = np.array([cell["plug_in_rmse"] for cell in cells])
    return (
        name,
        100 * float(np.mean([cell["forms"][name]["coverage"] for cell in cells])),
        100 * worst["forms"][name]["coverage"],
        f"{worst['truth']} {worst['n']}",
        float(np.mean(widths)),
        max(widths),
        f"{widest['truth']} {widest['n']}",
        float(np.sqrt((own**2).sum() / (other**2).sum())),
        float(np.mean(own / other)),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, default=50)
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--truths", nargs="+", default=SMOOTH, choices=SMOOTH)
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES, choices=SIZES)
    parser.add_argument("--render", action="store_true", help="only print the figures on disk")
    given = parser.parse_args()
    cells: list[dict[str, Any]] = []
    for n in [] if given.render else given.sizes:
        for name in given.truths:
            cells.append(run_cell(TRUTHS[name], n, given.replications, given.seed))
            write("model_forms", replications=given.replications, seed=given.seed, cells=cells)
    render()


if __name__ == "__main__":
    main()
