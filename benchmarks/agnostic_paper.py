"""The experiments of the paper: documents of a topic model, and five classifiers of Adult.

python benchmarks/agnostic_paper.py                               # table 1 and figure 1, minutes
python benchmarks/agnostic_paper.py --exponent 0.95               # the same, other words
python benchmarks/agnostic_paper.py --documents 4000 --runs 2     # smaller
python benchmarks/agnostic_paper.py --adult adult.csv.gz          # figures 2, 3 and 4 as numbers
python benchmarks/agnostic_paper.py --claim-7                     # how far Claim 7's distance goes
python benchmarks/agnostic_paper.py --render                      # table 1, figure 1 from disk

Table 1: a classifier for each of the 20 topics, on all documents and on the half that it was not
trained on. The k-th word of a topic has a probability in proportion to k ** -exponent; the paper
says no more than "power law". Figure 1: documents by their weight w(X), the classifier's score
beside the mean of the true probabilities, for the first topic. Figure 2: c_emp on test rows. Figure
3: ratio of the losses after and before isotonic calibration on 2,000 rows, false negatives at 1 - p
and false positives at p. Figure 4: largest distance of the ROC curve that calibrated scores imply
from the true one, that of the calibration rows' labels, and how far the deviation region reaches.
"""

from __future__ import annotations

import argparse
from typing import Any, Final

import matplotlib as mpl
import numpy as np
from _common import STATIC, print_machine, print_table
from _results import print_provenance, read, write
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression
from scipy.sparse import csr_array
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import bayescal as bc
from bayescal.plots.style import BLUE, GREY, INK, VERMILLION
from bayescal.results.curves import FPR

type Floats = NDArray[np.float64]

TOPICS, WORDS, LENGTH, LABELS = 20, 1000, 200, 10
# What the paper prints: mean and standard deviation of five runs.
PRINTED: Final = {
    "l1 error": (0.1270, 0.0008),
    "c_emp": (0.0083, 0.0003),
    "trivial l1 error": (0.2022, 0.0001),
    "frequency of labels": (0.3448, 0.0001),
    "l1 error, other half": None,
    "c_emp, other half": None,
}


def documents(
    n: int, rng: np.random.Generator, exponent: float
) -> tuple[csr_array, NDArray[np.bool_], Floats]:
    """Word counts, labels of each topic, and their probabilities given the topic mixture.

    A document has a topic if one of ten topics drawn from its mixture is it.
    """
    ranks = np.arange(1, WORDS + 1) ** -exponent
    topics = np.array([rng.permutation(ranks) for _ in range(TOPICS)])
    topics /= topics.sum(axis=1, keepdims=True)
    mixture = rng.dirichlet(np.ones(TOPICS), n)
    counts = rng.multinomial(rng.poisson(LENGTH, n), mixture @ topics)
    return (
        csr_array(counts.astype(float)),
        rng.multinomial(LABELS, mixture) > 0,
        1 - (1 - mixture) ** LABELS,
    )


def of_topic(counts: csr_array, label: NDArray[np.bool_], rate: Floats) -> tuple[float, ...]:
    """The figures of one topic, in the order of `PRINTED`.

    The paper does not say on which rows it measures: its figures are those of training rows.
    """
    half = len(label) // 2
    everything, first, rest = slice(None), slice(half), slice(half, None)
    found: list[float] = []
    for train, test in ((everything, everything), (first, rest)):
        model = LogisticRegression(max_iter=300).fit(counts[train], label[train])
        score = model.predict_proba(counts[test])[:, 1]
        found.append(float(np.abs(score - rate[test]).mean()))
        found.append(bc.agnostic.interval_measure(score, label=label[test]).c)
    frequency = float(label.mean())
    trivial = float(np.abs(frequency - rate).mean())
    return found[0], found[1], trivial, frequency, found[2], found[3]


def by_weight(counts: csr_array, label: NDArray[np.bool_], rate: Floats) -> dict[str, list[float]]:
    """Figure 1: in forty bins of w(X), the score and what is known of the true probabilities."""
    model = LogisticRegression(max_iter=300).fit(counts, label)
    weight = counts @ model.coef_[0]
    bins = np.array_split(np.argsort(weight), 40)
    of_bins = {
        "weight": weight,
        "score": model.predict_proba(counts)[:, 1],
        "label": label,
        "probability": rate,
    }
    found = {name: [float(of[rows].mean()) for rows in bins] for name, of in of_bins.items()}
    for name, share in (("low", 0.1), ("high", 0.9)):
        found[name] = [float(np.quantile(rate[rows], share)) for rows in bins]
    return found


def topic_model(n: int, runs: int, exponent: float) -> None:
    """Run the experiment; figures of every run and topic go to disk, (run, topic, figure)."""
    found, picture = [], {}
    for seed in range(runs):
        counts, label, rate = documents(n, np.random.default_rng([20, seed]), exponent)
        found.append([of_topic(counts, label[:, k], rate[:, k]) for k in range(TOPICS)])
        if seed == 0:
            picture = by_weight(counts, label[:, 0], rate[:, 0])
    content = {"documents": n, "exponent": exponent, "figures": found, "by_weight": picture}
    write(name(exponent), **content)


def name(exponent: float) -> str:
    """Where the figures are kept."""
    return "agnostic_paper" if exponent == 1 else f"agnostic_paper_{exponent:g}"


def table_1(content: dict[str, Any]) -> None:
    """Means of the topics in each run, and their spread over the runs and over single topics."""
    figures = np.array(content["figures"])
    runs = figures.mean(axis=1)
    spread = runs.std(axis=0, ddof=1) if len(runs) > 1 else np.full(len(PRINTED), np.nan)
    lines = [
        (name, *map(float, values), *(printed or ("", "")))
        for (name, printed), *values in zip(
            PRINTED.items(), runs.mean(axis=0), spread, figures.std(axis=(0, 1)), strict=True
        )
    ]
    header = ("", "mean of topics", "sd of runs", "sd of topics", "paper", "paper's sd")
    title = (
        f"Table 1: {content['documents']} documents, exponent {content['exponent']:g}, "
        f"{TOPICS} topics, {len(runs)} runs"
    )
    print_table(title, header, lines)


def figure_1(content: dict[str, Any]) -> None:
    """Draw figure 1: far from the single probabilities, near their mean at each weight."""
    found = content["by_weight"]
    with mpl.rc_context({"font.size": 9.0}):
        figure = Figure(figsize=(5.2, 3.4), layout="constrained")
        axes = figure.subplots()
        axes.fill_between(
            found["weight"], found["low"], found["high"], color=GREY, alpha=0.3, lw=0,
            label="P(Y = 1 | X), central 80 % of documents",
        )  # fmt: skip
        axes.plot(found["weight"], found["probability"], color=INK, lw=1, label="their mean")
        axes.plot(found["weight"], found["label"], "o", color=BLUE, ms=3, label="share of labels")
        axes.plot(found["weight"], found["score"], color=VERMILLION, lw=1.5, label="score f(X)")
        axes.set(xlabel="weight w(X)", ylabel="probability of the topic", ylim=(0, 1))
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, fontsize=8)
        figure.savefig(STATIC / "agnostic_figure_1.png", metadata={"Software": None}, dpi=120)


def claim_7(n: int = 1000, samples: int = 1000) -> None:
    """Largest |G_e - cv(F)| of samples from uniform scores, beside both bounds at .95."""
    grid = (np.arange(20_000) + 0.5) / 20_000
    rates = {
        "f": lambda score: score,
        "1/2 + .3 sin 9 f": lambda score: 0.5 + 0.3 * np.sin(9 * score),
        "1/2": lambda score: np.full_like(score, 0.5),
    }
    rng, lines = np.random.default_rng(20), []
    printed = bc.agnostic.isotonic_deviation(n, 0.01).value
    sharp = bc.agnostic.isotonic_uniform_deviation(n, 0.05).value
    for name, rate in rates.items():
        hull = np.cumsum(isotonic_regression(rate(grid)).x) / len(grid)
        away = []
        for _ in range(samples):
            score = rng.random(n)
            link = bc.agnostic.isotonic_calibration(score, label=rng.random(n) < rate(score))
            away.append(np.abs(np.cumsum(link(grid)) / len(grid) - hull).max())
        quantile = float(np.quantile(away, 0.95))
        lines.append((name, float(np.mean(away)), quantile, float(max(away)), sharp, printed))
    header = ("P(Y = 1 | f)", "mean", "95 %", "largest", "two deviations", "as printed")
    print_table(f"Claim 7: {samples} samples of {n} rows", header, lines)


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


def tpr_at_fpr(curve: Any) -> Floats:
    """True positive rates at fixed false positive rates."""
    return np.interp(FPR, curve.fpr, curve.tpr)


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
        implied, true, at_hand = (
            bc.agnostic.roc(after),
            bc.agnostic.roc(after, probability=label[test]),
            bc.agnostic.roc(link(score[known]), probability=label[known]),
        )
        away, away_at_hand = (
            float(np.abs(tpr_at_fpr(curve) - tpr_at_fpr(true)).max())
            for curve in (implied, at_hand)
        )
        c = bc.agnostic.interval_measure(link(score[valid]), label=label[valid]).c
        lines.append(
            (
                name,
                bc.agnostic.interval_measure(score[test], label=label[test]).c,
                float(np.mean(ratios)),
                away,
                away_at_hand,
                c / float(after.mean()),
                true.auc,
                implied.auc,
            )
        )
    write("agnostic_paper_adult", lines=lines)


def print_adult(content: dict[str, Any]) -> None:
    header = (
        "",
        "c_emp",
        "loss ratio",
        "ROC off by",
        "that of 2,000 rows",
        "region",
        "AUC",
        "AUC, implied",
    )
    print_table("Adult: figures 2, 3 and 4", header, content["lines"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--exponent", type=float, default=1.0, help="of the power law of words")
    parser.add_argument("--adult", help="adult.csv.gz: figures 2 to 4 in place of table 1")
    parser.add_argument("--claim-7", action="store_true")
    parser.add_argument("--render", action="store_true", help="print what is on disk")
    given = parser.parse_args()
    if given.claim_7:
        print_machine()
        claim_7()
        return
    if given.adult:
        adult(given.adult)
    elif not given.render:
        topic_model(given.documents, given.runs, given.exponent)
    if not given.adult:
        content = read(name(given.exponent))
        print_provenance(content)
        table_1(content)
        if given.exponent == 1:
            figure_1(content)
    if given.adult or given.render:
        content = read("agnostic_paper_adult")
        print_provenance(content)
        print_adult(content)


if __name__ == "__main__":
    main()
