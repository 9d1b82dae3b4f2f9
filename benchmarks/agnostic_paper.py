"""The experiments of the paper: documents of a topic model, and five classifiers of Adult.

python benchmarks/agnostic_paper.py                               # table 1, five runs, minutes
python benchmarks/agnostic_paper.py --documents 4000 --runs 2     # smaller
python benchmarks/agnostic_paper.py --adult adult.csv.gz          # figures 2, 3 and 4 as numbers

Figure 2: c_emp on test rows. Figure 3: ratio of the losses after and before isotonic calibration on
2,000 rows, false negatives at 1 - p and false positives at p. Figure 4: largest distance of the ROC
curve that calibrated scores imply from the true one, and how far the deviation region reaches.
"""

from __future__ import annotations

import argparse

import numpy as np
from _common import print_machine, print_table
from scipy.sparse import csr_array
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import bayescal as bc
from bayescal.results.roc_curves import FPR

TOPICS, WORDS, LENGTH, LABELS = 20, 1000, 200, 10


def documents(n: int, rng: np.random.Generator) -> tuple[csr_array, np.ndarray, np.ndarray]:
    """Word counts, labels of the first topic, and its probability given the topic mixture.

    A document has the topic if one of ten topics drawn from its mixture is it.
    """
    ranks = 1.0 / np.arange(1, WORDS + 1)
    topics = np.array([rng.permutation(ranks) for _ in range(TOPICS)])
    topics /= topics.sum(axis=1, keepdims=True)
    mixture = rng.dirichlet(np.ones(TOPICS), n)
    counts = np.array(
        [
            rng.multinomial(size, share @ topics)
            for size, share in zip(rng.poisson(LENGTH, n), mixture, strict=True)
        ]
    )
    rate = 1 - (1 - mixture[:, 0]) ** LABELS
    return csr_array(counts), (rng.random(n) < rate).astype(int), rate


def table_1(n: int, runs: int) -> None:
    """The paper does not say on which rows it measures: its figures are those of training rows."""
    found = []
    for seed in range(runs):
        counts, label, rate = documents(n, np.random.default_rng([20, seed]))
        counts = counts.astype(float)
        half = n // 2
        everything, rest = slice(None), slice(half, None)
        figures: list[float] = []
        for train, test in ((everything, everything), (slice(half), rest)):
            model = LogisticRegression(max_iter=300).fit(counts[train], label[train])
            score = model.predict_proba(counts[test])[:, 1]
            figures.append(float(np.abs(score - rate[test]).mean()))
            figures.append(bc.agnostic.interval_measure(score, label=label[test]).c)
        found.append((*figures, np.abs(label.mean() - rate).mean(), label.mean()))
    mean, spread = np.mean(found, axis=0), np.std(found, axis=0)
    printed = ("0.1270", "0.0083", "", "", "0.2022", "0.3448")
    names = (
        "l1 error, training rows",
        "c_emp, training rows",
        "l1 error, other half",
        "c_emp, other half",
        "trivial l1 error",
        "frequency of labels",
    )
    lines = [
        (name, float(m), float(s), paper)
        for name, m, s, paper in zip(names, mean, spread, printed, strict=True)
    ]
    print_table(f"Table 1: {n} documents, {runs} runs", ("", "mean", "sd", "paper"), lines)


def classifiers() -> dict[str, object]:
    return {
        "naive Bayes": GaussianNB(),
        "boosting": GradientBoostingClassifier(random_state=20),
        "SVM": make_pipeline(StandardScaler(), LinearSVC(random_state=20)),
        "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        "forest": RandomForestClassifier(100, random_state=20),
    }


def rescaled(name: str, model: object, features: np.ndarray) -> np.ndarray:
    """Scores; those of large-margin methods by their least and largest value, as in the paper."""
    if name not in ("boosting", "SVM"):
        return model.predict_proba(features)[:, 1]
    margin = model.decision_function(features)
    return (margin - margin.min()) / np.ptp(margin)


def loss(score: np.ndarray, label: np.ndarray, p: float) -> float:
    return float(np.mean(np.where(score >= p, p * (label == 0), (1 - p) * (label == 1))))


def adult(path: str) -> None:
    import pandas as pd

    table = pd.read_csv(path)
    target = table.columns[-1]
    label = table[target].astype(str).str.contains(">50K").to_numpy().astype(int)
    features = pd.get_dummies(table.drop(columns=target)).to_numpy(float)
    order = np.random.default_rng(20).permutation(len(label))
    train, known, valid, test = np.split(order, [4000, 6000, 8000])
    lines = []
    for name, model in classifiers().items():
        model.fit(features[train], label[train])
        score = rescaled(name, model, features)
        link = bc.agnostic.isotonic_calibration(score[known], label=label[known])
        after = link(score[test])
        ratios = [
            loss(after, label[test], p) / loss(score[test], label[test], p)
            for p in np.arange(0.1, 0.95, 0.1)
        ]
        implied, true = bc.agnostic.roc(after), bc.agnostic.roc(after, probability=label[test])
        away = np.abs(
            np.interp(FPR, implied.fpr, implied.tpr) - np.interp(FPR, true.fpr, true.tpr)
        ).max()
        c = bc.agnostic.interval_measure(link(score[valid]), label=label[valid]).c
        lines.append(
            (
                name,
                bc.agnostic.interval_measure(score[test], label=label[test]).c,
                float(np.mean(ratios)),
                float(away),
                c / float(after.mean()),
                true.auc,
                implied.auc,
            )
        )
    header = ("", "c_emp", "loss ratio", "ROC off by", "region", "AUC", "AUC, implied")
    print_table("Adult: figures 2, 3 and 4", header, lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--adult", help="adult.csv.gz: figures 2 to 4 in place of table 1")
    given = parser.parse_args()
    print_machine("scikit-learn")
    if given.adult:
        adult(given.adult)
    else:
        table_1(given.documents, given.runs)


if __name__ == "__main__":
    main()
