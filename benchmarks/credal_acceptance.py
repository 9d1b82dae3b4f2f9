"""Credal intervals on real scores: probabilities, decisions, and whether bounds cover label rates.

python benchmarks/credal_acceptance.py --data DIR       # 20 splits; the posterior of some of them
python benchmarks/credal_acceptance.py --render

DIR holds cifar10_vgg.npz (probs, labels) and adult.csv.gz. CIFAR-10: ten classes, calibrated on
1,000 rows, judged on the other 4,000. Adult: logistic regression, naive Bayes and a tree, each
trained on 100 rows; calibrated on 100 or 1,000 rows, judged on the other 47,000.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from _common import print_table
from _results import begun, print_provenance, read, write
from _ssme_tasks import adult, binary
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

import bayescal as bc
from bayescal.core.probability_intervals import of_both_classes
from bayescal.quantities.credal.credal_sets import discount, is_proper, project, reachable
from bayescal.quantities.credal.estimator import interval_dominance, zero_one
from bayescal.quantities.credal.posterior import CredalCase
from bayescal.results.access import is_converged

type Floats = NDArray[np.float64]
type Figures = dict[str, float]

FLOOR = 1e-12
BINS = 20
# Rows at a time, and every which draw of CIFAR-10's posterior: memory.
CHUNK = 500
THIN = 4
SIZES = {"cifar10": (1000,), "adult": (100, 1000)}
PRIORS = {
    "curve": bc.credal.MonotoneCurve(),
    "steps": bc.credal.IncrementIsotonic(),
    "bins": bc.credal.ImpreciseDirichlet(),
}

PRIORS_OF = {"cifar10": ("curve",), "adult": tuple(PRIORS)}


class Split(NamedTuple):
    """Calibration rows and the rows that all is judged on."""

    prob: Floats
    label: NDArray[np.int64]
    new_prob: Floats
    new_label: NDArray[np.int64]

    @classmethod
    def of(cls, prob: Floats, label: NDArray[np.int64], n: int, seed: int) -> Split:
        """Cut rows at random."""
        order = np.random.default_rng(seed).permutation(len(label))
        first, rest = order[:n], order[n:]
        return cls(prob[first], label[first], prob[rest], label[rest])

    @property
    def is_binary(self) -> bool:
        """Whether there are two classes."""
        return self.prob.shape[1] == 2

    def data(self) -> bc.CalibrationSplit:
        """What bayescal is given: no label of the rows judged on."""
        known, new = (p[:, 1] if self.is_binary else p for p in (self.prob, self.new_prob))
        return bc.CalibrationSplit(
            calibration=bc.Scores(y_true=self.label, y_prob=known, classes=self.classes),
            target=new,
        )

    @property
    def classes(self) -> list[int]:
        """All classes, whether seen or not."""
        return list(range(self.prob.shape[1]))


def point(split: Split) -> tuple[dict[str, Figures], Figures]:
    """Probabilities of each kind judged by the labels, and the credal sets of p0 and p1."""
    found = bc.credal.estimate(split.data())
    pair = (found.p0, found.p1)
    low, high = discount(*(of_both_classes(*pair) if split.is_binary else pair))
    kinds = {
        "raw": split.new_prob,
        "temperature": tempered(split.new_prob, temperature(split.prob, split.label)),
        "merged": binary(found.prob) if split.is_binary else found.prob,
        "projected": project(split.new_prob, low, high),
    }
    about = decisions(low, high, split)
    about |= {"improper": float(found.improper.mean()), "width": width(*pair)}
    if split.is_binary:
        about |= held_rates(split, *pair)
    return {name: judged(prob, split) for name, prob in kinds.items()}, about


def posterior(split: Split, prior: Any, seed: int) -> tuple[Figures, Figures]:
    """The same of posterior means and of the 90% bounds."""
    data, priors = split.data(), bc.credal.Priors(prior)
    result = bc.fit(bc.credal, data, priors=priors, seed=seed)
    about = {"converged": float(is_converged(result))}
    if split.is_binary:
        mean, low, high = binary_bounds(result, split.new_prob[:, 1])
        about |= {"improper": 0.0, "width": width(low, high)} | held_rates(split, low, high)
        about |= decisions(*of_both_classes(low, high), split)
        return judged(binary(mean), split), about
    chunks = np.array_split(np.arange(len(split.new_label)), len(split.new_label) // CHUNK)
    parts = [at_rows(result, data, priors, rows) for rows in chunks]
    mean, low, high = (np.concatenate(each) for each in zip(*parts, strict=True))
    about |= {"improper": float(1 - is_proper(low, high).mean()), "width": width(low, high)}
    about |= decisions(*discount(low, high), split)
    return judged(mean / mean.sum(axis=1, keepdims=True), split), about


def binary_bounds(result: Any, score: Floats) -> tuple[Floats, Floats, Floats]:
    """Posterior mean and 90% bounds of label 1, linear between the 200 rows of a result."""
    sets = bc.credal.credible_sets(result)
    held = score[result["constant_data"]["target_row"].to_numpy()]
    order = np.argsort(held)
    mean = result["posterior"]["prob"].mean(["chain", "draw"]).to_numpy()
    each_row = (mean, sets.lower[:, 1], sets.upper[:, 1])
    found = (np.interp(score, held[order], each[order]) for each in each_row)
    return tuple(found)


def at_rows(
    result: Any, data: bc.CalibrationSplit, priors: Any, rows: NDArray[np.intp]
) -> tuple[Floats, Floats, Floats]:
    """Posterior mean and 90% bounds of each class at other rows than those of the result."""
    case = CredalCase.of(data, rows, priors)
    thinned = result["posterior"].to_dataset().isel(draw=slice(None, None, THIN))
    draws = {
        name: thinned[name].transpose("chain", "draw", ...).to_numpy()
        for name in case.model.variables
    }
    prob, lower, upper = (
        part.reshape(-1, *part.shape[2:]) for part in case.with_pseudo_observations(draws)
    )
    return prob.mean(axis=0), np.quantile(lower, 0.05, axis=0), np.quantile(upper, 0.95, axis=0)


def width(low: Floats, high: Floats) -> float:
    """Mean width over rows and classes."""
    return float((high - low).mean())


def temperature(prob: Floats, label: NDArray[np.int64]) -> float:
    """Temperature of the least log loss."""

    def loss(log_t: float) -> float:
        found = log_softmax(np.log(np.maximum(prob, FLOOR)) / np.exp(log_t), axis=1)
        return -float(found[np.arange(len(label)), label].mean())

    return float(np.exp(minimize_scalar(loss, bounds=(-4, 4), method="bounded").x))


def tempered(prob: Floats, value: float) -> Floats:
    """Probabilities at a temperature."""
    return np.asarray(softmax(np.log(np.maximum(prob, FLOOR)) / value, axis=1))


def judged(prob: Floats, split: Split) -> Figures:
    """Log loss, accuracy, and ECE in 15 bins of equal mass: of label 1, or of the top class."""
    y = split.new_label
    clean = prob / prob.sum(axis=1, keepdims=True)
    scores = bc.Scores(
        y_true=y, y_prob=clean[:, 1] if split.is_binary else clean, classes=split.classes
    )
    return {
        "log loss": float(-np.log(np.maximum(clean[np.arange(len(y)), y], FLOOR)).mean()),
        "accuracy": float((clean.argmax(axis=1) == y).mean()),
        "ece": float(bc.ece.estimate(scores).ece),
    }


def decisions(low: Floats, high: Floats, split: Split) -> Figures:
    """What interval dominance leaves of the classes, and whether the label is among it."""
    kept = interval_dominance(zero_one(low.shape[1]), *reachable(low, high))
    one, right = kept.sum(axis=1) == 1, kept[np.arange(len(kept)), split.new_label]
    return {
        "decided": float(one.mean()),
        "right if decided": float(right[one].mean()) if one.any() else np.nan,
        "kept if not": float(right[~one].mean()) if not one.all() else np.nan,
    }


def held_rates(split: Split, low: Floats, high: Floats) -> Figures:
    """Share of bins of the score whose rate of label 1 lies between the bounds' means."""
    score, label = split.new_prob[:, 1], split.new_label
    edges = np.unique(np.quantile(score, np.arange(1, BINS) / BINS))
    place = np.searchsorted(edges, score, side="left")
    count = np.bincount(place)
    rate, least, most = (
        np.bincount(place, each)[count > 0] / count[count > 0] for each in (label, low, high)
    )
    # The rate of a bin is not its probability: two standard errors.
    slack = 2 * np.sqrt(rate * (1 - rate) / count[count > 0])
    return {
        "rates inside": float(((least <= rate) & (rate <= most)).mean()),
        "or by chance": float(((least <= rate + slack) & (rate - slack <= most)).mean()),
    }


def tables(data: Path) -> Iterable[tuple[str, str, Floats, NDArray[np.int64]]]:
    """Data set, classifier, probabilities and labels."""
    with np.load(data / "cifar10_vgg.npz", allow_pickle=False) as file:
        prob = file["probs"].astype(np.float64)
        yield (
            "cifar10",
            "VGG-16",
            prob / prob.sum(axis=1, keepdims=True),
            file["labels"].astype(int),
        )
    task = adult(data)[1]
    for name, prob in zip(task.classifiers, task.probs, strict=True):
        yield "adult", name, prob, task.labels


def run(data: Path, splits: int, sampled: Mapping[str, int]) -> None:
    """Measure, and write after every split; go on where a run of the same splits was stopped."""
    settings = {"splits": splits, "sampled": dict(sampled)}
    figures = begun("credal_acceptance", **settings).get("figures", [])
    done = {tuple(row[:4]) for row in figures}
    for name, classifier, prob, label in tables(data):
        for n, seed in product(SIZES[name], range(splits)):
            if (name, classifier, n, seed) in done:
                continue
            split = Split.of(prob, label, n, seed)
            probabilities, about = point(split)
            bounds = {"p0, p1": about}
            if seed < sampled[name]:
                for kind in PRIORS_OF[name]:
                    probabilities[kind], bounds[kind] = posterior(split, PRIORS[kind], seed)
            figures.append([name, classifier, n, seed, probabilities, bounds])
            write("credal_acceptance", **settings, figures=figures)
            print(name, classifier, n, seed, flush=True)


def in_words(values: list[float]) -> str:
    """Mean and its standard error over splits."""
    known = np.array([value for value in values if np.isfinite(value)])
    if not len(known):
        return ""
    if np.ptp(known) == 0:
        return f"{known[0]:.4g}"
    return f"{known.mean():.4f} ± {known.std(ddof=1) / np.sqrt(len(known)):.4f}"


def render() -> None:
    """Print the tables of the figures on disk."""
    content = read("credal_acceptance")
    print_provenance(content)
    rows = content["figures"]
    cells = list(dict.fromkeys((name, classifier, n) for name, classifier, n, *_ in rows))
    for place, title in ((4, "Probabilities"), (5, "Bounds and decisions")):
        lines, columns = [], {}
        for cell in cells:
            each = [row[place] for row in rows if tuple(row[:3]) == cell]
            for kind in dict.fromkeys(kind for found in each for kind in found):
                of_kind = [found[kind] for found in each if kind in found]
                columns |= dict.fromkeys(of_kind[0])
                lines.append((*cell, kind, len(of_kind), of_kind))
        print_table(
            f"{title}: mean ± standard error over splits",
            ("data", "classifier", "calibrated on", "kind", "splits", *columns),
            [
                (*line[:-1], *(in_words([f.get(c, np.nan) for f in line[-1]]) for c in columns))
                for line in lines
            ],
        )


def main() -> None:
    """Measure or read, then print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="directory of the data")
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--cifar", type=int, default=2, help="splits of CIFAR-10 that are sampled")
    parser.add_argument("--adult", type=int, default=3, help="splits of Adult that are sampled")
    parser.add_argument("--render", action="store_true", help="only print the figures on disk")
    given = parser.parse_args()
    if not given.render:
        if given.data is None:
            parser.error("--data is needed, or --render")
        run(given.data, given.splits, {"cifar10": given.cifar, "adult": given.adult})
    render()


if __name__ == "__main__":
    main()
