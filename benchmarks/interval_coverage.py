"""Coverage of the 90% interval of the calibration error, its width, and the error of the mean.

python benchmarks/interval_coverage.py              # 36 cells, 200 replications: about an hour
python benchmarks/interval_coverage.py --nuts 20    # smooth cells by NUTS, against direct draws
python benchmarks/interval_coverage.py --render     # tables from the figures on disk
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from _bootstrap import bootstrap
from _common import print_table
from _results import RESULTS, print_provenance, read, write

import bayescal as bc
from bayescal.quantities.ece.simulator import SMOOTH, STRESS, TRUTHS, Truth
from bayescal.workflow.simulation import Coverage, coverage

SIZES = (100, 300, 1000, 10_000)
MISCALIBRATED = ("better", "less", "over", "wiggle")
CURVE, BASIC, PERCENTILE = "curve (default)", "basic bootstrap", "percentile bootstrap"
BINS = {
    "flat bins": bc.ece.IndependentBins(),
    "Jeffreys bins": bc.ece.IndependentBins(bc.Beta(0.5, 0.5)),
    "hierarchical bins": bc.ece.HierarchicalBins(),
}
PRIORS = {
    CURVE: bc.ece.Priors(),
    **{name: bc.ece.Priors(rates) for name, rates in BINS.items()},
    **{f"{name}, no p0": bc.ece.Priors(rates, calibrated=0) for name, rates in BINS.items()},
}
METHODS = (*PRIORS, BASIC, PERCENTILE)


def cell_seed(seed: int, truth: Truth, n: int) -> int:
    """Seed of a cell, the same whichever cells are run."""
    place = list(TRUTHS).index(truth.name) * 10 + SIZES.index(n)
    return int(np.random.SeedSequence([seed, place]).generate_state(1)[0])


def run_cell(truth: Truth, n: int, replications: int, seed: int) -> dict[str, Any]:
    """All methods on the same samples."""
    seed = cell_seed(seed, truth, n)
    methods = {
        name: of_coverage(coverage(bc.ece, truth, n, replications, seed=seed, priors=priors))
        for name, priors in PRIORS.items()
    }
    return {"truth": truth.name, "n": n, "tce": truth.tce} | {
        "methods": methods | by_bootstrap(truth, n, replications, seed)
    }


def of_coverage(found: Coverage) -> dict[str, float]:
    return figures(found.covered, found.width, found.error) | {
        "p_calibrated": float(found.p_calibrated.mean()),
        "warned": float(found.warned.mean()),
        "converged": float(found.converged.mean()),
    }


def by_bootstrap(truth: Truth, n: int, replications: int, seed: int) -> dict[str, dict[str, float]]:
    """The bootstrap of the same rows as in `coverage`."""
    results = []
    for child in np.random.SeedSequence(seed).spawn(replications):
        rng = np.random.default_rng(child)
        results.append(bootstrap(*truth.sample(n, rng), rng))
    error = np.array([result.estimate for result in results]) - truth.tce
    found = {}
    for name, field in ((BASIC, "basic"), (PERCENTILE, "percentile")):
        lower, upper = np.array([getattr(result, field) for result in results]).T
        covered = (lower <= truth.tce) & (truth.tce <= upper)
        found[name] = figures(covered, upper - lower, error)
    found[BASIC]["unclipped_width"] = float(np.mean([r.unclipped_width for r in results]))
    return found


def figures(covered: Any, width: Any, error: Any) -> dict[str, float]:
    return {
        "coverage": float(np.mean(covered)),
        "width": float(np.mean(width)),
        "rmse": float(np.sqrt(np.mean(np.square(error)))),
        "bias": float(np.mean(error)),
    }


def run(replications: int, seed: int, truths: Sequence[str], sizes: Iterable[int]) -> None:
    """Run all cells, writing after each."""
    cells = []
    for n in sizes:
        for name in truths:
            cells.append(run_cell(TRUTHS[name], n, replications, seed))
            write("coverage", replications=replications, seed=seed, cells=cells)
            line = cells[-1]["methods"][CURVE]
            print(name, n, {key: round(value, 4) for key, value in line.items()}, flush=True)


def run_nuts(replications: int, seed: int, truths: Sequence[str], sizes: Iterable[int]) -> None:
    """The default model by NUTS on the first rows of each cell, beside direct draws."""
    cells = []
    for n in sizes:
        for name in truths:
            arguments = (bc.ece, TRUTHS[name], n, replications)
            options = {"seed": cell_seed(seed, TRUTHS[name], n)}
            nuts = coverage(*arguments, **options, method="nuts")
            direct = coverage(*arguments, **options, draws=4000)
            off = np.abs([nuts.lower - direct.lower, nuts.upper - direct.upper]) / direct.width
            cell = {
                "truth": name,
                "n": n,
                "coverage": float(nuts.covered.mean()),
                "coverage_quick": float(direct.covered.mean()),
                "converged": float(nuts.converged.mean()),
                "mean_end_difference": float(off.mean()),
                "max_end_difference": float(off.max()),
            }
            cells.append(cell)
            write("coverage_nuts", replications=replications, seed=seed, cells=cells)
            print(cell, flush=True)


type Cells = Sequence[Mapping[str, Any]]


def render() -> None:
    """Print the tables."""
    content = read("coverage")
    print_provenance(content)
    smooth = [cell for cell in content["cells"] if cell["truth"] in SMOOTH]
    stress = [cell for cell in content["cells"] if cell["truth"] in STRESS]
    replications = content["replications"]
    print_table(
        f"90% intervals of the calibration error: {len(smooth)} smooth cells, {replications} "
        "replications each",
        (
            "method",
            "mean coverage",
            "worst",
            "in cell",
            "width ratio",
            "RMSE ratio, pooled",
            "RMSE ratio, mean of cells",
        ),
        [summary(smooth, method) for method in METHODS],
    )
    for title, cells in (("Smooth cells", smooth), ("Stress cells", stress)):
        print_table(
            f"{title}: coverage",
            ("truth", "n", "TCE", *METHODS),
            [
                (c["truth"], c["n"], c["tce"], *(c["methods"][m]["coverage"] for m in METHODS))
                for c in cells
            ],
        )
        print_table(
            f"{title}: the default model",
            (
                "truth",
                "n",
                "width",
                "width ratio",
                "to unclipped",
                "bias",
                "RMSE",
                "plug-in's",
                "RMSE ratio",
                "mean p0",
                "warned",
            ),
            [default_row(cell) for cell in cells],
        )
    if (RESULTS / "coverage_nuts.json").exists():
        render_nuts()


def summary(cells: Cells, method: str) -> tuple[object, ...]:
    """Mean and worst coverage; width and RMSE against the basic bootstrap and the plug-in."""
    coverages = [cell["methods"][method]["coverage"] for cell in cells]
    worst = cells[int(np.argmin(coverages))]
    wide = [c for c in cells if c["truth"] in MISCALIBRATED and c["n"] >= 1000]
    squares = {
        name: np.mean([cell["methods"][name]["rmse"] ** 2 for cell in cells])
        for name in (method, BASIC)
    }
    return (
        method,
        100 * float(np.mean(coverages)),
        100 * float(min(coverages)),
        f"{worst['truth']} {worst['n']}",
        float(np.mean([ratio(c, method, "width") for c in wide])),
        float(np.sqrt(squares[method] / squares[BASIC])),
        float(np.mean([ratio(c, method, "rmse") for c in cells])),
    )


def ratio(cell: Mapping[str, Any], method: str, figure: str) -> float:
    return float(cell["methods"][method][figure] / cell["methods"][BASIC][figure])


def default_row(cell: Mapping[str, Any]) -> tuple[object, ...]:
    own, other = cell["methods"][CURVE], cell["methods"][BASIC]
    return (
        cell["truth"],
        cell["n"],
        own["width"],
        own["width"] / other["width"],
        own["width"] / other["unclipped_width"],
        own["bias"],
        own["rmse"],
        other["rmse"],
        own["rmse"] / other["rmse"],
        own["p_calibrated"],
        own.get("warned", own.get("jump_flag")),
    )


def render_nuts() -> None:
    content = read("coverage_nuts")
    print()
    print_provenance(content)
    print_table(
        f"NUTS against direct draws, {content['replications']} replications a cell; differences "
        "of interval ends in interval widths",
        ("truth", "n", "coverage", "direct", "converged", "mean difference", "largest"),
        [tuple(v for k, v in cell.items()) for cell in content["cells"]],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, default=200)
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument(
        "--nuts", type=int, default=0, help="replications by NUTS, and nothing else"
    )
    parser.add_argument("--truths", nargs="+", default=[*SMOOTH, *STRESS])
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES, choices=SIZES)
    parser.add_argument("--render", action="store_true", help="only print the figures on disk")
    given = parser.parse_args()
    if given.render:
        render()
    elif given.nuts:
        smooth = [name for name in given.truths if name in SMOOTH]
        run_nuts(given.nuts, given.seed, smooth, given.sizes)
    else:
        run(given.replications, given.seed, given.truths, given.sizes)


if __name__ == "__main__":
    main()
