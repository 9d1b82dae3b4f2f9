"""Bounds and decisions of any number of rows, from a result and without another fit."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayescal.core.columns import MISSING
from bayescal.core.errors import InputError
from bayescal.core.intake import Parts
from bayescal.core.quantity import Draws
from bayescal.core.scores import Scores, from_parts
from bayescal.quantities.credal.calibration_split import CalibrationSplit, RowCounts, counting
from bayescal.quantities.credal.models.base import LabelModel
from bayescal.quantities.credal.priors import priors_from_json
from bayescal.quantities.credal.row_lookup import Lookup, RowBounds
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
