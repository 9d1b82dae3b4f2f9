"""Errors of labelled rows alone by their number, beside which `ssme_paper.py` reads SSME's.

python benchmarks/ssme_curve.py --data DIR      # DIR holds civilcomments.npz and multinli.npz

The mean absolute error of 50 samples of each number of labels from 10 to 1,000; appendix B.4 of the
paper.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from _common import print_table
from _results import write
from _ssme_methods import METRICS
from _ssme_paper import PAPER
from _ssme_tasks import Task, tasks

from bayescal.quantities.ssme.metrics import metrics

# The paper's: every fifth number.
SIZES = range(10, 1001, 5)
SAMPLES = 50
SHOWN = (20, 50, 100, 500, 1000)


def errors(task: Task) -> dict[str, list[float]]:
    """Mean over classifiers and samples of the absolute error, by metric and number of labels."""
    n_classes = task.probs.shape[2]
    one_hot = np.eye(n_classes)[task.labels]
    truth = metrics(task.probs, one_hot)
    rng = np.random.default_rng(20)
    found: dict[str, list[float]] = {metric: [] for metric in METRICS}
    for size in SIZES:
        samples = [sample(task.labels, n_classes, size, rng) for _ in range(SAMPLES)]
        each = [metrics(task.probs[:, rows], one_hot[rows]) for rows in samples]
        for metric, sizes in found.items():
            apart = [getattr(one, metric) - getattr(truth, metric) for one in each]
            sizes.append(round(float(np.abs(apart).mean()), 5))
    return found


def sample(labels: np.ndarray, n_classes: int, size: int, rng: np.random.Generator) -> np.ndarray:
    """Draw rows without putting back, the first of them one of each class, (size,)."""
    order = rng.permutation(len(labels))
    first = [int(np.argmax(labels[order] == k)) for k in range(n_classes)]
    rest = np.delete(np.arange(len(labels)), first)
    return order[np.concatenate([first, rest[: size - n_classes]])]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="where the predictions are")
    made = tasks(parser.parse_args().data)
    found = {name: errors(made[name]()) for name in PAPER}
    write("ssme_curve", sizes=list(SIZES), tasks=found)
    for name, of_metric in found.items():
        places = [SIZES.index(size) for size in SHOWN]
        rows = [[metric, *(sizes[k] for k in places)] for metric, sizes in of_metric.items()]
        print_table(f"{name}: mean absolute error", ["labels", *map(str, SHOWN)], rows)


if __name__ == "__main__":
    main()
