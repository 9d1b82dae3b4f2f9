"""Bounds and decisions of rows as functions of their scores, from draws of the curves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import PchipInterpolator
from scipy.special import expit, logit

from bayescal.core.probability_intervals import decide, decide_binary
from bayescal.core.quantity import Draws, Floats
from bayescal.quantities.credal.calibration_split import CalibrationSplit, labeled_rows
from bayescal.quantities.credal.data import EmpiricalCDF, Problem
from bayescal.quantities.credal.estimator import merged_classes
from bayescal.quantities.credal.models import cells_of, label_model
from bayescal.quantities.credal.models.base import LabelModel
from bayescal.quantities.credal.priors import LabelRatePrior
from bayescal.quantities.credal.venn_abers.ivap import InductiveVennAbers, Pair, fit_ivap, merged
from bayescal.quantities.credal.venn_abers.one_vs_rest import OneVsRest, fit_one_vs_rest

# Ranks that bounds are computed at, from the lowest to the highest; odd, so that every other one
# makes a coarser grid.
_GRID: Final = 257
_NODES: Final = np.sin(np.linspace(0, np.pi / 2, _GRID)) ** 2
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
        Venn-Abers probabilities, and both merged, as `estimate` gives them.
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


@dataclass(frozen=True, slots=True, eq=False)
class _Curve:
    """Median and bounds of one curve as functions of the score's rank."""

    ranks: EmpiricalCDF
    model: LabelModel
    # Increasing ranks, (node,), and median, lower and upper bound there, (3, node).
    node: Floats
    value: Floats
    # The same of the scores 0 and 1, where a curve may jump, (3, 2).
    end: Floats
    # Between the nodes, of logits; None where every rank is a node.
    between: Any
    error: float

    @classmethod
    def of(cls, ranks: EmpiricalCDF, model: LabelModel, nodes: _NodeRanks, value: Floats) -> _Curve:
        node, value, end = nodes.rank, value[:, :-2], value[:, -2:]
        if not nodes.is_grid:
            return cls(ranks, model, node, value, end, None, 0.0)
        coarse = expit(_interpolant(node[::2], value[:, ::2])(node[1::2]))
        error = float(np.abs(coarse - value[:, 1::2]).max())
        return cls(ranks, model, node, value, end, _interpolant(node, value), error)

    def __call__(self, score: Floats) -> Floats:
        """Look up median, lower and upper bound, (3, obs)."""
        found = self._inside(self.model.representative(self.ranks(score)))
        for place in (0, 1):
            found[:, score == place] = self.end[:, place, None]
        return found

    def _inside(self, rank: Floats) -> Floats:
        if self.between is None:
            # The nearest one: a rank may differ from its node by rounding.
            middles = (self.node[1:] + self.node[:-1]) / 2
            return np.asarray(self.value[:, np.searchsorted(middles, rank)])
        prob, lower, upper = expit(self.between(rank))
        return np.stack([prob, np.minimum(lower, prob), np.maximum(upper, prob)])


def _interpolant(node: Floats, value: Floats) -> Any:
    return PchipInterpolator(node, logit(np.clip(value, _LEAST, _MOST)), axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class Lookup:
    """One classifier's bounds as functions of its scores; made by `Lookup.of`."""

    classifier: str
    classes: tuple[str, ...]
    score: Floats  # (obs,) or (obs, class)
    curves: tuple[_Curve, ...]
    venn_abers: InductiveVennAbers | OneVsRest

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
        problem = Problem.of(split, np.arange(0), cells_of(prior, split.n_calibration))
        model = label_model(problem, prior)
        columns = score[:, None] if score.ndim == 1 else score
        nodes = [
            _NodeRanks.of(ranks, model, column)
            for ranks, column in zip(problem.ranks, columns.T, strict=True)
        ]
        values = _summaries(model, draws_of(model), nodes, alpha)
        curves = zip(problem.ranks, nodes, values, strict=True)
        (calibration_score,), label = labeled_rows(split)
        fit: Any = fit_ivap if score.ndim == 1 else fit_one_vs_rest
        return cls(
            calibration.classifiers[0],
            tuple(map(str, calibration.classes)),
            score,
            tuple(_Curve.of(ranks, model, node, value) for ranks, node, value in curves),
            fit(calibration_score, label=label, rows=split.rows),
        )

    @property
    def error(self) -> float:
        """Largest error of any curve."""
        return max(curve.error for curve in self.curves)

    def bounds(self, score: Floats) -> RowBounds:
        """Bounds and decisions of rows, (obs,) or (obs, class)."""
        p0, p1 = self.venn_abers.predict(score)
        if score.ndim == 1:
            prob, lower, upper = self.curves[0](score)
            found, together = decide_binary(lower, upper), merged(p0, p1)
        else:
            columns = [curve(score[:, k]) for k, curve in enumerate(self.curves)]
            prob, lower, upper = np.stack(columns, axis=-1)
            found, together = decide(lower, upper), merged_classes(Pair(p0, p1))
        return RowBounds(
            prob,
            lower,
            upper,
            p0,
            p1,
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


class _NodeRanks(NamedTuple):
    """Ranks to compute of one curve: of all scores between 0 and 1, or a grid over them."""

    rank: Floats
    is_grid: bool
    end: Floats  # of the scores 0 and 1, (2,)

    @classmethod
    def of(cls, ranks: EmpiricalCDF, model: LabelModel, score: Floats) -> _NodeRanks:
        inside = score[(score > 0) & (score < 1)]
        end = model.representative(ranks(np.array([0.0, 1.0])))
        distinct = np.unique(model.representative(ranks(inside))) if len(inside) else end[:1]
        if len(distinct) <= _GRID:
            return cls(distinct, False, end)
        low, high = distinct[[0, -1]]
        return cls(low + (high - low) * _NODES, True, end)


def _summaries(
    model: LabelModel, draws: Draws, nodes: list[_NodeRanks], alpha: float
) -> list[Floats]:
    """Median, lower and upper bound at the nodes of each curve, and at the scores 0 and 1."""
    every = [np.append(found.rank, found.end) for found in nodes]
    most = max(map(len, every))
    padded = np.stack([np.pad(rank, (0, most - len(rank)), "edge") for rank in every], axis=1)
    blocks = []
    for first in range(0, most, _BLOCK):
        found = model.with_pseudo_observations(draws, padded[first : first + _BLOCK])
        blocks.append(
            np.stack(
                [
                    np.median(found.prob, axis=0),
                    np.quantile(found.prob_lower, alpha, axis=0),
                    np.quantile(found.prob_upper, 1 - alpha, axis=0),
                ]
            )
        )
    values = np.concatenate(blocks, axis=1)
    return [values[:, : len(rank), k] for k, rank in enumerate(every)]
