"""Self-learning by hard, soft and credal labels: accuracy and calibration, batch after batch.

python benchmarks/self_learning.py --data DIR       # DIR holds ecoli.csv; figure into docs/_static
python benchmarks/self_learning.py --render         # tables and figure of the figures on disk

The experiment of figure 3 of the paper on Iris, Wine, Digits and Ecoli, 5 seeds: 15% of the rows
are labelled, 65% unlabelled, 20% test. That leaves no row to calibrate on, so a third of the
labelled rows is held back for the Venn-Abers predictors. Hard and soft self-learning are run twice:
on all labelled rows, which is what they would have in earnest, and on those that credal self-
learning trains on. Splits are stratified. Three classes of Ecoli with 2, 2 and 5 rows cannot be in
every part and are left out (327 of 336 rows stay).
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from _common import STATIC, print_table
from _results import print_provenance, read, write
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.model_selection import train_test_split

import bayescal as bc
from bayescal.plots.style import BLUE, GREY, INK, ORANGE, VERMILLION
from bayescal.quantities.credal.self_learning import SelfLearningRows
from bayescal.quantities.credal.self_learning.learning import (
    NetworkClassifier,
    SelfLearningSettings,
    self_learn,
)
from bayescal.quantities.ece.estimator import estimate

type Floats = NDArray[np.float64]
type Table = tuple[Floats, NDArray[np.int64]]

LABELED, TEST, HELD_BACK = 0.15, 0.20, 1 / 3
BATCHES = 10
BINS = 10
FEWEST = 10
DATA = {"Iris": load_iris, "Wine": load_wine, "Digits": load_digits, "Ecoli": None}
# Method, and whether it trains on the rows that credal self-learning holds back.
RUNS = {
    "hard": ("hard", True),
    "soft": ("soft", True),
    "credal": ("credal", False),
    "hard, fewer": ("hard", False),
    "soft, fewer": ("soft", False),
}
LOOKS = {
    "hard": (ORANGE, "s", "-"),
    "soft": (BLUE, "^", "-"),
    "credal": (VERMILLION, "o", "-"),
    "hard, fewer": (ORANGE, None, ":"),
    "soft, fewer": (BLUE, None, ":"),
}
MEASURES = ("accuracy", "ece", "log_loss")
WORDS = {"accuracy": "accuracy", "ece": "ECE", "log_loss": "log loss"}


def main() -> None:
    """Measure or read, then print and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="directory of ecoli.csv")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--state", type=Path, help="directory to keep unfinished runs in")
    parser.add_argument("--render", action="store_true", help="from the figures on disk")
    options = parser.parse_args()
    if not options.render:
        if options.data is None:
            parser.error("--data is needed: the directory of ecoli.csv")
        write("self_learning", **measure(options.data, options.seeds, options.state))
    content = read("self_learning")
    print_provenance(content)
    show(content)
    draw(content)


def measure(data: Path, seeds: int, state: Path | None) -> dict[str, Any]:
    """Accuracy, ECE and log loss after every training, of every run."""
    if state is not None:
        state.mkdir(parents=True, exist_ok=True)
    started = perf_counter()
    tasks = list(product(DATA, RUNS, range(seeds)))
    curves: dict[str, Any] = {name: {run: [] for run in RUNS} for name in DATA}
    with ProcessPoolExecutor(max_workers=min(2, os.cpu_count() or 1)) as pool:
        found = pool.map(partial(one_run, data=data, state=state), tasks)
        for done, ((name, run, seed), curve) in enumerate(zip(tasks, found, strict=True), 1):
            curves[name][run].append(curve)
            print(f"{done}/{len(tasks)} {name}, {run}, seed {seed}", flush=True)
    return {"seconds": perf_counter() - started, "sizes": sizes(data), "curves": curves}


def one_run(task: tuple[str, str, int], data: Path, state: Path | None) -> dict[str, list[float]]:
    """Measures after every training."""
    name, run, seed = task
    method, on_all = RUNS[run]
    rows, y_test = split(load(name, data), seed, on_all)
    settings = SelfLearningSettings(method, -(-len(rows.x_unlabeled) // BATCHES), seed)
    path = None if state is None else state / f"{name}-{run.replace(', ', '-')}-{seed}.npz"
    prob = self_learn(NetworkClassifier(), rows, settings, path=path).state.target_prob
    return {
        "accuracy": (prob.argmax(axis=2) == y_test).mean(axis=1).tolist(),
        "ece": [top_label_ece(y_test, each) for each in prob],
        "log_loss": [log_loss(y_test, each) for each in prob],
    }


def load(name: str, data: Path) -> Table:
    """Features and labels 0, 1, ... of the classes with enough rows."""
    if name != "Ecoli":
        x, y = DATA[name](return_X_y=True)  # type: ignore[misc]  # scikit-learn has no types
        return x, y
    table = pd.read_csv(data / "ecoli.csv")
    enough = table[table.groupby("class")["class"].transform("size") >= FEWEST]
    labels = np.unique(enough["class"].to_numpy(str), return_inverse=True)[1]
    return enough.drop(columns="class").to_numpy(float), labels


def parted(table: Table, seed: int) -> tuple[Table, Floats, Table]:
    """Labelled, unlabelled and test rows, features scaled by what may be seen of them."""
    x, y = table
    cut = partial(train_test_split, random_state=seed)
    x_seen, x_test, y_seen, y_test = cut(x, y, test_size=TEST, stratify=y)
    share = LABELED / (1 - TEST)
    x_known, x_unlabeled, y_known, _ = cut(x_seen, y_seen, train_size=share, stratify=y_seen)
    mean, spread = x_seen.mean(axis=0), x_seen.std(axis=0)
    spread[spread == 0] = 1
    known, unlabeled, test = ((part - mean) / spread for part in (x_known, x_unlabeled, x_test))
    return (known, y_known), unlabeled, (test, y_test)


def split(table: Table, seed: int, on_all: bool) -> tuple[SelfLearningRows, NDArray[np.int64]]:
    """Parts of a table, and the test labels."""
    (x_known, y_known), x_unlabeled, (x_test, y_test) = parted(table, seed)
    cut = partial(train_test_split, random_state=seed)
    if on_all:
        return SelfLearningRows(x_known, y_known, x_unlabeled, x_test), y_test
    x_fit, x_held, y_fit, y_held = cut(x_known, y_known, test_size=HELD_BACK, stratify=y_known)
    return SelfLearningRows(x_fit, y_fit, x_unlabeled, x_test, x_held, y_held), y_test


def sizes(data: Path) -> dict[str, list[int]]:
    """Rows trained on, held back, unlabeled, and test; classes."""
    found = {}
    for name in DATA:
        rows, y_test = split(load(name, data), 0, on_all=False)
        held = len(rows.calibration()[1])
        parts = [len(rows.y_labeled), held, len(rows.x_unlabeled), len(y_test)]
        found[name] = [*parts, len(rows.classes)]
    return found


def top_label_ece(y: NDArray[np.int64], prob: Floats) -> float:
    """ECE of the predicted class, bins of equal width as in the paper's field."""
    clean = prob / prob.sum(axis=1, keepdims=True)
    return float(estimate(bc.Scores(y_true=y, y_prob=clean), n_bins=BINS, strategy="uniform").ece)


def log_loss(y: NDArray[np.int64], prob: Floats) -> float:
    """Mean log loss; a probability of 0 counts as 1e-15."""
    return float(-np.log(np.maximum(prob[np.arange(len(y)), y], 1e-15)).mean())


def curves_of(content: dict[str, Any], name: str, run: str, measure: str) -> Floats:
    """Measures of shape (seed, iteration)."""
    return np.array([each[measure] for each in content["curves"][name][run]])


def in_words(values: Floats) -> str:
    """Mean and its standard error."""
    return f"{values.mean():.3f} ± {error_of(values):.3f}"


def error_of(values: Floats) -> Any:
    """Standard error of the mean over seeds."""
    return values.std(axis=0, ddof=1) / np.sqrt(len(values))


def show(content: dict[str, Any]) -> None:
    """Print the tables."""
    print(f"\nWhole experiment: {content['seconds']:.0f} s, two processes")
    print_table(
        "Rows",
        ["data", "trained on", "held back", "unlabeled", "test", "classes"],
        [[name, *values] for name, values in content["sizes"].items()],
    )
    for measure in MEASURES:
        rows = []
        for name, run in product(DATA, RUNS):
            first, last = curves_of(content, name, run, measure).T[[0, -1]]
            rows.append([name, run, in_words(first), in_words(last), in_words(last - first)])
        print_table(
            f"{WORDS[measure]}: known labels only, all batches, change (mean ± s.e.)",
            ["data", "run", "before", "after", "change"],
            rows,
        )
    print_table(
        "After the last batch, credal less the other, same seeds (mean ± s.e.)",
        ["data", "other", *(WORDS[measure] for measure in MEASURES)],
        list(differences(content)),
    )
    for measure in MEASURES[:2]:
        rows = [
            [
                name,
                run,
                *(f"{value:.3f}" for value in curves_of(content, name, run, measure).mean(0)),
            ]
            for name, run in product(DATA, RUNS)
        ]
        print_table(
            f"Mean {WORDS[measure]} by iteration", ["data", "run", *range_words(BATCHES + 1)], rows
        )


def differences(content: dict[str, Any]) -> Iterable[list[str]]:
    """Paired differences at the end."""
    for name, run in product(DATA, RUNS):
        if run != "credal":
            yield [
                name,
                run,
                *(
                    in_words(
                        curves_of(content, name, "credal", measure)[:, -1]
                        - curves_of(content, name, run, measure)[:, -1]
                    )
                    for measure in MEASURES
                ),
            ]


def range_words(n: int) -> list[str]:
    """0, 1, ... as headers."""
    return [str(value) for value in range(n)]


def draw(content: dict[str, Any]) -> None:
    """Write the figure."""
    with mpl.rc_context({"font.size": 9.0}):
        figure = curves_figure(content)
        figure.savefig(STATIC / "self_learning.png", metadata={"Software": None}, dpi=120)


def curves_figure(content: dict[str, Any]) -> Figure:
    """Accuracy above, ECE below, a column a data set."""
    figure = Figure(figsize=(11, 5.2), layout="constrained")
    panels = figure.subplots(2, len(DATA), sharex=True)
    for (row, measure), (column, name) in product(enumerate(MEASURES[:2]), enumerate(DATA)):
        axes: Axes = panels[row, column]
        for run, (colour, marker, line) in LOOKS.items():
            curve = curves_of(content, name, run, measure)
            mean, error = curve.mean(axis=0), error_of(curve)
            at = np.arange(len(mean))
            words = run.replace("fewer", "trained on the rows of credal only")
            axes.plot(at, mean, c=colour, marker=marker, ls=line, ms=3.5, lw=1.3, label=words)
            if marker:
                axes.fill_between(at, mean - error, mean + error, color=colour, alpha=0.15, lw=0)
        dress(axes, name if row == 0 else "", "batches learned")
        axes.set_xticks(range(0, BATCHES + 1, 2))
        if column == 0:
            axes.set_ylabel(WORDS[measure])
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    return figure


def dress(axes: Axes, title: str, below: str) -> None:
    """A panel of the upper row has the name of its data set, one of the lower row what is below."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color=GREY, alpha=0.2, linewidth=0.6)
    if title:
        axes.set_title(title, color=INK)
    else:
        axes.set_xlabel(below)
        axes.set_ylim(bottom=0)


if __name__ == "__main__":
    main()
