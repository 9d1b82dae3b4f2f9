"""Coverage of the 90% interval of real classifiers' calibration error, known exactly.

python benchmarks/real_coverage.py --data DIR                   # bank dev, 100 resamples a cell
python benchmarks/real_coverage.py --data DIR --bank report
python benchmarks/real_coverage.py --data DIR --bank rates      # labels drawn from fitted rates
python benchmarks/real_coverage.py --data DIR --quick --jobs 2  # 20 resamples
python benchmarks/real_coverage.py --bank report --render       # tables from the figures on disk

DIR holds adult.csv.gz. The populations and banks are those of _populations.py; a run that was
stopped goes on where it was. Below and above say on which side of the truth an interval lay; the
plug-in is the ECE in 15 bins of equal mass.
"""

from __future__ import annotations

import argparse
from functools import partial

import _cells
import _populations

import bayescal as bc

SIZES = (300, 1000, 5000)


def run_cell(
    key: _cells.Key, *, where: _populations.Where, settings: _cells.Cell
) -> _cells.Figures:
    """Fit the resamples of one classifier at one size."""
    name, classifier, n = str(key[0]), str(key[1]), int(key[2])
    population = _populations.population(name, where)
    rows = [
        _cells.tce_row(bc.ece, population.scores(n, rng, classifier), rng, settings)
        for rng in _cells.streams(settings["seed"], key, settings["resamples"])
    ]
    noise = {"label_noise": population.label_noise(classifier)}
    return _cells.figures(population.tce(classifier), rows) | noise


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    _populations.add_options(parser, _populations.RATES)
    _cells.add_options(parser)
    parser.add_argument("--classifiers", nargs="+", help="only these, as 'kNN 15'")
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    given = parser.parse_args()

    def keys() -> list[_cells.Key]:
        return [
            (population.name, classifier, n)
            for population in _populations.chosen(given)
            for classifier in given.classifiers or population.classifiers
            for n in given.sizes
        ]

    where, settings = _populations.where(given), _cells.settings_of(given)
    _cells.finish(
        given,
        f"real_coverage_{given.bank}",
        "the calibration error",
        ("population", "classifier", "n"),
        keys,
        partial(run_cell, where=where, settings=settings),
    )


if __name__ == "__main__":
    main()
