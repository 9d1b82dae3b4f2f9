"""What a posterior of counts costs as rows grow to 1e9, and what reading the rows costs.

python benchmarks/many_rows_posterior.py                    # posteriors of simulated counts
python benchmarks/many_rows_posterior.py --rows DIR --n 1e7 # readings of a Parquet data set in DIR

Counts of so many rows are simulated directly: rows fall into cells by a multinomial, and labels by
a binomial distribution. Each kind of counts is fitted once before the clock starts.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import _results
import numpy as np
from _common import print_table, raw_parser
from _parquet import generate

import bayescal as bc
from bayescal.core.bin_counts import BinCounts
from bayescal.core.counts import Counts
from bayescal.quantities.credal.data import RowCounts, counting
from bayescal.quantities.pu_ece.data import PUCounts, _counted
from bayescal.quantities.temperature.data import Problem
from bayescal.quantities.temperature.model import draw_posterior, posterior_grid

SIZES = (10**4, 10**6, 10**8, 10**9)
# Rows that show how scores are distributed.
PILOT = 200_000
FILE_ROWS = 5_000_000
RULE = bc.DecisionRule({"keep": (5, 0), "drop": (0, 3)}, {"keep": (0, 0.4), "drop": (0.4, 1)})


def in_cells(cells: BinCounts, n: int, share: Any, rate: Any, seed: int) -> BinCounts:
    """N rows by their shares of the cells, with labels by the cells' rates."""
    rng = np.random.default_rng([seed, n])
    count = rng.multinomial(n, share / share.sum())
    return replace(cells, count=count, positives=rng.binomial(count, rate))


def pu_counts(n: int, seed: int) -> dict[str, PUCounts]:
    """As many positives as unlabelled rows."""
    truth = bc.datasets.pu_ece.truth("over")
    scores = truth.scores((PILOT, PILOT), seed=seed)
    pilot = _counted(scores.positive[0], scores.unlabeled[0], True, bc.Binning())
    # The rates that are true of the cells, so that these are no rougher than the curve.
    rate = truth.probability(pilot.cells.mean_score)
    cells = in_cells(pilot.cells, n, pilot.cells.count, 0, seed)
    positive = in_cells(pilot.cells, n, pilot.cells.count * rate, 0, seed + 1)
    return {"p": PUCounts(cells.merge(pilot.bins.edges, "quantile"), cells, positive)}


def interval_counts(n: int, seed: int) -> dict[str, Counts]:
    """Labelled rows, and as many without a label."""
    truth = bc.datasets.agnostic.truth("over")
    (score,) = truth.scores(PILOT, seed=seed).y_prob
    pilot = Counts.from_arrays(np.arange(PILOT) % 2, score)
    rng, share = np.random.default_rng([seed, n]), pilot.rows / PILOT
    labeled, rest = rng.multinomial(n, share), rng.multinomial(n, share)
    positive = rng.binomial(labeled, truth.probability(pilot.score))
    sums = pilot.sums.copy()
    # Scores stay where they are in their cells.
    mean = sums[3] / sums[:3].sum(axis=0)
    sums[:3] = labeled - positive, positive, rest
    sums[3] = np.rint(mean * sums[:3].sum(axis=0))
    held = sums[:3].any(axis=0)
    found = replace(pilot, cell=pilot.cell[held], sums=sums[:, held], n_read=2 * n)
    return {"p": replace(found, weights=pilot.weights[:, held])}


def calibration_counts(n: int, seed: int) -> bc.CalibrationSplit:
    """Rows at 20,000 scores."""
    rng = np.random.default_rng([seed, n])
    truth = bc.datasets.credal.truth("logistic")
    score = np.unique(truth.sample(20_000, seed)[0].round(6))
    count = rng.multinomial(n, np.full(len(score), 1 / len(score)))
    positive = rng.binomial(count, truth.probability(score))
    rows = np.concatenate([count - positive, positive])
    held = rows > 0
    calibration = bc.Scores(
        y_true=np.repeat([0, 1], len(score))[held], y_prob=np.tile(score, 2)[held]
    )
    target = np.linspace(0.05, 0.95, 19)
    split = bc.CalibrationSplit(calibration=calibration, target=target)
    return counting(split, RowCounts(rows[held], n))


def fitted(quantity: Any, made: Callable[[int, int], Any], options: dict[str, Any], what: str):
    """Time fits of more and more rows."""
    rows = []
    for method in ("direct", "nuts"):
        fit = partial(bc.fit, quantity, method=method, seed=1, **options)
        fit(made(SIZES[0], 1))
        for n in SIZES:
            row: list[object] = [quantity.NAME, method, f"{n:.0e}"]
            try:
                found, *times = timed(partial(fit, made(n, 1)))
            except BaseException as error:  # the sampler's panic is no Exception
                if isinstance(error, KeyboardInterrupt):
                    raise
                rows.append([*row, "", "", f"failed: {type(error).__name__}", "", what, "", ""])
                continue
            values = found["posterior"][what].values
            values = values if values.ndim == 2 else values[:, :, 0]
            low, high = np.quantile(values, [0.05, 0.95])
            least = float(found["diagnostics"]["ess_min"].min())
            diverged = int(found["diagnostics"]["divergences"].max())
            mean = float(values.mean())
            rows.append([*row, *times, least, diverged, what, mean, float(high - low)])
            print(rows[-1], flush=True)
    return rows


def temperatures() -> list[list[object]]:
    """Time draws of temperatures from the table of rows that each occur equally often."""
    scores = bc.datasets.temperature.truth("heterogeneous").scores(10**4, seed=1)
    table = Problem.of(scores, "classifier").table
    rows = []
    for n in SIZES:
        of_rows = table * (n / 10**4)

        def draw(of_rows=of_rows):
            grid = posterior_grid(of_rows, bc.temperature.Priors())
            return draw_posterior(of_rows, grid, 4000, np.random.default_rng(1))

        found, *times = timed(draw)
        values = np.exp(found["log_alpha"][:, 0])
        low, high = np.quantile(values, [0.05, 0.95])
        mean = float(values.mean())
        row = ["temperature", "quadrature", f"{n:.0e}", *times, "", "", "alpha", mean]
        rows.append([*row, float(high - low)])
    return rows


def posteriors() -> None:
    """Measure, keep and print."""
    warnings.simplefilter("ignore", bc.ConvergenceWarning)
    rows = fitted(bc.agnostic, interval_counts, {"decision": RULE}, "c")
    rows += fitted(bc.credal, calibration_counts, {}, "prob")
    rows += temperatures()
    rows += fitted(bc.pu_ece, pu_counts, {"priors": bc.pu_ece.Priors(bc.Beta(20, 20))}, "tce")
    _results.write("many_rows_posterior", table=rows)
    content = _results.read("many_rows_posterior")
    _results.print_provenance(content)
    header = ["quantity", "method", "rows", "seconds", "CPU", "least ESS", "divergences"]
    header += ["of", "mean", "90% width"]
    print_table("Posteriors of simulated counts, warm", header, content["table"])


def rows_of_file(number: int, rows: int) -> dict[str, Any]:
    """Two scores, labels of which a tenth is missing, and whether a row is positive."""
    import pyarrow as pa

    rng = np.random.default_rng(number)
    score = rng.beta(0.8, 1.2, rows)
    label = (rng.random(rows) < score**1.3).astype(np.int8)
    missing = rng.random(rows) < 0.1
    prob = rng.dirichlet(np.full(3, 0.6), rows)
    of_three = (prob.cumsum(axis=1) < rng.random(rows)[:, None]).sum(axis=1).clip(max=2)
    return {
        "score": score,
        "label": pa.array(label, mask=missing),
        "positive": ((label == 1) & (rng.random(rows) < 0.3)).astype(np.int8),
        "class": of_three.astype(np.int8),
        **{f"p{k}": prob[:, k] for k in range(3)},
    }


def read(folder: Path, columns: list[str]) -> None:
    """Read columns, and do nothing."""
    from bayescal.core.sums import batches_of
    from bayescal.core.tables import open_table

    for _ in batches_of(open_table(folder), columns):
        pass


def timed(task: Callable[[], Any]) -> tuple[Any, float, float]:
    """What a task returns, its seconds and its CPU seconds."""
    wall, cpu = perf_counter(), process_time()
    found = task()
    return found, perf_counter() - wall, process_time() - cpu


def readings(folder: Path, n: int) -> None:
    """Time count_rows of each quantity, beside reading its columns alone."""
    generate(folder, n, rows_of_file, FILE_ROWS, use_dictionary=False)
    three = ["p0", "p1", "p2"]
    target = np.linspace(0, 1, 1000)
    tasks: dict[str, tuple[list[str], Callable[[], Any]]] = {
        "pu_ece": (
            ["positive", "score"],
            lambda: bc.pu_ece.count_rows(folder, positive_column="positive", score="score"),
        ),
        "agnostic": (
            ["label", "score"],
            lambda: bc.agnostic.count_rows(folder, label="label", score="score"),
        ),
        "credal": (
            ["label", "score"],
            lambda: bc.credal.count_rows(folder, label="label", score="score", target=target),
        ),
        "temperature": (
            ["class", *three],
            lambda: bc.temperature.count_rows(folder, label="class", score=three),
        ),
    }
    rows = []
    for name, (columns, count) in tasks.items():
        alone = min((timed(partial(read, folder, columns))[1:] for _ in range(2)), key=sum)
        found, *times = timed(count)
        rows.append([name, f"{n:.0e}", *alone, "count_rows", *times])
        if name == "temperature":
            _, *times = timed(partial(bc.fit, bc.temperature, found, method="direct", seed=1))
            rows.append([name, f"{n:.0e}", *alone, "fit", *times])
        print(rows[-1], flush=True)
    kept = f"many_rows_readings_{n:.0e}"
    _results.write(kept, table=rows)
    content = _results.read(kept)
    _results.print_provenance(content)
    header = ["quantity", "rows", "reading alone", "CPU", "task", "seconds", "CPU"]
    print_table("Readings of a Parquet data set", header, content["table"])


def main() -> None:
    """Measure, print and keep."""
    parser = raw_parser(__doc__)
    parser.add_argument("--rows", type=Path, help="directory of the data set to read")
    parser.add_argument("--n", type=float, default=1e7, help="its rows (default 1e7)")
    given = parser.parse_args()
    if given.rows is None:
        posteriors()
    else:
        readings(given.rows, int(given.n))


if __name__ == "__main__":
    main()
