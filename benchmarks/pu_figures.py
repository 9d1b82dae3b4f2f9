"""Figures 1 to 3 of the PU-ECE paper: how its bias falls, what few positives leave, a wrong prior.

python benchmarks/pu_figures.py                     # 100 trials a cell; figures into docs/_static
python benchmarks/pu_figures.py --render            # tables and figures of the numbers on disk

Sections 5.1 to 5.3 with the settings printed there. The synthetic classifiers are its "less" and
"better" calibrated ones; a calibrated one is added. For the paper's benchmark data a network stands
in, trained by nnPU on scikit-learn's handwritten digits: its logits are drawn from the Gaussian
mixtures fitted to them.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import matplotlib as mpl
import numpy as np
from _common import STATIC, print_table
from _results import print_provenance, read, write
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from bayescal.core.bin_counts import BinCounts
from bayescal.core.bin_edges import bin_edges, optimal_number
from bayescal.core.functionals import sigmoid
from bayescal.plots.style import BLUE, GREY, INK, ORANGE, VERMILLION
from bayescal.quantities.ece.bounds import optimal_n_bins
from bayescal.quantities.ece.estimator import estimate as labelled_estimate
from bayescal.quantities.pu_ece.classifier import PUClassifier
from bayescal.quantities.pu_ece.estimator import estimate, of_counts
from bayescal.quantities.pu_ece.logit_mixtures import LogitMixture, MixtureTruth, tce_from_logits
from bayescal.quantities.pu_ece.simulator import digits, truth

type Floats = NDArray[np.float64]
# One draw of the rows, and its estimates, (rule of the bins, error of the class prior).
type Trial = Callable[[Population, int, Rules, np.random.Generator], Floats]
type Rules = Sequence[str]

SYNTHETIC: Final = ("less", "better", "calibrated")
RULES: Final = {"UWB": "uniform", "UMB": "quantile"}
SIZES: Final = np.round(np.geomspace(10, 10_000, 13)).astype(int)
LATE: Final = int(np.searchsorted(SIZES, 100))
ERRORS: Final = (-0.10, -0.05, 0.0, 0.05, 0.10)
FIXED: Final = (100, 1000)
POINTS: Final = 10_000
REACH: Final = 9.0


class Population(NamedTuple):
    """A classifier, and what infinitely many rows of either sample say of its bins."""

    truth: MixtureTruth
    score: Floats  # (point,), rising
    positive: Floats  # P(f <= score | Y = 1)
    mass: Floats  # P(f <= score)
    joint_score: Floats  # E[f; f <= score]

    @classmethod
    def of(cls, made: MixtureTruth) -> Population:
        """Integrate by trapezoids."""
        sides = (made.positive, made.negative)
        ends = [
            mean + sign * REACH * scale
            for side in sides
            for mean, scale in zip(side.mean, side.scale, strict=True)
            for sign in (-1, 1)
        ]
        z = np.linspace(min(ends), max(ends), POINTS)
        positive, negative = (side.density(z) for side in sides)
        total = made.class_prior * positive + (1 - made.class_prior) * negative
        score = sigmoid(z)
        sums = (_cumulative(values, z) for values in (positive, total, total * score))
        return cls(made, score, *sums)

    def in_bins(self, cumulative: Floats, edges: Floats) -> Floats:
        """What each bin holds of a cumulative quantity."""
        found = np.interp(edges, self.score, cumulative)
        found[[0, -1]] = 0.0, cumulative[-1]
        return np.diff(found)

    def edges(self, n_bins: int, strategy: str) -> Floats:
        """Bins of all rows there are."""
        if strategy == "uniform":
            return np.arange(n_bins + 1) / n_bins
        share = np.arange(n_bins + 1) / n_bins
        found = np.interp(share, self.mass / self.mass[-1], self.score)
        found[[0, -1]] = 0.0, 1.0
        return found


def _cumulative(values: Floats, z: Floats) -> Floats:
    steps = (values[1:] + values[:-1]) / 2 * np.diff(z)
    return np.concatenate([[0.0], np.cumsum(steps)])


def synthetic(name: str) -> MixtureTruth:
    """A classifier of section 5.1: one Gaussian a class."""
    made = truth(name)
    positive, negative = (
        LogitMixture((1.0,), (made.b0 + made.b1 * mean,), (made.b1,)) for mean in (1, -1)
    )
    return MixtureTruth(positive, negative, made.class_prior, name)


def trained(seed: int) -> MixtureTruth:
    """A network trained on digits by nnPU with the sigmoid loss, by its logits on other digits."""
    data = digits(seed)
    network = PUClassifier(data.class_prior, hidden=100, loss="sigmoid", alpha=0.01, random_state=0)
    network.fit(data.train, data.selected)
    rest, positive = (network.decision_function(x) for x in (data.unlabeled, data.positive))
    positive = np.concatenate([positive, rest[data.label == 1]])
    return tce_from_logits(
        positive, rest[data.label == 0], class_prior=data.class_prior, points=POINTS, seed=seed
    ).truth


def number(found: Population, n_positive: float, n_unlabeled: float) -> int:
    """Number of bins of section 5.1; a sample may be infinite."""
    return optimal_number(1 / (found.truth.class_prior**2 / n_positive + 1 / n_unlabeled))


def both(found: Population, n: tuple[int, int], rules: Rules, rng: np.random.Generator) -> Floats:
    """PU-ECE of two samples at each relative error of the class prior, the bins unchanged."""
    pi, data = found.truth.class_prior, found.truth.scores(n, rng)

    def of(strategy: str) -> list[np.float64]:
        drawn = estimate(data, class_prior=pi, n_bins="optimal", strategy=strategy)
        bins = BinCounts(drawn.bin_edges, drawn.count, 0 * drawn.count, drawn.confidence)
        positive = drawn.positive_count
        return [of_counts(bins, positive, pi * (1 + error)).ece for error in ERRORS]

    return np.array([of(strategy) for strategy in rules])


def positives_alone(found: Population, n: int, rules: Rules, rng: np.random.Generator) -> Floats:
    """PU-ECE of n positives and infinitely many unlabelled rows."""
    score = sigmoid(found.truth.positive.sample(n, rng))

    def of(strategy: str) -> float:
        edges = found.edges(number(found, n, np.inf), strategy)
        share = np.bincount(np.searchsorted(edges[1:-1], score), minlength=len(edges) - 1) / n
        gaps = found.truth.class_prior * share - found.in_bins(found.joint_score, edges)
        return float(np.abs(gaps).sum())

    return np.array([[of(strategy)] for strategy in rules])


def unlabeled_alone(found: Population, n: int, rules: Rules, rng: np.random.Generator) -> Floats:
    """PU-ECE of infinitely many positives and n unlabelled rows."""
    score = sigmoid(found.truth.sample(n, rng)[0])

    def of(strategy: str) -> float:
        edges = bin_edges(score, number(found, np.inf, n), strategy)
        held = np.searchsorted(edges[1:-1], score)
        joint = np.bincount(held, weights=score, minlength=len(edges) - 1) / n
        gaps = found.truth.class_prior * found.in_bins(found.positive, edges) - joint
        return float(np.abs(gaps).sum())

    return np.array([[of(strategy)] for strategy in rules])


def labelled(
    found: Population, n: int, rules: Rules, rng: np.random.Generator, weighted: bool = False
) -> Floats:
    """ECE of n labelled rows, with either number of bins of section 5.1."""
    n_bins = optimal_n_bins(n, found.truth.class_prior if weighted else None)
    data = found.truth.labeled_scores(n, rng)
    return np.array(
        [[labelled_estimate(data, n_bins=n_bins, strategy=strategy).ece] for strategy in rules]
    )


def growing(found: Population, n: int, rules: Rules, rng: np.random.Generator) -> Floats:
    """PU-ECE of n positives and ten times as many unlabelled rows."""
    return both(found, (n, 10 * n), rules, rng)


def fixed(
    found: Population, n: int, rules: Rules, rng: np.random.Generator, n_positive: int
) -> Floats:
    """PU-ECE of a fixed number of positives and n unlabelled rows."""
    return both(found, (n_positive, n), rules, rng)


INFINITE: Final = "PU-ECE, nP = N, nU = ∞"
GROWING: Final = "PU-ECE, nP = N, nU = 10 N"
LINES: Final[dict[str, tuple[Trial, str, str]]] = {
    INFINITE: (positives_alone, BLUE, "o"),
    "PU-ECE, nP = ∞, nU = N": (unlabeled_alone, ORANGE, "s"),
    GROWING: (growing, VERMILLION, "^"),
    "ECE, n = N": (labelled, INK, "D"),
    "ECE, n = N, bins by n / π²": (partial(labelled, weighted=True), GREY, "v"),
}
FLOORS: Final = {f"PU-ECE, nP = {n}, nU = N": partial(fixed, n_positive=n) for n in FIXED}


def main() -> None:
    """Measure or read, then print and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--render", action="store_true", help="from the numbers on disk")
    options = parser.parse_args()
    if not options.render:
        write("pu_figures", **measure(options.trials, options.seed))
    content = read("pu_figures")
    print_provenance(content)
    show(content)
    draw(content)


def measure(trials: int, seed: int) -> dict[str, Any]:
    """Summaries of the total bias in every cell of the three figures."""
    classifiers = {name: Population.of(synthetic(name)) for name in SYNTHETIC}
    classifiers["digits"] = Population.of(trained(seed))
    source = iter(np.random.SeedSequence(seed).spawn(1000))
    content: dict[str, Any] = {"trials": trials, "seed": seed, "classifiers": {}, "lines": {}}
    for name, found in classifiers.items():
        made = found.truth
        content["classifiers"][name] = {
            "tce": made.tce,
            "class_prior": made.class_prior,
            "components": [len(made.positive.weight), len(made.negative.weight)],
        }
        asked = [(line, trial, list(RULES)) for line, (trial, *_) in LINES.items()]
        asked += [(line, trial, ["UWB"]) for line, trial in FLOORS.items()]
        for line, trial, rules in asked:
            cells = summaries(trial, found, rules, trials, next(source))
            content["lines"] |= {f"{name} {rule} {line}": one for rule, one in cells.items()}
        content["classifiers"][name]["floors"] = [
            float(np.mean(limit(found, n, trials, next(source)))) for n in FIXED
        ]
    return content


def summaries(
    trial: Trial, found: Population, rules: Rules, trials: int, seed: np.random.SeedSequence
) -> dict[str, dict[str, Any]]:
    """Total bias of one line at every N, by rule of the bins."""
    rng = np.random.default_rng(seed)
    names = [RULES[rule] for rule in rules]
    drawn = np.array(
        [[trial(found, int(n), names, rng) for _ in range(trials)] for n in SIZES]
    )  # (size, trial, rule, error)
    return {
        rule: summary(drawn[:, :, place], found.truth.tce, rng) for place, rule in enumerate(rules)
    }


def summary(drawn: Floats, tce: float, rng: np.random.Generator) -> dict[str, Any]:
    """What the tables and figures show of the trials, (size, trial, error)."""
    middle = drawn.shape[-1] // 2
    gap = np.abs(drawn - tce)
    exact = gap[..., middle]
    low, high = np.quantile(exact, [0.05, 0.95], axis=1)
    return {
        "mean": exact.mean(axis=1).tolist(),
        "low": low.tolist(),
        "high": high.tolist(),
        "slope": float(slope(exact.mean(axis=1))),
        "slope_error": slope_error(exact, rng),
        "late_slope": float(slope(exact.mean(axis=1), LATE)),
        "by_error": gap.mean(axis=1).T.tolist(),
        "by_error_se": (gap.std(axis=1, ddof=1) / np.sqrt(drawn.shape[1])).T.tolist(),
        "moved": np.abs(drawn - drawn[..., [middle]]).max(axis=(0, 1)).tolist(),
    }


def limit(found: Population, n: int, trials: int, seed: np.random.SeedSequence) -> Floats:
    """Total bias of n positives with infinitely many unlabelled rows: what figure 2 goes to."""
    rng = np.random.default_rng(seed)
    drawn = [positives_alone(found, n, ["uniform"], rng) for _ in range(10 * trials)]
    return np.abs(np.concatenate(drawn) - found.truth.tce)


def slope(mean: Floats, start: int = 0) -> Floats:
    """Slope of the least-squares line through log bias over log N, the last axis."""
    x = np.log(SIZES[start:]) - np.log(SIZES[start:]).mean()
    return np.asarray(np.log(mean[..., start:]) @ x / (x @ x))


def slope_error(trials: Floats, rng: np.random.Generator) -> float:
    """Standard error of the slope, by resampling the trials of each N."""
    size, many = trials.shape
    drawn = rng.integers(many, size=(500, size, many))
    return float(slope(np.take_along_axis(trials[None], drawn, axis=2).mean(axis=2)).std())


def show(content: dict[str, Any]) -> None:
    """Print the tables."""
    lines, classifiers = content["lines"], content["classifiers"]
    shown = [0, 4, 8, 12]
    sizes = [f"N={SIZES[k]}" for k in shown]
    print_table(
        "Classifiers",
        ["classifier", "class prior", "TCE", "Gaussians, positive", "negative"],
        [
            [name, found["class_prior"], round(found["tce"], 9), *found["components"]]
            for name, found in classifiers.items()
        ],
    )
    print_table(
        f"Figure 1: mean total bias of {content['trials']} trials, and its slope over log N",
        ["classifier", "bins", "line", *sizes, "slope", "its error", f"slope, N>={SIZES[LATE]}"],
        [
            [name, rule, line]
            + [found["mean"][k] for k in shown]
            + [found["slope"], found["slope_error"], found["late_slope"]]
            for name, rule, line in itertools.product(classifiers, RULES, LINES)
            for found in [lines[f"{name} {rule} {line}"]]
        ],
    )
    print_table(
        "Figure 2: mean total bias with nP fixed, UWB, and its limit for nU = ∞",
        ["classifier", "nP", *[size.replace("N", "nU") for size in sizes], "limit"],
        [
            [name, n, *(lines[f"{name} UWB {line}"]["mean"][k] for k in shown), floor]
            for name in classifiers
            for n, line, floor in zip(FIXED, FLOORS, classifiers[name]["floors"], strict=True)
        ],
    )
    print_table(
        f"Figure 3: mean total bias, class prior off, UWB, {GROWING}, and Theorem 2's limit",
        ["classifier", "prior off", *sizes, "limit", "last / limit", "most moved / limit"],
        [
            [name, f"{error:+.0%}", *(by_n[k] for k in shown), bound, by_n[-1] / bound, far / bound]
            for name in classifiers
            for found in [lines[f"{name} UWB {GROWING}"]]
            for error, by_n, far in zip(ERRORS, found["by_error"], found["moved"], strict=True)
            for bound in [classifiers[name]["class_prior"] * abs(error)]
            if error
        ],
    )


def draw(content: dict[str, Any]) -> None:
    """Write the three figures."""
    with mpl.rc_context({"font.size": 9.0}):
        drawn = (convergence(content), floors(content), wrong_priors(content))
        for place, figure in enumerate(drawn, 1):
            path = STATIC / f"pu_figure_{place}.png"
            figure.savefig(path, metadata={"Software": None}, dpi=120)


def new_figure(rows: int, content: dict[str, Any]) -> tuple[Figure, NDArray[Any]]:
    """Panels on log-log axes, a column a classifier."""
    names = list(content["classifiers"])
    figure = Figure(figsize=(3.1 * len(names), 2.8 * rows + 0.6), layout="constrained")
    panels = figure.subplots(rows, len(names), sharex=True, sharey=True, squeeze=False)
    for each in panels.flat:
        each.set(xscale="log", yscale="log", ylim=(6e-4, 0.6))
        each.spines[["top", "right"]].set_visible(False)
        each.grid(color=GREY, alpha=0.2, linewidth=0.6)
    for axes, name in zip(panels[0], names, strict=True):
        axes.set_title(f"{name} calibrated" if name in ("less", "better") else name)
    for axes in panels[-1]:
        axes.set_xlabel("N")
    return figure, panels


def band(axes: Axes, found: dict[str, Any], colour: str, marker: str, label: str) -> None:
    """The mean of the trials and their central 90%."""
    axes.fill_between(SIZES, found["low"], found["high"], color=colour, alpha=0.08, lw=0)
    axes.plot(SIZES, found["mean"], color=colour, marker=marker, ms=3, lw=1, label=label)


def rate(axes: Axes) -> None:
    """The order of theory."""
    axes.plot(SIZES, 0.5 * SIZES ** (-1 / 3), color=INK, ls="--", lw=0.8, label="order N^(-1/3)")


def legend(figure: Figure, axes: Axes) -> None:
    """One legend below all panels."""
    figure.legend(
        *axes.get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=8
    )


def convergence(content: dict[str, Any]) -> Figure:
    """Figure 1: every line in both kinds of bins."""
    figure, panels = new_figure(len(RULES), content)
    for row, rule in zip(panels, RULES, strict=True):
        row[0].set_ylabel(f"total bias, {rule}")
        for axes, name in zip(row, content["classifiers"], strict=True):
            for line, (_, colour, marker) in LINES.items():
                band(axes, content["lines"][f"{name} {rule} {line}"], colour, marker, line)
            rate(axes)
    legend(figure, panels[0, 0])
    return figure


def floors(content: dict[str, Any]) -> Figure:
    """Figure 2: only the unlabelled sample grows; dotted, where it leads."""
    figure, panels = new_figure(1, content)
    panels[0, 0].set_ylabel("total bias, UWB")
    for axes, (name, known) in zip(panels[0], content["classifiers"].items(), strict=True):
        for line, colour, marker, floor in zip(
            FLOORS, (VERMILLION, ORANGE), "^s", known["floors"], strict=True
        ):
            band(axes, content["lines"][f"{name} UWB {line}"], colour, marker, line)
            axes.axhline(floor, color=colour, ls=":", lw=1)
        band(axes, content["lines"][f"{name} UWB {INFINITE}"], BLUE, "o", INFINITE)
        rate(axes)
    legend(figure, panels[0, 0])
    return figure


def wrong_priors(content: dict[str, Any]) -> Figure:
    """Figure 3: the class prior is off; dotted, Theorem 2's limits."""
    figure, panels = new_figure(1, content)
    panels[0, 0].set_ylabel("total bias, UWB")
    looks = {-0.10: (ORANGE, "v"), -0.05: (BLUE, "v"), 0.0: (INK, "o"), 0.05: (BLUE, "^")}
    looks[0.10] = (ORANGE, "^")
    for axes, (name, known) in zip(panels[0], content["classifiers"].items(), strict=True):
        found = content["lines"][f"{name} UWB {GROWING}"]
        for error, mean, spread in zip(
            ERRORS, found["by_error"], found["by_error_se"], strict=True
        ):
            colour, marker = looks[error]
            low, high = (np.array(mean) + sign * np.array(spread) for sign in (-1, 1))
            label = f"class prior {error:+.0%}" if error else "class prior right"
            axes.fill_between(SIZES, low, high, color=colour, alpha=0.2, lw=0)
            axes.plot(
                SIZES, mean, color=colour, marker=marker, ms=3, lw=1, label=label,
                ls="--" if error < 0 else "-",
            )  # fmt: skip
            if error > 0:
                limit = error * known["class_prior"]
                axes.axhline(limit, color=colour, ls=":", label=f"Theorem 2, {error:.0%} off")
    legend(figure, panels[0, 0])
    return figure


if __name__ == "__main__":
    main()
