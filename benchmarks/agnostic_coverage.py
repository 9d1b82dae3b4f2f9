"""How often the intervals of the interval measure, of costs and of ROC curves cover the truth.

python benchmarks/agnostic_coverage.py                          # simulated classifiers
python benchmarks/agnostic_coverage.py --adult adult.csv.gz     # real classifiers of few scores
python benchmarks/agnostic_coverage.py --pairs                  # differences of equal classifiers
python benchmarks/agnostic_coverage.py --render                 # the table of the figures on disk

Posteriors are direct draws. Of simulated classifiers the truth is an integral; of real ones, all
rows that the classifier was not trained on are the population, and samples are drawn from them with
replacement. A run that was stopped goes on where it was. Widths are beside those of the safe form
of Eq. (2) and of the deviation region of the ROC curve with the safe bound of c.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import NamedTuple

import _cells
import numpy as np
import xarray as xr
from _common import print_table
from _results import print_provenance, read, write

import bayescal as bc
from bayescal.quantities.agnostic.functionals import Roc
from bayescal.results.curves import FPR, band_of_boxes

RULE = bc.DecisionRule(
    {"keep": (5, 0), "review": (1, 1.5), "remove": (0, 3)},
    {"keep": (0, 0.25), "review": (0.25, 0.6), "remove": (0.6, 1)},
)
UNLABELED = 2000
# Of pairs: rows with and without a label, and what is compared.
PAIR_ROWS = (400, 1000)
PAIRED = ("auc", "cost", "c")


class Population(NamedTuple):
    """What samples are drawn from, and what is true of it."""

    name: str
    sample: Callable[[int, np.random.Generator], tuple[np.ndarray, np.ndarray]]
    c: float
    cost: float
    curve: Roc


def simulated() -> Iterator[Population]:
    for name, truth in bc.datasets.agnostic.TRUTHS.items():
        score, rate = truth._grid

        def sample(n: int, rng: np.random.Generator, truth=truth) -> tuple[np.ndarray, np.ndarray]:
            rows = truth.scores(n, seed=rng)
            return rows.y_prob[0], rows.y_true

        curve = bc.agnostic.roc(score, probability=rate)
        yield Population(name, sample, truth.c, truth.cost(RULE), curve)


def adult(path: str) -> Iterator[Population]:
    import pandas as pd
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    table = pd.read_csv(path)
    target = table.columns[-1]
    label = table[target].astype(str).str.contains(">50K").to_numpy().astype(int)
    features = table.drop(columns=target).select_dtypes("number").to_numpy(float)
    order = np.random.default_rng(20).permutation(len(label))
    train, rest = order[:4000], order[4000:]
    models = {
        "tree": DecisionTreeClassifier(max_leaf_nodes=40, random_state=20),
        "knn": make_pipeline(StandardScaler(), KNeighborsClassifier(15)),
        "forest": RandomForestClassifier(50, min_samples_leaf=20, random_state=20),
        "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
    }
    for name, model in models.items():
        score = model.fit(features[train], label[train]).predict_proba(features[rest])[:, 1]
        score = np.round(score, 12)
        truth = label[rest]

        def sample(
            n: int, rng: np.random.Generator, score=score, truth=truth
        ) -> tuple[np.ndarray, np.ndarray]:
            rows = rng.integers(len(score), size=n)
            return score[rows], truth[rows]

        c = bc.agnostic.interval_measure(score, label=truth).c
        cost = bc.agnostic.actual_cost(RULE, score, label=truth)
        yield Population(name, sample, c, cost, bc.agnostic.roc(score, probability=truth))


def replicate(population: Population, n: int, seed: int) -> dict[str, float]:
    """Whether each interval covers, and widths, in one sample."""
    rng = np.random.default_rng([seed, n])
    score, label = population.sample(n, rng)
    more, hidden = population.sample(UNLABELED, rng)
    scores = bc.Scores(y_true=label, y_prob=score, classes=[0, 1])
    result = bc.fit(
        bc.agnostic, scores, unlabeled=more, decision=RULE, method="direct", seed=seed, draws=500
    )
    true = {
        "cost": population.cost,
        "unlabeled_cost": bc.agnostic.actual_cost(RULE, more, label=hidden),
    }
    found: dict[str, float] = {}
    for var, value in true.items():
        low, high = bc.interval(result, var, 0.95).values
        found[var] = low <= value <= high
        found[f"{var} width"] = high - low
    found["c"] = population.c <= bc.agnostic.upper_bound(result, 0.95)
    low, high = bc.interval(result, "auc", 0.95).values
    found["auc"] = low <= population.curve.auc <= high
    for unlabeled, curve in (
        (False, population.curve),
        (True, bc.agnostic.roc(more, probability=hidden)),
    ):
        prefix = "unlabeled_" * unlabeled
        for simultaneous in (True, False):
            band = bc.agnostic.roc_band(
                result, 0.95, simultaneous=simultaneous, unlabeled=unlabeled
            )
            name = f"{prefix}{'simultaneous' if simultaneous else 'pointwise'}"
            inside = _inside(band, curve)
            found[name] = inside.all() if simultaneous else inside.mean()
            found[f"{name} width"] = float((band.upper - band.lower).mean())
        boxes = bc.agnostic.roc_boxes(result, 0.95, unlabeled=unlabeled)
        found[f"{prefix}boxes"] = _in_boxes(boxes, curve)
        found[f"{prefix}boxes inside"] = _in_boxes(boxes, curve, certain=False)
    c_emp = bc.agnostic.interval_measure(score, label=label).c
    bound = bc.agnostic.cost_bound(RULE, c_emp, n, UNLABELED, delta=0.05).value
    found["cost ratio"] = found["unlabeled_cost width"] / (2 * bound)
    safe = c_emp + bc.agnostic.bounds(n, 0.05).upper.value
    region = bc.agnostic.roc_region(more, min(safe, 1.0))
    by_threshold = float((region.tpr_upper - region.tpr_lower).mean())
    found["pointwise ratio"] = found["pointwise width"] / by_threshold
    wide = band_of_boxes(region, np.ones(len(region.tpr_upper), dtype=bool), FPR)
    found["simultaneous ratio"] = found["simultaneous width"] / float(
        (wide.upper - wide.lower).mean()
    )
    return {name: float(value) for name, value in found.items()}


def _inside(band: xr.Dataset, curve: Roc) -> np.ndarray:
    """At which false positive rates between 0 and 1 the band holds the curve."""
    tpr = np.interp(band.fpr.values, curve.fpr, curve.tpr)
    # Rates of the result are in single precision.
    return ((band.lower.values - 1e-7 <= tpr) & (tpr <= band.upper.values + 1e-7))[1:-1]


def _in_boxes(boxes: xr.Dataset, curve: Roc, certain: bool = True) -> bool:
    """Whether every box holds the point of its threshold; or those between scores of 0 and 1."""
    if not certain:
        between = (boxes.threshold > 0) & (
            boxes.threshold < curve.threshold[curve.threshold < 1][0]
        )
        boxes = boxes.isel({boxes.threshold.dims[0]: np.flatnonzero(between)})
    # Point k of the curve has the k largest distinct scores above its threshold.
    place = np.searchsorted(-curve.threshold, -boxes.threshold.values)
    return all(
        bool(
            (
                (boxes[f"{name}_lower"].values - 1e-7 <= getattr(curve, name)[place])
                & (getattr(curve, name)[place] <= boxes[f"{name}_upper"].values + 1e-7)
            ).all()
        )
        for name in ("fpr", "tpr")
    )


COLUMNS = (
    "cost",
    "unlabeled_cost",
    "auc",
    "c",
    "pointwise",
    "simultaneous",
    "boxes",
    "boxes inside",
    "unlabeled_pointwise",
    "unlabeled_simultaneous",
    "cost ratio",
    "pointwise ratio",
    "simultaneous ratio",
)


@cache
def populations(path: str | None) -> dict[str, Population]:
    """Simulated classifiers, or those trained on Adult, by name."""
    return {one.name: one for one in (adult(path) if path else simulated())}


def run_cell(key: _cells.Key, *, path: str | None, replications: int) -> _cells.Figures:
    """Means over the samples of one classifier and number of rows."""
    name, n = str(key[0]), int(key[1])
    found = [replicate(populations(path)[name], n, seed) for seed in range(replications)]
    return {column: float(np.mean([one[column] for one in found])) for column in COLUMNS}


def render(name: str) -> None:
    """Print a line a cell."""
    content = read(name)
    print_provenance(content)
    cells = sorted(content["cells"], key=lambda cell: cell["key"])
    lines = [(*cell["key"], *(cell[name] for name in COLUMNS)) for cell in cells]
    title = f"Coverage of 95% intervals, {content['replications']} replications"
    print_table(title, ("classifier", "rows", *COLUMNS), lines)


def pair(seed: int) -> dict[str, list[float]]:
    """Whether 90% intervals hold a difference of 0, and their widths, as paired and as if apart.

    Two classifiers see the feature with noise of their own: neither is better.
    """
    rng = np.random.default_rng([seed, 1])
    x = rng.normal(size=sum(PAIR_ROWS))
    label = (rng.random(len(x)) < 1 / (1 + np.exp(-2 * x))).astype(float)
    label[PAIR_ROWS[0] :] = np.nan
    score = {name: 1 / (1 + np.exp(-2 * (x + rng.normal(0, 0.5, len(x))))) for name in "ab"}
    scores = bc.Scores.stack(score, y_true=label)
    result = bc.fit(bc.agnostic, scores, decision=RULE, method="direct", seed=seed, draws=500)
    found = {}
    for var in PAIRED:
        own = bc.difference(result, "a", "b", var)
        draws = [result["posterior"][var].sel(classifier=name).values.ravel() for name in "ab"]
        apart = np.quantile(draws[0] - rng.permutation(draws[1]), [0.05, 0.95])
        found[var] = [own.lower <= 0 <= own.upper, own.upper - own.lower, apart[1] - apart[0]]
    return found


def pairs(replications: int, render_only: bool) -> None:
    """Print means over pairs of equal classifiers."""
    name = "agnostic_coverage_pairs"
    if not render_only:
        found = [pair(seed) for seed in range(replications)]
        means = {var: np.mean([one[var] for one in found], axis=0).tolist() for var in PAIRED}
        write(name, replications=replications, means=means)
    content = read(name)
    print_provenance(content)
    print_table(
        f"Differences of two equal classifiers, 90% intervals, {content['replications']} pairs",
        ("of", "coverage", "width", "width apart"),
        [(var, *values) for var, values in content["means"].items()],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, default=100)
    parser.add_argument("--rows", type=int, nargs="+", default=[200, 1000])
    parser.add_argument("--adult", help="adult.csv.gz: real classifiers in place of simulated ones")
    parser.add_argument("--pairs", action="store_true", help="differences of equal classifiers")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--render", action="store_true", help="only print the figures on disk")
    given = parser.parse_args()
    if given.pairs:
        pairs(given.replications, given.render)
        return
    name = "agnostic_coverage" + "_adult" * bool(given.adult)
    if not given.render:
        settings = {"replications": given.replications}
        keys = [(one, n) for one in populations(given.adult) for n in given.rows]
        task = partial(run_cell, path=given.adult, replications=given.replications)
        _cells.run(name, settings, keys, task, given.jobs)
    render(name)


if __name__ == "__main__":
    main()
