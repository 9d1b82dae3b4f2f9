"""Which power of the evidence, and prior of calibration, weighs a curve's components best.

python benchmarks/average_power.py --data DIR            # bank dev, 4 resamples a cell
python benchmarks/average_power.py --smooth              # simulated curves, 15 resamples
python benchmarks/average_power.py --populations digit3-0 --classifiers forest --resamples 1

DIR holds adult.csv.gz. Every sample is fitted once, directly, and its components are weighed by
each power and prior probability of calibration. The log score is that of the true error, at a
resolution of 5 % of it, at least .002; the plug-in is the ECE in 15 bins of equal mass.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import _cells
import _populations
import numpy as np
from _common import print_table
from _results import write
from numpy.typing import NDArray
from scipy.stats import norm
from threadpoolctl import threadpool_limits

import bayescal as bc
from bayescal.core.functionals import expected_calibration_error
from bayescal.curves.average import POWER, Average, in_chains
from bayescal.curves.cells import draw_masses
from bayescal.curves.posterior import CurvePosterior
from bayescal.quantities.ece.plan import plan
from bayescal.quantities.ece.simulator import SMOOTH, TRUTHS

# Power, and prior probability of calibration.
WEIGHTS = (
    *((power, 0.5) for power in (0.25, 0.35, 0.5, 0.7, 1.0)),
    *((POWER, calibrated) for calibrated in (0.1, 0.3, 0.7)),
)
SIZES, SMOOTH_SIZES = (300, 1000, 5000), (100, 300, 1000, 10000)
RESAMPLES, SMOOTH_RESAMPLES = 4, 15
TAIL = 0.05
FIGURES = ("log score", "coverage", "width", "RMSE", "over the plug-in's")
# From this share of label noise on, a population's error is not its classifier's alone.
MOST_NOISE = 0.4


class Sample(NamedTuple):
    """One resample of a cell, and what is true of it."""

    cell: _cells.Key
    scores: bc.Scores
    truth: float
    noise: float
    rng: np.random.Generator


def of_populations(given: argparse.Namespace) -> Iterator[Sample]:
    """Resamples of real classifiers."""
    for population in _populations.chosen(given):
        for name in given.classifiers or population.classifiers:
            truth, noise = population.tce(name), population.label_noise(name)
            for n in given.sizes or SIZES:
                cell = (population.name, name, n)
                for rng in _cells.streams(given.seed, cell, given.resamples or RESAMPLES):
                    yield Sample(cell, population.scores(n, rng, name), truth, noise, rng)


def of_smooth_curves(given: argparse.Namespace) -> Iterator[Sample]:
    """Samples of simulated classifiers."""
    for name in SMOOTH:
        for n in given.sizes or SMOOTH_SIZES:
            for rng in _cells.streams(given.seed, (name, n), given.resamples or SMOOTH_RESAMPLES):
                score, label = TRUTHS[name].sample(n, rng)
                scores = bc.Scores(y_true=label, y_prob=score)
                yield Sample((name, n), scores, TRUTHS[name].tce, 0.0, rng)


def figures(sample: Sample, draws: int) -> NDArray[Any]:
    """Log score, coverage, width, squared errors of mean and plug-in, (weights, figure)."""
    case: Any = plan(sample.scores, bc.ece.Priors()).cases[0]
    average: Average = case.model
    cells = case.problem.cells
    direct = average.direct_draws(draws, sample.rng)
    mass = draw_masses(cells.count, (1, draws), sample.rng)
    plug_in = (float(bc.ece.estimate(sample.scores).ece) - sample.truth) ** 2
    seed = int(sample.rng.integers(2**31))
    found = []
    for power, calibrated in WEIGHTS:
        curve = CurvePosterior.of(
            replace(average, power=power, calibrated=calibrated),
            in_chains(direct.draws, (1, draws)),
            direct.evidence,
            np.random.default_rng(seed),
        )
        tce, given = (
            expected_calibration_error(mass, one.rate, cells.mean_score).ravel()
            for one in (curve, curve.miscalibrated)
        )
        tce[curve.calibrated.ravel()] = 0.0
        lower, upper = np.quantile(tce, TAIL), np.quantile(given, 1 - TAIL)
        density = norm.pdf(sample.truth, tce, max(0.002, 0.05 * sample.truth)).mean()
        covers = lower <= sample.truth <= upper
        error = (tce.mean() - sample.truth) ** 2
        found.append((np.log(density + 1e-12), covers, upper - lower, error, plug_in))
    return np.array(found, dtype=float)


type Row = tuple[float, ...]


def table(cells: Sequence[_cells.Key], found: NDArray[Any]) -> list[Row]:
    """Means of the samples; of the errors the means over cells of their root mean squares."""
    means = found.mean(axis=0)
    own = [
        found[[cell == one for cell in cells], :, -2:].mean(axis=0) for one in sorted(set(cells))
    ]
    errors = np.sqrt(own)
    means[:, -2] = errors[..., 0].mean(axis=0)
    means[:, -1] = (errors[..., 0] / errors[..., 1]).mean(axis=0)
    return [(*weights, *row) for weights, row in zip(WEIGHTS, means.tolist(), strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    _populations.add_options(parser)
    parser.add_argument("--smooth", action="store_true", help="simulated classifiers")
    parser.add_argument("--classifiers", nargs="+", help="only these, as 'kNN 15'")
    parser.add_argument("--sizes", nargs="+", type=int)
    parser.add_argument("--resamples", type=int, help="of each cell")
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=977)
    given = parser.parse_args()
    of, name = (of_smooth_curves, "smooth") if given.smooth else (of_populations, given.bank)
    with threadpool_limits(1):
        every = [
            (one.cell, one.noise < MOST_NOISE * one.truth, figures(one, given.draws))
            for one in of(given)
        ]
    cells, clear, found = zip(*every, strict=True)
    tables = {"all cells": table(cells, np.array(found))}
    kept = [place for place, one in enumerate(clear) if one]
    if not given.smooth and kept:
        own = [cells[place] for place in kept]
        tables[f"label noise below {MOST_NOISE} of the error"] = table(own, np.array(found)[kept])
    write(f"average_power_{name}", tables=tables)
    for title, rows in tables.items():
        print_table(f"{name}, {title}", ("power", "calibrated", *FIGURES), rows)


if __name__ == "__main__":
    main()
