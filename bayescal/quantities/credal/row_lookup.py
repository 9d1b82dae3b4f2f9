"""Bounds and decisions of rows as functions of their scores, from draws of the curves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import PchipInterpolator
from scipy.special import expit, logit

from bayescal.core.probability_intervals import decide, decide_binary
from bayescal.core.quantity import Draws, Floats
from bayescal.core.scores import Scores
from bayescal.quantities.credal.data import CalibrationSplit, EmpiricalCDF, Problem, logit_of
from bayescal.quantities.credal.estimator import merged_classes, predictor
from bayescal.quantities.credal.model import cells_of, label_model
from bayescal.quantities.credal.models import LabelModel
from bayescal.quantities.credal.priors import LabelRatePrior
from bayescal.quantities.credal.stored_curve import StoredCurve
from bayescal.quantities.credal.venn_abers import InductiveVennAbers, OneVsRest, Pair, merged

if TYPE_CHECKING:
    pass

# Places that bounds are computed at, from the lowest to the highest; odd, so that every other one
# makes a coarser grid.
_GRID: Final = 257
_GRID_PLACES: Final = np.sin(np.linspace(0, np.pi / 2, _GRID)) ** 2
# Ranks whose draws are held together.
_BLOCK: Final = 32
_LEAST: Final = 1e-300
_MOST: Final = 1 - np.finfo(np.float64).epsneg
BATCH_ROWS: Final = 1 << 16


class RowBounds(NamedTuple):
    """Bounds and decisions of rows, with a leading dim ``classifier`` where there are several.

    Parameters
    ----------
    prob : ndarray of shape (..., obs) or (..., obs, class), in [0, 1]
        Posterior median of the probability of the positive class given the score, or of each class.
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
    decision: NDArray[np.int64]
    admissible: NDArray[np.bool_]
    error: float


def batches(score: Floats) -> Iterator[Floats]:
    """Go through rows, a batch at a time."""
    for first in range(0, len(score), BATCH_ROWS):
        yield score[first : first + BATCH_ROWS]


type Place = Callable[[Floats], Floats]
"""From scores to what a curve goes by: their rank, or their logit."""


@dataclass(frozen=True, slots=True, eq=False)
class _Nodes:
    """Places to compute of one curve: of all scores between 0 and 1, or a grid over them."""

    place_of: Place
    place: Floats
    is_grid: bool

    @classmethod
    def of(cls, place_of: Place, score: Floats) -> _Nodes:
        inside = score[(score > 0) & (score < 1)]
        distinct = np.unique(place_of(inside if len(inside) else np.zeros(1)))
        if len(distinct) <= _GRID:
            return cls(place_of, distinct, False)
        low, high = distinct[[0, -1]]
        return cls(place_of, low + (high - low) * _GRID_PLACES, True)


@dataclass(frozen=True, slots=True, eq=False)
class _Curve:
    """Median, lower and upper bound of one curve as functions of the score."""

    nodes: _Nodes
    value: Floats  # at the nodes, (3, node)
    boundary: Floats  # at the scores 0 and 1, where a curve may jump, (3, 2)
    # Between the nodes, of logits; None where every score is at a node.
    between: Any
    error: float

    @classmethod
    def of(cls, nodes: _Nodes, value: Floats, boundary: Floats) -> _Curve:
        if not nodes.is_grid:
            return cls(nodes, value, boundary, None, 0.0)
        coarse = expit(_interpolant(nodes.place[::2], value[:, ::2])(nodes.place[1::2]))
        error = float(np.abs(coarse - value[:, 1::2]).max())
        return cls(nodes, value, boundary, _interpolant(nodes.place, value), error)

    def __call__(self, score: Floats) -> Floats:
        """Look up median, lower and upper bound, (3, obs)."""
        found = self._inside(self.nodes.place_of(score))
        for end in (0, 1):
            found[:, score == end] = self.boundary[:, end, None]
        return found

    def _inside(self, place: Floats) -> Floats:
        if self.between is None:
            # The nearest one: a place may differ from its node by rounding.
            middles = (self.nodes.place[1:] + self.nodes.place[:-1]) / 2
            return np.asarray(self.value[:, np.searchsorted(middles, place)])
        prob, lower, upper = expit(self.between(place))
        return np.stack([prob, np.minimum(lower, prob), np.maximum(upper, prob)])


def _interpolant(node: Floats, value: Floats) -> Any:
    return PchipInterpolator(node, logit(np.clip(value, _LEAST, _MOST)), axis=1)


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
        nodes = [
            _Nodes.of(partial(_representative, model, ranks), column)
            for ranks, column in zip(problem.ranks, _columns(score), strict=True)
        ]
        places = [np.append(each.place, each.place_of(np.array([0.0, 1.0]))) for each in nodes]
        values = _summaries(model, draws_of(model), places, alpha)
        return cls(
            calibration.classifiers[0],
            tuple(map(str, calibration.classes)),
            score,
            tuple(
                _Curve.of(own, value[:, :-2], value[:, -2:])
                for own, value in zip(nodes, values, strict=True)
            ),
            predictor(split),
        )

    @classmethod
    def of_stored(cls, target: Scores, stored: Sequence[StoredCurve], alpha: float) -> Lookup:
        """Look up rows of one classifier under the curves of a result, which holds no rows."""
        score = target.y_prob[0]
        curves = []
        for curve, column in zip(stored, _columns(score), strict=True):
            nodes = _Nodes.of(logit_of, column)
            boundary = [curve.boundary_bounds(end, alpha) for end in (0, 1)]
            curves.append(
                _Curve.of(nodes, curve.bounds(nodes.place, alpha), np.stack(boundary, axis=1))
            )
        classes = tuple(map(str, target.classes))
        return cls(target.classifiers[0], classes, score, tuple(curves), None)

    @property
    def error(self) -> float:
        """Largest error of any curve."""
        return max(curve.error for curve in self.curves)

    def bounds(self, score: Floats) -> RowBounds:
        """Bounds and decisions of rows, (obs,) or (obs, class)."""
        prob, lower, upper = np.stack(
            [curve(column) for curve, column in zip(self.curves, _columns(score), strict=True)],
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
    """Median, lower and upper bound at ranks of each curve, (3, rank) each."""
    most = max(map(len, ranks))
    padded = np.stack([np.pad(rank, (0, most - len(rank)), "edge") for rank in ranks], axis=1)
    blocks = []
    for first in range(0, most, _BLOCK):
        found = model.with_pseudo_observations(draws, padded[first : first + _BLOCK])
        blocks.append(
            [
                np.median(found.prob, axis=0),
                np.quantile(found.prob_lower, alpha, axis=0),
                np.quantile(found.prob_upper, 1 - alpha, axis=0),
            ]
        )
    values = np.concatenate(blocks, axis=1)
    return [values[:, : len(rank), k] for k, rank in enumerate(ranks)]


def _representative(model: LabelModel, ranks: EmpiricalCDF, score: Floats) -> Floats:
    """Rank of the same bounds for each score."""
    return model.representative(ranks(score))


def _columns(score: Floats) -> Floats:
    """Scores of each curve, (curve, obs)."""
    return score[None] if score.ndim == 1 else score.T
