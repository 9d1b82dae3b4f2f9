"""Sample weights: coverage, width and error of intervals from rows that were not drawn evenly.

python benchmarks/weighted_coverage.py                   # 100 replications, without NUTS
python benchmarks/weighted_coverage.py --quantity credal
python benchmarks/weighted_coverage.py --render
python benchmarks/weighted_coverage.py --truths less --sizes 2000 --seed 21 --label again

Rows of a simulated classifier are selected with a probability that rises or falls with the score,
so steeply that the effective number of rows is half their number; or a quarter of the positive rows
is selected. Their weights are the inverse of that probability. Beside the weighted fit stands one
of the same rows without their weights. Of `ece` the true calibration error is covered, of `credal`
the probability given the score at nine scores, of `ssme` the accuracy of three classifiers from a
hundred labels and selection by the first one's score (by NUTS).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from _common import print_table
from _results import print_provenance, read, write
from numpy.typing import NDArray
from scipy.optimize import brentq

import bayescal as bc
from bayescal.quantities.credal import simulator as credal
from bayescal.quantities.ece import simulator as ece
from bayescal.quantities.ssme import simulator as ssme

type Floats = NDArray[np.float64]
type Labels = NDArray[np.uint8]
type Selection = Callable[[Floats, Labels], Floats]

SIZES = (500, 2000)
LABEL = "a quarter of positives"
SELECTED = {"more at high scores": 1.0, "more at low scores": -1.0, LABEL: 0.0}
# Effective rows per row.
EFFECTIVE = 0.5
TARGET = np.linspace(0.1, 0.9, 9)
LABELS = 100
_POOL = 200_000


class Interval(NamedTuple):
    """Ends of intervals, points within and what they are to cover, (value,)."""

    low: Any
    high: Any
    point: Any
    true: Any


def of_ece(data: bc.Scores, world: Any, seed: int) -> Interval:
    """Interval of the true calibration error."""
    result = bc.fit(bc.ece, data, seed=seed, method="direct")
    low, high = bc.interval(result, "tce").to_numpy()
    return Interval(low, high, result["posterior"]["tce"].mean().item(), world.tce)


def of_credal(data: bc.Scores, world: Any, seed: int) -> Interval:
    """Bounds of the probability given the score."""
    split = bc.CalibrationSplit(calibration=data, target=TARGET)
    found = bc.credal.bounds_for(bc.fit(bc.credal, split, seed=seed, method="direct"))
    return Interval(found.lower, found.upper, found.prob, world.probability(TARGET))


@dataclass(frozen=True)
class Panel:
    """Several classifiers, whose scores are columns."""

    truth: ssme.PanelTruth

    @classmethod
    def of(cls, name: str) -> Panel:
        return cls(ssme.truth(name))

    def sample(self, n: int, rng: Any) -> tuple[Floats, Any]:
        found = self.truth.scores(n, 0, rng)
        return found.y_prob.T, found.y_true


def of_ssme(data: bc.Scores, world: Panel, seed: int) -> Interval:
    """Intervals of accuracies."""
    result = bc.fit(bc.ssme, data, seed=seed, chains=2, draws=1000)
    draws = result["posterior"]["accuracy"].stack(sample=("chain", "draw")).to_numpy()
    low, high = np.quantile(draws, [0.05, 0.95], axis=-1)
    return Interval(low, high, draws.mean(axis=-1), world.truth.accuracy)


def one_classifier(score: Floats, label: Labels, weight: Floats) -> bc.Scores:
    return bc.Scores(y_true=label, y_prob=score, sample_weight=weight)


def few_labels(score: Floats, label: Labels, weight: Floats) -> bc.Scores:
    known = [int(y) if row < LABELS else None for row, y in enumerate(label)]
    panel = {f"c{k}": column for k, column in enumerate(score.T)}
    return bc.Scores.stack(panel, y_true=known, sample_weight=weight)


@dataclass(frozen=True)
class Subject:
    """What is covered, and in which simulated worlds."""

    truths: Sequence[str]
    truth: Callable[[str], Any]
    interval: Callable[[bc.Scores, Any, int], Interval]
    scores: Callable[[Floats, Labels, Floats], bc.Scores] = one_classifier


SUBJECTS = {
    "ece": Subject(ece.SMOOTH, ece.truth, of_ece),
    "credal": Subject(("logistic", "power", "wave"), credal.truth, of_credal),
    "ssme": Subject(("mixed",), Panel.of, of_ssme, few_labels),
}


def selection(world: Any, how: str) -> Selection:
    """Probability that a row is selected: exp(slope (score - end)), at most 1, or by its label.

    Of rows selected with probability q and weighted by 1 / q, the effective number per row is
    ``1 / (E[q] E[1 / q])``, with expectations over the population.
    """
    if how == LABEL:
        return lambda score, label: np.where(label, 0.25, 1.0)
    score = first(world.sample(_POOL, 1)[0])
    sign = SELECTED[how]

    def excess(slope: float) -> float:
        return float(np.mean(np.exp(slope * score)) * np.mean(np.exp(-slope * score)))

    slope = sign * brentq(lambda slope: excess(slope) - 1 / EFFECTIVE, 0.1, 50)
    return lambda score, label: np.exp(slope * (first(score) - (sign > 0)))


def first(score: Floats) -> Floats:
    """Scores of the only classifier, or of the first one."""
    return score if score.ndim == 1 else score[:, 0]


def draw(world: Any, chosen: Selection, n: int, rng: np.random.Generator) -> tuple[Floats, Labels]:
    """Draw rows until `n` are selected."""
    scores, labels, held = [], [], 0
    while held < n:
        score, label = world.sample(2 * n, rng)
        taken = rng.random(len(score)) < chosen(score, label)
        scores.append(score[taken])
        labels.append(label[taken])
        held += int(taken.sum())
    return np.concatenate(scores)[:n], np.concatenate(labels)[:n]


def run_cell(
    subject: Subject, name: str, how: str, n: int, replications: int, seed: int
) -> dict[str, Any]:
    """Figures of one truth, selection and number of rows."""
    world = subject.truth(name)
    chosen = selection(world, how)
    drawn: dict[str, list[Interval]] = {"weighted": [], "not weighted": []}
    effective = []
    for index, child in enumerate(np.random.SeedSequence(seed).spawn(replications)):
        score, label = draw(world, chosen, n, np.random.default_rng(child))
        weight = 1 / chosen(score, label)
        effective.append(weight.sum() ** 2 / (weight**2).sum() / n)
        scores = subject.scores(score, label, weight)
        for kind, data in (("weighted", scores), ("not weighted", scores.without_weight())):
            drawn[kind].append(subject.interval(data, world, index))
    found = {kind: figures(rows) for kind, rows in drawn.items()}
    true, share = (float(np.mean(each)) for each in (drawn["weighted"][0].true, effective))
    return {"truth": name, "selected": how, "n": n, "true": true, "effective": share, **found}


def figures(rows: Sequence[Interval]) -> dict[str, float]:
    low, high, point, true = (np.array(each) for each in zip(*rows, strict=True))
    return {
        "coverage": float(np.mean((low <= true) & (true <= high))),
        "width": float(np.mean(high - low)),
        "rmse": float(np.sqrt(np.mean((point - true) ** 2))),
    }


def render(name: str) -> None:
    content = read(name)
    print_provenance(content)
    kinds = ("weighted", "not weighted")
    names = [(kind, what) for what in ("coverage", "width", "rmse") for kind in kinds]
    print_table(
        f"Weighted rows: 90% intervals, {content['replications']} replications",
        ("truth", "selected", "n", "true", "n_eff / n", *(f"{w}, {k}" for k, w in names)),
        [
            (
                *(row[name] for name in ("truth", "selected", "n", "true", "effective")),
                *(row[kind][what] for kind, what in names),
            )
            for row in content["rows"]
        ],
    )
    covered = [row["weighted"]["coverage"] for row in content["rows"]]
    print(f"\nWeighted: mean coverage {np.mean(covered):.3f}, worst {min(covered):.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quantity", choices=tuple(SUBJECTS), default="ece")
    parser.add_argument("--replications", type=int, default=100)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--truths", nargs="+")
    parser.add_argument("--label", default="", help="ending of the figures' file")
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--render", action="store_true", help="only print the figures on disk")
    given = parser.parse_args()
    subject = SUBJECTS[given.quantity]
    name = "_".join(filter(None, ("weighted_coverage", given.quantity, given.label)))
    rows: list[dict[str, Any]] = []
    truths = given.truths or subject.truths
    cells = [(world, how, n) for world in truths for how in SELECTED for n in given.sizes]
    for cell in [] if given.render else cells:
        rows.append(run_cell(subject, *cell, given.replications, given.seed))
        write(name, replications=given.replications, seed=given.seed, rows=rows)
    render(name)


if __name__ == "__main__":
    main()
