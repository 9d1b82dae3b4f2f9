"""Coverage of 90% credal bounds of real few-valued classifiers, whose rates are known exactly.

python benchmarks/credal_real_coverage.py --data DIR                # 20 resamples, bank report
python benchmarks/credal_real_coverage.py --render

DIR holds adult.csv.gz; the populations are those of _populations.py. Coverage is the share of the
population's rows whose bounds cover the rate at their score. A run that was stopped goes on
where it was.
"""

from __future__ import annotations

import argparse
from typing import Any

import _populations
import numpy as np
from _cells import begun
from _common import print_table
from _credal_bounds import AVERAGE, METHODS, Tally, all_methods, clopper_pearson
from _results import print_provenance, read, write

import bayescal as bc

NAME = "credal_real_coverage"
SIZES = (200, 1000)


def cell(
    population: _populations.Population, classifier: str, n: int, settings: dict[str, Any]
) -> dict[str, Any]:
    """Coverage of one classifier's bounds at one size."""
    score = population.of(classifier)
    value, place, count = np.unique(score, return_inverse=True, return_counts=True)
    rate = np.bincount(place, population.label) / count
    tally = Tally(rate, count / count.sum())
    key = [settings["seed"], n, *map(ord, population.name + classifier)]
    for child in np.random.SeedSequence(key).spawn(settings["resamples"]):
        rng = np.random.default_rng(child)
        data = bc.CalibrationSplit(calibration=population.scores(n, rng, classifier), target=value)
        tally.add(all_methods(data, rng), clopper_pearson(data))
    return {
        "population": population.name,
        "classifier": classifier,
        "scores": len(value),
        "n": n,
        "methods": tally.figures(),
    }


def run(given: argparse.Namespace) -> None:
    settings = {"resamples": given.resamples, "seed": given.seed}
    cells = begun(NAME, settings)
    done = {(c["population"], c["classifier"], c["n"]) for c in cells}
    for population in _populations.chosen(given):
        for classifier in given.classifiers or population.classifiers:
            for n in SIZES:
                if (population.name, classifier, n) in done:
                    continue
                cells.append(cell(population, classifier, n, settings))
                write(NAME, **settings, bank=given.bank, cells=cells)
                shown = {m: round(f["coverage"], 2) for m, f in cells[-1]["methods"].items()}
                print(population.name, classifier, n, shown, flush=True)


def render() -> None:
    content = read(NAME)
    print_provenance(content)
    summary = []
    for n in SIZES:
        each = [c for c in content["cells"] if c["n"] == n]
        for method in METHODS:
            found = [c["methods"][method] for c in each]
            coverage, width = ([f[key] for f in found] for key in ("coverage", "width"))
            equal = [f["pearson_width"] for f in found] if method == AVERAGE else [np.nan]
            row = np.mean(coverage), min(coverage), np.mean(width), np.nanmean(equal)
            summary.append((n, method, len(each), *map(float, row)))
    print_table(
        f"Coverage of 90% bounds, {content['resamples']} resamples a classifier",
        (
            "n",
            "method",
            "classifiers",
            "mean coverage",
            "worst",
            "mean width",
            "Clopper-Pearson at equal coverage",
        ),
        summary,
    )
    print_table(
        "Coverage (and width of the default) by classifier",
        ("population", "classifier", "scores", "n", *METHODS, "width"),
        [
            (
                *(c[key] for key in ("population", "classifier", "scores", "n")),
                *(c["methods"][m]["coverage"] for m in METHODS),
                c["methods"][AVERAGE]["width"],
            )
            for c in content["cells"]
        ],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    _populations.add_options(parser)
    parser.set_defaults(bank="report")
    parser.add_argument("--classifiers", nargs="+", help="only these, as 'kNN 15'")
    parser.add_argument("--resamples", type=int, default=20)
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--render", action="store_true", help="only print the figures on disk")
    given = parser.parse_args()
    if not given.render:
        run(given)
    render()


if __name__ == "__main__":
    main()
