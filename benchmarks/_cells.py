"""Cells of a long benchmark: several at a time, kept on disk, and not run again.

Every cell has random numbers of its own, the same whichever cells are run, in however many
processes; its first resamples are the same however many there are.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import Any
from zlib import crc32

import numpy as np
from _results import RESULTS, read, write
from threadpoolctl import threadpool_limits

type Key = tuple[str | int, ...]
type Figures = dict[str, float]

QUICK = 20


def streams(seed: int, key: Key, resamples: int) -> Iterator[np.random.Generator]:
    """Random numbers of each resample of a cell."""
    place = crc32("/".join(map(str, key)).encode())
    for child in np.random.SeedSequence([seed, place]).spawn(resamples):
        yield np.random.default_rng(child)


def interval_figures(truth: float, rows: Sequence[Mapping[str, float]]) -> Figures:
    """Coverage, width and errors of one cell; a row has lower, upper, mean and plug_in."""
    lower, upper, mean, plug_in = (
        np.array([row[name] for row in rows]) for name in ("lower", "upper", "mean", "plug_in")
    )
    return {
        "truth": truth,
        "coverage": float(np.mean((lower <= truth) & (truth <= upper))),
        "below": float(np.mean(upper < truth)),
        "above": float(np.mean(truth < lower)),
        "width": float(np.mean(upper - lower)),
        "bias": float(np.mean(mean - truth)),
        "rmse": rmse(mean - truth),
        "plug_in_rmse": rmse(plug_in - truth),
    }


def rmse(error: Any) -> float:
    """Root of the mean square."""
    return float(np.sqrt(np.mean(np.square(error))))


def run(
    name: str,
    settings: Mapping[str, Any],
    keys: Sequence[Key],
    task: Callable[[Key], Figures],
    jobs: int,
) -> None:
    """Run the cells that are not on disk under these settings, writing after each."""
    cells = begun(name, settings)
    open_keys = [key for key in keys if list(key) not in [cell["key"] for cell in cells]]
    # A fork would share NumPy's and PyMC's threads.
    pool = ProcessPoolExecutor(jobs, get_context("spawn"), threadpool_limits, (1,))
    with pool:
        waiting = {pool.submit(task, key): key for key in open_keys}
        for done in as_completed(waiting):
            cells.append({"key": list(waiting[done])} | done.result())
            write(name, **settings, cells=cells)
            shown = {k: round(v, 4) for k, v in cells[-1].items() if k != "key"}
            print(*waiting[done], shown, flush=True)


def begun(name: str, settings: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Cells on disk, if they were run under the same settings."""
    if not (RESULTS / f"{name}.json").exists():
        return []
    content = read(name)
    same = all(content[key] == value for key, value in settings.items())
    return list(content["cells"]) if same else []


def add_options(parser: argparse.ArgumentParser, resamples: int) -> None:
    """What every program of cells can be told."""
    parser.add_argument("--resamples", type=int, default=resamples, help="of each cell")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} resamples a cell")
    parser.add_argument("--draws", type=int, default=4000, help="of a fit, in all")
    parser.add_argument("--method", choices=("direct", "nuts"), default="direct")
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument(
        "--label", default="", help="ending of the figures' file, to keep those of two models apart"
    )
    parser.add_argument("--render", action="store_true", help="only print the figures on disk")


def settings_of(given: argparse.Namespace) -> dict[str, Any]:
    """What figures on disk must share with a run to be gone on with."""
    return {
        "resamples": QUICK if given.quick else given.resamples,
        "seed": given.seed,
        "method": given.method,
        "draws": given.draws,
    }


def file_of(given: argparse.Namespace, *parts: str) -> str:
    """Name of the file of figures."""
    nuts, quick = "nuts" * (given.method == "nuts"), "quick" * given.quick
    return "_".join(filter(None, (*parts, nuts, quick, given.label)))


def sampling(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of `bayescal.fit`: one chain of direct draws, or four of NUTS."""
    chains = 1 if settings["method"] == "direct" else 4
    return {
        "method": settings["method"],
        "draws": settings["draws"] // chains,
        "chains": chains,
    }
