"""Coverage of the 90% interval of real classifiers' TCE from positives and unlabelled rows.

python benchmarks/pu_real_coverage.py --data DIR                # bank dev, 100 resamples a cell
python benchmarks/pu_real_coverage.py --data DIR --bank report
python benchmarks/pu_real_coverage.py --data DIR --bank rates      # positives of fitted rates
python benchmarks/pu_real_coverage.py --bank report --render

DIR holds adult.csv.gz. Positives are drawn from the positives of a population of _populations.py,
unlabelled rows from all of it. The class prior is nearly known: a Beta whose mean is the share of
positives, with a standard deviation of .005 or --spread, each with a file of figures of its own. A
run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
from functools import partial

import _cells
import _populations

import bayescal as bc

CLASSIFIERS = ("LR .1", "kNN 15", "tree 75", "boosted", "NB")
SPREAD = 0.005
SIZES = ((200, 1000), (1000, 4000))


def class_prior(mean: float, spread: float) -> bc.Beta:
    """Beta around a share of positives."""
    rows = mean * (1 - mean) / spread**2 - 1
    return bc.Beta(mean * rows, (1 - mean) * rows)


def of_spread(spread: float) -> str:
    """Ending of the figures' file, "_spread_05" of .05; none of the spread of most figures."""
    return "" if spread == SPREAD else f"_spread_{spread:g}".replace("0.", "", 1)


def run_cell(
    key: _cells.Key, *, where: _populations.Where, settings: _cells.Cell, spread: float
) -> _cells.Figures:
    """Fit the resamples of one classifier at one size."""
    name, classifier, size = str(key[0]), str(key[1]), (int(key[2]), int(key[3]))
    population = _populations.population(name, where)
    priors = bc.pu_ece.Priors(class_prior(float(population.label.mean()), spread))
    rows = [
        _cells.tce_row(
            bc.pu_ece, population.pu_scores(size, rng, classifier), rng, settings, priors
        )
        for rng in _cells.streams(settings["seed"], key, settings["resamples"])
    ]
    noise = {"label_noise": population.label_noise(classifier)}
    return _cells.figures(population.tce(classifier), rows) | noise


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    _populations.add_options(parser, _populations.RATES)
    _cells.add_options(parser)
    parser.add_argument("--classifiers", nargs="+", default=CLASSIFIERS)
    parser.add_argument("--spread", type=float, default=SPREAD, help="of the class prior")
    given = parser.parse_args()

    def keys() -> list[_cells.Key]:
        return [
            (population.name, classifier, *size)
            for population in _populations.chosen(given)
            for classifier in given.classifiers
            for size in SIZES
        ]

    where, settings = _populations.where(given), _cells.settings_of(given)
    _cells.finish(
        given,
        f"pu_real_coverage_{given.bank}{of_spread(given.spread)}",
        "the calibration error from positives and unlabelled rows",
        ("population", "classifier", "nP", "nU"),
        keys,
        partial(run_cell, where=where, settings=settings, spread=given.spread),
    )


if __name__ == "__main__":
    main()
