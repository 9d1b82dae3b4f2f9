"""Bounds and decisions of any number of rows from a result, and written to a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import PchipInterpolator
from scipy.special import expit, logit

from bayescal.core.checks import check_call
from bayescal.core.columns import MISSING
from bayescal.core.errors import InputError
from bayescal.core.intake import Parts
from bayescal.core.probability_intervals import decide, decide_binary
from bayescal.core.quantity import Draws, Floats
from bayescal.core.scores import Scores, from_parts
from bayescal.core.text import cell
from bayescal.core.writing import check_writable, checked_path, replacing
from bayescal.quantities.credal.data import (
    CalibrationSplit,
    EmpiricalCDF,
    Problem,
    RowCounts,
    counting,
    labeled_rows,
)
from bayescal.quantities.credal.estimator import merged_classes
from bayescal.quantities.credal.model import cells_of, label_model
from bayescal.quantities.credal.models import LabelModel
from bayescal.quantities.credal.priors import LabelRatePrior, priors_from_json
from bayescal.quantities.credal.venn_abers import (
    InductiveVennAbers,
    OneVsRest,
    Pair,
    fit_ivap,
    fit_one_vs_rest,
    merged,
)
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.intervals import tail

if TYPE_CHECKING:
    from xarray import DataTree

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
    remaining ones give: that of a grid half as fine.

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
    parts = [lookup.all_bounds() for lookup in lookups(result, scores, prob)]
    if len(parts) == 1:
        return parts[0]
    stacked = [np.stack(values) for values in zip(*(part[:-1] for part in parts), strict=True)]
    return RowBounds._make([*stacked, max(part.error for part in parts)])


def lookups(result: DataTree, scores: Any, prob: float) -> list[Lookup]:
    """Make the lookup of each classifier, with its checked scores."""
    alpha = tail(prob)
    split = _split(result, scores)
    prior = priors_from_json(access.of_prior(result, "priors")).label_rate
    return [
        Lookup.of(split.select(case.classifier), prior, partial(_draws, result, case), alpha)
        for case in access.cases(result)
    ]


def _split(result: DataTree, scores: Any) -> CalibrationSplit:
    """Put the calibration rows that a result holds together with scores, or its target rows."""
    schema.check_result_of(result, "credal")
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
    label = _of_rows(result, "calibration_label").astype(np.int32)
    calibration = _stored(result, "calibration_score", label)
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
    found = CalibrationSplit(calibration=calibration, target=scores)
    if not access.has_variable(result, schema.CONSTANT_DATA, "calibration_rows"):
        return found
    rows = _of_rows(result, "calibration_rows").astype(np.int64)
    return counting(found, RowCounts(rows, int(result.attrs["n_obs"])))


def _of_rows(result: DataTree, name: str) -> NDArray[Any]:
    """A variable of the calibration rows, which all classifiers share."""
    case = access.cases(result)[0]
    return access.variable(result, schema.CONSTANT_DATA, name, case).to_numpy()


def _stored(result: DataTree, name: str, label: NDArray[np.int32] | None) -> Scores:
    """Scores of every classifier that a result holds under a name."""
    cases = access.cases(result)
    values = [access.variable(result, schema.CONSTANT_DATA, name, case) for case in cases]
    y_prob = np.stack([value.to_numpy() for value in values])
    classes = tuple(map(str, access.json_attribute(result, "classes")))
    y_true = np.full(y_prob.shape[1], MISSING, np.int32) if label is None else label
    names = tuple(access.classifier_names(result))
    return from_parts(Parts(y_prob, y_true, names, classes, None, ()))


def _draws(result: DataTree, case: ResultSlice, model: LabelModel) -> Draws:
    """Draws of the curves' variables, (draw, curve, ...)."""
    problem, found = model.problem, {}
    several = problem.n_curves > 1
    for name in model.variables:
        held = access.variable(result, schema.POSTERIOR, name, case)
        held = held.transpose(*schema.DRAW_DIMS, ...)
        if schema.CELL in held.dims:
            # Cells without rows are left out of a result; they have the prior's draws.
            held = held.reindex({schema.CELL: np.arange(problem.n_cells)})
        values = held.to_numpy()
        # Truth values are whole numbers in a result.
        values = values.astype(bool) if values.dtype == np.int8 else values
        values = values.reshape(-1, *(values.shape[2:] if several else (1, *values.shape[2:])))
        empty = np.isnan(values)
        if empty.any():
            rng = np.random.default_rng(int(result.attrs["seed"]))
            values = np.where(empty, model.prior_draws(len(values), rng)[name], values)
        found[name] = values
    return found


Progress = Callable[[str, int, int], None]
"""Called with the classifier, how many rows are written, and of how many."""

_ENDINGS: Final = (".csv", ".parquet")


def write_rows(
    result: DataTree,
    path: str | os.PathLike[str],
    scores: Any = None,
    prob: float = 0.9,
    progress: Progress | None = None,
) -> Path:
    """Write bounds and decisions of every row to a file, in little memory.

    Parameters
    ----------
    result : xarray.DataTree
        What ``bayescal.fit(bayescal.credal, ...)`` or ``bayescal.load`` returned.
    path : path
        A file that ends in .csv or .parquet; an existing one is replaced, once the new one is
        complete.
    scores : Scores or array-like of shape (obs,) or (obs, class), in [0, 1], optional
        As `bounds_for` takes them; all target rows of the fit if not given.
    prob : float, in (0, 1), default 0.9
        Credible probability of the bounds of each class.
    progress : callable, optional
        Called after each batch with the classifier, how many rows are written, and of how many.

    Returns
    -------
    pathlib.Path
        Where the rows are: one line a row, and class of more than two. Columns are those of
        ``bayescal.row_table`` that need no draws of the row itself.

    Raises
    ------
    InputError
        If the path has another ending, or what `bounds_for` raises.
    OutputError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import bayescal as bc
    >>> data = bc.datasets.credal.truth("logistic").split(200, [0.1, 0.9], seed=1)
    >>> priors = bc.credal.Priors(bc.credal.ImpreciseDirichlet())
    >>> result = bc.fit(bc.credal, data, priors=priors, seed=20, method="direct")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = bc.credal.write_rows(result, Path(folder) / "rows.csv")
    ...     len(file.read_text().splitlines())
    3
    """
    target = checked_path(path)
    check_call(progress, "progress")
    if target.suffix.casefold() not in _ENDINGS:
        raise InputError(f"path must end in .csv or .parquet; got {target.name!r}.")
    check_writable(target)
    ending = target.suffix.casefold()
    spell = cell if ending == ".csv" else str
    found = lookups(result, scores, prob)
    total, done = sum(len(lookup.score) for lookup in found), 0
    with replacing(target) as draft, _writer(draft, ending) as write:
        for lookup in found:
            first = 0
            for score in batches(lookup.score):
                write(_lines(lookup, first, score, spell, named=len(found) > 1))
                first += len(score)
                done += len(score)
                if progress is not None:
                    progress(lookup.classifier, done, total)
    return target


@contextmanager
def _writer(path: Path, ending: str) -> Iterator[Callable[[Any], None]]:
    """Open a file with the first table, whose schema it takes."""
    from pyarrow import csv, parquet

    opened: list[Any] = []

    def write(table: Any) -> None:
        if not opened:
            make = csv.CSVWriter if ending == ".csv" else parquet.ParquetWriter
            opened.append(make(path, table.schema))
        opened[0].write_table(table)

    try:
        yield write
    finally:
        for writer in opened:
            writer.close()


def _lines(
    lookup: Lookup, first: int, score: Floats, spell: Callable[[str], str], *, named: bool
) -> Any:
    """An Arrow table of a batch of rows, whose first is at this place."""
    import pyarrow as pa

    found = lookup.bounds(score)
    n_curves = 1 if score.ndim == 1 else score.shape[1]
    names = lookup.classes[-n_curves:]
    rows = len(score)

    def words(codes: NDArray[np.integer], of: tuple[str, ...]) -> Any:
        spelled = pa.array([spell(name) for name in of])
        coded = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), spelled)
        return coded.dictionary_decode()

    def each(values: NDArray[Any]) -> NDArray[Any]:
        return np.repeat(values, n_curves)

    columns: dict[str, Any] = {}
    if named:
        columns["classifier"] = words(np.zeros(rows * n_curves, np.int32), (lookup.classifier,))
    columns["row"] = each(np.arange(first, first + rows))
    columns["class"] = words(np.tile(np.arange(n_curves), rows), names)
    columns["score"] = score.ravel().astype(np.float64)
    for name in ("prob", "lower", "upper", "p0", "p1", "merged"):
        columns[name] = getattr(found, name).ravel()
    columns["decision"] = words(each(found.decision), lookup.classes)
    columns["n_open"] = each(found.admissible.sum(axis=1))
    columns["open"] = words(*_open_names(found, lookup.classes, each))
    columns["improper"] = each(found.improper)
    return pa.table(columns)


def _open_names(
    found: RowBounds, classes: tuple[str, ...], each: Callable[[NDArray[Any]], NDArray[Any]]
) -> tuple[NDArray[Any], tuple[str, ...]]:
    """Which of the patterns that occur each line has, and their names joined."""
    patterns, place = np.unique(found.admissible, axis=0, return_inverse=True)
    joined = tuple(
        " / ".join(name for name, stays in zip(classes, pattern, strict=True) if stays)
        for pattern in patterns
    )
    return each(place.ravel()), joined
