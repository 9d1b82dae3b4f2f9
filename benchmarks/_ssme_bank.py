"""Panels of classifiers trained for the bank of tasks, to choose the default and to report it.

A panel is trained on few rows of a public data set, on one training set or on one for each
classifier, and its probabilities may be stretched or shifted. Adult serves many labels: each of its
columns can be the one to predict.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

type Floats = NDArray[np.float64]
# Features and labels, which are 0 to K - 1.
type Source = tuple[Floats, NDArray[np.int64]]

# More rows cost time and leave the true values as they are.
MOST_ROWS = 20_000
_MODELS: Mapping[str, Callable[[int], Any]] = {
    "LR": lambda _: make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)),
    "flat LR": lambda _: make_pipeline(StandardScaler(), LogisticRegression(C=1e-3, max_iter=2000)),
    "NB": lambda _: GaussianNB(var_smoothing=1e-2),
    "kNN": lambda _: KNeighborsClassifier(15),
    "tree": lambda seed: DecisionTreeClassifier(min_samples_leaf=5, random_state=seed),
    "forest": lambda seed: RandomForestClassifier(50, max_depth=5, random_state=seed),
    "extra": lambda seed: ExtraTreesClassifier(50, min_samples_leaf=2, random_state=seed),
    "boosting": lambda seed: GradientBoostingClassifier(random_state=seed),
}


@dataclass(frozen=True, slots=True)
class Panel:
    """How the classifiers of a task come about.

    Parameters
    ----------
    source : callable
        Features and labels.
    models : tuple of str
        Classifiers, keys of `_MODELS`.
    n_train : int
        Rows that each is trained on.
    shared : bool
        Whether all are trained on the same rows.
    stretch : float
        Factor of all log probabilities: above 1 over-confident, below 1 under-confident.
    shift : float
        What is added to the log probability of the last class.
    noise : float
        Share of the training labels that are replaced by others, drawn at random.
    """

    source: Callable[[Path], Source]
    models: tuple[str, ...]
    n_train: int = 100
    shared: bool = False
    stretch: float = 1.0
    shift: float = 0.0
    noise: float = 0.0


def predictions(panel: Panel, data: Path) -> tuple[Floats, NDArray[np.int64], list[str]]:
    """Probabilities (classifier, obs, class) of rows that no classifier was trained on, labels,
    names."""
    features, label = panel.source(data)
    rng = np.random.default_rng(20)
    order = rng.permutation(len(label))
    sets = 1 if panel.shared else len(panel.models)
    train = [order[panel.n_train * i : panel.n_train * (i + 1)] for i in range(sets)]
    rest = order[panel.n_train * sets :][:MOST_ROWS]
    n_classes = int(label.max()) + 1
    found = np.zeros((len(panel.models), len(rest), n_classes))
    for place, name in enumerate(panel.models):
        rows = train[0 if panel.shared else place]
        y = label[rows].copy()
        wrong = rng.random(len(y)) < panel.noise
        y[wrong] = rng.integers(n_classes, size=int(wrong.sum()))
        model = _MODELS[name](place).fit(features[rows], y)
        # A class that no training row is of keeps probability 0.
        found[place][:, model.classes_] = model.predict_proba(features[rest])
    names = [f"{name} {place}" for place, name in enumerate(panel.models)]
    return distorted(found, panel.stretch, panel.shift), label[rest], names


def distorted(probs: Floats, stretch: float = 1.0, shift: float = 0.0) -> Floats:
    """Stretch log probabilities and shift those of the last class."""
    if stretch == 1.0 and shift == 0.0:
        return probs
    logs = stretch * np.log(np.maximum(probs, 1e-12))
    logs[..., -1] += shift
    moved = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return np.asarray(moved / moved.sum(axis=-1, keepdims=True))


@cache
def _adult_table(data: Path) -> pd.DataFrame:
    return pd.read_csv(data / "adult.csv.gz", skipinitialspace=True)


# Columns that say the label outright are left out of the features.
_ADULT: Mapping[str, tuple[tuple[str, ...], Callable[[pd.DataFrame], Any]]] = {
    "income": (("income",), lambda t: t["income"].str.contains(">50K")),
    "sex": (("sex", "relationship"), lambda t: t["sex"] == "Male"),
    "degree": (("education", "education_num"), lambda t: t["education_num"] >= 13),
    "long hours": (("hours_per_week",), lambda t: t["hours_per_week"] > 45),
    "over 40": (("age",), lambda t: t["age"] > 40),
    "gain": (("capital_gain",), lambda t: t["capital_gain"] > 0),
    "government": (("workclass",), lambda t: t["workclass"].str.endswith("gov")),
    "self-employed": (("workclass",), lambda t: t["workclass"].str.startswith("Self-emp")),
    "foreign": (("native_country",), lambda t: t["native_country"] != "United-States"),
    "married": (
        ("marital_status", "relationship"),
        lambda t: t["marital_status"].str.startswith("Married"),
    ),
    "household": (
        ("relationship", "marital_status"),
        lambda t: t["relationship"].replace({"Wife": "Husband", "Other-relative": "Unmarried"}),
    ),
    "marital": (
        ("marital_status", "relationship"),
        lambda t: t["marital_status"].str.split("-").str[0].replace({"Separated": "Divorced"}),
    ),
    "schooling": (
        ("education", "education_num"),
        lambda t: np.searchsorted([9, 10, 13], t["education_num"], side="left"),
    ),
}


@cache
def _adult(data: Path, target: str) -> Source:
    table = _adult_table(data)
    left_out, label = _ADULT[target]
    rest = table.drop(columns=[*left_out, "fnlwgt"])
    words = list(rest.select_dtypes(exclude="number").columns)
    encode = make_column_transformer(
        (OneHotEncoder(min_frequency=200, sparse_output=False), words),
        remainder=StandardScaler(),
    )
    return encode.fit_transform(rest), _codes(label(table))


def adult(target: str) -> Callable[[Path], Source]:
    """Adult with one of its columns as label."""
    return lambda data: _adult(data, target)


def digits(classes: Callable[[NDArray[Any]], Any]) -> Callable[[Path], Source]:
    """Handwritten digits, put into classes; negative ones are left out."""

    def made(_: Path) -> Source:
        features, label = load_digits(return_X_y=True)
        code = np.asarray(classes(label)).astype(np.int64)
        return features[code >= 0], code[code >= 0]

    return made


def diabetes(_: Path) -> Source:
    """Whether diabetes progresses by more than the median."""
    features, value = load_diabetes(return_X_y=True)
    return features, (value > np.median(value)).astype(np.int64)


def breast_cancer(_: Path) -> Source:
    """Benign or malignant."""
    features, label = load_breast_cancer(return_X_y=True)
    return features, label.astype(np.int64)


def ecoli(data: Path) -> Source:
    """Sites of proteins: cytoplasm, inner membrane, periplasm, outer membrane."""
    table = pd.read_csv(data / "ecoli.csv")
    return table.drop(columns="class").to_numpy(), _codes(table["class"].str[0:2])


def _codes(values: Any) -> NDArray[np.int64]:
    return np.asarray(np.unique(np.asarray(values), return_inverse=True)[1], np.int64)


def _bank(**panels: Panel) -> dict[str, Panel]:
    return {name.replace("_", "-"): panel for name, panel in panels.items()}


_KINDS = ("LR", "NB", "tree")

DEVELOPMENT = _bank(
    income_one_set=Panel(adult("income"), ("LR", "kNN", "forest", "NB"), 200, shared=True),
    income_over=Panel(adult("income"), ("LR", "LR", "LR"), stretch=2.0),
    income_under=Panel(adult("income"), ("LR", "forest", "kNN"), stretch=0.4),
    income_shifted=Panel(adult("income"), ("LR", "LR", "forest"), 200, shift=1.2),
    income_plain=Panel(adult("income"), ("LR", "LR", "LR"), 1500),
    age_plain=Panel(adult("over 40"), ("LR", "forest", "LR", "forest"), 1000),
    income_seven=Panel(adult("income"), ("LR",) * 7, 50),
    income_noisy=Panel(adult("income"), ("LR", "forest", "kNN"), 150, noise=0.7),
    income_one=Panel(adult("income"), ("boosting",), 300),
    sex_mixed=Panel(adult("sex"), _KINDS),
    degree_trees=Panel(adult("degree"), ("tree", "forest", "extra", "boosting"), 150),
    hours_weak=Panel(adult("long hours"), ("LR", "NB"), 60),
    age_one_set=Panel(adult("over 40"), ("LR", "extra", "boosting"), 300, shared=True),
    gain_rare=Panel(adult("gain"), ("LR", "forest", "NB"), 400),
    foreign_shifted=Panel(adult("foreign"), ("LR", "forest"), 300, shift=1.0),
    household_four=Panel(adult("household"), ("LR", "forest", "kNN", "boosting"), 200),
    household_over=Panel(adult("household"), ("LR", "LR", "LR"), 150, shared=False, stretch=1.8),
    schooling_weak=Panel(adult("schooling"), ("LR", "NB", "forest"), 200, shared=True),
    digits_odd=Panel(digits(lambda y: y % 2), ("LR", "kNN", "forest", "NB"), 120),
    digits_eight=Panel(digits(lambda y: y == 8), ("LR", "forest", "extra"), 150, shared=True),
    diabetes=Panel(diabetes, ("LR", "kNN", "forest"), 40),
    ecoli=Panel(ecoli, ("LR", "kNN", "forest"), 40, shared=True),
)

REPORT = _bank(
    cancer_plain=Panel(breast_cancer, ("LR", "NB", "kNN", "forest"), 25),
    married_one_set=Panel(adult("married"), ("LR", "forest", "boosting", "NB"), 250, shared=True),
    married_under=Panel(adult("married"), ("LR", "extra"), 150, stretch=0.5),
    marital_four=Panel(adult("marital"), ("LR", "kNN", "forest"), 150),
    self_employed_shifted=Panel(adult("self-employed"), ("LR", "LR", "NB"), 250, shift=1.0),
    government_weak=Panel(adult("government"), ("LR", "tree", "boosting"), 80),
    digits_five=Panel(
        digits(lambda y: np.where(y < 5, y, -1)), ("flat LR", "kNN", "extra", "tree", "NB"), 80
    ),
    digits_high=Panel(digits(lambda y: y > 4), ("LR",) * 6, 60),
)
