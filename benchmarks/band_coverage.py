"""Coverage of bands of the calibration curve, beside bands that only assume that it rises.

python benchmarks/band_coverage.py                  # 24 cells, 100 replications: half an hour
python benchmarks/band_coverage.py --render

A band covers where it holds the true curve at all scores at which it is given. "average" is the
band of the posterior alone, "both" that of `bayescal.calibration_band`: its union with the one
given miscalibration. "rising" is that of Dimitriadis and others ("Honest calibration assessment",
Biometrika 2023, R package calibrationband): Clopper-Pearson bounds of the rows between any two
scores, all at once, which extend over a curve that rises.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, Final

import numpy as np
from _cells import streams
from _common import print_table
from _results import print_provenance, read, write
from numpy.typing import NDArray
from scipy.special import betaincinv

import bayescal as bc
from bayescal.quantities.ece.simulator import SMOOTH, TRUTHS, Truth
from bayescal.results import access
from bayescal.results.curves import Band, simultaneous_band

type Floats = NDArray[np.float64]

PROB: Final = 0.9
SIZES: Final = (100, 300, 1000, 5000)
RISING: Final = ("calibrated", "near", "better", "less", "over")
MOST_RISING: Final = 1000
"""Rows up to which the rising band is made: it is of all pairs of scores."""
POINTWISE: Final = "each point"


@cache
def clopper_pearson(n: int) -> tuple[Floats, Floats]:
    """Bounds by (events, rows) of n rows, each wrong with probability alpha / (n (n + 1))."""
    level = (1 - PROB) / (n * (n + 1))
    events, rows = np.mgrid[: n + 1, : n + 1].astype(float)
    possible = events <= rows
    low = np.where(possible & (events > 0), betaincinv(events, rows - events + 1, level), 0.0)
    high = np.where(
        possible & (events < rows), betaincinv(events + 1, rows - events, 1 - level), 1.0
    )
    return low, high


def rising_band(score: Floats, label: Floats, at: Floats) -> Band:
    """Band of a rising curve from rows of distinct scores."""
    order = np.argsort(score)
    n, below = len(score), np.append(0, np.cumsum(label[order])).astype(int)
    low, high = clopper_pearson(n)
    lower, upper = np.zeros(n), np.ones(n)
    for first in range(n):
        events, rows = below[first + 1 :] - below[first], np.arange(1, n - first + 1)
        # Rows first..last are no higher than the curve at the last, no lower than at the first.
        lower[first:] = np.maximum(lower[first:], low[events, rows])
        upper[first] = high[events, rows].min()
    lower = np.append(0.0, np.maximum.accumulate(lower))
    upper = np.append(np.minimum.accumulate(upper[::-1])[::-1], 1.0)
    place = score[order]
    return Band(
        lower[np.searchsorted(place, at, side="right")],
        upper[np.searchsorted(place, at, side="left")],
    )


def run_cell(truth: Truth, n: int, replications: int, seed: int) -> dict[str, Any]:
    """Coverage and width of every band on the same samples."""
    rows: dict[str, list[tuple[bool, float]]] = {}
    points = []
    for rng in streams(seed, (truth.name, n), replications):
        score, label = truth.sample(n, rng)
        scores = bc.Scores(y_true=label, y_prob=score)
        tree = bc.fit(bc.ece, scores, method="direct", seed=int(rng.integers(2**31)))
        whole = bc.calibration_band(tree, PROB)
        each = bc.calibration_band(tree, PROB, simultaneous=False)
        at = whole.curve_score.values
        drawn = access.flat_draws(tree, "calibration_curve", access.cases(tree)[0])
        bands = {
            "both": Band(whole.lower.values, whole.upper.values),
            "average": simultaneous_band(drawn, PROB),
        }
        if n <= MOST_RISING and truth.name in RISING:
            bands["rising"] = rising_band(score, label, at)
        for name, band in bands.items():
            inside = _inside(band, truth, at)
            rows.setdefault(name, []).append((bool(inside.all()), _width(band, at, score)))
        points.append(_inside(Band(each.lower.values, each.upper.values), truth, at).mean())
    found: dict[str, Any] = {"truth": truth.name, "n": n}
    for name, values in rows.items():
        found[name], found[f"{name}, width"] = map(float, np.mean(values, axis=0))
    return found | {POINTWISE: float(np.mean(points))}


def _inside(band: Band, truth: Truth, at: Floats) -> NDArray[np.bool_]:
    # A curve that is the diagonal, up to rounding, is in the band that is the diagonal.
    curve = truth.probability(at)
    return (band.lower <= curve + 1e-12) & (curve <= band.upper + 1e-12)


def _width(band: Band, at: Floats, score: Floats) -> float:
    """Mean width over the rows."""
    return float(np.interp(score, at, band.upper - band.lower).mean())


def run(replications: int, seed: int, truths: Iterable[str], sizes: Sequence[int]) -> None:
    """Run all cells, writing after each."""
    cells = []
    for n in sizes:
        for name in truths:
            cells.append(run_cell(TRUTHS[name], n, replications, seed))
            write("band_coverage", replications=replications, seed=seed, prob=PROB, cells=cells)
            print(cells[-1], flush=True)


def render() -> None:
    """Print the tables."""
    content = read("band_coverage")
    print_provenance(content)
    cells = content["cells"]
    names = ("both", "average", "rising", POINTWISE)
    columns = ("truth", "n", *names, *(f"{name}, width" for name in names[:-1]))
    print_table(
        f"{100 * content['prob']:g}% bands of the curve, {content['replications']} replications",
        columns,
        [tuple(cell.get(name, "-") for name in columns) for cell in cells],
    )
    for name in names:
        held = [cell for cell in cells if name in cell]
        worst = min(held, key=lambda cell: cell[name])
        mean = np.mean([cell[name] for cell in held])
        where = f"{worst['truth']} {worst['n']}"
        print(f"{name}: {len(held)} cells, mean {mean:.3f}, worst {worst[name]:.2f} ({where})")
    shared = [cell for cell in cells if "rising" in cell]
    ratio = np.mean([cell["both, width"] / cell["rising, width"] for cell in shared])
    print(f"width, both over rising, {len(shared)} cells: {ratio:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, default=100)
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--truths", nargs="+", default=list(SMOOTH))
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    parser.add_argument("--render", action="store_true", help="only print the figures on disk")
    given = parser.parse_args()
    if not given.render:
        run(given.replications, given.seed, given.truths, given.sizes)
    render()


if __name__ == "__main__":
    main()
