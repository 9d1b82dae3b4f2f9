"""When semi-supervised evaluation helps: the SSME paper's study of sets of small classifiers.

python benchmarks/ssme_paper_sets.py --data DIR
python benchmarks/ssme_paper_sets.py --data DIR --sets 12 --methods Posterior
python benchmarks/ssme_paper_sets.py --data DIR --sets 100 --bend 0.5 2 4
python benchmarks/ssme_paper_sets.py --render

Logistic regressions of Adult on 100 rows each, a third of them from each third by age; 20 labels,
1,000 rows without, the truth of 10,000 others. Errors are those of the first three classifiers:
each evaluated alone, the three together, and together with two more. Scores s are bent to
s^a / (s^a + (1 - s)^a).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from _results import begun, print_provenance, read, write
from _ssme_adult import Adult, adult, trained, training_rows
from _ssme_methods import METRICS, values
from _ssme_tables import markdown, number, with_error
from _ssme_tasks import Task, binary
from numpy.typing import NDArray
from scipy.special import expit, logit
from scipy.stats import linregress

import bayescal as bc
from bayescal.quantities.ssme.baselines import labeled
from bayescal.quantities.ssme.estimator import RELEASE, estimate
from bayescal.quantities.ssme.imputed_labels import ensemble
from bayescal.quantities.ssme.metrics import Metrics, metrics

type Floats = NDArray[np.float64]

NAME = "ssme_paper_sets"
LABELS, UNLABELED, HELD = 20, 1000, 10_000
TRAINED_ON = 100
# Classifiers that evaluate each other; errors are of the first three.
SIZES = (1, 3, 5)
PER_THIRD = 2
# Points by which the mean accuracy of a set is raised in the paper's comparison with two more.
BETTER = 5
# A bin of accuracy with fewer sets is left out.
FEWEST = 10


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
    "SSME-KDE (release, weighted start)": lambda scores: estimate(
        scores, settings=replace(RELEASE, weighted_start=True), n_draws=200
    ),
    "Posterior": by_posterior,
}
QUICK = [name for name in METHODS if name != "Posterior"]


def made(source: Adult, number_of_set: int, bend: float) -> tuple[Task, Task]:
    """The classifiers on rows to estimate from, and on rows that tell the truth."""
    sets = training_rows(source, PER_THIRD, TRAINED_ON, number_of_set)
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
    source: Adult, number_of_set: int, bend: float, columns: Sequence[tuple[str, int]]
) -> dict[str, Any]:
    """What one set is like, and the errors of its first three classifiers in points."""
    seen, held = made(source, number_of_set, bend)
    labelled, rest = seen.rows(LABELS, number_of_set)
    truth = metrics(held.probs[:3], np.eye(2)[held.labels])
    record: dict[str, Any] = {
        "accuracy": 100 * float(truth.accuracy.mean()),
        "ece": 100 * float(truth.ece.mean()),
    }
    for name, size in columns:
        panels = [[m] for m in range(3)] if size == 1 else [list(range(size))]
        points = [values(METHODS[name](first(seen, p).scores(labelled, rest))) for p in panels]
        record[f"{name} {size}"] = [
            100 * float(np.mean(np.abs(_joined(points, m) - getattr(truth, m)))) for m in METRICS
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
    """Errors by number of classifiers, what it goes with, two more against better, and bends."""
    content = read(NAME)
    print_provenance(content)
    table = table_of(1.0)
    columns = [f"{name} {size}" for name in METHODS for size in SIZES if f"{name} {size}" in table]
    markdown(
        "Mean absolute error of the first three classifiers, points; rank correlation over sets of "
        "its mean over metrics with the mean accuracy and the mean ECE",
        ["method", "sets", *METRICS, "mean", "with accuracy", "with ECE"],
        [_row(table, column) for column in columns],
    )
    markdown(
        f"By how much the mean error falls with two more classifiers, and with {BETTER} points "
        "more accuracy (least squares over sets), with standard errors; in bins of mean accuracy",
        ["method", "to", "two more", f"{BETTER} points more accurate", *_bins(table)],
        [row for name in METHODS for row in _two_more(table, name)],
    )
    bends = {a: table_of(float(a)) for a in sorted(content["bends"], key=float)}
    n_bent = min(len(part) for part in bends.values())
    bends = {a: part.iloc[:n_bent] for a, part in bends.items()}
    markdown(
        f"Mean error of bent scores, {n_bent} sets",
        ["method", *(f"a = {a}, ECE {part['ece'].mean():.1f}" for a, part in bends.items())],
        [
            [c, *(number(float(mean_errors(part, c).mean())) for part in bends.values())]
            for c in columns
            if all(c in part for part in bends.values())
        ],
    )


def _row(table: pd.DataFrame, column: str) -> list[str]:
    """One method with one number of classifiers."""
    found, by_set = mean_errors(table, column), _mean_error(table[column])
    return [
        column,
        str(len(by_set)),
        *map(number, [*found, found.mean()]),
        *(number(by_set.corr(table[of], method="spearman")) for of in ("accuracy", "ece")),
    ]


def _two_more(table: pd.DataFrame, name: str) -> list[list[str]]:
    """Gains of a method from two more classifiers, from one to three and from three to five."""
    rows = []
    for few, many in pairwise(SIZES):
        if f"{name} {many}" in table:
            error = _mean_error(table[f"{name} {few}"])
            gain = (error - _mean_error(table[f"{name} {many}"])).dropna()
            line = linregress(table.loc[error.index, "accuracy"], error)
            better = f"{-BETTER * line.slope:.2f} ± {BETTER * line.stderr:.2f}"
            in_bins = [
                with_error(gain[gain.index.isin(sets)].to_numpy()) for sets in _bins(table).values()
            ]
            rows.append([name, str(many), with_error(gain.to_numpy()), better, *in_bins])
    return rows


def _bins(table: pd.DataFrame) -> dict[str, pd.Index]:
    """Sets by mean accuracy, in bins as wide as the paper's five points; none with few sets."""
    bins = table.groupby(BETTER * np.floor(table["accuracy"] / BETTER))
    return {f"{at:.0f} to {at + BETTER:.0f}": p.index for at, p in bins if len(p) >= FEWEST}


def _mean_error(column: pd.Series) -> pd.Series:
    return column.dropna().map(np.mean)


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
    bends = begun(NAME).get("bends", {})
    for k in range(given.sets):
        for bend in given.bend:
            of_set = bends.setdefault(str(bend), {}).setdefault(str(k), {})
            missing = [
                (name, size)
                for name in given.methods
                for size in (SIZES[:1] if name == "Labeled" else SIZES)
                if f"{name} {size}" not in of_set
            ]
            if missing:
                of_set |= measure(source, k, bend, missing)
        write(NAME, bends=bends)
        if k % 10 == 0:
            print(k, f"{time.process_time():.0f} s so far", flush=True)


if __name__ == "__main__":
    main()
