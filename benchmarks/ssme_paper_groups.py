"""The SSME paper's table 2 on Adult: errors by age, sex and race relative to labelled rows alone.

python benchmarks/ssme_paper_groups.py --data DIR --splits 12
python benchmarks/ssme_paper_groups.py --render

Three logistic regressions on 100 rows of young, middle and old; 20 labels, 1,000 rows without.
Every method is fitted once to all rows, and measured in every group.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from _results import begun, print_provenance, read, write
from _ssme_adult import adult, trained, training_rows
from _ssme_methods import METRICS
from _ssme_tables import markdown, number
from _ssme_tasks import Task
from numpy.typing import NDArray

import bayescal as bc
from bayescal.inference.sampler import CompiledModel, compile_model
from bayescal.quantities.ssme.baselines import labeled_by_group
from bayescal.quantities.ssme.data import ScoreMatrix, draw_labels, score_matrix, with_known_labels
from bayescal.quantities.ssme.estimator import estimate
from bayescal.quantities.ssme.imputed_labels import (
    annotators,
    build_model,
    draw_events,
    label_probs,
    mean_score,
    predicted_labels,
)
from bayescal.quantities.ssme.metrics import Metrics, join, mean_over_draws, subgroup_metrics

type Floats = NDArray[np.float64]
# Draws of labels, (draw, obs, class), for each classifier or for all.
type Labels = Callable[[bc.Scores, int], list[Floats] | Floats]

NAME = "ssme_paper_groups"
LABELS, DRAWS = 20, 200


def from_probs(probs: Callable[[ScoreMatrix], Floats]) -> Labels:
    """Labels drawn from one set of probabilities."""

    def method(scores: bc.Scores, seed: int) -> Floats:
        matrix = score_matrix(scores)
        known = with_known_labels(matrix, probs(matrix))
        return draw_labels(known, DRAWS, np.random.default_rng(seed))

    return method


_COMPILED: list[CompiledModel] = []


def by_calibration(scores: bc.Scores, seed: int) -> list[Floats]:
    if not _COMPILED:
        _COMPILED.append(compile_model(build_model(scores)))
    prob = label_probs(scores, n_draws=DRAWS, seed=seed, compiled=_COMPILED[0])
    rng = np.random.default_rng(seed)
    return [draw_events(score_matrix(scores), prob[:, m], rng) for m in range(scores.n_classifiers)]


def by_posterior(scores: bc.Scores, seed: int) -> Floats:
    how = {"labeling": "one-per-class", "seed": seed, "draws": 500, "tune": 500, "chains": 2}
    tree = bc.fit(bc.ssme, scores, prob_label=True, **how)
    prob = tree["posterior"]["prob_label"].to_numpy()
    # In single precision rows do not sum to 1 to the last digit.
    prob = prob.reshape(-1, *prob.shape[2:])[:: 1000 // DRAWS].astype(np.float64)
    prob /= prob.sum(axis=-1, keepdims=True)
    rng = np.random.default_rng(seed)
    return np.concatenate([draw_labels(one, 1, rng) for one in prob])


METHODS: dict[str, Labels] = {
    "Pseudo-Labeled": from_probs(predicted_labels),
    "Dawid-Skene": from_probs(lambda matrix: annotators(matrix).prob_label),
    "Bayesian-Calibration": by_calibration,
    "Ensemble": from_probs(mean_score),
    "SSME-KDE": from_probs(lambda matrix: estimate(matrix, n_draws=1).prob_label),
    "Posterior": by_posterior,
}


def in_groups(
    matrix: ScoreMatrix, labels: list[Floats] | Floats, code: Any, n_groups: int
) -> Metrics:
    """Mean over draws of every metric, (classifier, group)."""
    if not isinstance(labels, list):
        return mean_over_draws(subgroup_metrics(matrix.probs, labels, code, n_groups))
    each = [
        subgroup_metrics(matrix.select(m).probs, one, code, n_groups)
        for m, one in enumerate(labels)
    ]
    return mean_over_draws(join(each, lambda parts: np.concatenate(parts, axis=1)))


def measure(task: Task, divisions: dict[str, NDArray[Any]], seed: int) -> dict[str, Any]:
    """Errors in points by division, method and metric, one for each group."""
    labelled, rest = task.rows(LABELS, seed)
    seen = np.concatenate([labelled, rest])
    held = np.setdiff1d(np.arange(len(task.labels)), seen)
    scores = task.scores(labelled, rest)
    drawn = {name: method(scores, seed) for name, method in METHODS.items()}
    one_hot = np.eye(2)[task.labels]
    found: dict[str, Any] = {}
    for division, group in divisions.items():
        names, code = np.unique(group, return_inverse=True)
        truth = subgroup_metrics(task.probs[:, held], one_hot[held], code[held], len(names))
        grouped = Task(task.name, task.probs, task.labels, task.classifiers, group)
        points = {
            name: in_groups(score_matrix(scores), one, code[seen], len(names))
            for name, one in drawn.items()
        }
        points["Labeled"] = labeled_by_group(grouped.scores(labelled, rest))
        found[division] = {
            name: {
                metric: np.abs(getattr(point, metric) - getattr(truth, metric)).mean(axis=0)
                for metric in METRICS
            }
            for name, point in points.items()
        }
    return found


def to_lists(found: Any) -> Any:
    """Arrays as lists of points, and what does not exist as None."""
    if isinstance(found, dict):
        return {key: to_lists(value) for key, value in found.items()}
    return [round(100 * float(v), 3) if np.isfinite(v) else None for v in found]


def render() -> None:
    """RMAE: mean over metrics and groups of the error relative to Labeled's, each over splits."""
    content = read(NAME)
    print_provenance(content)
    splits = list(content["splits"].values())
    rows = []
    for name in ("Labeled", *METHODS):
        row, by_metric = [], {metric: [] for metric in METRICS}
        for division in splits[0]:
            relative = []
            for metric in METRICS:
                own, base = (
                    np.nanmean(
                        np.array([split[division][m][metric] for split in splits], dtype=float),
                        axis=0,
                    )
                    for m in (name, "Labeled")
                )
                relative.append(np.nanmean(own / base))
                by_metric[metric].append(relative[-1])
            row.append(number(float(np.mean(relative))))
        rows.append([name, *row, *(number(float(np.mean(by_metric[m]))) for m in METRICS)])
    markdown(f"RMAE, {len(splits)} splits", ["method", *splits[0], *METRICS], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="where adult.csv.gz is")
    parser.add_argument("--splits", type=int, default=50)
    parser.add_argument("--render", action="store_true", help="only print the figures on disk")
    given = parser.parse_args()
    if given.render:
        render()
        return
    if given.data is None:
        parser.error("--data is needed to compute")
    source = adult(given.data)
    sets = training_rows(source, 1, 100, seed=20)
    rows = np.setdiff1d(np.arange(len(source.label)), np.concatenate(sets))
    task = trained(source, sets, rows, NAME)
    divisions = {name: group[rows] for name, group in source.divisions.items()}
    known = begun(NAME).get("splits", {})
    for seed in range(given.splits):
        if str(seed) not in known:
            known[str(seed)] = to_lists(measure(task, divisions, seed))
            write(NAME, n_labeled=LABELS, splits=known)
            print(seed, f"{time.process_time():.0f} s so far", flush=True)


if __name__ == "__main__":
    main()
