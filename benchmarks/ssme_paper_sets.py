"""When semi-supervised evaluation helps: the SSME paper's study of sets of small classifiers.

python benchmarks/ssme_paper_sets.py --data DIR --sets 200
python benchmarks/ssme_paper_sets.py --data DIR --sets 12 --methods Posterior
python benchmarks/ssme_paper_sets.py --data DIR --sets 40 --bend 0.5 1 2 4
python benchmarks/ssme_paper_sets.py --render

Logistic regressions of Adult on 100 rows each, a third of them from each third by age; 20 labels,
1,000 rows without, the truth of 10,000 others. Errors are those of the first three classifiers:
each evaluated alone, the three together, and together with three more. Scores s are bent to
s^a / (s^a + (1 - s)^a).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from _results import RESULTS, print_provenance, read, write
from _ssme_adult import Adult, adult, trained, training_rows
from _ssme_methods import METRICS, values
from _ssme_tables import markdown, number
from _ssme_tasks import Task, binary
from numpy.typing import NDArray
from scipy.special import expit, logit

import bayescal as bc
from bayescal.quantities.ssme.baselines.ensemble import ensemble
from bayescal.quantities.ssme.baselines.labeled import labeled
from bayescal.quantities.ssme.estimator import estimate
from bayescal.quantities.ssme.metrics.metrics import Metrics, metrics

type Floats = NDArray[np.float64]

NAME = "ssme_paper_sets"
LABELS, UNLABELED, HELD = 20, 1000, 10_000
TRAINED_ON = 100
# Classifiers that evaluate each other; errors are of the first three.
SIZES = (1, 3, 6)


def by_posterior(scores: bc.Scores) -> Any:
    how = {"labeling": "one-per-class", "seed": 1, "draws": 500, "tune": 500, "chains": 2}
    posterior = bc.fit(bc.ssme, scores, **how)["posterior"]
    draws = {name: np.concatenate(posterior[name].to_numpy()) for name in METRICS}
    point = {name: np.nanmedian(draw, axis=0).reshape(-1) for name, draw in draws.items()}
    return Metrics(**point, mce=np.empty(0), log_loss=np.empty(0), brier=np.empty(0))


METHODS: dict[str, Callable[[bc.Scores], Any]] = {
    "Labeled": labeled,
    "Ensemble": ensemble,
    "SSME-KDE": lambda scores: estimate(scores, n_draws=200),
    "SSME-KDE (release)": lambda scores: estimate(scores, settings="release", n_draws=200),
    "Posterior": by_posterior,
}
QUICK = [name for name in METHODS if name != "Posterior"]


def made(source: Adult, number_of_set: int, bend: float) -> tuple[Task, Task]:
    """The classifiers on rows to estimate from, and on rows that tell the truth."""
    sets = training_rows(source, SIZES[-1] // 3, TRAINED_ON, number_of_set)
    rng = np.random.default_rng([number_of_set, 1])
    others = np.setdiff1d(np.arange(len(source.label)), np.concatenate(sets))
    rows = rng.permutation(others)[: LABELS + UNLABELED + HELD]
    found = []
    for part in (rows[: LABELS + UNLABELED], rows[LABELS + UNLABELED :]):
        task = trained(source, sets, part, NAME)
        score = np.clip(task.probs[..., 1], 1e-12, 1 - 1e-12)
        bent = binary(np.asarray(expit(bend * logit(score))))
        found.append(Task(NAME, bent, task.labels, task.classifiers))
    return found[0], found[1]


def first(task: Task, places: Sequence[int]) -> Task:
    """Some of the classifiers."""
    names = [task.classifiers[place] for place in places]
    return Task(task.name, task.probs[list(places)], task.labels, names)


def measure(
    source: Adult, number_of_set: int, bend: float, methods: Sequence[str]
) -> dict[str, Any]:
    """What one set is like, and the errors of its first three classifiers in points."""
    seen, held = made(source, number_of_set, bend)
    labelled, rest = seen.rows(LABELS, number_of_set)
    truth = metrics(held.probs[:3], np.eye(2)[held.labels])
    record: dict[str, Any] = {
        "accuracy": 100 * float(truth.accuracy.mean()),
        "ece": 100 * float(truth.ece.mean()),
    }
    for name in methods:
        for size in SIZES[:1] if name == "Labeled" else SIZES:
            panels = [[m] for m in range(3)] if size == 1 else [list(range(size))]
            points = [values(METHODS[name](first(seen, p).scores(labelled, rest))) for p in panels]
            record[f"{name} {size}"] = [
                100 * float(np.mean(np.abs(_joined(points, m) - getattr(truth, m))))
                for m in METRICS
            ]
    return record


def _joined(points: Sequence[Any], metric: str) -> Floats:
    """The first three classifiers' metric, from one panel or from three of one each."""
    return np.concatenate([np.atleast_1d(point[metric]) for point in points])[:3]


def table_of(bend: float) -> pd.DataFrame:
    """What is on disk of one bend, a row a set."""
    known = read(NAME)["bends"].get(str(bend), {})
    return pd.DataFrame.from_dict(known, orient="index")


def mean_errors(table: pd.DataFrame, column: str) -> Floats:
    """Mean over sets of each metric's error; sets without the method are left out."""
    held = table[column].dropna()
    return np.mean(held.to_list(), axis=0) if len(held) else np.full(4, np.nan)


def render() -> None:
    """Errors by number of classifiers, by thirds of accuracy and of calibration, and by bend."""
    content = read(NAME)
    print_provenance(content)
    table = table_of(1.0)
    columns = [f"{name} {size}" for name in METHODS for size in SIZES if f"{name} {size}" in table]
    header = ["sets", "method and classifiers", "number", *METRICS, "mean"]
    rows = []
    for which, part in _all_and_common(table):
        for column in columns:
            found = mean_errors(part, column)
            n_sets = int(part[column].notna().sum())
            rows.append([which, column, str(n_sets), *map(number, [*found, found.mean()])])
    markdown("Mean absolute error of the first three classifiers, points", header, rows)
    thirds = _thirds(table)
    markdown(
        "The same, mean over metrics, by thirds of the sets",
        ["method and classifiers", *thirds],
        [
            [c, *(number(float(mean_errors(part, c).mean())) for part in thirds.values())]
            for c in columns
        ],
    )
    markdown(
        "Rank correlation over sets of a mean error with the mean accuracy and the mean ECE",
        ["method and classifiers", "with accuracy", "with ECE"],
        [
            [
                column,
                *(
                    number(_mean_error(table[column]).corr(table[of], method="spearman"))
                    for of in ("accuracy", "ece")
                ),
            ]
            for column in columns
        ],
    )
    rows = []
    for bend in sorted(content["bends"], key=float):
        of_bend = table_of(float(bend)).iloc[: content["bent_sets"]]
        for column in columns:
            if column in of_bend:
                found = mean_errors(of_bend, column)
                ece = number(float(of_bend["ece"].mean()))
                rows.append([bend, ece, column, *map(number, [*found, found.mean()])])
    markdown("Bent scores", ["a", "mean ECE", "method", *METRICS, "mean"], rows)


def _mean_error(column: pd.Series) -> pd.Series:
    return column.dropna().map(np.mean)


def _all_and_common(table: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """All sets, and those that have the posterior."""
    if "Posterior 1" not in table:
        return [("all", table)]
    return [("all", table), ("with a posterior", table[table["Posterior 1"].notna()])]


def _thirds(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Thirds of the sets by mean accuracy, and by mean ECE."""
    return {
        f"{of} {part[of].min():.1f} to {part[of].max():.1f}": part
        for of in ("accuracy", "ece")
        for _, part in table.groupby(pd.qcut(table[of], 3))
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="where adult.csv.gz is")
    parser.add_argument("--sets", type=int, default=500)
    parser.add_argument("--bend", type=float, nargs="+", default=[1.0], help="the exponents a")
    parser.add_argument("--methods", nargs="+", choices=[*METHODS], default=QUICK)
    parser.add_argument("--render", action="store_true", help="only print the figures on disk")
    given = parser.parse_args()
    if given.render:
        render()
        return
    if given.data is None:
        parser.error("--data is needed to compute")
    source = adult(given.data)
    content = read(NAME) if (RESULTS / f"{NAME}.json").exists() else {"bends": {}, "bent_sets": 0}
    bends, bent_sets = content["bends"], content["bent_sets"]
    for k in range(given.sets):
        for bend in given.bend:
            of_set = bends.setdefault(str(bend), {}).setdefault(str(k), {})
            missing = [name for name in given.methods if f"{name} 1" not in of_set]
            if missing:
                of_set |= measure(source, k, bend, missing)
        bent_sets = max(bent_sets, k + 1) if len(given.bend) > 1 else bent_sets
        write(NAME, bends=bends, bent_sets=bent_sets)
        if k % 10 == 0:
            print(k, f"{time.process_time():.0f} s so far", flush=True)


if __name__ == "__main__":
    main()
