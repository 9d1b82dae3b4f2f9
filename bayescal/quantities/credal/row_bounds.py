"""Bounds and decisions of rows from a result: of any number, or of those with draws; in a file."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.checks import check_call
from bayescal.core.columns import MISSING, Whole
from bayescal.core.errors import InputError
from bayescal.core.intake import Parts
from bayescal.core.probability_intervals import decide, decide_binary, of_both_classes
from bayescal.core.quantity import Draws, Floats
from bayescal.core.scores import Scores, from_parts
from bayescal.core.text import cell
from bayescal.core.writing import check_writable, checked_path, replacing
from bayescal.quantities.credal.data import CalibrationSplit, RowCounts, counting, target_like
from bayescal.quantities.credal.models import LabelModel
from bayescal.quantities.credal.priors import priors_from_json
from bayescal.quantities.credal.row_lookup import Lookup, RowBounds, StoredCurve, batches
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.intervals import tail

if TYPE_CHECKING:
    from xarray import DataTree


def bounds_for(result: DataTree, scores: Any = None, prob: float = 0.9) -> RowBounds:
    """Compute bounds and decisions of rows from a result, without another fit.

    Parameters
    ----------
    result : xarray.DataTree
        What ``bayescal.fit(bayescal.credal, ...)`` or ``bayescal.load`` returned; or another result
        with a calibration curve, as of `bayescal.ece` under its default prior.
    scores : Scores or array-like of shape (obs,) or (obs, class), in [0, 1], optional
        Scores of the same classifiers, any number of rows; all target rows of the fit if not given.
        Other results than those of `bayescal.credal` hold none.
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
        If the result holds no curve, those of several groups or priors, or is of a version that did
        not keep its calibration rows; if scores do not fit it; or if `prob` lies outside (0, 1).

    Notes
    -----
    Draws of the curve are evaluated at every distinct rank where these are 257 or fewer. Else on a
    grid of 257 ranks, denser at both ends, and the logits of mean and bounds are interpolated by
    monotone cubics [1]_; `error` is the largest change by a coarser grid.

    A result of another quantity holds its curve by cells. Between them the deviation of a draw's
    logit from the score's is linear in the score's logit (a segment's jumps half way), beyond them
    it goes on along the line that fits it best. Calibrated curves are left out, as a row's bounds
    would have no width; one observation of either label is added. Venn-Abers probabilities need the
    rows themselves, and are NaN.

    References
    ----------
    .. [1] F. N. Fritsch and J. Butland, 1984. https://doi.org/10.1137/0905021

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


class CredibleSets(NamedTuple):
    """Credal sets of the rows that a result holds; a leading dim ``classifier`` where several.

    Parameters
    ----------
    lower, upper : ndarray of shape (..., obs, class), in [0, 1]
        Credal-credible bounds of each class, as `e_admissible` and other decisions take them.
    proper : ndarray of shape (..., obs), bool
        Whether class probabilities lie between the bounds.
    decision : ndarray of shape (..., obs), int
        Place of the class decided on: of the admissible ones that of the largest lower probability.
    admissible : ndarray of shape (..., obs, class), bool
        Whether a class is the most probable one for some member. More than one is admissible where
        the rows do not decide.
    """

    lower: Floats
    upper: Floats
    proper: NDArray[np.bool_]
    decision: Whole
    admissible: NDArray[np.bool_]


def credible_sets(result: DataTree, prob: float = 0.9) -> CredibleSets:
    """Compute the credal sets of a result.

    Parameters
    ----------
    result : xarray.DataTree
        What ``bayescal.fit(bayescal.credal, ...)`` returned.
    prob : float, in (0, 1), default 0.9
        Credible probability of the bounds of each class.

    Returns
    -------
    CredibleSets
        Bounds from the ``(1 - prob) / 2`` quantile of ``prob_lower`` to the ``(1 + prob) / 2``
        quantile of ``prob_upper``, and what holds of them.

    Raises
    ------
    InputError
        If the result is of another quantity, or `prob` lies outside (0, 1).

    Notes
    -----
    `prob` holds for the bounds of each class, not for all classes at once. Bounds of several
    classes are discounted before a decision where they leave no probabilities.

    Examples
    --------
    >>> import bayescal as bc
    >>> data = bc.datasets.credal.truth("logistic").split(100, 5, seed=1)
    >>> priors = bc.credal.Priors(bc.credal.ImpreciseDirichlet())
    >>> result = bc.fit(bc.credal, data, priors=priors, seed=20, method="direct")
    >>> bc.credal.credible_sets(result).lower.shape
    (5, 2)
    """
    schema.check_result_of(result, "credal")
    access.check_every_class(result)
    alpha = tail(prob)
    draws = schema.DRAW_DIMS
    held = (access.variable(result, schema.POSTERIOR, f"prob_{end}") for end in ("lower", "upper"))
    lower, upper = (
        values.transpose(*draws, ...).quantile(level, draws).to_numpy()
        for values, level in zip(held, (alpha, 1 - alpha), strict=True)
    )
    if result.attrs["multiclass"] == "binary":
        both = of_both_classes(lower, upper)
        return CredibleSets(both.lower, both.upper, *decide_binary(lower, upper))
    return CredibleSets(lower, upper, *decide(lower, upper))


def lookups(result: DataTree, scores: Any, prob: float) -> list[Lookup]:
    """Make the lookup of each classifier, with its checked scores."""
    alpha = tail(prob)
    schema.check_result(result)
    if access.is_prior_grid(result):
        raise InputError(
            "result must be of one prior; got refits under several. Fit the prior whose bounds "
            "you want, and pass its result."
        )
    if result.attrs["quantity"] != "credal":
        return _of_stored_curves(result, scores, alpha)
    access.check_every_class(result)
    split = _split(result, scores)
    prior = priors_from_json(access.of_prior(result, "priors")).label_rate
    return [
        Lookup.of(split.select(case.classifier), prior, partial(_draws, result, case), alpha)
        for case in access.cases(result)
    ]


def _of_stored_curves(result: DataTree, scores: Any, alpha: float) -> list[Lookup]:
    """Lookups under the curves that a result of another quantity holds."""
    quantity = result.attrs["quantity"]
    if schema.CURVE not in result.children:
        raise InputError(
            "result must hold a calibration curve: results of bayescal.credal do, and under a "
            f"prior of curves those of bayescal.ece; this one, of {quantity}, holds none. Pass "
            "one of these, fitted with this version (bayescal.fit_many: keep='draws')."
        )
    if scores is None:
        raise InputError(
            f"scores must be given with a result of {quantity}, which holds no target rows. "
            "Pass the scores whose bounds you want."
        )
    cases = access.cases(result)
    if len({case.group for case in cases}) > 1:
        raise InputError(
            "result must hold one curve a classifier; got one for each group. Pass "
            "result.sel(group=name), of the group whose bounds you want."
        )
    classes = access.json_attribute(result, "classes") if "classes" in result.attrs else ["0", "1"]
    if len(classes) > 2 and len({case.class_ for case in cases}) != len(classes):
        raise InputError(
            "result must hold a curve for each class; got one of the most probable class. "
            f"Fit with multiclass='class-wise' for bounds of the {len(classes)} classes."
        )
    names = list(dict.fromkeys(case.classifier for case in cases))
    several = (len(classes),) if len(classes) > 2 else ()
    score = np.full((len(names), 1, *several), 1 / len(classes))
    words = tuple(map(str, classes))
    fitted = from_parts(Parts(score, np.array([MISSING], np.int32), tuple(names), words))
    target = target_like(fitted, _with_plain_classes(scores))
    return [
        Lookup.of_stored(
            target.select(name),
            [StoredCurve.of(result, case) for case in cases if case.classifier == name],
            alpha,
        )
        for name in names
    ]


def _split(result: DataTree, scores: Any) -> CalibrationSplit:
    """Put the calibration rows that a result holds together with scores, or its target rows."""
    if not access.has_variable(result, schema.CONSTANT_DATA, "calibration_score"):
        raise InputError(
            "result must hold its calibration rows; this one, of an earlier version, does not. "
            "Fit the same data again."
        )
    # Classifiers share the rows.
    case = access.cases(result)[0]
    names = ("calibration_label", "calibration_weight", "calibration_rows")
    label, weight, rows = (
        access.variable(result, schema.CONSTANT_DATA, name, case).to_numpy()
        if access.has_variable(result, schema.CONSTANT_DATA, name)
        else None
        for name in names
    )
    calibration = _stored(result, "calibration_score", label, weight)
    if scores is None:
        scores = _stored(result, "all_target_scores")
    found = CalibrationSplit(calibration=calibration, target=_with_plain_classes(scores))
    if rows is None:
        return found
    return counting(found, RowCounts(rows.astype(np.int64), int(result.attrs["n_obs"])))


def _stored(
    result: DataTree,
    name: str,
    label: NDArray[np.integer] | None = None,
    weight: Floats | None = None,
) -> Scores:
    """Scores of every classifier that a result holds under a name."""
    cases = access.cases(result)
    values = [access.variable(result, schema.CONSTANT_DATA, name, case) for case in cases]
    y_prob = np.stack([value.to_numpy() for value in values])
    y_true = np.full(y_prob.shape[1], MISSING) if label is None else label
    names = tuple(access.classifier_names(result))
    classes = tuple(map(str, access.json_attribute(result, "classes")))
    parts = Parts(y_prob, y_true.astype(np.int32), names, classes, sample_weight=weight)
    return from_parts(parts)


def _with_plain_classes(scores: Any) -> Any:
    """Scores whose classes are words, as a result holds the names of classes alone."""
    if not isinstance(scores, Scores):
        return scores
    names = tuple(map(str, scores.classes))
    divided = scores.group, scores.groups, scores.sample_weight
    return from_parts(Parts(scores.y_prob, scores.y_true, scores.classifiers, names, *divided))


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
        A file that ends in .csv or .parquet; an existing one is replaced once this is complete.
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
    from pyarrow import csv, parquet

    target = checked_path(path)
    check_call(progress, "progress")
    if target.suffix.casefold() not in _ENDINGS:
        raise InputError(f"path must end in .csv or .parquet; got {target.name!r}.")
    check_writable(target)
    of_words = target.suffix.casefold() == ".csv"
    make, spell = (csv.CSVWriter, cell) if of_words else (parquet.ParquetWriter, str)
    found, writer = lookups(result, scores, prob), None
    total, done = sum(len(lookup.score) for lookup in found), 0
    with ExitStack() as opened:
        draft = opened.enter_context(replacing(target))
        for lookup in found:
            first = 0
            for score in batches(lookup.score):
                table = _lines(lookup, first, score, spell, named=len(found) > 1)
                writer = writer or opened.enter_context(make(draft, table.schema))
                writer.write_table(table)
                first += len(score)
                done += len(score)
                if progress is not None:
                    progress(lookup.classifier, done, total)
    return target


def _lines(
    lookup: Lookup, first: int, score: Floats, spell: Callable[[str], str], *, named: bool
) -> Any:
    """An Arrow table of a batch of rows, whose first is at this place."""
    import pyarrow as pa

    found = lookup.bounds(score)
    n_curves = len(lookup.curves)
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
    patterns, place = np.unique(found.admissible, axis=0, return_inverse=True)
    names_of = tuple(" / ".join(compress(lookup.classes, pattern)) for pattern in patterns)
    columns["open"] = words(each(place.ravel()), names_of)
    columns["improper"] = each(found.improper)
    return pa.table(columns)
