"""The tasks on which semi-supervised evaluation is judged: real scores whose every label is known.

DIR holds civilcomments.npz (scores, labels, classifiers), multinli.npz (probs, labels,
classifiers), cifar10_vgg.npz (probs, labels), adult.csv.gz and ecoli.csv; the rest comes with
scikit-learn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from _ssme_bank import DEVELOPMENT, REPORT, Panel, distorted, predictions
from numpy.typing import NDArray
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import bayescal as bc
from bayescal.quantities.ssme.metrics import Metrics, metrics

UNLABELED = 1000
# Below this many rows kept apart, a metric of theirs is too noisy to be called the truth.
ENOUGH_HELD_OUT = 5000


@dataclass(frozen=True, eq=False)
class Task:
    """Probabilities (classifier, obs, class) and labels (obs,) of one data set."""

    name: str
    probs: NDArray[np.float64]
    labels: NDArray[np.int64]
    classifiers: Sequence[str]
    group: NDArray[Any] | None = None

    def rows(
        self, n_labeled: int, seed: int, n_unlabeled: int = UNLABELED
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Rows to label and rows to leave unlabelled; one label of each class is forced."""
        rng = np.random.default_rng([seed, n_labeled])
        order = rng.permutation(len(self.labels))
        first = [order[np.argmax(self.labels[order] == k)] for k in range(self.probs.shape[2])]
        rest = order[~np.isin(order, first)]
        labeled = np.concatenate([first, rest[: n_labeled - len(first)]])
        rest = rest[n_labeled - len(first) :]
        return labeled, rest[:n_unlabeled]

    def scores(self, labeled: NDArray[np.intp], unlabeled: NDArray[np.intp]) -> bc.Scores:
        """What an evaluator sees."""
        rows = np.concatenate([labeled, unlabeled])
        label: list[int | None] = [*map(int, self.labels[labeled]), *[None] * len(unlabeled)]
        prob = self.probs if self.probs.shape[2] > 2 else self.probs[..., 1]
        return bc.Scores.stack(
            {name: prob[m, rows] for m, name in enumerate(self.classifiers)},
            y_true=label,
            group=None if self.group is None else self.group[rows],
        )

    def split(self, n_labeled: int, seed: int) -> tuple[bc.Scores, Metrics]:
        """Scores with some labels, and the truth: metrics of the rows kept apart.

        Where too few rows are left (digits), the truth is that of all rows of the task.
        """
        labeled, unlabeled = self.rows(n_labeled, seed)
        held = np.ones(len(self.labels), dtype=bool)
        held[np.concatenate([labeled, unlabeled])] = False
        if held.sum() < ENOUGH_HELD_OUT:
            held[:] = True
        return self.scores(labeled, unlabeled), self.truth(held)

    def truth(self, rows: NDArray[np.bool_]) -> Metrics:
        """Metrics of some rows under their labels."""
        one_hot = np.eye(self.probs.shape[2])[self.labels[rows]]
        return metrics(self.probs[:, rows], one_hot)


def tasks(data: Path) -> dict[str, Callable[[], Task]]:
    """Every task by name, made on demand: the paper's, development tasks, report tasks."""
    paper = {"civilcomments": partial(civilcomments, data), "multinli": partial(multinli, data)}
    return paper | development(data) | reported(data)


def development(data: Path) -> dict[str, Callable[[], Task]]:
    """Tasks on which the default prior was chosen."""

    def comments(name: str, places: Sequence[int], **moved: float) -> Task:
        return moved_task(half(civilcomments(data), 0), name, places, **moved)

    def pairs(name: str, places: Sequence[int], **moved: float) -> Task:
        return moved_task(half(multinli(data), 0), name, places, **moved)

    return {
        "comments-irm": lambda: comments("comments-irm", (0, 5, 6)),
        "comments-over": lambda: comments("comments-over", (1, 2, 3), stretch=2.5),
        "comments-shifted": lambda: comments("comments-shifted", (0, 3, 4), shift=1.5),
        "comments-one": lambda: comments("comments-one", (3,)),
        "pairs-no-irm": lambda: pairs("pairs-no-irm", (0, 1, 3)),
        "pairs-under": lambda: pairs("pairs-under", (0, 1, 2), stretch=0.4),
        "adult-mixed": lambda: adult(data)[1],
        "digits": digits,
        **{name: partial(made, name, panel, data) for name, panel in DEVELOPMENT.items()},
    }


def reported(data: Path) -> dict[str, Callable[[], Task]]:
    """Tasks on which nothing was chosen.

    Those of the paper's data have other rows than the development tasks.
    """
    return {
        "comments-plain": lambda: replace(half(civilcomments(data), 1), name="comments-plain"),
        "pairs-plain": lambda: replace(half(multinli(data), 1), name="pairs-plain"),
        "adult-lr": lambda: adult(data)[0],
        "cifar10": lambda: cifar10(data),
        **{name: partial(made, name, panel, data) for name, panel in REPORT.items()},
    }


@cache
def made(name: str, panel: Panel, data: Path) -> Task:
    """A task of the bank."""
    return Task(name, *predictions(panel, data))


def half(task: Task, which: int) -> Task:
    """Every other row of a task."""
    return Task(task.name, task.probs[:, which::2], task.labels[which::2], task.classifiers)


def moved_task(task: Task, name: str, places: Sequence[int], **moved: float) -> Task:
    """Some of a task's classifiers, stretched or shifted."""
    return replace(subset(task, name, places), probs=distorted(task.probs[list(places)], **moved))


def subset(task: Task, name: str, places: Sequence[int]) -> Task:
    """Some of a task's classifiers."""
    names = [task.classifiers[place] for place in places]
    return Task(name, task.probs[list(places)], task.labels, names, task.group)


@cache
def civilcomments(data: Path) -> Task:
    """Seven classifiers of toxic comments."""
    with np.load(data / "civilcomments.npz", allow_pickle=False) as file:
        positive = file["scores"].T.astype(np.float64)
        names = [str(name) for name in file["classifiers"]]
        return Task("civilcomments", binary(positive), file["labels"].astype(np.int64), names)


@cache
def multinli(data: Path) -> Task:
    """Four classifiers of sentence pairs, three classes."""
    with np.load(data / "multinli.npz", allow_pickle=False) as file:
        probs = file["probs"].transpose(1, 0, 2).astype(np.float64)
        probs /= probs.sum(axis=2, keepdims=True)
        names = [str(name) for name in file["classifiers"]]
        return Task("multinli", probs, file["labels"].astype(np.int64), names)


@cache
def cifar10(data: Path) -> Task:
    """One deep network, ten classes."""
    with np.load(data / "cifar10_vgg.npz", allow_pickle=False) as file:
        probs = file["probs"].astype(np.float64)
        probs /= probs.sum(axis=1, keepdims=True)
        return Task("cifar10", probs[None], file["labels"].astype(np.int64), ["VGG-16"])


@cache
def adult(data: Path) -> tuple[Task, Task]:
    """Income: three logistic regressions on 100 rows of young, middle and old; three kinds."""
    table = pd.read_csv(data / "adult.csv.gz", skipinitialspace=True)
    label = table.pop(table.columns[-1]).str.contains(">50K").to_numpy(dtype=np.int64)
    words = table.select_dtypes(exclude="number").columns
    numbers = table.columns.difference(words)
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), list(words)),
        (StandardScaler(), list(numbers)),
    )
    features = encode.fit_transform(table)
    rng = np.random.default_rng(20)
    thirds = np.array_split(np.argsort(table["age"].to_numpy(), kind="stable"), 3)
    parts = [rng.choice(third, 100, replace=False) for third in thirds]
    mixed = [rng.choice(len(label), 100, replace=False) for _ in range(3)]
    rest = np.setdiff1d(np.arange(len(label)), np.concatenate([*parts, *mixed]))
    kinds = [
        LogisticRegression(max_iter=2000),
        GaussianNB(var_smoothing=1e-2),
        DecisionTreeClassifier(min_samples_leaf=5, random_state=20),
    ]

    def predict(models: Sequence[Any], rows: Sequence[NDArray[np.intp]]) -> NDArray[np.float64]:
        fitted = [m.fit(features[r], label[r]) for m, r in zip(models, rows, strict=True)]
        return binary(np.stack([m.predict_proba(features[rest])[:, 1] for m in fitted]))

    race = table["race"].where(table["race"].isin(["White", "Black"]), "other")
    group = (table["sex"] + ", " + race).to_numpy(dtype=str)[rest]
    regressions = predict([LogisticRegression(max_iter=2000) for _ in range(3)], parts)
    return (
        Task("adult-lr", regressions, label[rest], ["young", "middle", "old"], group),
        Task("adult-mixed", predict(kinds, mixed), label[rest], ["LR", "NB", "tree"], group),
    )


@cache
def digits() -> Task:
    """Ten classes, five classifiers of very different calibration, trained on 150 rows."""
    features, label = load_digits(return_X_y=True)
    order = np.random.default_rng(20).permutation(len(label))
    train, rest = order[:150], order[150:]
    models = {
        "LR": make_pipeline(StandardScaler(), LogisticRegression(C=1e-3, max_iter=2000)),
        "NB": GaussianNB(var_smoothing=1e-2),
        "kNN": KNeighborsClassifier(15),
        "forest": RandomForestClassifier(50, max_depth=5, random_state=20),
        "tree": DecisionTreeClassifier(min_samples_leaf=3, random_state=20),
    }
    probs = np.stack(
        [
            m.fit(features[train], label[train]).predict_proba(features[rest])
            for m in models.values()
        ]
    )
    return Task("digits", probs, label[rest], list(models))


def binary(positive: NDArray[np.float64]) -> NDArray[np.float64]:
    """Two columns of a positive score."""
    return np.stack([1 - positive, positive], axis=-1)
