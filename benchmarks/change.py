"""False alarms of `bayescal.change` over windows of one population, and its power.

python benchmarks/change.py --store DIR              # 20 series of 24 windows a cell: half an hour
python benchmarks/change.py --render

DIR keeps the fits, of which a second run makes only those that are missing. The few-valued
classifier is of the bank of `benchmarks/_populations.py`, which says where its data come from.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from _cells import streams
from _common import print_table
from _populations import CACHE, Where, population
from _results import print_provenance, read, write
from scipy.optimize import brentq

import bayescal as bc
from bayescal.quantities.ece.simulator import TRUTHS, Truth

type Sample = Callable[[int, np.random.Generator], bc.Scores]
type Key = tuple[str | int, ...]

WINDOWS: Final = 24
ALARM: Final = 0.95
STRICT: Final = 0.99
BASELINES: Final = ("1", "7", "13", "19")
STABLE: Final = ("calibrated", "near", "over")
STABLE_SIZES: Final = (500, 2000)
REAL: Final = ("adult-10", "tree 20")
CHANGED: Final = ("better", "less")
FACTORS: Final = (1.5, 2.0)
POWER_SIZES: Final = (500, 2000, 5000)


def multiplied(truth: Truth, factor: float) -> Truth:
    """The truth farther from calibration along its own line, its error so many times as large."""

    def moved(step: float) -> Truth:
        return replace(truth, b0=step * truth.b0, b1=2 + step * (truth.b1 - 2))

    return moved(brentq(lambda step: moved(step).tce - factor * truth.tce, 1.0, 3.9))


def stable(where: Where) -> Iterator[tuple[str, Sample]]:
    """Populations whose windows are all alike."""
    for name in STABLE:
        yield name, TRUTHS[name].scores
    data_set, classifier = REAL
    real = population(data_set, where)
    yield " ".join(REAL), lambda n, rng: real.scores(n, rng, classifier)


def fits_of(samples: Mapping[Key, Sample], seed: int, store: Path) -> bc.ManyFits:
    """Fit each key's sample; its number of rows is the second part of the key."""
    data = {
        key: partial(sample, key[1], next(streams(seed, key, 1))) for key, sample in samples.items()
    }
    with warnings.catch_warnings():
        # What did not converge is not compared.
        warnings.simplefilter("ignore", bc.ConvergenceWarning)
        return bc.fit_many(
            bc.ece,
            data,
            seed=seed,
            store=store,
            keep="scalars",
            method="direct",
            draws=1000,
            chains=1,
        )


def stable_cell(
    name: str, n: int, sample: Sample, series: int, seed: int, store: Path
) -> dict[str, Any]:
    """Shares of windows, and of series, with an alarm though nothing has changed.

    Windows are exchangeable: each of `BASELINES` is the first one in turn.
    """
    keys = [(name, n, one, window) for one in range(series) for window in range(WINDOWS)]
    fits = fits_of(dict.fromkeys(keys, sample), seed, store / "stable")
    chances, rises = [], []
    for one in range(series):
        results = {f"{w + 1}": fits[name, n, one, w] for w in range(WINDOWS)}
        tables = [bc.change(results, baseline=base, alarm=ALARM).table for base in BASELINES]
        both = zip(BASELINES, tables, strict=True)
        chances.append([table.drop(base)["baseline_prob_worse"] for base, table in both])
        rises.append(tables[0]["previous_prob_worse"][1:] >= ALARM)
    chance = np.array(chances)  # (series, baseline, window)
    found, strict = chance >= ALARM, chance >= STRICT
    return {
        "truth": name,
        "n": n,
        "series": series,
        "alarms": float(found.mean()),
        "standard_error": float(found.mean(axis=(1, 2)).std() / np.sqrt(series)),
        "series_with_alarm": float(found.any(axis=2).mean()),
        "above_previous": float(np.mean(rises)),
        f"alarms_at_{STRICT}": float(strict.mean()),
        f"series_at_{STRICT}": float(strict.any(axis=2).mean()),
    }


def power_cell(name: str, n: int, pairs: int, seed: int, store: Path) -> list[dict[str, Any]]:
    """Shares of windows with an alarm after the error has grown."""
    base = TRUTHS[name]
    truths = {1.0: base} | {factor: multiplied(base, factor) for factor in FACTORS}
    samples = {
        (name, n, f"{factor:g}", pair): truth.scores
        for factor, truth in truths.items()
        for pair in range(pairs)
    }
    fits = fits_of(samples, seed, store / "power")
    found = []
    for factor, truth in truths.items():
        if factor == 1:
            continue
        changes = [
            bc.change(
                {"before": fits[name, n, "1", pair], "after": fits[name, n, f"{factor:g}", pair]},
                alarm=ALARM,
            ).table.loc["after"]
            for pair in range(pairs)
        ]
        truths_apart = truth.tce - base.tce
        found.append(
            {
                "truth": name,
                "tce": base.tce,
                "factor": factor,
                "n": n,
                "pairs": pairs,
                "power": float(np.mean([one["alarm"] for one in changes])),
                "coverage": float(
                    np.mean(
                        [
                            one["baseline_lower"] <= truths_apart <= one["baseline_upper"]
                            for one in changes
                        ]
                    )
                ),
            }
        )
    return found


def run(series: int, pairs: int, seed: int, where: Where, store: Path) -> None:
    """Run all cells, writing after each."""
    settings = {"windows": WINDOWS, "alarm": ALARM, "seed": seed}
    cells: dict[str, list[dict[str, Any]]] = {"stable": [], "power": []}
    for n in STABLE_SIZES:
        for name, sample in stable(where):
            cells["stable"].append(stable_cell(name, n, sample, series, seed, store))
            write("change", **settings, **cells)
    for n in POWER_SIZES:
        for name in CHANGED:
            cells["power"] += power_cell(name, n, pairs, seed, store)
            write("change", **settings, **cells)


def render() -> None:
    """Print the tables."""
    content = read("change")
    print_provenance(content)
    for part, title in (
        ("stable", f"Alarms though nothing has changed: {WINDOWS - 1} windows against a baseline"),
        ("power", "Alarms after the error has grown"),
    ):
        cells = content[part]
        print_table(title, tuple(cells[0]), [tuple(cell.values()) for cell in cells])
    for n in STABLE_SIZES:
        alarms = [cell["alarms"] for cell in content["stable"] if cell["n"] == n]
        print(f"{n} rows a window: mean {np.mean(alarms):.3f}, worst {max(alarms):.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--series", type=int, default=20, help="of stable windows, of a cell")
    parser.add_argument("--pairs", type=int, default=100, help="of windows before and after")
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--data", type=Path, help="directory of adult.csv.gz")
    parser.add_argument("--cache", type=Path, default=CACHE, help="directory of trained scores")
    parser.add_argument("--store", type=Path, help="directory of the fits")
    parser.add_argument("--render", action="store_true", help="only print the figures on disk")
    given = parser.parse_args()
    if not given.render:
        if given.store is None:
            raise SystemExit("--store is needed: a directory for the fits")
        where = Where(given.data, given.cache)
        run(given.series, given.pairs, given.seed, where, given.store)
    render()


if __name__ == "__main__":
    main()
