"""Coverage of the 90% interval of every measure, against bootstraps of the plug-in.

python benchmarks/measures_coverage.py simulated             # 24 cells of 40 samples
python benchmarks/measures_coverage.py real --bank report    # finite populations of real scores
python benchmarks/measures_coverage.py simulated --render    # tables from the figures on disk

The truth of a simulated measure is the same function on 8,000 narrow cells of the known curve; that
of a real one on the scores of the finite population. The bootstrap resamples rows, counted by the
cells of the fit, 500 times; what is binned by custom (see BINNED) has 15 bins of equal mass. A run
that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import _cells
import _populations
import numpy as np
from _common import print_table
from _results import print_provenance, read, write
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

import bayescal as bc
from bayescal.quantities.ece.simulator import SMOOTH, TRUTHS, Truth
from bayescal.results import access
from bayescal.results.measure import with_measures

type Floats = NDArray[np.float64]
type Estimates = dict[str, tuple[float, ...]]

SIZES: Final = {"simulated": (100, 300, 1000, 5000), "real": (100, 300, 1000, 5000)}
LEVELS: Final = (0.05, 0.95)
RESAMPLES, BINS = 500, 15
TOLERANCE: Final = 1e-9
"""Of the ends: a truth may be exactly 1, the AUC of a perfect classifier."""
THRESHOLD: Final = "threshold"
BINNED: Final = (
    *("tce", "emax", "e50", "e90", "l2", "eci", "over", "under"),
    *("brier_miscalibration", "brier_discrimination"),
    *("log_loss_miscalibration", "log_loss_discrimination"),
)
INFINITE: Final = ("log_loss", "log_loss_miscalibration")
SAME: Final = ("ici",)
"""Other names of what is there already."""

FIGURES: Final = (
    *("coverage", "below", "above", "width", "bias", "rmse"),
    *("percentile", "percentile_width", "basic", "basic_width", "plug_in_rmse"),
)


class Task(NamedTuple):
    """What a cell is run with."""

    truth: Mapping[str, Floats]
    sample: Callable[[int, np.random.Generator], bc.Scores]
    noise: float = 0.0  # of the labels of a finite population, as a share of its error


class Cells(NamedTuple):
    """A curve by cells of increasing score."""

    rate: Floats
    score: Floats
    mass: Floats


def names() -> list[str]:
    """Every measure; of those at a threshold net benefit at .25, and the rest at .5."""
    found = []
    for name, one in bc.measures.measures().items():
        at = 0.25 if name.startswith("net_benefit") else 0.5
        if name not in SAME:
            found.append(f"{name}:{at:g}" if THRESHOLD in one.options else name)
    return found


def values(measures: Iterable[str], cells: Cells) -> dict[str, Floats]:
    """Each measure of a curve, or of many."""
    with np.errstate(all="ignore"):
        return {name: bc.measures.resolve(name).function(*cells) for name in measures}


def known_curve(truth: Truth, number: int = 8001) -> Cells:
    """The true curve on narrow cells."""
    x = np.linspace(-8.0, 8.0, number)
    density = np.exp(-0.5 * (x - 1) ** 2) + np.exp(-0.5 * (x + 1) ** 2)
    return Cells(truth.event_probability(x), truth.score(x), density / density.sum())


def of_rows(score: Floats, label: Any, weight: Floats) -> Cells:
    """Rows counted by score; weights (..., row)."""
    order = np.argsort(score, kind="stable")
    value, first = np.unique(score[order], return_index=True)
    mass = np.add.reduceat(weight[..., order], first, axis=-1)
    events = np.add.reduceat((weight * label)[..., order], first, axis=-1)
    with np.errstate(invalid="ignore"):
        return Cells(np.where(mass > 0, events / mass, value), value, mass)


def by_curve(scores: bc.Scores, wanted: Sequence[str], rng: Any, settings: Any) -> tuple[Any, Any]:
    """Lower end, upper end and mean of each measure by its posterior, and the result."""
    result = _cells.fit(bc.ece, scores, rng, settings, None)
    kept = []
    try:
        tree, kept = with_measures(result, wanted), list(wanted)
    except bc.InputError:
        for name in wanted:
            try:
                with_measures(result, [name])
            except bc.InputError:
                continue
            kept.append(name)
        tree = with_measures(result, kept)
    found = {
        name: (*bc.interval(tree, name).values, float(tree["posterior"][name].mean()))
        for name in kept
    }
    return found, result


def by_bootstrap(result: Any, wanted: Sequence[str], rng: np.random.Generator) -> Estimates:
    """Plug-in and quantiles of its bootstrap, from the rows of the cells of a fit."""
    case = access.cases(result)[0]
    held = result["constant_data"].dataset
    score, rows = held["cell_score"].values, held["cell_count"].values.astype(float)
    events = np.asarray(access.cell_events(result, case).values, dtype=float)
    order = np.argsort(score)
    score, rows, events = (values[order][rows[order] > 0] for values in (score, rows, events))
    n = rows.sum()
    drawn = rng.multinomial(int(n), np.concatenate([events, rows - events]) / n, RESAMPLES)
    positive, negative = np.split(np.vstack([np.concatenate([events, rows - events]), drawn]), 2, 1)
    cells = counted(score, positive, positive + negative)
    binned = in_bins(score, positive, positive + negative, rows)
    found = values([name for name in wanted if name not in BINNED], cells)
    found |= values([name for name in wanted if name in BINNED], binned)
    return {
        name: (float(drawn[0]), *np.nanquantile(drawn[1:], LEVELS)) for name, drawn in found.items()
    }


def counted(score: Floats, positive: Floats, rows: Floats) -> Cells:
    with np.errstate(invalid="ignore"):
        rate = np.where(rows > 0, positive / rows, score)
    return Cells(rate, score, rows / rows.sum(axis=-1, keepdims=True))


def in_bins(score: Floats, positive: Floats, rows: Floats, first: Floats) -> Cells:
    """Neighbouring cells joined to bins of equal mass."""
    place = np.floor(BINS * (np.cumsum(first) - first / 2) / first.sum())
    start = np.unique(place, return_index=True)[1]
    held, hits, sums = (np.add.reduceat(v, start, -1) for v in (rows, positive, rows * score))
    with np.errstate(invalid="ignore"):
        mean = np.where(held > 0, sums / held, 0.5)
    return counted(mean, hits, held)


def run_cell(key: _cells.Key, task: Task, settings: Any) -> dict[str, Any]:
    """Figures of every measure over the samples of one truth at one size."""
    known = {name: float(value) for name, value in task.truth.items() if np.isfinite(value)}
    rows: dict[str, list[tuple[float, ...]]] = {name: [] for name in known}
    for rng in _cells.streams(settings["seed"], key, settings["resamples"]):
        scores = task.sample(int(key[-1]), rng)
        curve, result = by_curve(scores, list(known), rng, settings)
        plug_in = by_bootstrap(result, list(curve), rng)
        for name in curve:
            rows[name].append((*curve[name], *plug_in[name]))
    return {
        name: {"truth": known[name], "samples": len(held)} | figures(known[name], np.array(held))
        for name, held in rows.items()
        if held
    }


def figures(truth: float, rows: Floats) -> dict[str, float]:
    """Coverage, width and errors of one measure in one cell."""
    rows = rows + TOLERANCE * np.array([-1, 1, 0, 0, -1, 1])
    plug_in, low, high = rows.T[3:]
    inner = _cells.figures(
        truth, [dict(zip(_cells.INTERVAL, row[:4], strict=True)) for row in rows]
    )
    found = {name: inner[name] for name in FIGURES if name in inner}
    found["percentile"] = np.mean((low <= truth) & (truth <= high))
    found["percentile_width"] = found["basic_width"] = np.mean(high - low)
    found["basic"] = np.mean((2 * plug_in - high <= truth) & (truth <= 2 * plug_in - low))
    return {name: float(f"{value:.5g}") for name, value in found.items()}


def simulated(given: argparse.Namespace) -> dict[_cells.Key, Task]:
    """What each simulated cell is run with."""
    found = {}
    for n in given.sizes or SIZES["simulated"]:
        for name in given.truths:
            truth = TRUTHS[name]
            found[name, n] = Task(values(names(), known_curve(truth)), truth.scores)
    return found


def real(given: argparse.Namespace) -> dict[_cells.Key, Task]:
    """What each real cell is run with."""
    found = {}
    for n in given.sizes or SIZES["real"]:
        for population in _populations.chosen(given):
            for classifier in population.classifiers:
                score = population.of(classifier)
                cells = of_rows(score, population.label, np.full(len(score), 1 / len(score)))

                def sample(
                    size: int, rng: Any, one: Any = population, which: str = classifier
                ) -> bc.Scores:
                    return one.scores(size, rng, which)

                # A sure score may be wrong in some draw: its log loss is not finite.
                sure = ((score == 0) | (score == 1)).any()
                wanted = [name for name in names() if not (sure and name in INFINITE)]
                noise = population.label_noise(classifier) / population.tce(classifier)
                key = (population.name, classifier, n)
                found[key] = Task(values(wanted, cells), sample, noise)
    return found


BANKS: Final = {"simulated": simulated, "real": real}


def run(given: argparse.Namespace) -> None:
    """Run the cells that are not on disk, writing after each."""
    settings = {
        "resamples": given.resamples,
        "seed": given.seed,
        "method": "direct",
        "draws": given.draws,
    }
    name = file_of(given)
    cells = _cells.begun(name, settings)
    done = {tuple(cell["key"]) for cell in cells}
    for key, task in BANKS[given.cells](given).items():
        if key not in done:
            found = run_cell(key, task, settings)
            cells.append({"key": key, "noise": round(task.noise, 4), "measures": found})
            write(name, **settings, cells=cells)
            worst = min(found, key=lambda one: found[one]["coverage"])
            print(*key, "worst:", worst, found[worst]["coverage"], flush=True)


def file_of(given: argparse.Namespace) -> str:
    return "_".join(filter(None, ("measures_coverage", given.cells, given.label)))


def render(given: argparse.Namespace) -> None:
    """Print a line a measure, over all cells, over those whose error is known, and by size."""
    content = read(file_of(given))
    print_provenance(content)
    every, most = content["cells"], _cells.NOISE[-1]
    known = [cell for cell in every if cell["noise"] < most]
    sizes = sorted({cell["key"][-1] for cell in every})
    for title, cells in [
        ("all cells", every),
        *([(f"label noise below {most} of the error", known)] if known != every else []),
        *((f"n = {n:,}", [c for c in every if c["key"][-1] == n]) for n in sizes),
    ]:
        print_table(
            f"90% intervals of measures, {title}: {len(cells)} of {content['resamples']} samples",
            (
                *("measure", "cells", "coverage", "worst", "in cell", "percentile", "basic"),
                *("width ratio", "cells wider", "RMSE ratio"),
            ),
            [line(name, cells) for name in names() if any(name in c["measures"] for c in cells)],
        )


def line(name: str, cells: Sequence[Mapping[str, Any]]) -> tuple[object, ...]:
    """Coverage of a measure, and its width over that of the bootstrap which covers more."""
    held = [(cell["key"], cell["measures"][name]) for cell in cells if name in cell["measures"]]
    key, worst = min(held, key=lambda pair: pair[1]["coverage"])
    ratios = [one["width"] / one["basic_width"] for _, one in held if one["basic_width"] > 0]
    squares = [(one["rmse"], one["plug_in_rmse"]) for _, one in held if one["plug_in_rmse"] > 0]
    return (
        name,
        len(held),
        *(mean_of(held, figure) for figure in ("coverage",)),
        worst["coverage"],
        " ".join(map(str, key)),
        *(mean_of(held, figure) for figure in ("percentile", "basic")),
        float(np.median(ratios)) if ratios else float("nan"),
        sum(ratio > 1 for ratio in ratios),
        float(np.median([a / b for a, b in squares])) if squares else float("nan"),
    )


def mean_of(held: Sequence[tuple[Any, Mapping[str, float]]], figure: str) -> float:
    return float(np.mean([one[figure] for _, one in held]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cells", choices=BANKS)
    _populations.add_options(parser)
    parser.add_argument("--truths", nargs="+", choices=TRUTHS, default=SMOOTH)
    parser.add_argument("--sizes", nargs="+", type=int)
    parser.add_argument("--resamples", type=int, default=40, help="of each cell")
    parser.add_argument("--draws", type=int, default=2000, help="of a fit")
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--label", default="", help="ending of the figures' file")
    parser.add_argument("--render", action="store_true", help="only print the figures on disk")
    given = parser.parse_args()
    if not given.render:
        with threadpool_limits(1):
            run(given)
    render(given)


if __name__ == "__main__":
    main()
