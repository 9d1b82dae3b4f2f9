"""The calibration curve that a result holds by cells, at any score, and bounds of its rates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtri

from bayescal.core.errors import InputError
from bayescal.core.quantity import Floats
from bayescal.curves.average import BOUNDARY_MEAN, BOUNDARY_SPREAD
from bayescal.curves.boundary import BoundaryScore
from bayescal.curves.priors import CALIBRATED, COMPONENTS, SEGMENTS
from bayescal.inference.direct import BinomialCells
from bayescal.quantities.credal.data import logit_of
from bayescal.quantities.credal.models import add_pseudo_observations
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice

if TYPE_CHECKING:
    from xarray import DataTree

# Observations of either label that are added at a row's score: one, as the paper's.
_PSEUDO: Final = 1.0
_LEAST: Final = 1e-300
# Draws of a rate that are too few for its quantiles.
_FEWEST: Final = 20
# Places of the error rate of a score of exactly 0 or 1; a seed too, so that equal rows have equal
# bounds.
_DRAWS: Final = 4000


@dataclass(frozen=True, eq=False)
class StoredCurve:
    """Draws of a curve's rates in the cells with rows, in the order of their scores.

    Between cells the deviation of a draw's logit is linear in the logit of the score; a draw in
    segments jumps half way. Beyond the outermost cells it goes on with the slope of the line that
    fits it best, a segment as it is. Calibrated draws are left out, and at a score those whose
    segment is calibrated there, to the last digit kept: given them, bounds had no width.
    """

    score: Floats  # (cell,)
    rate: NDArray[np.floating]  # (draw, cell)
    mass: Floats  # (cell,)
    in_segments: NDArray[np.bool_]  # (draw,)
    n_rows: float

    @classmethod
    def of(cls, result: DataTree, case: ResultSlice) -> StoredCurve:
        """Read the curve of one case."""
        rate, mass, component = (
            access.variable(result, schema.CURVE, name, case)
            .transpose(*schema.DRAW_DIMS, ...)
            .to_numpy()
            for name in ("rate", "mass", "component")
        )
        component = component.ravel()
        rate, mass = (each.reshape(len(component), -1) for each in (rate, mass))
        score, rows = (
            access.variable(result, schema.CONSTANT_DATA, name, case).to_numpy().ravel()
            for name in (schema.CELL_SCORE, schema.CELL_COUNT)
        )
        cell = np.argsort(score)
        cell = cell[rows[cell] > 0]
        drawn = component != COMPONENTS.index(CALIBRATED)
        return cls(
            score[cell].astype(np.float64),
            rate[np.ix_(drawn, cell)],
            mass.mean(axis=0, dtype=np.float64)[cell],
            component[drawn] == COMPONENTS.index(SEGMENTS),
            float(result.attrs.get(schema.EFFECTIVE_N, result.attrs["n_labeled"])),
        )

    @cached_property
    def _interior(self) -> NDArray[np.int64]:
        found = np.flatnonzero((self.score > 0) & (self.score < 1))
        if not len(found):
            raise InputError(
                "result must hold a curve of scores between 0 and 1; every score of this fit is 0 "
                "or 1. Fit rows with other scores."
            )
        return found

    @cached_property
    def _place(self) -> Floats:
        """Logits of the scores between 0 and 1."""
        return logit_of(self.score[self._interior])

    @cached_property
    def _deviation(self) -> Floats:
        """Deviations of the logits, exactly 0 where rate and score are equal, (draw, cell)."""
        rate, score = self.rate[:, self._interior], self.score[self._interior].astype(np.float32)
        equal = np.abs(rate - score) <= 2 * np.spacing(score)
        inside = rate.astype(np.float64).clip(_LEAST, 1 - np.finfo(np.float64).epsneg)
        return np.where(equal, 0.0, logit(inside) - self._place)

    @cached_property
    def _slope(self) -> Floats:
        """Slope of the line through a draw's deviations, 0 of segments, (draw,)."""
        mass = self.mass[self._interior]
        centred = self._place - np.average(self._place, weights=mass)
        total = (mass * centred**2).sum()
        slope = self._deviation @ (mass * centred) / (total if total > 0 else 1)
        return np.where(self.in_segments, 0.0, slope)

    def deviation_at(self, place: Floats) -> Floats:
        """Deviation of the logits at logits of scores, (draw, point)."""
        deviation, line = self._deviation, self._place
        inside = place.clip(line[0], line[-1])
        right = np.searchsorted(line, inside).clip(min(1, len(line) - 1), len(line) - 1)
        left = np.maximum(right - 1, 0)
        gap = line[right] - line[left]
        share = np.divide(inside - line[left], gap, out=np.zeros(len(gap)), where=gap > 0)
        found = deviation[:, left] + share * (deviation[:, right] - deviation[:, left])
        found += self._slope[:, None] * (place - inside)
        score = self.score[self._interior]
        near = np.searchsorted((score[1:] + score[:-1]) / 2, expit(place))
        return np.where(self.in_segments[:, None], deviation[:, near], found)

    def bounds(self, place: Floats, alpha: float) -> Floats:
        """Median, lower and upper bound at logits of scores, (3, point)."""
        found = np.empty((3, len(place)))
        for point, at in enumerate(place):
            deviation = self.deviation_at(place[point : point + 1])[:, 0]
            open_draws = deviation[deviation != 0]
            if len(open_draws) < _FEWEST:
                raise InputError(
                    f"result must hold {_FEWEST} draws of curves that are not calibrated; at score "
                    f"{expit(at):.6g} it holds {len(open_draws)}. Fit with more draws, or fit "
                    "bayescal.credal, which leaves calibrated curves out."
                )
            found[:, point] = _summary(expit(at + open_draws), alpha)
        return found

    def boundary_bounds(self, end: int, alpha: float) -> Floats:
        """Median, lower and upper bound of the score 0 or 1, (3,).

        Where no draw errs the rate is that after as many rows without an error; where no row has
        the score it has its prior, and errs with probability 1/2.
        """
        seen = np.flatnonzero(self.score == end)
        if not len(seen):
            even = ndtri((np.arange(_DRAWS) + 0.5) / _DRAWS)
            return _summary_of_errors(
                end, expit(BOUNDARY_MEAN + BOUNDARY_SPREAD * even), 0.5, alpha
            )
        error = np.abs(end - self.rate[:, seen[0]].astype(np.float64))
        errs = error > 0
        if errs.any():
            return _summary_of_errors(end, error[errs], 1 - errs.mean(), alpha)
        count = np.array([round(float(self.n_rows * self.mass[seen[0]]))])
        right = BoundaryScore(
            float(end), BinomialCells(count, end * count), BOUNDARY_MEAN, BOUNDARY_SPREAD
        )
        error = expit(right.draws(_DRAWS, np.random.default_rng(_DRAWS)))
        return _summary_of_errors(end, error, 1.0, alpha)


def _summary(prob: Floats, alpha: float) -> Floats:
    """Median of a probability, and its bounds after one more observation of either label, (3,)."""
    found = add_pseudo_observations(prob[:, None], _PSEUDO)
    low, high = np.quantile(found.prob_lower, alpha), np.quantile(found.prob_upper, 1 - alpha)
    return np.array([np.median(prob), low, high])


def _summary_of_errors(end: int, error: Floats, never: float, alpha: float) -> Floats:
    """The same of a score that never errs with a probability; an imagined error rules it out."""
    found = add_pseudo_observations(error[:, None], _PSEUDO)
    middle, low = (
        0.0 if level <= never else float(np.quantile(part, (level - never) / (1 - never)))
        for part, level in ((found.prob, 0.5), (found.prob_lower, alpha))
    )
    high = float(np.quantile(found.prob_upper, 1 - alpha))
    return np.array([middle, low, high]) if end == 0 else 1 - np.array([middle, high, low])
