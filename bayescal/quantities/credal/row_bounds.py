"""Bounds and decisions of any number of rows, from a result and without another fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import PchipInterpolator
from scipy.special import expit, logit

from bayescal.core.columns import MISSING
from bayescal.core.errors import InputError
from bayescal.core.intake import Parts
from bayescal.core.probability_intervals import decide, decide_binary
from bayescal.core.quantity import Draws, Floats
from bayescal.core.scores import Scores, from_parts
from bayescal.quantities.credal.calibration_split import CalibrationSplit
from bayescal.quantities.credal.data import EmpiricalCDF, Problem
from bayescal.quantities.credal.estimator import merged_classes
from bayescal.quantities.credal.models import cells_of, label_model
from bayescal.quantities.credal.models.base import LabelModel
from bayescal.quantities.credal.priors import priors_from_json
from bayescal.quantities.credal.venn_abers.ivap import InductiveVennAbers, Pair, fit_ivap, merged
from bayescal.quantities.credal.venn_abers.one_vs_rest import OneVsRest, fit_one_vs_rest
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.intervals import tail

if TYPE_CHECKING:
    from xarray import DataTree

# Ranks that bounds are computed at; odd, so that every other one makes a coarser grid.
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


def bounds_for(result: DataTree, scores: Any = None, prob: float = 0.9) -> RowBounds:
    """Compute bounds and decisions of rows from a result, without another fit.

    Parameters
    ----------
    result : xarray.DataTree
        What ``bayescal.fit(bayescal.credal, ...)`` or ``bayescal.load`` returned.
    scores : Scores or array-like of shape (obs,) or (obs, class), in [0, 1], optional
        Scores of the same classifiers, any number of rows; all target rows of the fit if not given.
        Plain probabilities are those of a single classifier, as `CalibrationSplit` takes them.
    prob : float, in (0, 1), default 0.9
        Credible probability of the bounds of each class.

    Returns
    -------
    RowBounds
        Of every row, in the order of `scores`.

    Raises
    ------
    InputError
        If the result is of another quantity, of several priors or of a version that did not keep
        its calibration rows; if scores do not fit it; or if `prob` lies outside (0, 1).

    Notes
    -----
    A result holds draws of at most 200 rows, from which `row_table` takes the same quantiles. Here
    the draws of the curve are evaluated at every distinct rank where these are 257 or fewer, as
    they are under priors of bins and steps. Otherwise it is done on a grid of 257 ranks, which
    crowd towards both ends, and the logits of median and bounds are interpolated by monotone
    cubics [1]_. `error` is the largest difference at every other rank of the grid from what the
    others alone give: a bound for a coarser grid, far above the error of this one.

    References
    ----------
    .. [1] F. N. Fritsch and J. Butland, "A Method for Constructing Local Monotone Piecewise Cubic
       Interpolants", SIAM Journal on Scientific and Statistical Computing 5(2), 1984.
       https://doi.org/10.1137/0905021

    Examples
    --------
    >>> import bayescal as bc
    >>> data = bc.datasets.credal.truth("logistic").split(200, [0.1, 0.5, 0.9], seed=1)
    >>> priors = bc.credal.Priors(bc.credal.ImpreciseDirichlet())
    >>> result = bc.fit(bc.credal, data, priors=priors, seed=20, method="direct")
    >>> found = bc.credal.bounds_for(result, [0.05, 0.95])
    >>> found.decision.tolist(), bool((found.lower < found.upper).all())
    ([0, 1], True)
    """
    parts = [
        _joined([lookup.bounds(batch) for batch in batches(lookup.score)], lookup.error)
        for lookup in lookups(result, scores, prob)
    ]
    if len(parts) == 1:
        return parts[0]
    stacked = [np.stack(values) for values in zip(*(part[:-1] for part in parts), strict=True)]
    return RowBounds(*stacked, max(part.error for part in parts))


def _joined(parts: list[RowBounds], error: float) -> RowBounds:
    joined = [np.concatenate(values) for values in zip(*(part[:-1] for part in parts), strict=True)]
    return RowBounds(*joined, error)


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
    # Between the nodes, of logits; None where every rank is a node.
    between: Any
    error: float

    @classmethod
    def of(cls, ranks: EmpiricalCDF, model: LabelModel, node: Floats, value: Floats) -> _Curve:
        if node is not _NODES:
            return cls(ranks, model, node, value, None, 0.0)
        coarse = expit(_interpolant(node[::2], value[:, ::2])(node[1::2]))
        error = float(np.abs(coarse - value[:, 1::2]).max())
        return cls(ranks, model, node, value, _interpolant(node, value), error)

    def __call__(self, score: Floats) -> Floats:
        """Look up median, lower and upper bound, (3, obs)."""
        rank = self.model.representative(self.ranks(score))
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
    """One classifier's bounds as functions of its scores; made by `lookups`."""

    classifier: str
    classes: tuple[str, ...]
    score: Floats  # (obs,) or (obs, class)
    curves: tuple[_Curve, ...]
    venn_abers: InductiveVennAbers | OneVsRest

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


def lookups(result: DataTree, scores: Any, prob: float) -> list[Lookup]:
    """Make the lookup of each classifier, with its checked scores."""
    alpha = tail(prob)
    split = _split(result, scores)
    return [_lookup(result, case, split, alpha) for case in access.cases(result)]


def _split(result: DataTree, scores: Any) -> CalibrationSplit:
    """Put the calibration rows that a result holds together with scores, or its target rows."""
    schema.check_result(result)
    if result.attrs["quantity"] != "credal":
        raise InputError(
            f"result must be one of bayescal.credal; got one of {result.attrs['quantity']}. "
            "Pass what bayescal.fit(bayescal.credal, ...) returned."
        )
    if access.is_prior_grid(result):
        raise InputError(
            "result must be of one prior; got refits under several. Fit the prior whose bounds "
            "you want, and pass its result."
        )
    if not access.has_variable(result, schema.CONSTANT_DATA, "calibration_score"):
        raise InputError(
            "result must hold its calibration rows; this one, of an earlier version, does not. "
            "Fit the same data again."
        )
    known = access.variable(result, schema.CONSTANT_DATA, "calibration_label", _first(result))
    calibration = _stored(result, "calibration_score", known.to_numpy().astype(np.int32))
    if scores is None:
        scores = _stored(result, "all_target_scores", None)
    elif isinstance(scores, Scores):
        # A result holds the classes' names alone.
        names = tuple(map(str, scores.classes))
        scores = from_parts(
            Parts(
                scores.y_prob,
                scores.y_true,
                scores.classifiers,
                names,
                None,
                (),
                scores.sample_weight,
            )
        )
    return CalibrationSplit(calibration=calibration, target=scores)


def _first(result: DataTree) -> ResultSlice:
    return access.cases(result)[0]


def _stored(result: DataTree, name: str, label: NDArray[np.int32] | None) -> Scores:
    """Scores of every classifier that a result holds under a name."""
    cases = access.cases(result)
    values = [access.variable(result, schema.CONSTANT_DATA, name, case) for case in cases]
    y_prob = np.stack([value.to_numpy() for value in values])
    classes = tuple(map(str, access.json_attribute(result, "classes")))
    y_true = np.full(y_prob.shape[1], MISSING, np.int32) if label is None else label
    names = tuple(access.classifier_names(result))
    return from_parts(Parts(y_prob, y_true, names, classes, None, ()))


def _lookup(result: DataTree, case: ResultSlice, split: CalibrationSplit, alpha: float) -> Lookup:
    name = case.classifier
    one = split if split.calibration.n_classifiers == 1 else split.select(name)
    prior = priors_from_json(result.attrs["priors"]).label_rate
    problem = Problem.of(one, np.arange(0), cells_of(prior, one.n_calibration))
    model = label_model(problem, prior)
    score = one.target.y_prob[0]
    nodes = [
        _nodes(model.representative(ranks(column)))
        for ranks, column in zip(problem.ranks, np.atleast_2d(score.T), strict=True)
    ]
    values = _summaries(model, _draws(result, case, model, problem), nodes, alpha)
    curves = zip(problem.ranks, nodes, values, strict=True)
    y_prob, y_true = one.calibration.y_prob[0], one.calibration.y_true
    fit: Any = fit_ivap if y_prob.ndim == 1 else fit_one_vs_rest
    return Lookup(
        name,
        tuple(map(str, one.calibration.classes)),
        score,
        tuple(_Curve.of(ranks, model, node, value) for ranks, node, value in curves),
        fit(y_prob, y_true),
    )


def _nodes(rank: Floats) -> Floats:
    """Choose the ranks to compute: all of them, or a grid."""
    distinct = np.unique(rank)
    return distinct if len(distinct) <= _GRID else _NODES


def _draws(result: DataTree, case: ResultSlice, model: LabelModel, problem: Problem) -> Draws:
    """Draws of the curves' variables, (draw, curve, ...)."""
    found, several = {}, problem.n_curves > 1
    for name in model.variables:
        held = access.variable(result, schema.POSTERIOR, name, case)
        held = held.transpose(*schema.DRAW_DIMS, ...)
        if schema.CELL in held.dims:
            # Cells without rows are left out of a result; they have the prior's draws.
            held = held.reindex({schema.CELL: np.arange(problem.n_cells)})
        values = held.to_numpy()
        values = values.reshape(-1, *(values.shape[2:] if several else (1, *values.shape[2:])))
        empty = np.isnan(values)
        if empty.any():
            rng = np.random.default_rng(int(result.attrs["seed"]))
            values = np.where(empty, model.prior_draws(len(values), rng)[name], values)
        found[name] = values
    return found


def _summaries(
    model: LabelModel, draws: Draws, nodes: list[Floats], alpha: float
) -> list[Floats]:
    """Median, lower and upper bound at the nodes of each curve, (3, node)."""
    most = max(map(len, nodes))
    padded = np.stack([np.pad(node, (0, most - len(node)), "edge") for node in nodes], axis=1)
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
    return [values[:, : len(node), k] for k, node in enumerate(nodes)]
