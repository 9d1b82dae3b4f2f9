"""The SSME paper's tables for the two tasks whose predictions were published, beside its rows.

python benchmarks/ssme_paper.py --data DIR --splits 30
python benchmarks/ssme_paper.py --data DIR --splits 10 --methods "SSME-KDE-M" "Bayesian-Calibration"
python benchmarks/ssme_paper.py --render

DIR is that of `_ssme_tasks.py`. What is on disk is not computed anew.
"""

from __future__ import annotations

import argparse
import os
import time
from functools import partial
from pathlib import Path
from typing import Any

# Before numpy and JAX are loaded: one thread, as other programs run beside this one.
os.environ.setdefault(
    "XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
)

import numpy as np
from _results import RESULTS, read, write
from _ssme_methods import (
    METRICS,
    Found,
    Method,
    Split,
    by_autoeval,
    by_calibration,
    of_metrics,
    split_of,
    values,
)
from _ssme_paper import PAPER
from _ssme_paper_tables import file_of, render
from _ssme_tasks import Task, tasks

from bayescal.core.errors import InputError
from bayescal.quantities.ssme.baselines.active_testing import active_testing
from bayescal.quantities.ssme.baselines.dawid_skene import dawid_skene
from bayescal.quantities.ssme.baselines.ensemble import ensemble
from bayescal.quantities.ssme.baselines.labeled import labeled
from bayescal.quantities.ssme.baselines.majority_vote import majority_vote
from bayescal.quantities.ssme.baselines.pseudo_labeled import pseudo_labeled
from bayescal.quantities.ssme.estimator import estimate, estimate_each
from bayescal.quantities.ssme.flow.estimator import estimate_flow
from bayescal.quantities.ssme.kde.settings import KDESettings
from bayescal.quantities.ssme.unbinned_error import estimate_unbinned_ece

COUNTS = (20, 50, 100)
# The errors that the paper prints for Active-Testing do not fall with the number of labels.
FIXED_BUDGET = 10
# Not among the methods of a run unless they are named.
SLOW = (
    "SSME-KDE (1000 epochs)",
    "SSME-KDE-M",
    "Bayesian-Calibration",
    "SSME-NF",
    "SSME-NF (joint)",
)


def by_fixed_budget(split: Split, seed: int) -> Found:
    found = active_testing(split.oracle, budget=FIXED_BUDGET, seed=seed)
    return Found({"accuracy": found.estimate})


def by_unbinned_error(split: Split, seed: int) -> Found:
    return Found({"ece": estimate_unbinned_ece(split.scores, seed=seed)})


METHODS: dict[str, Method] = {
    "Labeled": lambda split, _: Found(values(labeled(split.scores))),
    "Majority-Vote (hard)": of_metrics(majority_vote),
    "Majority-Vote (drawn)": of_metrics(partial(majority_vote, reading="drawn")),
    "Majority-Vote (drawn, threshold)": of_metrics(
        partial(majority_vote, reading="drawn", votes="threshold")
    ),
    "Pseudo-Labeled": of_metrics(pseudo_labeled),
    "Dawid-Skene": of_metrics(dawid_skene),
    "Bayesian-Calibration": by_calibration(1e-4),
    "AutoEval": by_autoeval("self"),
    "Active-Testing": by_fixed_budget,
    "Ensemble": lambda split, _: Found(values(ensemble(split.scores))),
    "SSME-KDE-M": of_metrics(estimate_each),
    "SSME-KDE": of_metrics(estimate),
    "SSME-KDE (first class)": of_metrics(
        partial(estimate, settings=KDESettings(reference="first"))
    ),
    "SSME-KDE (1000 epochs)": of_metrics(
        partial(estimate, settings=KDESettings(max_epochs=1000, tolerance=0.0))
    ),
    "SSME-KDE (unbinned)": by_unbinned_error,
    "SSME-NF": of_metrics(estimate_flow),
    "SSME-NF (joint)": of_metrics(partial(estimate_flow, settings="joint")),
}
# Of two classes these are the same as the method without the addition, or not in the paper.
OF_THREE_CLASSES = (
    "Majority-Vote (drawn, threshold)",
    "SSME-KDE (first class)",
    "SSME-NF",
    "SSME-NF (joint)",
)


def measure(split: Split, method: Method, seed: int) -> dict[str, Any]:
    """Errors of one method on one split, in points; a refusal is a result too."""
    start = time.process_time()
    try:
        point = method(split, seed).point
    except InputError as error:
        return {"refused": str(error)}
    errors = {
        name: round(100 * float(np.nanmean(np.abs(point[name] - getattr(split.truth, name)))), 4)
        for name in METRICS
        if name in point
    }
    return errors | {"seconds": round(time.process_time() - start, 3)}


def run(task: Task, n_labeled: int, seed: int, methods: dict[str, Method]) -> None:
    """Every method on one split that is not on disk."""
    name = file_of(task.name, n_labeled)
    known: dict[str, Any] = {}
    if (RESULTS / f"{name}.json").exists():
        known = read(name)["methods"]
    missing = [method for method in methods if str(seed) not in known.get(method, {})]
    if not missing:
        return
    split = split_of(task, n_labeled, seed)
    for method in missing:
        known.setdefault(method, {})[str(seed)] = measure(split, methods[method], seed)
    write(name, task=task.name, n_labeled=n_labeled, methods=known)
    print(name, seed, len(missing), f"{time.process_time():.0f} s so far", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="where the predictions are")
    parser.add_argument("--tasks", nargs="+", choices=[*PAPER], default=[*PAPER])
    parser.add_argument("--labels", nargs="+", type=int, default=COUNTS)
    parser.add_argument("--splits", type=int, default=50)
    fast = [name for name in METHODS if name not in SLOW]
    parser.add_argument("--methods", nargs="+", choices=[*METHODS], default=fast)
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
