"""Coverage of the 90% interval of real classifiers' calibration error, known exactly.

python benchmarks/real_coverage.py --data DIR                   # bank dev, 100 resamples a cell
python benchmarks/real_coverage.py --data DIR --bank report
python benchmarks/real_coverage.py --data DIR --quick --jobs 2  # 20 resamples
python benchmarks/real_coverage.py --render --bank report       # tables from the figures on disk

DIR holds adult.csv.gz. The populations and banks are those of _populations.py; a run that was
stopped goes on where it was. Below and above say on which side of the truth an interval lay.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import _cells
import _populations
import numpy as np
from _common import print_table
from _results import print_provenance, read

import bayescal as bc

NAME = "real_coverage"
SIZES = (300, 1000, 5000)
FIGURES = ("coverage", "below", "above", "width", "bias", "rmse", "plug_in_rmse")
SHOWN = ("coverage", "below", "above", "width", "bias", "RMSE", "plug-in's")


def run_cell(
    key: _cells.Key, *, where: Mapping[str, Any], settings: Mapping[str, Any]
) -> _cells.Figures:
    """Fit the resamples of one classifier at one size."""
    name, classifier, n = str(key[0]), str(key[1]), int(key[2])
    population = _populations.population(name, **where)
    rows = []
    for rng in _cells.streams(settings["seed"], key, settings["resamples"]):
        scores = population.scores(n, rng, classifier)
        rows.append(row_of(scores, int(rng.integers(2**31)), settings))
    return _cells.interval_figures(population.tce(classifier), rows) | {
        figure: float(np.mean([row[figure] for row in rows])) for figure in ("p_calibrated", "ok")
    }


def row_of(scores: bc.Scores, seed: int, settings: Mapping[str, Any]) -> dict[str, float]:
    """What a result says of the calibration error."""
    with warnings.catch_warnings():
        # Counted as `ok`, and told of by the result.
        warnings.simplefilter("ignore", bc.ConvergenceWarning)
        tree = bc.fit(bc.ece, scores, seed=seed, **_cells.sampling(settings))
    found = bc.summary(tree).iloc[0]
    return {
        "lower": found["tce_lower"],
        "upper": found["tce_upper"],
        "mean": found["tce_mean"],
        "plug_in": found["ece_point"],
        "p_calibrated": found["p_calibrated"],
        "ok": found["status"] == "ok",
    }


def render(name: str) -> None:
    """Print the tables."""
    content = read(name)
    print_provenance(content)
    cells = content["cells"]
    for place, what in ((1, "classifier"), (2, "n"), (0, "population")):
        rows = [
            (value, *average([c for c in cells if c["key"][place] == value]))
            for value in sorted({c["key"][place] for c in cells})
        ]
        print_table(
            f"90% intervals of the calibration error by {what}: means over cells of "
            f"{content['resamples']} resamples",
            (what, "cells", "worst", *SHOWN),
            [*rows, ("all", *average(cells))] if place == 1 else rows,
        )
    print_table(
        "Every cell",
        ("population", "classifier", "n", "TCE", *SHOWN, "mean p0", "ok"),
        [
            (*c["key"], c["truth"], *(c[f] for f in FIGURES), round(c["p_calibrated"], 3), c["ok"])
            for c in sorted(cells, key=lambda c: c["key"])
        ],
    )
    worst = min(cells, key=lambda c: c["coverage"])
    print(f"\nworst cell: {worst['coverage']:.2f}, {worst['key']}")


def average(cells: Sequence[Mapping[str, Any]]) -> list[float]:
    """Number of cells, worst coverage, and means of the figures."""
    means = [float(np.mean([cell[figure] for cell in cells])) for figure in FIGURES]
    return [len(cells), min(cell["coverage"] for cell in cells), *means]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    _populations.add_options(parser)
    _cells.add_options(parser, resamples=100)
    parser.add_argument("--classifiers", nargs="+", help="only these")
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    given = parser.parse_args()
    name = _cells.file_of(given, NAME, given.bank)
    if not given.render:
        where, settings = _populations.where(given), _cells.settings_of(given)
        keys = [
            (population.name, classifier, n)
            for population in _populations.chosen(given)
            for classifier in given.classifiers or population.classifiers
            for n in given.sizes
        ]
        task = partial(run_cell, where=where, settings=settings)
        _cells.run(name, settings, keys, task, given.jobs)
    render(name)


if __name__ == "__main__":
    main()
