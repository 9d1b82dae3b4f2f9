"""Whether rows that `next_labels` chooses are worth more than random ones, and keep coverage.

python benchmarks/ssme_next_labels.py --data DIR              # development tasks, 12 splits each
python benchmarks/ssme_next_labels.py --render

Of each split 20 rows are labelled at random. Then as many again, at random or chosen one by one for
accuracy; the true values are those of the rows of the split, labelled or not. Posteriors are
sampled by `_ssme_fast.py`.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from _common import print_table
from _results import print_provenance, read, write
from _ssme_fast import draws_of
from _ssme_tasks import Task, development
from numpy.typing import NDArray

import bayescal as bc
from bayescal.quantities.ssme.data import Problem, score_matrix
from bayescal.quantities.ssme.metrics import metrics
from bayescal.quantities.ssme.next_rows import NextLabels, greedy_rows, own_shares
from bayescal.quantities.ssme.posterior import evaluate
from bayescal.quantities.ssme.tilt import TiltModel

TASKS = ("income-one-set", "household-four", "digits-odd", "comments-irm")
FIRST, MORE, ROWS = 20, 20, 500
NAMES = ("accuracy", "ece", "auc")
# Apart from the splits on which the prior was chosen.
SPLITS_FROM = 5000


def labeled(task: Task, rows: NDArray[np.intp], known: NDArray[np.intp]) -> bc.Scores:
    """Scores of some rows, of which some places have labels."""
    label: list[int | None] = [None] * len(rows)
    for place in known:
        label[place] = int(task.labels[rows[place]])
    prob = task.probs if task.probs.shape[2] > 2 else task.probs[..., 1]
    names = {name: prob[m, rows] for m, name in enumerate(task.classifiers)}
    return bc.Scores.stack(names, y_true=label, classes=list(range(task.probs.shape[2])))


class Fit(NamedTuple):
    """Draws of the metrics, and of the labels' probabilities; the scores."""

    metrics: dict[str, Any]
    prob: Any
    probs: Any


def fit(scores: bc.Scores, seed: int) -> Fit:
    problem = Problem.of(score_matrix(scores), "random")
    priors = bc.ssme.Priors()
    model = TiltModel.of(problem, bc.ssme.Tilt(), priors.likelihood_power(scores.n_labeled))
    rng = np.random.default_rng([seed, scores.n_labeled])
    draws = draws_of(model, rng)
    found, labels = evaluate(problem, model, draws, rng, ece=None, keep_labels=True)
    prob = np.concatenate(labels["prob_label"]).astype(np.float64)
    metrics = {name: np.concatenate(found[name]) for name in NAMES}
    return Fit(metrics, prob, problem.matrix.probs)


def choose(base: Fit) -> NextLabels:
    """What `next_labels` does with a result."""
    power = bc.ssme.Priors().likelihood_power(FIRST + MORE)
    own = own_shares(base.probs, base.prob.mean(axis=0), "accuracy")
    return greedy_rows(base.prob[..., 1:], base.metrics["accuracy"], power, MORE, own)


def figures(own: Fit, truth: Any) -> dict[str, list[float]]:
    """Error, coverage and width of 90% intervals, means over classifiers."""
    found = {}
    for name in NAMES:
        low, mid, high = np.nanquantile(own.metrics[name], (0.05, 0.5, 0.95), axis=0)
        true = getattr(truth, name)
        covered = (low <= true) & (true <= high)
        found[name] = [np.abs(mid - true).mean(), covered.mean(), (high - low).mean()]
    return {name: [round(float(v), 5) for v in values] for name, values in found.items()}


def split(task: Task, seed: int) -> dict[str, Any]:
    """Twenty labels, then twenty more of each kind."""
    rng = np.random.default_rng([seed, 1])
    rows = rng.permutation(len(task.labels))[:ROWS]
    one_hot = np.eye(task.probs.shape[2])[task.labels[rows]]
    truth = metrics(task.probs[:, rows], one_hot)
    first = np.arange(FIRST)
    base = fit(labeled(task, rows, first), seed)
    chosen = choose(base)
    ways = {"random": np.arange(FIRST + MORE), "chosen": np.concatenate([first, chosen.rows])}
    found = {
        name: figures(fit(labeled(task, rows, own), seed), truth) for name, own in ways.items()
    }
    return {"before": figures(base, truth), **found, "expected": float(chosen.width[-1])}


def render() -> None:
    content = read("ssme_next_labels")
    print_provenance(content)
    table = []
    for task, splits in content["tasks"].items():
        for way in ("before", "random", "chosen"):
            for name in NAMES:
                found = np.array([one[way][name] for one in splits])
                before = np.array([one["before"][name] for one in splits])
                width = (found[:, 2] / before[:, 2]).mean()
                told = np.mean([one["expected"] for one in splits])
                expected = told if (way, name) == ("chosen", "accuracy") else np.nan
                error, covered, _ = found.mean(axis=0)
                table.append((task, way, name, 100 * error, covered, width, expected))
    print_table(
        f"{len(splits)} splits a task: {FIRST} labels, then {MORE} more",
        ("task", "labels", "metric", "error in points", "coverage", "width / before", "expected"),
        table,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--splits", type=int, default=12)
    parser.add_argument("--tasks", nargs="+", default=TASKS)
    parser.add_argument("--render", action="store_true", help="only print the figures on disk")
    given = parser.parse_args()
    if not given.render:
        made = development(given.data)
        held = {name: made[name]() for name in given.tasks}
        found: dict[str, list[Any]] = {name: [] for name in held}
        for seed in range(SPLITS_FROM, SPLITS_FROM + given.splits):
            for name, task in held.items():
                found[name].append(split(task, seed))
                print(name, seed, flush=True)
            write("ssme_next_labels", tasks=found)
    render()


if __name__ == "__main__":
    main()
