"""How often 90% credal-credible bounds cover P(y | score), and Venn-Abers' [p0, p1] beside them.

python benchmarks/credal_coverage.py                    # 10 truths, 3 sizes, 40 replications
python benchmarks/credal_coverage.py --render
python benchmarks/credal_coverage.py --steps            # beside steps, and of a prior of few jumps

A run that was stopped goes on where it was. Coverage is the mean over 50 scores, even over their
range, and over replications; beside it stands that of the score where it is least. Posteriors are
computed without NUTS, by importance sampling, quadrature and conjugacy. Beside the width of the
default stands that of Clopper and Pearson's intervals on 10 bins of equal mass, at the level at
which they cover as much.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from _cells import begun
from _common import print_table
from _credal_bounds import (
    AVERAGE,
    METHODS,
    PRIORS,
    Tally,
    all_methods,
    by_posterior,
    clopper_pearson,
)
from _results import print_provenance, read, write

import bayescal as bc
from bayescal.quantities.credal.simulator import TRUTHS

NAME = "credal_coverage"
SIZES = (20, 100, 1000)
SCORES = (np.arange(50) + 0.5) / 50


def cell(place: int, name: str, n: int, replications: int, seed: int) -> dict[str, Any]:
    """Coverage of one truth at one size."""
    truth = TRUTHS[name]
    tally = Tally(truth.probability(SCORES), np.full(len(SCORES), 1 / len(SCORES)))
    for child in np.random.SeedSequence([seed, place]).spawn(replications):
        rng = np.random.default_rng(child)
        data = truth.split(n, SCORES, rng)
        tally.add(all_methods(data, rng), clopper_pearson(data))
    return {"truth": name, "kind": truth.kind, "n": n, "methods": tally.figures()}


def run(replications: int, seed: int) -> None:
    settings = {"replications": replications, "seed": seed}
    cells = begun(NAME, settings)
    done = {(c["truth"], c["n"]) for c in cells}
    places = enumerate((n, name) for n in SIZES for name in TRUTHS)
    for place, (n, name) in places:
        if (name, n) in done:
            continue
        cells.append(cell(place, name, n, replications, seed))
        write(NAME, **settings, cells=cells)
        shown = {m: round(f["coverage"], 3) for m, f in cells[-1]["methods"].items()}
        print(name, n, shown, flush=True)


def steps(replications: int, seed: int, n: int = 1000) -> None:
    """Coverage near steps and far from them, by the default and by a prior that expects jumps."""
    few = bc.credal.IncrementIsotonic(bins=50, concentration=0.03)
    priors = {AVERAGE: PRIORS[AVERAGE], "few jumps": bc.credal.Priors(few)}
    fine, lines = np.linspace(0, 1, 10_001), []
    for name, truth in TRUTHS.items():
        if truth.kind != "step":
            continue
        jumps = fine[1:][np.diff(truth.probability(fine)) != 0]
        near = np.abs(SCORES[:, None] - jumps).min(axis=1) <= 0.06
        right = truth.probability(SCORES)
        for method, prior in priors.items():
            covered, width = [], []
            for child in np.random.SeedSequence([seed, n, len(name)]).spawn(replications):
                rng = np.random.default_rng(child)
                ends = by_posterior(truth.split(n, SCORES, rng), prior, rng)
                covered.append((ends.lower <= right) & (right <= ends.upper))
                width.append((ends.upper - ends.lower).mean())
            parts = [np.mean(np.array(covered)[:, rows]) for rows in (near | ~near, near, ~near)]
            lines.append((name, method, *map(float, parts), float(np.mean(width))))
    title = f"Coverage by 90% bounds, {n} rows, {replications} replications"
    print_table(title, ("truth", "prior", "all", "within .06", "beyond", "width"), lines)


def render() -> None:
    content = read(NAME)
    print_provenance(content)
    order = {name: place for place, name in enumerate(TRUTHS)}
    cells = sorted(content["cells"], key=lambda c: (order[c["truth"]], c["n"]))
    summary = []
    for kind in ("smooth", "step", "non-monotone"):
        chosen = [c for c in cells if c["kind"] == kind]
        for n in SIZES:
            each = [c for c in chosen if c["n"] == n]
            for method in METHODS if each else ():
                found = [c["methods"][method] for c in each]
                coverage, width = ([f[key] for f in found] for key in ("coverage", "width"))
                row = (np.mean(coverage), min(coverage), np.mean(width))
                equal = [f["pearson_width"] for f in found] if method == AVERAGE else [np.nan]
                summary.append((kind, n, method, *map(float, row), float(np.nanmean(equal))))
    print_table(
        f"Coverage of P(y | score) by 90% bounds, {content['replications']} replications a truth",
        (
            "truths",
            "n",
            "method",
            "mean coverage",
            "worst truth",
            "mean width",
            "Clopper-Pearson at equal coverage",
        ),
        summary,
    )
    for title, key in (("Coverage", "coverage"), ("Coverage at the worst score", "worst_score")):
        print_table(
            f"{title} by truth",
            ("truth", "n", *METHODS),
            [(c["truth"], c["n"], *(c["methods"][m][key] for m in METHODS)) for c in cells],
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, default=40)
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--render", action="store_true", help="only print the figures on disk")
    parser.add_argument("--steps", action="store_true", help="beside steps only; keeps no file")
    given = parser.parse_args()
    if given.steps:
        steps(given.replications, given.seed)
        return
    if not given.render:
        run(given.replications, given.seed)
    render()


if __name__ == "__main__":
    main()
