"""How often the intervals of the interval measure, of costs and of ROC curves cover the truth.

python benchmarks/agnostic_coverage.py                          # 200 replications, half an hour
python benchmarks/agnostic_coverage.py --replications 40        # minutes
python benchmarks/agnostic_coverage.py --adult adult.csv.gz     # real classifiers of few scores

Posteriors are direct draws. Of simulated classifiers the truth is an integral; of real ones, all
rows that the classifier was not trained on are the population, and samples are drawn from them with
replacement. Widths are beside those of the safe form of Eq. (2) and of the deviation region of the
ROC curve with the safe bound of c.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from _common import print_machine, print_table

import bayescal as bc
from bayescal.quantities.agnostic.posterior import FPR

RULE = bc.DecisionRule(
    {"keep": (5, 0), "review": (1, 1.5), "remove": (0, 3)},
    {"keep": (0, 0.25), "review": (0.25, 0.6), "remove": (0.6, 1)},
)
UNLABELED = 2000


class Population(NamedTuple):
    """What samples are drawn from, and what is true of it."""

    name: str
    sample: Callable[[int, np.random.Generator], tuple[np.ndarray, np.ndarray]]
    c: float
    cost: float
    tpr: np.ndarray


def simulated() -> Iterator[Population]:
    for name, truth in bc.datasets.agnostic.TRUTHS.items():
        score, rate = truth._grid

        def sample(n: int, rng: np.random.Generator, truth=truth) -> tuple[np.ndarray, np.ndarray]:
            rows = truth.scores(n, seed=rng)
            return rows.y_prob[0], rows.y_true

        yield Population(name, sample, truth.c, truth.cost(RULE), _tpr(score, rate))


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

        c = bc.agnostic.interval_measure(score, truth).c
        cost = bc.agnostic.actual_cost(RULE, score, truth)
        yield Population(name, sample, c, cost, _tpr(score, truth))


def _tpr(score: np.ndarray, rate: np.ndarray) -> np.ndarray:
    curve = bc.agnostic.roc(score, rate)
    return np.interp(FPR, curve.fpr, curve.tpr)


def replicate(population: Population, n: int, seed: int) -> dict[str, float]:
    """Whether each interval covers, and widths, in one sample."""
    rng = np.random.default_rng([seed, n])
    score, label = population.sample(n, rng)
    more, hidden = population.sample(UNLABELED, rng)
    scores = bc.Scores(y_true=label, y_prob=score, classes=[0, 1])
    result = bc.fit(
        bc.agnostic, scores, unlabeled=more, decision=RULE, method="direct", seed=seed, draws=500
    )
    true = {"cost": population.cost, "unlabeled_cost": bc.agnostic.actual_cost(RULE, more, hidden)}
    found: dict[str, float] = {}
    for var, value in true.items():
        low, high = bc.interval(result, var, 0.95).values
        found[var] = low <= value <= high
        found[f"{var} width"] = high - low
    found["c"] = population.c <= bc.agnostic.upper_bound(result, 0.95)
    whole, each = (
        bc.agnostic.roc_band(result, 0.95, simultaneous=together) for together in (True, False)
    )
    inner = slice(1, -1)
    # Straight lines between cells run below a concave curve, by a few ten thousandths.
    for name, slack in (("", 0.0), (" + .001", 0.001)):
        inside = [
            (band.lower.values - slack <= population.tpr)
            & (population.tpr <= band.upper.values + slack)
            for band in (whole, each)
        ]
        found[f"simultaneous{name}"] = float(inside[0][inner].all())
        found[f"pointwise{name}"] = float(inside[1][inner].mean())
    c_emp = bc.agnostic.interval_measure(score, label).c
    bound = bc.agnostic.cost_bound(RULE, c_emp, n, UNLABELED, delta=0.05).value
    found["cost ratio"] = found["unlabeled_cost width"] / (2 * bound)
    safe = c_emp + bc.agnostic.bounds(n, 0.05).upper.value
    region = bc.agnostic.roc_region(more, min(safe, 1.0))
    width = float((region.tpr_upper - region.tpr_lower).mean())
    found["roc ratio"] = float((each.upper - each.lower).mean()) / width
    return found


COLUMNS = (
    "cost",
    "unlabeled_cost",
    "c",
    "pointwise",
    "simultaneous",
    "pointwise + .001",
    "simultaneous + .001",
    "cost ratio",
    "roc ratio",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replications", type=int, default=200)
    parser.add_argument("--rows", type=int, nargs="+", default=[200, 1000])
    parser.add_argument("--adult", help="adult.csv.gz: real classifiers in place of simulated ones")
    given = parser.parse_args()
    print_machine("scipy")
    lines = []
    for population in adult(given.adult) if given.adult else simulated():
        for n in given.rows:
            found = [replicate(population, n, seed) for seed in range(given.replications)]
            means = [float(np.mean([one[name] for one in found])) for name in COLUMNS]
            lines.append((population.name, n, *means))
    title = f"Coverage of 95% intervals, {given.replications} replications"
    print_table(title, ("classifier", "rows", *COLUMNS), lines)


if __name__ == "__main__":
    main()
