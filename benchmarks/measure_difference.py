"""The difference of two real classifiers by any measure on the same rows: coverage and width.

python benchmarks/measure_difference.py --data DIR --populations adult-10
python benchmarks/measure_difference.py --render

DIR holds adult.csv.gz. The classifiers score the same resampled rows; the populations are those of
_populations.py, whose measures are known exactly. `unpaired` is the interval as if each classifier
had rows of its own. A run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from typing import Any

import _cells
import _populations
import numpy as np
import xarray as xr
from _common import print_table
from _results import print_provenance, read

import bayescal as bc
from bayescal.measures.registry import resolve
from bayescal.results.measure import with_measures

NAME = "measure_difference"
MEASURES = ("brier", "auc", "net_benefit:0.25", "e90", "tce")
PAIRS = (("boosted", "LR .01"), ("boosted", "tree 75"))
SIZES = (500, 2000)


def truth(population: _populations.Population, classifier: str, measure: str) -> float:
    """A measure of the whole population, one cell a score."""
    score, place = np.unique(population.of(classifier), return_inverse=True)
    count = np.bincount(place)
    rate = np.bincount(place, population.label) / count
    return float(resolve(measure).function(rate, score, count / count.sum()))


def unpaired(tree: xr.DataTree) -> xr.DataTree:
    """The same result without correlation and common weights of rows."""
    alone = tree.drop_nodes(["paired", "shared_rows"])
    given = tree["error_correlation"].to_dataset()["correlation"]
    none = given * 0 + np.eye(len(given))
    alone["error_correlation"] = xr.Dataset(dict.fromkeys(("correlation", *MEASURES), none))
    return alone


def run_cell(
    key: _cells.Key, *, where: _populations.Where, settings: _cells.Cell
) -> _cells.Figures:
    """All pairs and measures of one population at one size, by name of pair, measure and figure."""
    population = _populations.population(str(key[0]), where)
    names = sorted({name for pair in PAIRS for name in pair})
    found: dict[str, list[float]] = {}
    for rng in _cells.streams(settings["seed"], key, settings["resamples"]):
        scores = population.scores(int(key[1]), rng, *names)
        tree = with_measures(_cells.fit(bc.ece, scores, rng, settings, priors=None), MEASURES)
        alone = unpaired(tree)
        for first, second in PAIRS:
            for measure in MEASURES:
                gap = truth(population, first, measure) - truth(population, second, measure)
                for how, given in (("paired", tree), ("unpaired", alone)):
                    one = bc.difference(given, first, second, measure)
                    figures = {
                        "coverage": one.lower <= gap <= one.upper,
                        "width": one.upper - one.lower,
                        "correlation": one.correlation,
                        "mean": one.mean,
                        "truth": gap,
                    }
                    for name, value in figures.items():
                        place = "/".join((first, second, measure, how, name))
                        found.setdefault(place, []).append(float(value))
    spread = {
        name.replace("/mean", "/spread"): float(np.std(values))
        for name, values in found.items()
        if name.endswith("/mean")
    }
    return {name: float(np.mean(values)) for name, values in found.items()} | spread


def render() -> None:
    """Print a line for each population, size, pair and measure."""
    content = read(NAME)
    print_provenance(content)
    rows: list[Sequence[Any]] = []
    for cell in sorted(content["cells"], key=lambda one: one["key"]):
        for first, second in PAIRS:
            for measure in MEASURES:
                stem = f"{first}/{second}/{measure}"
                with_it, without = (
                    {f: cell[f"{stem}/{how}/{f}"] for f in ("coverage", "width", "correlation")}
                    for how in ("paired", "unpaired")
                )
                rows.append(
                    (
                        *(*cell["key"], first, second, measure),
                        cell[f"{stem}/paired/truth"],
                        *(with_it["coverage"], without["coverage"]),
                        *(with_it["width"], with_it["width"] / without["width"]),
                        round(with_it["correlation"], 2),
                    )
                )
    print_table(
        f"90% intervals of the difference by measure, {content['resamples']} resamples",
        (
            *("population", "n", "first", "second", "measure", "truth", "coverage", "unpaired"),
            *("width", "over unpaired", "correlation"),
        ),
        rows,
    )
    coverages = [(row[6], row) for row in rows]
    print(f"mean {np.mean([c for c, _ in coverages]):.3f}, worst {min(coverages)[0]:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    _populations.add_options(parser)
    _cells.add_options(parser)
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    given = parser.parse_args()
    if not given.render:
        where, settings = _populations.where(given), _cells.settings_of(given)
        keys = [(one.name, n) for one in _populations.chosen(given) for n in given.sizes]
        task = partial(run_cell, where=where, settings=settings)
        _cells.run(NAME, settings, keys, task, given.jobs)
    render()


if __name__ == "__main__":
    main()
