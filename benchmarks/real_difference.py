"""Coverage of the 90% interval of the difference of two real classifiers' calibration errors.

python benchmarks/real_difference.py --data DIR                 # bank dev, 100 resamples a cell
python benchmarks/real_difference.py --data DIR --bank report
python benchmarks/real_difference.py --data DIR --bank rates    # labels drawn from fitted rates
python benchmarks/real_difference.py --bank report --render

DIR holds adult.csv.gz. Both classifiers score the same resampled rows; the populations and banks
are those of _populations.py. A run that was stopped goes on where it was. Each cell gives the mean
correlation that the interval uses. Label noise is that of the classifier which has more of it, as a
share of its error, times the difference.
"""

from __future__ import annotations

import argparse
from functools import partial

import _cells
import _populations
import numpy as np

import bayescal as bc

PAIRS = (("tree 75", "LR .01"), ("kNN 15", "forest"), ("boosted", "tree 75"), ("NB", "LR .01"))
SIZES = (1000, 5000)


def run_cell(
    key: _cells.Key, *, where: _populations.Where, settings: _cells.Cell
) -> _cells.Figures:
    """Fit the resamples of one pair at one size."""
    name, first, second, n = str(key[0]), str(key[1]), str(key[2]), int(key[3])
    population = _populations.population(name, where)
    rows = [
        difference_row(population.scores(n, rng, first, second), (first, second), rng, settings)
        for rng in _cells.streams(settings["seed"], key, settings["resamples"])
    ]
    truth = population.difference(first, second)
    noise = max(population.label_noise(one) / population.tce(one) for one in (first, second))
    return _cells.figures(truth, rows) | {"label_noise": noise * truth}


def difference_row(
    scores: bc.Scores, pair: tuple[str, str], rng: np.random.Generator, settings: _cells.Cell
) -> _cells.Figures:
    """What the fit of one resample says of the difference."""
    tree = _cells.fit(bc.ece, scores, rng, settings, priors=None)
    found = bc.difference(tree, *pair, var="tce")
    summary = bc.summary(tree).set_index("classifier")
    return {
        "lower": found.lower,
        "upper": found.upper,
        "mean": found.mean,
        "plug_in": summary["ece_point"][pair[0]] - summary["ece_point"][pair[1]],
        "correlation": found.correlation,
        "ok": bool((summary["status"] != "NOT CONVERGED").all()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    _populations.add_options(parser, _populations.RATES)
    _cells.add_options(parser)
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    given = parser.parse_args()

    def keys() -> list[_cells.Key]:
        return [
            (population.name, *pair, n)
            for population in _populations.chosen(given)
            for pair in PAIRS
            for n in given.sizes
        ]

    where, settings = _populations.where(given), _cells.settings_of(given)
    _cells.finish(
        given,
        f"real_difference_{given.bank}",
        "the difference of two calibration errors",
        ("population", "first", "second", "n"),
        keys,
        partial(run_cell, where=where, settings=settings),
    )


if __name__ == "__main__":
    main()
