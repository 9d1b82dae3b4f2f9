"""Coverage of the 90% interval where the calibration curve jumps, bulges or wiggles, and where not.

python benchmarks/stress_coverage.py                # 14 truths, 3 sizes, 100 resamples a cell
python benchmarks/stress_coverage.py --render

The truths are those of `bayescal.datasets.ece`, and three whose P(Y = 1 | f) is f but for a bump,
f + .25 between .4 and .5; 0 below .3 ("never"); or 0 below .3 and 1 above .8 ("certain"). And two
of which a share of labels is wrong: .05, and .02 of sharper scores ("mislabeled"). A run that was
stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import math
from functools import partial

import _cells
import numpy as np
from numpy.typing import NDArray

import bayescal as bc
from bayescal.quantities.ece.simulator import SMOOTH, TRUTHS, Truth

type Floats = NDArray[np.float64]

SIZES = (300, 1000, 10_000)
# The features whose score is .4 and .5: the score's logit is twice the feature.
BUMP = (math.log(0.4 / 0.6) / 2, 0.0)


def _bump(x: Floats) -> Floats:
    score = TRUTHS["calibrated"].score(x)
    return np.where((x > BUMP[0]) & (x < BUMP[1]), score + 0.25, score)


# The features whose score is .3 and .8.
ENDS = (math.log(0.3 / 0.7) / 2, math.log(0.8 / 0.2) / 2)


def _never(x: Floats) -> Floats:
    return np.where(x < ENDS[0], 0.0, TRUTHS["calibrated"].score(x))


def _certain(x: Floats) -> Floats:
    return np.where(x > ENDS[1], 1.0, _never(x))


CERTAIN = {
    "never": Truth("never", 0.0, 2.0, _never, ENDS[:1]),
    "certain": Truth("certain", 0.0, 2.0, _certain, ENDS),
}


def _mislabeled(slope: float, share: float, x: Floats) -> Floats:
    return share + (1 - 2 * share) / (1 + np.exp(-slope * x))


MISLABELED = {
    name: Truth(name, 0.0, slope, partial(_mislabeled, slope, share))
    for name, slope, share in (("mislabeled", 2.0, 0.05), ("mislabeled_sharp", 4.0, 0.02))
}
ALL = TRUTHS | {"bump": Truth("bump", 0.0, 2.0, _bump, BUMP)} | CERTAIN | MISLABELED


def run_cell(key: _cells.Key, *, settings: _cells.Cell) -> _cells.Figures:
    """Fit the samples of one truth at one size."""
    truth, n = ALL[str(key[1])], int(key[2])
    rows = [
        _cells.tce_row(bc.ece, truth.scores(n, rng), rng, settings)
        for rng in _cells.streams(settings["seed"], key, settings["resamples"])
    ]
    return _cells.figures(truth.tce, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    _cells.add_options(parser)
    parser.add_argument("--truths", nargs="+", choices=ALL, default=list(ALL))
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    given = parser.parse_args()

    def keys() -> list[_cells.Key]:
        kinds = dict.fromkeys(ALL, "stress") | dict.fromkeys(SMOOTH, "smooth")
        kinds |= dict.fromkeys(CERTAIN, "certain") | dict.fromkeys(MISLABELED, "mislabeled")
        return [(kinds[name], name, n) for name in given.truths for n in given.sizes]

    _cells.finish(
        given,
        "stress_coverage",
        "the calibration error",
        ("curve", "truth", "n"),
        keys,
        partial(run_cell, settings=_cells.settings_of(given)),
    )


if __name__ == "__main__":
    main()
