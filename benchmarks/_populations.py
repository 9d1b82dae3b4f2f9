"""Real classifiers as finite populations, whose calibration error is known exactly.

Classifiers are trained on some rows of a data set; the rest, with their scores and labels, is the
population. Rows drawn from it with replacement are independent, and P(Y = 1 | score) is the share
of positives among the population's rows of that score. Scores are few-valued: rounded, or shares of
leaves, neighbours or votes. The rows of a population are few all the same, so that its curve is
rougher than that of rows without end; `label_noise` says how much of the error may be due to it.

There are two banks that share no classifier: `dev` to develop a model on, `report` to judge it.
Adult is cut into halves, one a bank; the digits of one bank are not those of the other. A third,
`rates`, has the scores of `report` and labels drawn anew from rates that are fitted to it: its
curves are a real classifier's, its population has no end.

python benchmarks/_populations.py --data DIR            # train them all, and say what they are

DIR holds adult.csv.gz; the other data sets come with scikit-learn.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from _common import print_table
from numpy.typing import NDArray
from scipy.stats import binom
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import bayescal as bc

type Floats = NDArray[np.float64]
type Labels = NDArray[np.int64]

# Data set and seed of the training rows.
BANKS = {
    "dev": (("adult", 0), ("adult", 1), ("adult", 2), ("digit3", 0), ("digit8", 1), ("cancer", 2)),
    "report": (("adult", 10), ("adult", 11), ("digit1", 10), ("digit5", 11), ("digit9", 12)),
}
RATES = "rates"
TRAINED_ON = {"adult": 4000, "digit": 600, "cancer": 150}
CACHE = Path(tempfile.gettempdir()) / "bayescal-populations"


class Where(NamedTuple):
    """The directory of adult.csv.gz, needed to train on it, and that of trained scores."""

    data: Path | None
    cache: Path
    fitted_rates: bool = False


@dataclass(frozen=True, eq=False)
class Population:
    """Scores (classifier, obs) and labels (obs,) of every row there is."""

    name: str
    classifiers: Sequence[str]
    score: Floats
    label: Labels

    def of(self, classifier: str) -> Floats:
        """Scores of one classifier."""
        row: Floats = self.score[list(self.classifiers).index(classifier)]
        return row

    def tce(self, classifier: str) -> float:
        """E |P(Y = 1 | f) - f| over the population's rows."""
        return calibration_error(self.of(classifier), self.label)

    def difference(self, first: str, second: str) -> float:
        """Difference of two calibration errors."""
        return self.tce(first) - self.tce(second)

    def label_noise(self, classifier: str) -> float:
        """Expected error of a calibrated classifier with as many labels drawn at each score.

        De Moivre's mean absolute deviation of a binomial, summed over the scores. Where it is
        nearly the error itself, the population's curve is rough because it has few rows.
        """
        value, count = np.unique(self.of(classifier), return_counts=True)
        k = np.floor(count * value) + 1
        deviation = 2 * k * (1 - value) * binom.pmf(k, count, value)
        return float(deviation.sum() / count.sum())

    def scores(self, n: int, rng: np.random.Generator, *classifiers: str) -> bc.Scores:
        """Rows drawn with replacement, scored by one classifier or by several."""
        rows = rng.integers(len(self.label), size=n)
        drawn = {name: self.of(name)[rows] for name in classifiers}
        return bc.Scores.stack(drawn, y_true=self.label[rows])

    def pu_scores(
        self, size: tuple[int, int], rng: np.random.Generator, classifier: str
    ) -> bc.PUScores:
        """Positives drawn from the positives, unlabelled rows from all."""
        score = self.of(classifier)
        return bc.PUScores(
            positive=rng.choice(score[self.label == 1], size[0]),
            unlabeled=rng.choice(score, size[1]),
            classifier=classifier,
        )


class FittedRates(Population):
    """Labels drawn from isotonic rates, which are then those of the scores: nothing is noise.

    Isotonic, as that takes no form of curve but a rising one for given, and none of the model's. A
    row that two classifiers score has the mean of their rates.
    """

    def tce(self, classifier: str) -> float:
        """E |P(Y = 1 | f) - f|."""
        return calibration_error(self.of(classifier), self.rate(classifier))

    def difference(self, first: str, second: str) -> float:
        """Difference of two calibration errors, the labels being those of both."""
        rate = self.rate(first, second)
        return calibration_error(self.of(first), rate) - calibration_error(self.of(second), rate)

    def label_noise(self, classifier: str) -> float:
        """None: the rates are known, not counted."""
        return 0.0

    def scores(self, n: int, rng: np.random.Generator, *classifiers: str) -> bc.Scores:
        """Rows scored by one classifier or by two, with labels of their own."""
        rows = rng.integers(len(self.label), size=n)
        label = rng.random(n) < self.rate(*classifiers)[rows]
        return bc.Scores.stack({name: self.of(name)[rows] for name in classifiers}, y_true=label)

    def pu_scores(
        self, size: tuple[int, int], rng: np.random.Generator, classifier: str
    ) -> bc.PUScores:
        """Positives drawn by their rates, unlabelled rows from all."""
        score, rate = self.of(classifier), self.rate(classifier)
        return bc.PUScores(
            positive=rng.choice(score, size[0], p=rate / rate.sum()),
            unlabeled=rng.choice(score, size[1]),
            classifier=classifier,
        )

    def rate(self, *classifiers: str) -> Floats:
        """Rate of the event at each row."""
        return np.mean([isotonic_rate(self, name) for name in classifiers], axis=0)


def calibration_error(score: Floats, expected: Floats | Labels) -> float:
    """E |E(Y | f) - f| over rows of expected labels."""
    value, place = np.unique(score, return_inverse=True)
    excess = np.bincount(place, expected) - np.bincount(place) * value
    return float(np.abs(excess).sum() / len(place))


@cache
def isotonic_rate(found: Population, classifier: str) -> Floats:
    """Rate of the event at each row's score."""
    score = found.of(classifier)
    return np.asarray(IsotonicRegression().fit(score, found.label).predict(score))


def names(bank: str) -> list[str]:
    """Names of a bank's populations."""
    return [f"{data_set}-{seed}" for data_set, seed in BANKS.get(bank, BANKS["report"])]


@cache
def population(name: str, where: Where) -> Population:
    """A population by name, from the cache, or trained and put there."""
    path = where.cache / f"{name}.npz"
    if not path.exists():
        found = train(name, where.data)
        where.cache.mkdir(parents=True, exist_ok=True)
        partial = where.cache / f"{name}.part.npz"
        np.savez_compressed(
            partial, classifiers=found.classifiers, score=found.score, label=found.label
        )
        partial.replace(path)
    with np.load(path, allow_pickle=False) as file:
        kind = FittedRates if where.fitted_rates else Population
        return kind(name, file["classifiers"].tolist(), file["score"], file["label"])


def train(name: str, data: Path | None) -> Population:
    """Train every kind of classifier, and score the rows that are left."""
    data_set, seed = name.rsplit("-", 1)
    bank = next(bank for bank in BANKS if name in names(bank))
    features, label = rows_of(data_set, bank, data)
    order = np.random.default_rng(int(seed)).permutation(len(label))
    first, rest = np.split(order, [TRAINED_ON[data_set.rstrip("0123456789")]])
    encode = encoder(features)
    x, new = encode.fit_transform(features.iloc[first]), encode.transform(features.iloc[rest])
    kinds = classifiers(int(seed))
    score = np.stack([kind(x, label[first], new) for kind in kinds.values()])
    return Population(name, list(kinds), score, label[rest])


def rows_of(data_set: str, bank: str, data: Path | None) -> tuple[pd.DataFrame, Labels]:
    """Features and labels of a data set."""
    if data_set.startswith("digit"):
        features, digit = load_digits(return_X_y=True, as_frame=True)
        return features, (digit == int(data_set[-1])).to_numpy(np.int64)
    if data_set == "cancer":
        features, benign = load_breast_cancer(return_X_y=True, as_frame=True)
        return features, 1 - benign.to_numpy(np.int64)
    if data is None:
        raise SystemExit("--data is needed: the directory of adult.csv.gz")
    table = pd.read_csv(data / "adult.csv.gz", skipinitialspace=True)
    halves = np.array_split(np.random.default_rng(20).permutation(len(table)), 2)
    table = table.iloc[halves[list(BANKS).index(bank)]]
    label = table.pop(table.columns[-1]).str.contains(">50K").to_numpy(np.int64)
    return table, label


def encoder(features: pd.DataFrame) -> Any:
    """Words as indicators, numbers standardised."""
    numbers = features.select_dtypes("number").columns
    words = features.columns.difference(numbers)
    return make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), list(words)),
        (StandardScaler(), list(numbers)),
    )


type Kind = Callable[[Floats, Labels, Floats], Floats]
"""From training features and labels, and new features, to scores."""


def classifiers(seed: int) -> dict[str, Kind]:
    """Every kind of classifier, by name."""
    leaves = {"min_samples_leaf": 5, "random_state": seed}
    forest = RandomForestClassifier(25, max_depth=5, random_state=seed)
    boosted = HistGradientBoostingClassifier(random_state=seed)
    return {
        "tree 75": probability(DecisionTreeClassifier(max_leaf_nodes=75, **leaves)),
        # All features at every split would give the same few leaves again on easy data.
        "tree 20": probability(
            DecisionTreeClassifier(max_leaf_nodes=20, max_features="sqrt", **leaves)
        ),
        "kNN 15": probability(KNeighborsClassifier(15)),
        "forest": probability(forest, 2),
        "NB": probability(GaussianNB(var_smoothing=1e-2), 2),
        "boosted": probability(boosted, 2),
        "LR .1": probability(LogisticRegression(max_iter=2000), 1),
        "LR .01": probability(LogisticRegression(max_iter=2000), 2),
        "vote of 7": votes(RandomForestClassifier(7, max_leaf_nodes=75, **leaves)),
        "hard": votes(RandomForestClassifier(1, max_leaf_nodes=20, **leaves)),
    }


def probability(model: Any, decimals: int | None = None) -> Kind:
    """Probability of the event, rounded where `decimals` says so."""

    def score(x: Floats, label: Labels, new: Floats) -> Floats:
        found = model.fit(x, label).predict_proba(new)[:, 1]
        return np.asarray(found if decimals is None else np.round(found, decimals))

    return score


def votes(forest: RandomForestClassifier) -> Kind:
    """Share of trees that vote for the event."""

    def score(x: Floats, label: Labels, new: Floats) -> Floats:
        trees = forest.fit(x, label).estimators_
        return np.asarray(np.mean([tree.predict(new) for tree in trees], axis=0))

    return score


def add_options(parser: argparse.ArgumentParser, *more: str) -> None:
    """What every program on populations can be told; `more` banks than the two of labels."""
    parser.add_argument("--bank", choices=(*BANKS, *more), default="dev")
    parser.add_argument("--data", type=Path, help="directory of adult.csv.gz")
    parser.add_argument("--cache", type=Path, default=CACHE, help="directory of trained scores")
    parser.add_argument("--populations", nargs="+", help="only these of the bank, as adult-0")


def where(given: argparse.Namespace) -> Where:
    """Where populations come from."""
    return Where(given.data, given.cache, given.bank == RATES)


def chosen(given: argparse.Namespace) -> list[Population]:
    """Populations of the bank, trained here if they are not in the cache."""
    return [population(name, where(given)) for name in given.populations or names(given.bank)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="directory of adult.csv.gz")
    parser.add_argument("--cache", type=Path, default=CACHE, help="directory of trained scores")
    given = parser.parse_args()
    for bank in BANKS:
        rows = []
        for name in names(bank):
            found = population(name, where(given))
            for classifier in found.classifiers:
                score = found.of(classifier)
                distinct, end = len(np.unique(score)), np.mean((score == 0) | (score == 1))
                size, share = len(score), float(found.label.mean())
                errors = found.tce(classifier), found.label_noise(classifier)
                rows.append((name, classifier, size, share, distinct, float(end), *errors))
        print_table(
            f"Bank {bank}",
            ("population", "classifier", "rows", "positive", "scores", "at 0 or 1", "TCE", "noise"),
            rows,
        )


if __name__ == "__main__":
    main()
