"""Bounds and decisions of rows as functions of their scores, from draws of a fit or of a result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import PchipInterpolator
from scipy.special import expit, ndtri

from bayescal.core.columns import Whole
from bayescal.core.errors import InputError
from bayescal.core.probability_intervals import decide, decide_binary
from bayescal.core.quantity import Draws, Floats
from bayescal.core.scores import Scores
from bayescal.curves.average import BOUNDARY_MEAN, BOUNDARY_SPREAD
from bayescal.curves.cells import BoundaryScore, logit_rate, rate_logit, score_logit
from bayescal.curves.priors import CALIBRATED, COMPONENTS, SEGMENTS
from bayescal.inference.direct import BinomialCells
from bayescal.quantities.credal.data import CalibrationSplit, EmpiricalCDF, Problem, columns_of
from bayescal.quantities.credal.estimator import merged_classes, predictor
from bayescal.quantities.credal.models import LabelModel, add_pseudo_observations
from bayescal.quantities.credal.posterior import cells_of, label_model
from bayescal.quantities.credal.priors import LabelRatePrior
from bayescal.quantities.credal.venn_abers import InductiveVennAbers, OneVsRest, Pair, merged
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.bootstrap import cells_with_rows

if TYPE_CHECKING:
    from xarray import DataTree

# Observations of either label that are added at a row's score: one, as the paper's.
_PSEUDO: Final = 1.0
# Draws of a rate that are too few for its quantiles.
_FEWEST: Final = 20
# Places of the error rate of a score of 0 or 1; a seed too: equal rows have equal bounds.
_DRAWS: Final = 4000


@dataclass(frozen=True, eq=False)
class StoredCurve:
    """Draws of a curve's rates in the cells with rows, in the order of their scores.

    See `bounds_for` for what it is between and beyond cells. Calibrated draws are left out, and at
    a score those whose segment is calibrated there, to the last digit kept.
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
        score, _, cell = cells_with_rows(result, case)
        drawn = component != COMPONENTS.index(CALIBRATED)
        return cls(
            score[cell],
            rate[np.ix_(drawn, cell)],
            mass.mean(axis=0, dtype=np.float64)[cell],
            component[drawn] == COMPONENTS.index(SEGMENTS),
            float(result.attrs.get(schema.EFFECTIVE_N, result.attrs["n_labeled"])),
        )

    @cached_property
    def _interior(self) -> Whole:
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
        return score_logit(self.score[self._interior])

    @cached_property
    def _deviation(self) -> Floats:
        """Deviations of the logits, exactly 0 where rate and score are equal, (draw, cell)."""
        rate, score = self.rate[:, self._interior], self.score[self._interior].astype(np.float32)
        equal = np.abs(rate - score) <= 2 * np.spacing(score)
        return np.where(equal, 0.0, rate_logit(rate.astype(np.float64)) - self._place)

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
        """Mean, lower and upper bound at logits of scores, (3, point)."""
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
            found[:, point] = _summary(logit_rate(at + open_draws), alpha)
        return found

    def boundary_bounds(self, end: int, alpha: float) -> Floats:
        """Mean, lower and upper bound of the score 0 or 1, (3,).

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
    """Mean of a probability, and its bounds after one more observation of either label, (3,)."""
    found = add_pseudo_observations(prob[:, None], _PSEUDO)
    low, high = np.quantile(found.prob_lower, alpha), np.quantile(found.prob_upper, 1 - alpha)
    return np.array([prob.mean(), low, high])


def _summary_of_errors(end: int, error: Floats, never: float, alpha: float) -> Floats:
    """The same of a score that never errs with a probability; an imagined error rules it out."""
    found = add_pseudo_observations(error[:, None], _PSEUDO)
    mean, low = (1 - never) * error.mean(), 0.0
    if alpha > never:
        low = float(np.quantile(found.prob_lower, (alpha - never) / (1 - never)))
    high = float(np.quantile(found.prob_upper, 1 - alpha))
    return np.array([mean, low, high]) if end == 0 else 1 - np.array([mean, high, low])


# Places that bounds are computed at, rising; odd, so that every other one makes a coarser grid.
_GRID: Final = 257
_GRID_PLACES: Final = np.sin(np.linspace(0, np.pi / 2, _GRID)) ** 2
# Ranks whose draws are held together.
_BLOCK: Final = 32
BATCH_ROWS: Final = 1 << 16


class RowBounds(NamedTuple):
    """Bounds and decisions of rows, with a leading dim ``classifier`` where there are several.

    Parameters
    ----------
    prob : ndarray of shape (..., obs) or (..., obs, class), in [0, 1]
        Posterior mean of the probability of the positive class given the score, or of each class.
    lower, upper : ndarray of shape (..., obs) or (..., obs, class), in [0, 1]
        Credal-credible bounds.
    p0, p1, merged : ndarray of shape (..., obs) or (..., obs, class), in [0, 1]
        Venn-Abers probabilities, and both merged, as `estimate` gives them; NaN where the result is
        of another quantity, which holds no calibration rows.
    improper : ndarray of shape (..., obs), bool
        Whether no class probabilities lie between lower and upper bounds.
    decision : ndarray of shape (..., obs), int
        Place of the class decided on: the open one whose lower probability is largest.
    admissible : ndarray of shape (..., obs, class), bool
        Whether a class is open: the most probable one for some probabilities within the bounds.
    error : float, in [0, 1]
        Largest error of `prob`, `lower` and `upper` found by leaving out every other point of the
        grid that they are interpolated from; 0 where every distinct rank was computed itself.
    """

    prob: Floats
    lower: Floats
    upper: Floats
    p0: Floats
    p1: Floats
    merged: Floats
    improper: NDArray[np.bool_]
    decision: Whole
    admissible: NDArray[np.bool_]
    error: float


def batches(score: Floats) -> Iterator[Floats]:
    """Go through rows, a batch at a time."""
    for first in range(0, len(score), BATCH_ROWS):
        yield score[first : first + BATCH_ROWS]


type Place = Callable[[Floats], Floats]
"""From scores to what a curve goes by: their rank, or their logit."""


def _nodes(place_of: Place, score: Floats) -> tuple[Floats, bool]:
    """Places of all scores between 0 and 1, or a grid over them; and whether these are a grid."""
    inside = score[(score > 0) & (score < 1)]
    distinct = np.unique(place_of(inside if len(inside) else np.zeros(1)))
    if len(distinct) <= _GRID:
        return distinct, False
    low, high = distinct[[0, -1]]
    return low + (high - low) * _GRID_PLACES, True


@dataclass(frozen=True, eq=False)
class _Curve:
    """Mean, lower and upper bound of one curve as functions of the score."""

    place_of: Place
    node: Floats  # (node,): places
    value: Floats  # at the nodes, (3, node)
    boundary: Floats  # at the scores 0 and 1, where a curve may jump, (3, 2)
    is_grid: bool  # else every score is at a node

    @cached_property
    def error(self) -> float:
        """Largest error of what lies between, found by leaving out every other node."""
        if not self.is_grid:
            return 0.0
        coarse = logit_rate(_interpolant(self.node[::2], self.value[:, ::2])(self.node[1::2]))
        return float(np.abs(coarse - self.value[:, 1::2]).max())

    @cached_property
    def _between(self) -> Any:
        return _interpolant(self.node, self.value)

    def __call__(self, score: Floats) -> Floats:
        """Look up mean, lower and upper bound, (3, obs)."""
        found = self._inside(self.place_of(score))
        for end in (0, 1):
            found[:, score == end] = self.boundary[:, end, None]
        return found

    def _inside(self, place: Floats) -> Floats:
        if not self.is_grid:
            # The nearest one: a place may differ from its node by rounding.
            middles = (self.node[1:] + self.node[:-1]) / 2
            return np.asarray(self.value[:, np.searchsorted(middles, place)])
        prob, lower, upper = logit_rate(self._between(place))
        return np.stack([prob, np.minimum(lower, prob), np.maximum(upper, prob)])


def _interpolant(node: Floats, value: Floats) -> Any:
    return PchipInterpolator(node, rate_logit(value), axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class Lookup:
    """One classifier's bounds as functions of its scores; made by `of` or `of_stored`."""

    classifier: str
    classes: tuple[str, ...]
    score: Floats  # (obs,) or (obs, class)
    curves: tuple[_Curve, ...]
    venn_abers: InductiveVennAbers | OneVsRest | None

    @classmethod
    def of(
        cls,
        split: CalibrationSplit,
        prior: LabelRatePrior,
        draws_of: Callable[[LabelModel], Draws],
        alpha: float,
    ) -> Lookup:
        """Look up target rows of one classifier under draws of a model; `alpha` is one tail's."""
        calibration, score = split.calibration, split.target.y_prob[0]
        problem = Problem.of(split, np.arange(0), cells_of(prior, split.effective_n))
        model = label_model(problem, prior)

        def by_rank(ranks: EmpiricalCDF) -> Place:
            return lambda score: model.representative(ranks(score))

        ranks_of = [by_rank(ranks) for ranks in problem.ranks]
        nodes, are_grids = zip(*map(_nodes, ranks_of, columns_of(score).T), strict=True)
        both = np.array([0.0, 1.0])
        places = [np.append(own, of(both)) for of, own in zip(ranks_of, nodes, strict=True)]
        values = _summaries(model, draws_of(model), places, alpha)
        at_nodes, boundary = [v[:, :-2] for v in values], [v[:, -2:] for v in values]
        curves = tuple(map(_Curve, ranks_of, nodes, at_nodes, boundary, are_grids))
        classes = tuple(map(str, calibration.classes))
        return cls(calibration.classifiers[0], classes, score, curves, predictor(split))

    @classmethod
    def of_stored(cls, target: Scores, stored: Sequence[StoredCurve], alpha: float) -> Lookup:
        """Look up rows of one classifier under the curves of a result, which holds no rows."""
        score = target.y_prob[0]
        curves = []
        for curve, column in zip(stored, columns_of(score).T, strict=True):
            node, is_grid = _nodes(score_logit, column)
            ends = np.stack([curve.boundary_bounds(end, alpha) for end in (0, 1)], axis=1)
            curves.append(_Curve(score_logit, node, curve.bounds(node, alpha), ends, is_grid))
        classes = tuple(map(str, target.classes))
        return cls(target.classifiers[0], classes, score, tuple(curves), None)

    @property
    def error(self) -> float:
        """Largest error of any curve."""
        return max(curve.error for curve in self.curves)

    def bounds(self, score: Floats) -> RowBounds:
        """Bounds and decisions of rows, (obs,) or (obs, class)."""
        prob, lower, upper = np.stack(
            [curve(column) for curve, column in zip(self.curves, columns_of(score).T, strict=True)],
            axis=-1,
        ).reshape(3, *score.shape)
        found = (decide_binary if score.ndim == 1 else decide)(lower, upper)
        pair = Pair(*np.full((2, *score.shape), np.nan))
        together = pair.p0
        if self.venn_abers is not None:
            pair = self.venn_abers.predict(score)
            together = merged(*pair) if score.ndim == 1 else merged_classes(pair)
        return RowBounds(
            prob,
            lower,
            upper,
            *pair,
            together,
            ~found.proper,
            found.decision,
            found.admissible,
            self.error,
        )

    def all_bounds(self) -> RowBounds:
        """Bounds and decisions of all rows."""
        parts = [self.bounds(batch)[:-1] for batch in batches(self.score)]
        return RowBounds._make([*map(np.concatenate, zip(*parts, strict=True)), self.error])


def _summaries(
    model: LabelModel, draws: Draws, ranks: Sequence[Floats], alpha: float
) -> list[Floats]:
    """Mean, lower and upper bound at ranks of each curve, (3, rank) each."""
    most = max(map(len, ranks))
    padded = np.stack([np.pad(rank, (0, most - len(rank)), "edge") for rank in ranks], axis=1)
    blocks = []
    for first in range(0, most, _BLOCK):
        found = model.with_pseudo_observations(draws, padded[first : first + _BLOCK])
        blocks.append(
            [
                found.prob.mean(axis=0),
                np.quantile(found.prob_lower, alpha, axis=0),
                np.quantile(found.prob_upper, 1 - alpha, axis=0),
            ]
        )
    values = np.concatenate(blocks, axis=1)
    return [values[:, : len(rank), k] for k, rank in enumerate(ranks)]
