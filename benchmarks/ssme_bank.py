"""The default prior of `ssme` on the bank of tasks: how it was chosen, and how it does.

python benchmarks/ssme_bank.py --data DIR                           # report tasks, 30 splits
python benchmarks/ssme_bank.py --data DIR --development --first 1000
python benchmarks/ssme_bank.py --data DIR --check 2                 # the same splits by NUTS
python benchmarks/ssme_bank.py --render

DIR is that of `_ssme_tasks.py`. Posteriors are sampled by `_ssme_fast.py`; figures are written
after every split.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from _common import print_table
from _results import RESULTS, begun, print_provenance, read, write
from _ssme_fast import draws_of
from _ssme_methods import METRICS, of_draws, split_of
from _ssme_tasks import Task, development, reported
from numpy.typing import NDArray

import bayescal as bc
from bayescal.inference.sampler import compile_model
from bayescal.quantities.ssme.baselines import labeled, labeled_interval
from bayescal.quantities.ssme.data import Problem, score_matrix
from bayescal.quantities.ssme.imputed_labels import ensemble
from bayescal.quantities.ssme.metrics import Metrics
from bayescal.quantities.ssme.model import model_of
from bayescal.quantities.ssme.posterior import evaluate
from bayescal.quantities.ssme.tilt import TiltModel

type Floats = NDArray[np.float64]

COUNTS = (20, 100, 500)
PRIORS = {"default": bc.ssme.Priors(), "trusting": bc.ssme.Priors.trusting()}
# Rows without label that a task must be left with.
LEAST_UNLABELED = 100
# A miss by one point counts as much as twenty points of width.
PENALTY = 20.0
ENOUGH, WORSE = 0.8, 1.05
KDE = "SSME-KDE (release)"


def scored(point: Any, lower: Any, upper: Any, true: Floats) -> list[float]:
    """Error, coverage, width and interval score, means over classifiers."""
    missed = np.maximum(lower - true, 0) + np.maximum(true - upper, 0)
    width = upper - lower
    values = (np.abs(point - true), missed == 0, width, width + PENALTY * missed)
    return [round(float(np.nanmean(v)), 5) for v in values]


def by_posterior(
    problem: Problem, priors: bc.ssme.Priors, truth: Metrics, seed: int, nuts: bool
) -> Mapping[str, list[float]]:
    """Draws of the metrics against the truth."""
    rng = np.random.default_rng([seed, problem.matrix.n_labeled])
    power = priors.likelihood_power(problem.matrix.n_labeled)
    assert isinstance(priors.label, bc.ssme.Tilt)
    model = TiltModel.of(problem, priors.label, power)
    draws = nuts_draws(problem, model, seed) if nuts else draws_of(model, rng)
    found = evaluate(problem, model, draws, rng, ece=None)[0]
    flat = {name: np.concatenate(found[name]) for name in METRICS}
    lower, upper = of_draws(flat)
    return {
        name: scored(np.nanmedian(flat[name], 0), lower[name], upper[name], getattr(truth, name))
        for name in METRICS
    }


_COMPILED: dict[Any, Any] = {}


def nuts_draws(problem: Problem, model: TiltModel, seed: int) -> dict[str, Floats]:
    if model.compile_key not in _COMPILED:
        _COMPILED[model.compile_key] = compile_model(model_of(problem, model))
    compiled = _COMPILED[model.compile_key]
    sampled = compiled.sample(
        model.inputs(), draws=250, tune=300, chains=2, seed=seed, target_accept=model.target_accept
    )
    return {name: sampled.posterior[name] for name in model.variables}


def measure(task: Task, n_labeled: int, seed: int, names: Sequence[str], nuts: bool) -> Any:
    """Every prior and the reference estimates on one split."""
    split = split_of(task, n_labeled, seed)
    problem = Problem.of(score_matrix(split.scores), "one-per-class")
    found: dict[str, Any] = {
        name: by_posterior(problem, PRIORS[name], split.truth, seed, nuts) for name in names
    }
    ends = labeled_interval(split.scores, prob=0.9, seed=seed)
    for name, point in (("labeled", labeled(split.scores)), ("ensemble", ensemble(split.scores))):
        parts = (point, ends.lower, ends.upper, split.truth)
        found[name] = {m: scored(*(getattr(part, m) for part in parts)) for m in METRICS}
    return found


def run(given: argparse.Namespace, name: str) -> None:
    """Split after split, all tasks of each."""
    made = (development if given.development else reported)(given.data)
    chosen = given.tasks or list(made)
    held = {task: made[task]() for task in chosen}
    cells = begun(name).get("cells", {})
    last = given.first + (given.check or given.splits)
    for seed in range(given.first, last):
        for task in held.values():
            for n in given.labels:
                cell = cells.setdefault(f"{task.name} {n}", {})
                if n + LEAST_UNLABELED > len(task.labels) or str(seed) in cell:
                    continue
                start = process_time()
                cell[str(seed)] = measure(task, n, seed, given.priors, bool(given.check))
                print(task.name, n, seed, f"{process_time() - start:.2f} s", flush=True)
        write(name, cells=cells)


def figures(cells: Any, name: str, priors: str) -> tuple[list[tuple[str, int]], Floats]:
    """Tasks with numbers of labels, and (cell, metric, figure) of a prior or reference."""
    keys, values = [], []
    for key, splits in cells.items():
        own = [one[name] for one in splits.values() if name in one and priors in one]
        if own:
            task, n = key.rsplit(" ", 1)
            keys.append((task, int(n)))
            values.append([[np.mean([s[m][i] for s in own]) for i in range(4)] for m in METRICS])
    return keys, np.array(values)


def relative(width: Floats, others: Floats) -> float:
    """Mean of the ratios there are: a bootstrap of rows that all are right has no width."""
    return float((width / np.where(others > 0, others, np.nan))[others > 0].mean())


def render(name: str) -> None:
    content = read(name)
    print_provenance(content)
    cells = content["cells"]
    print(f"splits a cell: {sorted({len(splits) for splits in cells.values() if splits})}")
    summary, rows = [], []
    for priors in PRIORS:
        keys, own = figures(cells, priors, priors)
        if not keys:
            continue
        of_labels, of_ensemble = (figures(cells, r, priors)[1] for r in ("labeled", "ensemble"))
        for n in COUNTS:
            here = np.array([key[1] == n for key in keys])
            if not here.any():
                continue
            mine, labels = own[here], of_labels[here]
            ratio = mine[..., 0] / of_ensemble[here][..., 0]
            summary.append(
                (
                    n,
                    priors,
                    mine[..., 1].mean(),
                    (mine[..., 1] < ENOUGH).mean(),
                    (mine[..., 0] > WORSE * labels[..., 0]).mean(),
                    ratio.mean(),
                    np.exp(np.log(ratio).mean()),
                    np.exp(np.log(mine[..., 0] / labels[..., 0]).mean()),
                    relative(mine[..., 2], labels[..., 2]),
                    labels[..., 1].mean(),
                    # In hindsight, whichever errs less in the cell.
                    (np.minimum(mine, labels)[..., 0] / of_ensemble[here][..., 0]).mean(),
                )
            )
        for (task, n), mine, labels, pool in zip(keys, own, of_labels, of_ensemble, strict=True):
            cell = [" ".join(f"{100 * v:.1f}" for v in part[:, 0]) for part in (labels, pool, mine)]
            covered = " ".join(f"{v:.2f}" for v in mine[:, 1])
            rows.append((n, task, priors, *cell, covered, relative(mine[:, 2], labels[:, 2])))
    print_table(
        "Over cells, each a task and a metric",
        (
            "labels",
            "prior",
            "coverage",
            f"cells < {ENOUGH}",
            f"cells > {WORSE} x labelled",
            "error / ensemble",
            "geometric",
            "/ labelled, geometric",
            "width / labelled's",
            "labelled's coverage",
            "better of both / ensemble",
        ),
        summary,
    )
    print_table(
        "Mean absolute errors in points, coverage of 90% intervals (accuracy, ECE, AUC, AUPRC)",
        (
            "labels",
            "task",
            "prior",
            "labelled",
            "ensemble",
            "posterior",
            "coverage",
            "width / labelled's",
        ),
        sorted(rows),
    )
    render_kde(cells)


def render_kde(cells: Any) -> None:
    """Errors relative to SSME-KDE's where `ssme.py` has run it on the same splits."""
    rows = []
    for key, splits in cells.items():
        task, n = key.rsplit(" ", 1)
        if not (RESULTS / f"ssme_{task}_{n}.json").exists():
            continue
        others = read(f"ssme_{task}_{n}")["methods"].get(KDE, {})
        for priors in PRIORS:
            both = [seed for seed in splits if seed in others and priors in splits[seed]]
            if not both:
                continue
            mine = np.mean([[splits[s][priors][m][0] for m in METRICS] for s in both], axis=0)
            theirs = np.mean([[others[s][m] for m in METRICS] for s in both], axis=0)
            ratio = mine / theirs
            words = " ".join(f"{v:.2f}" for v in ratio)
            rows.append((task, int(n), priors, len(both), words, np.exp(np.log(ratio).mean())))
    print_table(
        f"Errors relative to {KDE} on the same splits (accuracy, ECE, AUC, AUPRC)",
        ("task", "labels", "prior", "splits", "ratio", "geometric mean"),
        rows,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--development", action="store_true")
    parser.add_argument("--tasks", nargs="+")
    parser.add_argument("--labels", nargs="+", type=int, default=COUNTS)
    parser.add_argument("--priors", nargs="+", choices=[*PRIORS], default=[*PRIORS])
    parser.add_argument("--splits", type=int, default=30)
    parser.add_argument("--first", type=int, default=0, help="number of the first split")
    parser.add_argument("--check", type=int, default=0, help="so many splits by NUTS")
    parser.add_argument("--render", action="store_true", help="only print the figures on disk")
    given = parser.parse_args()
    name = "ssme_bank_" + ("development" if given.development else "report")
    name += "_nuts" if given.check else ""
    if not given.render:
        run(given, name)
    render(name)


if __name__ == "__main__":
    main()
