"""The SSME paper's tables for the two tasks whose predictions were published, beside its rows.

python benchmarks/ssme_paper.py --data DIR
python benchmarks/ssme_paper.py --data DIR --splits 10 --methods "SSME-KDE-M" "Bayesian-Calibration"
python benchmarks/ssme_paper.py --render

DIR is that of `_ssme_tasks.py`. What is on disk is not computed anew.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

# Before numpy and JAX are loaded: one thread, as other programs run beside this one.
os.environ.setdefault(
    "XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
)

import numpy as np
from _results import begun, write
from _ssme_methods import METRICS, Split, Values, split_of, values
from _ssme_paper import BY_CLASSIFIER, PAPER, SPLITS
from _ssme_paper_tables import file_of, render
from _ssme_tasks import Task, tasks
from scipy.special import logit
from scipy.stats import rankdata

from bayescal.core.errors import InputError
from bayescal.inference.sampler import CompiledModel, compile_model
from bayescal.quantities.ssme.baselines import active_testing, autoeval, labeled
from bayescal.quantities.ssme.estimator import (
    RELEASE,
    KDESettings,
    estimate,
    estimate_each,
    estimate_unbinned_ece,
)
from bayescal.quantities.ssme.flow import estimate_flow
from bayescal.quantities.ssme.imputed_labels import (
    bayesian_calibration,
    build_model,
    dawid_skene,
    ensemble,
    majority_vote,
    pseudo_labeled,
)
from bayescal.quantities.ssme.kde import EPSILON

COUNTS = (20, 50, 100)
# The errors that the paper prints for Active-Testing do not fall with the number of labels.
FIXED_BUDGET = 10


type Method = Callable[[Split, int], Values]

_COMPILED: dict[tuple[int, int], CompiledModel] = {}


def of_metrics(estimate: Callable[..., Any]) -> Method:
    """A method of scores and a seed that gives metrics."""
    return lambda split, seed: values(estimate(split.scores, seed=seed))


def by_calibration(split: Split, seed: int) -> Values:
    key = (split.scores.n_classifiers, split.scores.n_labeled)
    if key not in _COMPILED:
        _COMPILED[key] = compile_model(build_model(split.scores))
    found = bayesian_calibration(split.scores, cut=1e-4, seed=seed, compiled=_COMPILED[key])
    return values(found.point)


def by_fixed_budget(split: Split, seed: int) -> Values:
    found = active_testing(split.oracle, budget=FIXED_BUDGET, seed=seed)
    return {"accuracy": found.estimate}


METHODS: dict[str, Method] = {
    "Labeled": lambda split, _: values(labeled(split.scores)),
    "Majority-Vote (hard)": of_metrics(majority_vote),
    "Majority-Vote (drawn)": of_metrics(partial(majority_vote, reading="drawn")),
    "Majority-Vote (drawn, threshold)": of_metrics(
        partial(majority_vote, reading="drawn", votes="threshold")
    ),
    "Pseudo-Labeled": of_metrics(pseudo_labeled),
    "Dawid-Skene": of_metrics(dawid_skene),
    "Bayesian-Calibration": by_calibration,
    "AutoEval": lambda split, _: {"accuracy": autoeval(split.scores, guess="self").estimate},
    "Active-Testing": by_fixed_budget,
    "Ensemble": lambda split, _: values(ensemble(split.scores)),
    "SSME-KDE-M": of_metrics(estimate_each),
    "SSME-KDE-M (release)": of_metrics(partial(estimate_each, settings="release")),
    "SSME-KDE-M (release, weighted start)": of_metrics(
        partial(estimate_each, settings=replace(RELEASE, weighted_start=True))
    ),
    "SSME-KDE": of_metrics(estimate),
    "SSME-KDE (release)": of_metrics(partial(estimate, settings="release")),
    "SSME-KDE (class bandwidths)": of_metrics(
        partial(estimate, settings=KDESettings(sharing="class"))
    ),
    "SSME-KDE (first class)": of_metrics(
        partial(estimate, settings=KDESettings(reference="first"))
    ),
    "SSME-KDE (1000 epochs)": of_metrics(
        partial(estimate, settings=KDESettings(max_epochs=1000, tolerance=0.0))
    ),
    "SSME-KDE (unbinned)": lambda split, seed: {
        "ece": estimate_unbinned_ece(split.scores, seed=seed)
    },
    "SSME-NF": of_metrics(estimate_flow),
}
# Of two classes these are the same as the method without the addition, or not in the paper.
OF_THREE_CLASSES = (
    "Majority-Vote (drawn, threshold)",
    "SSME-KDE (first class)",
    "SSME-NF",
)


def measure(split: Split, method: Method, seed: int) -> dict[str, Any]:
    """Errors of one method on one split, in points; a refusal is a result too.

    With as many labels as the paper's tables by classifier have, estimates are kept as well.
    """
    start = time.process_time()
    try:
        point = method(split, seed)
    except InputError as error:
        return {"refused": str(error)}
    errors = {
        name: round(100 * float(np.nanmean(np.abs(point[name] - getattr(split.truth, name)))), 4)
        for name in METRICS
        if name in point
    }
    if split.scores.n_labeled == BY_CLASSIFIER:
        kept = {name: np.round(100 * point[name], 3).tolist() for name in METRICS if name in point}
        errors["estimates"] = kept
    return errors | {"seconds": round(time.process_time() - start, 3)}


@cache
def described(task: Task) -> dict[str, Any]:
    """Names, metrics under all labels in points, and the mean correlation of positive scores."""
    truth = task.truth(np.ones(len(task.labels), dtype=bool))
    positive = np.clip(task.probs[..., -1], EPSILON, 1 - EPSILON)
    forms = {"scores": positive, "log odds": logit(positive), "ranks": rankdata(positive, axis=1)}
    pairs = np.triu_indices(len(task.classifiers), 1)
    return {
        "classifiers": list(task.classifiers),
        "truth": {name: (100 * getattr(truth, name)).tolist() for name in METRICS},
        "correlation": {name: float(np.corrcoef(of)[pairs].mean()) for name, of in forms.items()},
    }


def run(task: Task, n_labeled: int, seed: int, methods: dict[str, Method]) -> None:
    """Every method on one split that is not on disk."""
    name = file_of(task.name, n_labeled)
    known = begun(name).get("methods", {})
    missing = [method for method in methods if str(seed) not in known.get(method, {})]
    if not missing:
        return
    split = split_of(task, n_labeled, seed)
    for method in missing:
        known.setdefault(method, {})[str(seed)] = measure(split, methods[method], seed)
    known = {method: known[method] for method in METHODS if method in known}
    write(name, task=task.name, n_labeled=n_labeled, **described(task), methods=known)
    print(name, seed, len(missing), f"{time.process_time():.0f} s so far", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="where the predictions are")
    parser.add_argument("--tasks", nargs="+", choices=[*PAPER], default=[*PAPER])
    parser.add_argument("--labels", nargs="+", type=int, default=COUNTS)
    parser.add_argument("--splits", type=int, default=SPLITS)
    parser.add_argument("--methods", nargs="+", choices=[*METHODS], default=[*METHODS])
    parser.add_argument("--render", action="store_true", help="only print the figures on disk")
    given = parser.parse_args()
    if given.render:
        render()
        return
    if given.data is None:
        parser.error("--data is needed to compute")
    made = tasks(given.data)
    # Split by split, so that a run that is stopped has as many of every cell.
    for seed in range(given.splits):
        for name in given.tasks:
            task = made[name]()
            binary = task.probs.shape[2] == 2
            left_out = OF_THREE_CLASSES if binary else ("Bayesian-Calibration",)
            methods = {m: METHODS[m] for m in given.methods if m not in left_out}
            for n_labeled in given.labels:
                run(task, n_labeled, seed, methods)


if __name__ == "__main__":
    main()
