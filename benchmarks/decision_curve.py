"""Decision curves: against the conjugate answer for a binary test, and their coverage on Adult.

python benchmarks/decision_curve.py                  # 100 resamples a cell: half an hour
python benchmarks/decision_curve.py --render

The binary test is the example of the R package bayesDCA (data set PredModelData: 500 rows, of which
60 have the outcome). Its posterior has sensitivity, specificity and prevalence, with Beta(1, 1)
priors each. Populations are those of `benchmarks/_populations.py`, which says where their data come
from.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
from _cells import streams
from _common import print_table, time_best
from _populations import CACHE, Population, Where, population
from _results import print_provenance, read, write
from numpy.typing import NDArray

import bayescal as bc

type Floats = NDArray[np.float64]

# Rows of the example: outcome and positive, positive alone, outcome alone, neither.
TP, FP, FN, TN = 47, 87, 13, 353
SCORES: Final = (0.04, 0.35)
TEST_THRESHOLDS: Final = (0.05, 0.1, 0.2, 0.3, 0.35)
EXACT_DRAWS: Final = 2_000_000
POPULATIONS: Final = ("adult-10", "adult-11")
CLASSIFIERS: Final = ("boosted", "LR .01", "NB")
SIZES: Final = (300, 1000, 5000)
ASKED: Final = (0.1, 0.25, 0.5)
THRESHOLDS: Final = (0.02, 0.05, *ASKED, 0.7, 0.8, 0.9)
PROB: Final = 0.9
SURE: Final = 0.95


def binary_test(seed: int) -> list[dict[str, Any]]:
    """Net benefit and P(useful) of the example, by posterior and threshold."""
    rng = np.random.default_rng(seed)
    y, score = (
        np.repeat([1, 0, 1, 0], [TP, FP, FN, TN]),
        np.repeat(SCORES[::-1], [TP + FP, FN + TN]),
    )
    rows = bc.Scores(y_true=y, y_prob=score)
    result = bc.fit(bc.ece, rows, method="direct", seed=seed, draws=10_000, chains=4)
    table = bc.decision_curve(result, TEST_THRESHOLDS, PROB).table
    found = [{"posterior": "of the rows"} | row for row in figures(table)]
    for name, (true, false, prevalence) in exact(rng).items():
        found += [
            {"posterior": name, "threshold": t} | of_draws(true, false, prevalence, t)
            for t in TEST_THRESHOLDS
        ]
    return found


def figures(table: pd.DataFrame) -> list[dict[str, Any]]:
    names = ["threshold", "mean", "lower", "upper", "p_useful"]
    return [{str(name): float(row[name]) for name in names} for _, row in table.iterrows()]


def exact(rng: np.random.Generator) -> dict[str, tuple[Floats, Floats, Floats]]:
    """Draws of the shares of true and false positives, and of the prevalence."""
    share = rng.beta(TP + FP, FN + TN, EXACT_DRAWS)
    ppv, missed = rng.beta(TP + 1, FP + 1, EXACT_DRAWS), rng.beta(FN + 1, TN + 1, EXACT_DRAWS)
    positives, negatives = TP + FN, FP + TN
    prevalence = rng.beta(positives + 1, negatives + 1, EXACT_DRAWS)
    sensitivity = rng.beta(TP + 1, FN + 1, EXACT_DRAWS)
    specificity = rng.beta(TN + 1, FP + 1, EXACT_DRAWS)
    return {
        "conjugate": (share * ppv, share * (1 - ppv), share * ppv + (1 - share) * missed),
        "bayesDCA": (
            sensitivity * prevalence,
            (1 - specificity) * (1 - prevalence),
            prevalence,
        ),
    }


def of_draws(true: Floats, false: Floats, prevalence: Floats, t: float) -> dict[str, float]:
    """The same figures from draws."""
    odds = t / (1 - t)
    own, everyone = true - odds * false, prevalence - odds * (1 - prevalence)
    lower, upper = np.quantile(own, [(1 - PROB) / 2, (1 + PROB) / 2])
    return {
        "mean": float(own.mean()),
        "lower": float(lower),
        "upper": float(upper),
        "p_useful": float((own > np.maximum(everyone, 0)).mean()),
    }


def truth(real: Population) -> pd.DataFrame:
    """Net benefit of every classifier in the population, and of treating all."""
    odds = {t: t / (1 - t) for t in THRESHOLDS}
    gain = {t: np.where(real.label == 1, 1.0, -odds[t]) for t in THRESHOLDS}
    found = {
        name: [float((gain[t] * (real.of(name) >= t)).mean()) for t in THRESHOLDS]
        for name in CLASSIFIERS
    }
    found["treat all"] = [float(gain[t].mean()) for t in THRESHOLDS]
    return pd.DataFrame(found, index=list(THRESHOLDS)).assign(**{"treat none": 0.0})


def resamples(real: Population, n: int, count: int, seed: int) -> Iterator[pd.DataFrame]:
    """Decision curves of resamples of a population, with the truth beside."""
    true = truth(real)
    best = true.idxmax(axis=1)
    default = true[["treat all", "treat none"]].max(axis=1)
    for rng in streams(seed, ("decision", real.name, n), count):
        scores = real.scores(n, rng, *CLASSIFIERS)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bc.ConvergenceWarning)
            result = bc.fit(
                bc.ece,
                scores,
                method="direct",
                draws=1000,
                chains=1,
                seed=int(rng.integers(2**31)),
            )
        table = bc.decision_curve(result, THRESHOLDS, PROB).table
        at = table["threshold"]
        own = np.array([true.loc[t, name] for t, name in zip(at, table["classifier"], strict=True)])
        yield table.assign(
            n=n,
            population=real.name,
            covered=(table["lower"] <= own) & (own <= table["upper"]),
            all_covered=(table["all_lower"] <= at.map(true["treat all"]))
            & (at.map(true["treat all"]) <= table["all_upper"]),
            width=table["upper"] - table["lower"],
            useful=own > at.map(default).to_numpy(),
            best=at.map(best) == table["classifier"],
        )


def coverage(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Coverage of the interval by size, classifier and threshold."""
    cells = table.groupby(["n", "population", "classifier", "threshold"], sort=False)
    found = cells[["covered", "all_covered", "width", "p_useful", "useful"]].mean()
    return [
        dict(zip(found.reset_index().columns, row, strict=True))
        for row in found.reset_index().astype(object).to_numpy().tolist()
    ]


def claims(table: pd.DataFrame, chance: str, outcome: str) -> list[dict[str, Any]]:
    """How often what has a probability is so, by size and probability."""
    edges = [-0.001, 0.05, 0.25, 0.5, 0.75, SURE - 1e-9, 1.0]
    names = ["up to .05", ".05-.25", ".25-.5", ".5-.75", ".75-.95", ".95 or more"]
    place = pd.cut(table[chance], edges, labels=names)
    found = table.groupby(["n", place], observed=True).agg(
        number=(outcome, "size"), probability=(chance, "mean"), share=(outcome, "mean")
    )
    return [
        {"n": int(n), "stated": str(stated), "number": int(row["number"])}
        | {name: float(row[name]) for name in ("probability", "share")}
        for (n, stated), row in found.iterrows()
    ]


def run(count: int, seed: int, where: Where) -> None:
    """Run all parts, writing after each size."""
    content: dict[str, Any] = {"seed": seed, "resamples": count, "binary": binary_test(seed)}
    tables: list[pd.DataFrame] = []
    for n in SIZES:
        for name in POPULATIONS:
            tables += resamples(population(name, where), n, count, seed)
        table = pd.concat(tables, ignore_index=True)
        content["coverage"] = coverage(table)
        content["useful"] = claims(table, "p_useful", "useful")
        content["best"] = claims(table, "p_best", "best")
        write("decision_curve", **content)
    rng = np.random.default_rng(seed)
    scores = population(POPULATIONS[0], where).scores(2000, rng, *CLASSIFIERS)
    result = bc.fit(bc.ece, scores, method="direct", seed=seed)
    one = result.sel(classifier=CLASSIFIERS[0])
    content["seconds"] = {
        name: time_best(lambda tree=tree: bc.decision_curve(tree), 9).wall
        for name, tree in (("one", one), ("three", result))
    }
    write("decision_curve", **content)


def render() -> None:
    """Print the tables."""
    content = read("decision_curve")
    print_provenance(content)
    for part, title in (
        ("binary", "A binary test: net benefit and P(useful)"),
        ("coverage", "Coverage of 90% intervals of net benefit"),
        ("useful", "P(useful) against the share that is"),
        ("best", "P(best) of a classifier against the share that is"),
    ):
        rows = content[part]
        print_table(title, tuple(rows[0]), [tuple(row.values()) for row in rows])
    cells = pd.DataFrame(content["coverage"])
    asked = cells[cells["threshold"].isin(ASKED)]
    for n, own in asked.groupby("n"):
        print(
            f"n = {n}, thresholds {ASKED}: mean coverage {own['covered'].mean():.3f}, "
            f"worst {own['covered'].min():.2f}; treat all {own['all_covered'].mean():.3f}"
        )
    print(content.get("seconds"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--resamples", type=int, default=100)
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--data", type=Path, help="directory of adult.csv.gz")
    parser.add_argument("--cache", type=Path, default=CACHE, help="directory of trained scores")
    parser.add_argument("--render", action="store_true", help="only print the figures on disk")
    given = parser.parse_args()
    if not given.render:
        run(given.resamples, given.seed, Where(given.data, given.cache))
    render()


if __name__ == "__main__":
    main()
