"""Cells of a long benchmark of intervals: several at a time, kept on disk, and not run again.

Every cell has random numbers of its own, the same whichever cells are run, in however many
processes; its first resamples are the same however many there are.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import Any
from zlib import crc32

import _results
import numpy as np
from _common import print_table
from _results import print_provenance, read, write
from threadpoolctl import threadpool_limits

import bayescal as bc

type Key = tuple[str | int, ...]
type Figures = dict[str, float]
type Cell = Mapping[str, Any]

QUICK = 20
INTERVAL = ("lower", "upper", "mean", "plug_in")
FIGURES = ("coverage", "below", "above", "width", "bias", "rmse", "plug_in_rmse")
SHOWN = ("coverage", "below", "above", "width", "bias", "RMSE", "plug-in's")
# Label noise over error that parts the populations' classifiers.
NOISE = (0.15, 0.4)


def streams(seed: int, key: Key, resamples: int) -> Iterator[np.random.Generator]:
    """Random numbers of each resample of a cell."""
    place = crc32("/".join(map(str, key)).encode())
    for child in np.random.SeedSequence([seed, place]).spawn(resamples):
        yield np.random.default_rng(child)


def fit(quantity: Any, data: Any, rng: np.random.Generator, settings: Cell, priors: Any) -> Any:
    """Fit one resample: one chain of direct draws, or four of NUTS."""
    chains = 1 if settings["method"] == "direct" else 4
    with warnings.catch_warnings():
        # What did not converge is counted.
        warnings.simplefilter("ignore", bc.ConvergenceWarning)
        return bc.fit(
            quantity,
            data,
            priors=priors,
            seed=int(rng.integers(2**31)),
            method=settings["method"],
            draws=settings["draws"] // chains,
            chains=chains,
        )


def tce_row(
    quantity: Any, data: Any, rng: np.random.Generator, settings: Cell, priors: Any = None
) -> Figures:
    """What the fit of one resample says of the calibration error of its classifier."""
    found = bc.summary(fit(quantity, data, rng, settings, priors)).iloc[0]
    return {
        "lower": found["tce_lower"],
        "upper": found["tce_upper"],
        "mean": found["tce_mean"],
        "plug_in": found["ece_point"],
        "p_calibrated": found["p_calibrated"],
        "ok": found["status"] != "NOT CONVERGED",
    }


def figures(truth: float, rows: Sequence[Figures]) -> Figures:
    """Coverage, width and errors of one cell's intervals; means of what else its rows hold."""
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    lower, upper, mean, plug_in = (columns.pop(name) for name in INTERVAL)
    return {
        "truth": truth,
        "coverage": float(np.mean((lower <= truth) & (truth <= upper))),
        "below": float(np.mean(upper < truth)),
        "above": float(np.mean(truth < lower)),
        "width": float(np.mean(upper - lower)),
        "bias": float(np.mean(mean - truth)),
        "rmse": rmse(mean - truth),
        "plug_in_rmse": rmse(plug_in - truth),
        **{name: float(np.mean(column)) for name, column in columns.items()},
    }


def rmse(error: Any) -> float:
    """Root of the mean square."""
    return float(np.sqrt(np.mean(np.square(error))))


def run(
    name: str, settings: Cell, keys: Sequence[Key], task: Callable[[Key], Figures], jobs: int
) -> None:
    """Run the cells that are not on disk under these settings, writing after each."""
    cells = begun(name, settings)
    done = {tuple(cell["key"]) for cell in cells}
    # A fork would share the threads of NumPy and Numba.
    with ProcessPoolExecutor(jobs, get_context("spawn"), threadpool_limits, (1,)) as pool:
        waiting = {pool.submit(task, key): key for key in keys if key not in done}
        for future in as_completed(waiting):
            key, found = waiting[future], future.result()
            cells.append({"key": key} | found)
            write(name, **settings, cells=cells)
            print(*key, {figure: round(value, 4) for figure, value in found.items()}, flush=True)


def begun(name: str, settings: Cell) -> list[Cell]:
    """Cells on disk, if they were run by this source and under the same settings."""
    return list(_results.begun(name, **settings).get("cells", []))


def render(name: str, title: str, parts: Sequence[str], against: str | None) -> None:
    """Print means by each part of the key, and every cell; or the change from other figures."""
    content = read(name)
    print_provenance(content)
    cells = sorted(content["cells"], key=lambda cell: cell["key"])
    if against is not None:
        print_change(cells, read(against)["cells"], title, parts)
        return
    for place, part in enumerate(parts):
        rows = [
            (value, *average([cell for cell in cells if cell["key"][place] == value]))
            for value in sorted({cell["key"][place] for cell in cells})
        ]
        print_table(
            f"90% intervals of {title} by {part}: means over cells of {content['resamples']}",
            (part, "cells", "worst", *SHOWN),
            rows,
        )
    if "label_noise" in cells[0]:
        print_noise(cells)
    print_table("All", ("cells", "worst", *SHOWN), [average(cells)])
    others = [figure for figure in cells[0] if figure not in ("key", "truth", *FIGURES)]
    print_table(
        "Every cell",
        (*parts, "truth", *SHOWN, *others),
        [
            (*c["key"], c["truth"], *(c[f] for f in FIGURES), *(round(c[f], 3) for f in others))
            for c in cells
        ],
    )
    worst = min(cells, key=lambda cell: cell["coverage"])
    print(f"\nworst cell: {worst['coverage']:.2f}, {', '.join(map(str, worst['key']))}")


def print_noise(cells: Sequence[Cell]) -> None:
    """Print means by how much of the truth may be the noise of a population's few labels."""
    share = np.array([cell["label_noise"] / cell["truth"] for cell in cells])
    place = np.digitize(share, NOISE)
    names = [f"below {NOISE[0]}", f"{NOISE[0]} to {NOISE[1]}", f"above {NOISE[1]}"]
    print_table(
        "By label noise of the population over its error",
        ("noise / error", "cells", "worst", *SHOWN),
        [
            (names[k], *average([c for c, at in zip(cells, place, strict=True) if at == k]))
            for k in np.unique(place)
        ],
    )


def average(cells: Sequence[Cell]) -> list[float]:
    """Number of cells, worst coverage, and means of the figures."""
    means = [float(np.mean([cell[figure] for cell in cells])) for figure in FIGURES]
    return [len(cells), min(cell["coverage"] for cell in cells), *means]


def print_change(
    cells: Sequence[Cell], before: Sequence[Cell], title: str, parts: Sequence[str]
) -> None:
    """Print the cells that both have, side by side."""
    old = {tuple(cell["key"]): cell for cell in before}
    pairs = [(old[tuple(c["key"])], c) for c in cells if tuple(c["key"]) in old]
    compared = ("coverage", "width", "rmse")
    print_table(
        f"90% intervals of {title}, before and after",
        (*parts, "truth", *(f"{figure}{when}" for figure in compared for when in ("", " after"))),
        [
            (*new["key"], new["truth"], *(cell[f] for f in compared for cell in (then, new)))
            for then, new in pairs
        ],
    )
    for when, each in zip(("before", "after"), zip(*pairs, strict=True), strict=True):
        means = ", ".join(f"{f} {np.mean([cell[f] for cell in each]):.4f}" for f in compared)
        print(f"{when}: {means}, worst {min(cell['coverage'] for cell in each):.2f}")


def add_options(parser: argparse.ArgumentParser) -> None:
    """What every program of cells can be told."""
    parser.add_argument("--resamples", type=int, default=100, help="of each cell")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} resamples a cell")
    parser.add_argument("--draws", type=int, default=4000, help="of a fit, in all")
    parser.add_argument("--method", choices=("direct", "nuts"), default="direct")
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument(
        "--label", default="", help="ending of the figures' file, to keep those of two models apart"
    )
    parser.add_argument("--against", help="label of the figures to compare those on disk with")
    parser.add_argument("--render", action="store_true", help="only print the figures on disk")


def settings_of(given: argparse.Namespace) -> dict[str, Any]:
    """What figures on disk must share with a run to be gone on with."""
    return {
        "resamples": QUICK if given.quick else given.resamples,
        "seed": given.seed,
        "method": given.method,
        "draws": given.draws,
    }


def finish(
    given: argparse.Namespace,
    name: str,
    title: str,
    parts: Sequence[str],
    keys: Callable[[], Sequence[Key]],
    task: Callable[[Key], Figures],
) -> None:
    """Run what is missing, unless only figures on disk are wanted, and print."""

    def file(label: str) -> str:
        nuts, quick = "nuts" * (given.method == "nuts"), "quick" * given.quick
        return "_".join(filter(None, (name, nuts, quick, label)))

    if not given.render:
        run(file(given.label), settings_of(given), keys(), task, given.jobs)
    against = None if given.against is None else file(given.against)
    render(file(given.label), title, parts, against)
