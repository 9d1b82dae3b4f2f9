"""How often the 90% interval from positives and unlabelled rows covers the true calibration error.

python benchmarks/pu_coverage.py                    # 15 cells, 150 replications, three class priors
python benchmarks/pu_coverage.py --bins 20          # the paper's bins by NUTS, as a model
python benchmarks/pu_coverage.py --render

The class prior is .5. It is fixed; given a prior with a standard deviation of .05; a prior
with the mean .55 (off by a tenth) and that standard deviation; and fixed at .55.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from _common import print_table
from _results import RESULTS, print_provenance, read, write
from numpy.typing import NDArray

import bayescal as bc
from bayescal.quantities.pu_ece.simulator import TRUTHS, PUTruth

type Floats = NDArray[np.float64]

SIZES = ((100, 1000), (1000, 1000), (1000, 10_000))
TAIL = 0.05
SPREAD = 0.05
BOOTSTRAP = "basic bootstrap"


def beta(mean: float) -> bc.Beta:
    """Beta with a standard deviation of .05."""
    concentration = mean * (1 - mean) / SPREAD**2 - 1
    return bc.Beta(mean * concentration, (1 - mean) * concentration)


BELIEFS = {"known": 0.5, "sd .05": beta(0.5), "10% off": beta(0.55), "known, 10% off": 0.55}
BINS = {"mixture bins": bc.pu_ece.MixtureBins(), "independent bins": bc.pu_ece.IndependentBins()}


def streams(seed: int, place: int, replications: int) -> list[np.random.Generator]:
    """Random numbers of each replication, the same for every belief."""
    children = np.random.SeedSequence([seed, place]).spawn(replications)
    return [np.random.default_rng(child) for child in children]


def by_curve(data: bc.PUScores, belief: Any, rng: np.random.Generator) -> Any:
    """Interval, point, probability of calibration and class prior of the default model."""
    with warnings.catch_warnings():
        # A class prior that is off rests on few effective draws, and the positives do not fit it.
        warnings.simplefilter("ignore", bc.ConvergenceWarning)
        warnings.simplefilter("ignore", bc.ScarWarning)
        fit = bc.fit(
            bc.pu_ece,
            data,
            priors=bc.pu_ece.Priors(belief),
            seed=int(rng.integers(2**31)),
            method="direct",
            draws=1000,
            chains=1,
        )
    lower, upper = bc.interval(fit, "tce", prob=1 - 2 * TAIL).to_numpy().ravel()
    mean, pi = (fit["posterior"][name].mean().item() for name in ("tce", "class_prior"))
    return lower, upper, mean, fit["model_average"]["p_calibrated"].item(), pi


def by_bootstrap(
    data: bc.PUScores, class_prior: float, rng: np.random.Generator, resamples: int = 200
) -> Any:
    """Basic interval of the plug-in, cut at 0."""
    positive, unlabeled = data.positive[0], data.unlabeled[0]
    estimate = float(bc.pu_ece.estimate(data, class_prior=class_prior).ece)
    drawn = []
    for _ in range(resamples):
        again = bc.PUScores(
            positive=rng.choice(positive, len(positive)),
            unlabeled=rng.choice(unlabeled, len(unlabeled)),
        )
        drawn.append(float(bc.pu_ece.estimate(again, class_prior=class_prior).ece))
    low, high = np.quantile(drawn, [TAIL, 1 - TAIL])
    return max(2 * estimate - high, 0), max(2 * estimate - low, 0), estimate, np.nan, class_prior


def figures(truth: PUTruth, rows: Sequence[Any]) -> dict[str, float]:
    lower, upper, point, p, class_prior = np.array(rows).T
    return {
        "coverage": float(np.mean((lower <= truth.tce) & (truth.tce <= upper))),
        "width": float(np.mean(upper - lower)),
        "bias": float(np.mean(point - truth.tce)),
        "rmse": float(np.sqrt(np.mean((point - truth.tce) ** 2))),
        "p_calibrated": float(np.mean(p)),
        "class_prior": float(np.mean(class_prior)),
    }


def run(replications: int, seed: int) -> None:
    cells = []
    for place, (name, size) in enumerate((n, s) for s in SIZES for n in TRUTHS):
        truth = TRUTHS[name]
        rows: dict[str, list[Any]] = {method: [] for method in (*BELIEFS, BOOTSTRAP)}
        for rng in streams(seed, place, replications):
            data = truth.scores(size, rng)
            for label, belief in BELIEFS.items():
                rows[label].append(by_curve(data, belief, rng))
            rows[BOOTSTRAP].append(by_bootstrap(data, 0.5, rng))
        methods = {label: figures(truth, found) for label, found in rows.items()}
        cells.append({"truth": name, "size": size, "tce": truth.tce, "methods": methods})
        write("pu_coverage", replications=replications, seed=seed, cells=cells)
        print(name, size, {k: round(v["coverage"], 3) for k, v in methods.items()}, flush=True)


def run_bins(replications: int, seed: int) -> None:
    """The paper's bins as a model, by NUTS, the class prior believed with sd .05."""
    cells = []
    for place, (name, size) in enumerate((n, s) for s in SIZES for n in TRUTHS):
        truth, methods = TRUTHS[name], {}
        for label, bins in BINS.items():
            priors, rows, sound = bc.pu_ece.Priors(beta(0.5), bins), [], []
            for index, rng in enumerate(streams(seed, place, replications)):
                fit = bc.fit(
                    bc.pu_ece,
                    truth.scores(size, rng),
                    priors=priors,
                    n_bins=10,
                    seed=index,
                    draws=500,
                    tune=500,
                    chains=2,
                )
                tce = fit["posterior"]["ece"].to_numpy()
                low, high = np.quantile(tce, [TAIL, 1 - TAIL])
                pi = fit["posterior"]["class_prior"].mean().item()
                rows.append((low, high, tce.mean(), np.nan, pi))
                sound.append(fit["diagnostics"]["divergences"].item() == 0)
            methods[label] = figures(truth, rows) | {"without divergences": float(np.mean(sound))}
        cells.append({"truth": name, "size": size, "tce": truth.tce, "methods": methods})
        write("pu_coverage_bins", replications=replications, seed=seed, cells=cells)
        print(name, size, {k: round(v["coverage"], 3) for k, v in methods.items()}, flush=True)


def render() -> None:
    content = read("pu_coverage")
    print_provenance(content)
    cells: Sequence[Mapping[str, Any]] = content["cells"]
    methods = (*BELIEFS, BOOTSTRAP)
    summary = []
    for method in methods:
        coverage = [100 * cell["methods"][method]["coverage"] for cell in cells]
        worst = cells[int(np.argmin(coverage))]
        widths = [c["methods"][method]["width"] / c["methods"][BOOTSTRAP]["width"] for c in cells]
        where = f"{worst['truth']} {tuple(worst['size'])}"
        summary.append((method, np.mean(coverage), min(coverage), where, np.mean(widths)))
    print_table(
        f"90% intervals of the true calibration error, 15 cells, {content['replications']} "
        "replications each",
        ("class prior", "mean coverage", "worst", "in cell", "width / bootstrap's"),
        summary,
    )
    print_table(
        "Coverage by cell",
        ("truth", "nP", "nU", "TCE", *methods),
        [
            (c["truth"], *c["size"], c["tce"], *(c["methods"][m]["coverage"] for m in methods))
            for c in cells
        ],
    )
    print_table(
        "Class prior: posterior mean where its prior is 10% off, and figures where it is known",
        ("truth", "nP", "nU", "class prior", "width", "bias", "RMSE", "plug-in's", "mean p0"),
        [
            (
                c["truth"],
                *c["size"],
                c["methods"]["10% off"]["class_prior"],
                *(c["methods"]["known"][name] for name in ("width", "bias", "rmse")),
                c["methods"][BOOTSTRAP]["rmse"],
                c["methods"]["known"]["p_calibrated"],
            )
            for c in cells
        ],
    )
    if (RESULTS / "pu_coverage_bins.json").exists():
        render_bins()


def render_bins() -> None:
    content = read("pu_coverage_bins")
    print()
    print_provenance(content)
    print_table(
        f"The paper's bins as models, class prior with sd .05, {content['replications']} "
        "replications a cell",
        ("truth", "nP", "nU", "TCE", *(f"{m}: {f}" for m in BINS for f in _SHOWN)),
        [
            (c["truth"], *c["size"], c["tce"], *(c["methods"][m][f] for m in BINS for f in _SHOWN))
            for c in content["cells"]
        ],
    )


_SHOWN = ("coverage", "bias", "class_prior", "without divergences")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, default=150)
    parser.add_argument("--bins", type=int, default=0, help="replications of the bins' models")
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--render", action="store_true", help="only print the figures on disk")
    given = parser.parse_args()
    if given.render:
        render()
    elif given.bins:
        run_bins(given.bins, given.seed)
    else:
        run(given.replications, given.seed)


if __name__ == "__main__":
    main()
