"""Counts by narrow cells of the score: how far their numbers are from those of the rows.

python benchmarks/counts.py                      # accuracy, 1e6 rows of six kinds of scores
python benchmarks/counts.py --rows 1e5 --only pairs
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from itertools import product
from pathlib import Path
from time import perf_counter

import numpy as np
from _common import print_machine, print_table
from numpy.typing import NDArray

import bayescal as bc

type Floats = NDArray[np.float64]

# Logits of scores, and what labels are drawn by: the score moved in its logit.
SHAPES: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "spread": lambda rng, n: rng.normal(0, 2, n),
    "narrow": lambda rng, n: rng.uniform(-0.08, 0.08, n),
    "ties": lambda rng, n: _logit((rng.beta(1, 2, n) * 98 + 1).round() / 100),
    "rare, 1e-5": lambda rng, n: rng.normal(np.log(1e-5), 1, n),
    "extreme, 1 - 1e-7": lambda rng, n: rng.normal(-np.log(1e-7), 2, n),
    "with 0 and 1": lambda rng, n: np.where(
        rng.random(n) < 0.2, np.where(rng.random(n) < 0.5, -np.inf, np.inf), rng.normal(0, 3, n)
    ),
}
# Standard deviation of the common logit, and of what each classifier adds to its own.
PAIRS = {"spread": (2.0, 0.5), "narrow": (0.1, 0.02), "alike": (2.0, 0.02)}
BY = {"a": 1.2, "b": 1.1}
FIT = {"method": "direct", "seed": 1}


def _score(logit: Floats) -> Floats:
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-logit))


def _logit(score: Floats) -> Floats:
    return np.log(score / (1 - score))


def rows_of(shape: str, n: int, calibrated: bool, seed: int = 0) -> tuple[Floats, NDArray[np.int8]]:
    """Scores and labels of a kind."""
    rng = np.random.default_rng(seed)
    logit = SHAPES[shape](rng, n)
    rate = logit if calibrated else 0.9 * np.clip(logit, -30, 30) + 0.1
    return _score(logit), (rng.random(n) < _score(rate)).astype(np.int8)


def accuracy(n: int) -> None:
    """Errors, measure and ends of intervals from counts and from rows."""
    found = []
    for shape, calibrated in product(SHAPES, (False, True)):
        score, label = rows_of(shape, n, calibrated)
        rows = bc.Scores(y_true=label, y_prob=score)
        counts = bc.Counts.from_arrays(label, score)
        ece, c = (
            abs(float(own.estimate(rows)[0]) - float(own.estimate(counts)[0]))
            for own in (bc.ece, bc.agnostic)
        )
        ends = [
            float(np.abs(np.subtract(*(_ends(own, data, var) for data in (rows, counts)))).max())
            for own, var in ((bc.ece, "tce"), (bc.agnostic, "c"))
        ]
        with tempfile.TemporaryDirectory() as folder:
            size = counts.save(Path(folder, "one.counts")).stat().st_size
        exact = float(bc.ece.estimate(rows).ece)
        found.append(
            [
                shape,
                "calibrated" if calibrated else "off",
                exact,
                ece,
                c,
                *ends,
                len(counts.cell),
                size / 1e6,
            ]
        )
    header = [
        "scores",
        "labels",
        "ECE",
        "ECE -",
        "c_emp -",
        "tce ends -",
        "c ends -",
        "cells",
        "file, MB",
    ]
    print_table(f"Counts less rows, {n:.0e} rows", header, found)


def pairs(n: int) -> None:
    """Correlation of two classifiers' errors, and the width of their difference's interval."""
    found = []
    for name, (spread, apart) in PAIRS.items():
        rng = np.random.default_rng(0)
        logit = rng.normal(0, spread, n)
        both = {one: _score(by * logit + apart * rng.normal(size=n)) for one, by in BY.items()}
        rows = bc.Scores.stack(both, y_true=(rng.random(n) < _score(logit)).astype(int))
        table = bc.Counts.from_scores(rows, pairs=True)
        assert table.pairs is not None
        for var in ("tce", "slope"):
            one, other = (
                bc.difference(bc.fit(bc.ece, data, **FIT), "a", "b", var) for data in (rows, table)
            )
            widths = [own.upper - own.lower for own in (one, other)]
            kept = [table.pairs.shift, len(table.pairs.key)]
            found.append([name, var, one.correlation, other.correlation, *widths, *kept])
    header = ["pair", "of", "correlation", "counts", "width", "counts", "shift", "kept"]
    print_table(f"Two classifiers on {n:.0e} rows", header, found)


def _ends(quantity: object, data: object, var: str) -> Floats:
    return np.array(bc.interval(bc.fit(quantity, data, **FIT), var), float).ravel()[:3]


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=float, default=1e6)
    parser.add_argument("--only", choices=("accuracy", "pairs"))
    options = parser.parse_args()
    print_machine("bayescal", "scipy")
    start = perf_counter()
    if options.only in (None, "accuracy"):
        accuracy(int(options.rows))
    if options.only in (None, "pairs"):
        pairs(int(options.rows))
    print(f"\n{perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
