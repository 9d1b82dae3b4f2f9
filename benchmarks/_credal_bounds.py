"""Bounds of P(Y = 1 | score) by several methods from one calibration set, and what they cover."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

import bayescal as bc
from bayescal.quantities.credal.posterior import CredalCase

type Floats = NDArray[np.float64]

DRAWS = 1000
TAIL = 0.05
AVERAGE, RISING = "average (default)", "rising curve"
PRIORS = {
    AVERAGE: bc.credal.Priors(),
    RISING: bc.credal.Priors(bc.credal.MonotoneCurve()),
    "isotonic steps": bc.credal.Priors(bc.credal.IncrementIsotonic()),
    "imprecise Dirichlet": bc.credal.Priors(bc.credal.ImpreciseDirichlet()),
}
IVAP = "Venn-Abers [p0, p1]"
METHODS = (*PRIORS, IVAP)
# One-sided tails of Clopper and Pearson's intervals, to match the coverage of others.
TAILS = np.array(
    [0.25, 0.15, 0.1, 0.075, 0.05, 0.035, 0.025, 0.015, 0.01, 0.005, 0.001, 1e-4, 1e-6]
)
BINS = 10


class Ends(NamedTuple):
    """Lower and upper ends, (obs,)."""

    lower: Floats
    upper: Floats


def by_posterior(
    data: bc.CalibrationSplit, priors: bc.credal.Priors, rng: np.random.Generator
) -> Ends:
    """90% credal-credible bounds at the target scores, without NUTS."""
    rows = np.arange(data.n_target)
    case = CredalCase.of(data, rows, priors)
    direct = case.model.direct_draws(DRAWS, rng)
    assert direct is not None
    draws = {name: value[None] for name, value in direct.draws.items()}
    found = case.with_pseudo_observations(case.model.completed(draws, direct, rng))
    lower, upper = found.prob_lower[0, :, :, 0], found.prob_upper[0, :, :, 0]
    return Ends(np.quantile(lower, TAIL, axis=0), np.quantile(upper, 1 - TAIL, axis=0))


def all_methods(data: bc.CalibrationSplit, rng: np.random.Generator) -> dict[str, Ends]:
    """Bounds of every method from one sample."""
    pair = bc.credal.estimate(data)
    return {
        **{name: by_posterior(data, priors, rng) for name, priors in PRIORS.items()},
        IVAP: Ends(pair.p0, pair.p1),
    }


def clopper_pearson(data: bc.CalibrationSplit) -> list[Ends]:
    """Clopper and Pearson's interval of each target row's bin of equal mass, tail by tail."""
    score, label = data.calibration.y_prob[0], data.calibration.y_true
    edges = np.unique(np.quantile(score, np.linspace(0, 1, BINS + 1)[1:-1]))
    place = np.searchsorted(edges, score, side="left")
    n = np.bincount(place, minlength=len(edges) + 1)
    k = np.bincount(place, label, minlength=len(edges) + 1)
    target = np.searchsorted(edges, data.target.y_prob[0], side="left")
    with np.errstate(invalid="ignore"):
        return [
            Ends(
                np.where(k > 0, beta.ppf(tail, k, n - k + 1), 0.0)[target],
                np.where(k < n, beta.ppf(1 - tail, k + 1, n - k), 1.0)[target],
            )
            for tail in TAILS
        ]


class Tally:
    """Coverage and width of every method over replications of one cell."""

    def __init__(self, truth: Floats, mass: Floats) -> None:
        self._truth, self._mass = truth, mass
        self._covered: dict[str, list[Floats]] = {}
        self._width: dict[str, list[float]] = {}

    def add(self, intervals: Mapping[str, Ends], pearson: Sequence[Ends]) -> None:
        """Take in a replication."""
        by_tail = {f"CP {number}": ends for number, ends in enumerate(pearson)}
        for name, (lower, upper) in {**intervals, **by_tail}.items():
            # A rate of a finite population may equal an end but for rounding.
            covered = (lower <= self._truth + 1e-12) & (self._truth <= upper + 1e-12)
            self._covered.setdefault(name, []).append(covered)
            self._width.setdefault(name, []).append(float(self._mass @ (upper - lower)))

    def figures(self) -> dict[str, dict[str, float]]:
        """Mean coverage, its standard error, that of the worst score, and mean width."""
        found = {}
        for name in METHODS:
            each = np.stack(self._covered[name]) @ self._mass
            found[name] = {
                "coverage": float(each.mean()),
                "standard_error": float(each.std(ddof=1) / np.sqrt(len(each))),
                "worst_score": float(np.mean(self._covered[name], axis=0).min()),
                "width": float(np.mean(self._width[name])),
            }
        found[AVERAGE]["pearson_width"] = self._width_at(found[AVERAGE]["coverage"])
        return found

    def _width_at(self, coverage: float) -> float:
        """Width of Clopper and Pearson's intervals where they cover as much; NaN for never."""
        names = [f"CP {number}" for number in range(len(TAILS))]
        reached = [float((np.stack(self._covered[name]) @ self._mass).mean()) for name in names]
        width = [float(np.mean(self._width[name])) for name in names]
        if not reached[0] <= coverage <= reached[-1]:
            return float("nan")
        return float(np.interp(coverage, reached, width))
