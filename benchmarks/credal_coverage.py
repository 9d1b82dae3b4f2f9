"""How often 90% credal-credible bounds cover P(y | score), and Venn-Abers' [p0, p1] beside them.

python benchmarks/credal_coverage.py                    # 10 truths, 3 sizes, 100 replications
python benchmarks/credal_coverage.py --render

A run that was stopped goes on where it was. Coverage is the mean over 50 scores, even over their
range, and over replications; beside it stands that of the score where it is least. Steps and bins
have independent draws of their posterior. That of the rising curve comes by importance sampling
from a t distribution adapted to it, and where the effective number of draws stays below 800, by
NUTS: both are draws from the same posterior as `bayescal.fit` gives.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np
from _common import print_table
from _credal_curve import curve_draws
from _results import RESULTS, print_provenance, read, write
from numpy.typing import NDArray

import bayescal as bc
from bayescal.quantities.credal.posterior import CredalCase
from bayescal.quantities.credal.simulator import TRUTHS

type Floats = NDArray[np.float64]

NAME = "credal_coverage"
SIZES = (20, 100, 1000)
SCORES = (np.arange(50) + 0.5) / 50
DRAWS = 1000
TAIL = 0.05
PRIORS = {
    "rising curve": bc.credal.Priors(),
    "isotonic steps": bc.credal.Priors(bc.credal.IncrementIsotonic()),
    "imprecise Dirichlet": bc.credal.Priors(bc.credal.ImpreciseDirichlet()),
}
IVAP = "Venn-Abers [p0, p1]"
PLAIN = "rising curve, s = 0"
METHODS = (*PRIORS, PLAIN, IVAP)


def by_posterior(
    data: bc.CalibrationSplit, priors: bc.credal.Priors, rng: np.random.Generator
) -> tuple[Floats, Floats, Floats, Floats, bool]:
    """Ends of the bounds, and of the interval of the probability itself, at each score."""
    case = bc.credal.plan(data, priors).cases[0]
    assert isinstance(case, CredalCase)
    direct = case.model.direct_draws(DRAWS, rng)
    draws, by_nuts = (direct.draws, False) if direct else curve_draws(case, DRAWS, rng)
    found = case.with_pseudo_observations({name: value[None] for name, value in draws.items()})
    prob, lower, upper = (part[0, :, :, 0] for part in found)
    ends = np.quantile(lower, TAIL, axis=0), np.quantile(upper, 1 - TAIL, axis=0)
    return *ends, *np.quantile(prob, [TAIL, 1 - TAIL], axis=0), by_nuts


def replication(
    data: bc.CalibrationSplit, rng: np.random.Generator
) -> tuple[dict[str, tuple[Floats, Floats]], bool]:
    """Intervals of every method from one sample."""
    pair = bc.credal.estimate(data)
    found, nuts = {IVAP: (pair.p0, pair.p1)}, False
    for name, priors in PRIORS.items():
        lower, upper, low, high, by_nuts = by_posterior(data, priors, rng)
        found[name], nuts = (lower, upper), nuts or by_nuts
        if name == "rising curve":
            found[PLAIN] = (low, high)
    return found, nuts


def cell(place: int, name: str, n: int, replications: int, seed: int) -> dict[str, Any]:
    """Coverage of one truth at one size."""
    truth = TRUTHS[name]
    p = truth.probability(SCORES)
    covered: dict[str, list[Any]] = {method: [] for method in METHODS}
    width: dict[str, list[float]] = {method: [] for method in METHODS}
    by_nuts = 0
    for child in np.random.SeedSequence([seed, place]).spawn(replications):
        rng = np.random.default_rng(child)
        intervals, nuts = replication(truth.split(n, SCORES, rng), rng)
        by_nuts += nuts
        for method, (lower, upper) in intervals.items():
            covered[method].append((lower <= p) & (p <= upper))
            width[method].append(float(np.mean(upper - lower)))
    return {
        "truth": name,
        "kind": truth.kind,
        "n": n,
        "by_nuts": by_nuts,
        "methods": {method: figures(covered[method], width[method]) for method in METHODS},
    }


def figures(covered: Sequence[Any], width: Sequence[float]) -> dict[str, float]:
    each = np.mean(covered, axis=1)
    return {
        "coverage": float(each.mean()),
        "standard_error": float(each.std(ddof=1) / np.sqrt(len(each))),
        "worst_score": float(np.mean(covered, axis=0).min()),
        "width": float(np.mean(width)),
    }


def run(replications: int, seed: int) -> None:
    settings = {"replications": replications, "seed": seed}
    cells: list[dict[str, Any]] = []
    if (RESULTS / f"{NAME}.json").exists():
        before = read(NAME)
        if all(before[key] == value for key, value in settings.items()):
            cells = before["cells"]
    done = {(c["truth"], c["n"]) for c in cells}
    places = enumerate((n, name) for n in SIZES for name in TRUTHS)
    for place, (n, name) in sorted(places, key=lambda p: TRUTHS[p[1][1]].kind != "smooth"):
        if (name, n) in done:
            continue
        cells.append(cell(place, name, n, replications, seed))
        write(NAME, **settings, cells=cells)
        shown = {m: round(f["coverage"], 3) for m, f in cells[-1]["methods"].items()}
        print(name, n, cells[-1]["by_nuts"], shown, flush=True)


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
                summary.append((kind, n, method, *map(float, row)))
    print_table(
        f"Coverage of P(y | score) by 90% bounds, {content['replications']} replications a truth",
        ("truths", "n", "method", "mean coverage", "worst truth", "mean width"),
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
    parser.add_argument("--replications", type=int, default=100)
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--render", action="store_true", help="only print the figures on disk")
    given = parser.parse_args()
    if not given.render:
        run(given.replications, given.seed)
    render()


if __name__ == "__main__":
    main()
