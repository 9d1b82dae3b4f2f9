"""How the bias of PU-ECE falls as rows grow, what few positives leave, and a wrong class prior.

python benchmarks/pu_bias.py                        # 100 trials a cell; figures into docs/_static
python benchmarks/pu_bias.py --render               # tables and figures of the figures on disk

Section 5.2 of the PU-ECE paper on its simulator: the mean of |PU-ECE - TCE| over trials, with the
number of bins of Corollary 1. The class prior is .5; the calibrated classifier is sigmoid(2 x), the
miscalibrated one sigmoid(4 x).
"""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from _common import print_table
from _results import print_provenance, read, write
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from bayescal.plots.style import BLUE, GREY, INK, ORANGE, VERMILLION
from bayescal.quantities.pu_ece.bounds import optimal_n_bins
from bayescal.quantities.pu_ece.data import PUScores
from bayescal.quantities.pu_ece.estimator import estimate
from bayescal.quantities.pu_ece.simulator import PUTruth, truth

type Floats = NDArray[np.float64]

STATIC = Path(__file__).parents[1] / "docs" / "_static"
PRIOR = 0.5
CLASSIFIERS = {"calibrated": "calibrated", "miscalibrated": "over"}
STRATEGIES = {"UWB": "uniform", "UMB": "quantile"}
DESIGNS = {"nP = nU = N": 1, "nP = N, nU = 10 N": 10}
SIZES = (10, 32, 100, 316, 1000, 3162, 10_000)
POSITIVES = (30, 100, 300, 1000)
UNLABELED = (30, 100, 316, 1000, 3162, 10_000, 31_623)
ERRORS = (-0.10, -0.05, 0.0, 0.05, 0.10)
SLOPE = -0.30
# At N = 10 there are two bins: how far the order is from being reached shows without it.
FROM = 1
LOOKS = {
    ("calibrated", "UWB"): (BLUE, "o", "-"),
    ("calibrated", "UMB"): (BLUE, "s", "--"),
    ("miscalibrated", "UWB"): (VERMILLION, "o", "-"),
    ("miscalibrated", "UMB"): (VERMILLION, "s", "--"),
}


def main() -> None:
    """Measure or read, then print and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--render", action="store_true", help="from the figures on disk")
    options = parser.parse_args()
    if not options.render:
        write("pu_bias", **measure(options.trials, options.seed))
    content = read("pu_bias")
    print_provenance(content)
    show(content)
    draw(content)


def measure(trials: int, seed: int) -> dict[str, Any]:
    """Estimates of every trial: both samples growing, and the unlabelled one alone."""
    source = iter(np.random.SeedSequence(seed).spawn(10_000))
    both = {
        f"{design}: {classifier} {bins}": [
            estimates(truth(name), (n, ratio * n), strategy, trials, next(source)).tolist()
            for n in SIZES
        ]
        for (design, ratio), (classifier, name), (bins, strategy) in itertools.product(
            DESIGNS.items(), CLASSIFIERS.items(), STRATEGIES.items()
        )
    }
    floor = {
        f"{classifier} {n_positive}": [
            estimates(truth(name), (n_positive, n), "quantile", trials, next(source), (0.0,))
            .ravel()
            .tolist()
            for n in UNLABELED
        ]
        for (classifier, name), n_positive in itertools.product(CLASSIFIERS.items(), POSITIVES)
    }
    return {"trials": trials, "seed": seed, "both": both, "floor": floor}


def estimates(
    simulated: PUTruth,
    n: tuple[int, int],
    strategy: str,
    trials: int,
    seed: np.random.SeedSequence,
    errors: tuple[float, ...] = ERRORS,
) -> Floats:
    """PU-ECE of each trial at each relative error of the class prior, with the optimal bins."""
    n_bins = optimal_n_bins(*n, PRIOR)
    rng = np.random.default_rng(seed)

    def of(data: PUScores) -> list[float]:
        return [
            float(
                estimate(
                    data, class_prior=PRIOR * (1 + error), n_bins=n_bins, strategy=strategy
                ).ece
            )
            for error in errors
        ]

    return np.array([of(simulated.scores(n, rng)) for _ in range(trials)])


def bias(found: Any, classifier: str) -> Floats:
    """Distance of estimates from the truth."""
    return np.abs(np.asarray(found) - truth(CLASSIFIERS[classifier]).tce)


def slope(mean: Floats, start: int = 0) -> float:
    """Slope of the least-squares line through log bias over log N."""
    return float(np.polyfit(np.log(SIZES[start:]), np.log(mean[start:]), 1)[0])


def slope_error(trials: Floats, rng: np.random.Generator) -> float:
    """Standard error of the slope, by resampling the trials of each N."""
    size, many = trials.shape
    drawn = rng.integers(many, size=(500, size, many))
    means = np.take_along_axis(trials[None], drawn, axis=2).mean(axis=2)
    return float(np.std([slope(mean) for mean in means]))


def show(content: dict[str, Any]) -> None:
    """Print the tables."""
    rng = np.random.default_rng(0)
    exact = ERRORS.index(0.0)
    header = ["classifier", "bins", *(f"N={n}" for n in SIZES)]
    for design in DESIGNS:
        rows = []
        for classifier, bins in LOOKS:
            gap = bias(np.array(content["both"][f"{design}: {classifier} {bins}"]), classifier)
            gap = gap[..., exact]
            mean = gap.mean(axis=1)
            fit, late = slope(mean), slope(mean, FROM)
            verdict = "yes" if fit <= SLOPE else "NO"
            rows.append([classifier, bins, *mean, fit, slope_error(gap, rng), verdict, late])
        print_table(
            f"Mean |PU-ECE - TCE|, {design}, {content['trials']} trials; slope over log N",
            [*header, "slope", "its error", f"<= {SLOPE:.2f}", f"slope, N>={SIZES[FROM]}"],
            rows,
        )
    floor = [
        [classifier, n, *bias(content["floor"][f"{classifier} {n}"], classifier).mean(axis=1)]
        for classifier, n in itertools.product(CLASSIFIERS, POSITIVES)
    ]
    print_table(
        "Mean |PU-ECE - TCE| with nP fixed, bins of equal mass",
        ["classifier", "nP", *(f"nU={n}" for n in UNLABELED)],
        floor,
    )
    design = next(iter(DESIGNS))
    shifts = []
    for classifier, bins in LOOKS:
        found = np.array(content["both"][f"{design}: {classifier} {bins}"])
        for place, error in enumerate(ERRORS):
            if error:
                moved = np.abs(found[..., place] - found[..., exact]).max()
                by_n = bias(found[..., place], classifier).mean(axis=1)
                bound = PRIOR * abs(error)
                shifts.append([classifier, bins, f"{error:+.0%}", *by_n, bound, moved / bound])
    print_table(
        f"Mean |PU-ECE - TCE| with a wrong class prior, {design}; the most it moved, by Theorem 2",
        [*header[:2], "prior off", *header[2:], "bound", "most moved / bound"],
        shifts,
    )


def draw(content: dict[str, Any]) -> None:
    """Write the three figures."""
    # Fixed names inside the files, so that the same numbers make the same bytes.
    with mpl.rc_context({"svg.hashsalt": "pu_bias", "font.size": 9.0}):
        for number, figure in enumerate((scaling(content), floors(content), shifted(content)), 1):
            for form in ("svg", "png"):
                path = STATIC / f"pu_bias_{number}.{form}"
                dated = {"Date": None} if form == "svg" else {"Software": None}
                figure.savefig(path, metadata=dated, dpi=120)


def new_figure(panels: int) -> tuple[Figure, list[Axes]]:
    """Panels side by side on log-log axes."""
    figure = Figure(figsize=(4.2 * panels, 3.4), layout="constrained")
    axes = list(np.atleast_1d(figure.subplots(1, panels, sharey=True)))
    for each in axes:
        each.set(xscale="log", yscale="log")
        each.spines[["top", "right"]].set_visible(False)
        each.grid(color=GREY, alpha=0.2, linewidth=0.6)
    axes[0].set_ylabel("mean |PU-ECE - TCE|")
    return figure, axes


def scaling(content: dict[str, Any]) -> Figure:
    """Figure 1: both samples grow."""
    figure, panels = new_figure(len(DESIGNS))
    exact = ERRORS.index(0.0)
    n = np.array(SIZES)
    for axes, design in zip(panels, DESIGNS, strict=True):
        for (classifier, bins), (colour, marker, line) in LOOKS.items():
            found = np.array(content["both"][f"{design}: {classifier} {bins}"])
            gap = bias(found[..., exact], classifier)
            mean, error = gap.mean(axis=1), gap.std(axis=1) / np.sqrt(gap.shape[1])
            label = f"{classifier}, {bins}: slope {slope(mean):.2f}"
            axes.errorbar(n, mean, 2 * error, c=colour, marker=marker, ls=line, ms=4, label=label)
        axes.plot(n, 0.75 * n ** (-1 / 3), color=INK, ls=":", label="order of theory: -1/3")
        axes.set(xlabel="N", title=design)
        axes.legend(frameon=False, fontsize=7.5)
    return figure


def floors(content: dict[str, Any]) -> Figure:
    """Figure 2: only the unlabelled sample grows."""
    figure, panels = new_figure(2)
    shades = mpl.colormaps["viridis"](np.linspace(0.05, 0.8, len(POSITIVES)))
    for axes, classifier in zip(panels, CLASSIFIERS, strict=True):
        for n_positive, colour in zip(POSITIVES, shades, strict=True):
            mean = bias(content["floor"][f"{classifier} {n_positive}"], classifier).mean(axis=1)
            axes.plot(UNLABELED, mean, color=colour, marker="s", ms=4, label=f"{n_positive}")
        axes.set(xlabel="number of unlabelled rows", title=f"{classifier} classifier, UMB")
    panels[1].legend(frameon=False, fontsize=8, title="positives")
    return figure


def shifted(content: dict[str, Any]) -> Figure:
    """Figure 3: the class prior is off; the bias stays within Theorem 2's distance."""
    figure, panels = new_figure(2)
    exact = ERRORS.index(0.0)
    looks = {-0.10: (ORANGE, "v"), -0.05: (BLUE, "v"), 0.05: (BLUE, "^"), 0.10: (ORANGE, "^")}
    for axes, classifier in zip(panels, CLASSIFIERS, strict=True):
        gaps = bias(content["both"][f"{next(iter(DESIGNS))}: {classifier} UMB"], classifier).mean(
            axis=1
        )
        for error, colour in ((0.10, ORANGE), (0.05, BLUE)):
            low = np.maximum(gaps[:, exact] - PRIOR * error, 1e-4)
            axes.fill_between(
                SIZES,
                low,
                gaps[:, exact] + PRIOR * error,
                color=colour,
                alpha=0.15,
                lw=0,
                label=f"Theorem 2, {error:.0%} off",
            )
        axes.plot(SIZES, gaps[:, exact], color=INK, marker="o", ms=4, label="class prior right")
        for place, error in enumerate(ERRORS):
            if error:
                colour, marker = looks[error]
                label = f"{error:+.0%}"
                axes.plot(
                    SIZES, gaps[:, place], color=colour, marker=marker, ms=4, lw=1, label=label
                )
        axes.set(
            xlabel="N = positives = unlabelled rows",
            title=f"{classifier} classifier, UMB",
            ylim=(4e-3, 0.6),
        )
    panels[1].legend(frameon=False, fontsize=7, ncols=2)
    return figure


if __name__ == "__main__":
    main()
