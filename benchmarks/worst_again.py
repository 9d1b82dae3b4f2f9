"""The worst cells of a benchmark of real classifiers once more, with samples of their own.

python benchmarks/worst_again.py --of real_coverage_rates --bank rates --data DIR
python benchmarks/worst_again.py --of real_coverage_report --data DIR
python benchmarks/worst_again.py --of pu_real_coverage_report_spread_05 --spread .05 --data DIR
python benchmarks/worst_again.py --of real_coverage_rates --render

The least coverage of many cells of few samples is low by selection. These are the cells that
covered less than .80, with 100 samples (--resamples) of another seed: they were not selected by
these. DIR holds adult.csv.gz.
"""

from __future__ import annotations

import argparse
from functools import partial

import _cells
import _populations
import pu_real_coverage
import real_coverage
from _results import read

SELECTED = 0.8
SEED = 21


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--of", required=True, help="name of the figures that select the cells")
    _populations.add_options(parser, _populations.RATES)
    _cells.add_options(parser)
    parser.add_argument(
        "--spread", type=float, default=pu_real_coverage.SPREAD, help="that of pu_real_coverage.py"
    )
    parser.set_defaults(bank="report", seed=SEED, draws=1000)
    given = parser.parse_args()

    def keys() -> list[_cells.Key]:
        cells = read(given.of)["cells"]
        return [tuple(cell["key"]) for cell in cells if cell["coverage"] < SELECTED]

    where, settings = _populations.where(given), _cells.settings_of(given)
    if given.of.startswith("pu_"):
        own = f"{given.bank}{pu_real_coverage.of_spread(given.spread)}"
        if not given.render and not given.of.endswith(own):
            parser.error(f"--of {given.of} was run with another --bank or --spread")
        parts: tuple[str, ...] = ("nP", "nU")
        run_cell = partial(pu_real_coverage.run_cell, spread=given.spread)
    else:
        parts, run_cell = ("n",), partial(real_coverage.run_cell)
    _cells.finish(
        given,
        f"{given.of}_again",
        "the calibration error, cells chosen by other samples",
        ("population", "classifier", *parts),
        keys,
        partial(run_cell, where=where, settings=settings),
    )


if __name__ == "__main__":
    main()
