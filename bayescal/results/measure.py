"""Numbers of the calibration curve that a result holds: draws, and variables like any other."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from inspect import signature
from typing import Any, Final

import numpy as np
import xarray as xr

from bayescal.core.checks import check_is, check_known, listing
from bayescal.core.columns import Floats
from bayescal.core.errors import DataWarning, InputError, NoValueError, warn_caller
from bayescal.core.functionals import correlation, weighted_influence
from bayescal.core.quantity import ERROR, METRIC, Variable, to_json
from bayescal.measures.measure import ALL, MISCALIBRATED, ROWS, Measure, as_variable
from bayescal.measures.registry import measures, resolve
from bayescal.measures.scores import auc, auprc
from bayescal.results import access, bootstrap, schema
from bayescal.results.access import ResultSlice
from bayescal.results.bootstrap import MASS, RATE, Cells, Draws

type _Found = dict[str, xr.DataArray]

_GIVEN: Final = "given_"
_OF_RANKS: Final = (auc, auprc)


def measure(
    tree: xr.DataTree, measure: str | Measure | Callable[..., Any], **options: float
) -> xr.DataArray:
    """Posterior draws of any number of a calibration curve.

    Parameters
    ----------
    tree : xarray.DataTree
        A result that holds a calibration curve: the group ``curve``.
    measure : str, Measure or callable
        A name of `bayescal.measures`, such as ``"e90"`` or ``"net_benefit:0.25"``; or a function
        ``f(rate, score, mass)`` of the label rates (chain, draw, cell), scores (cell,) and masses
        (chain, draw, cell) of cells with increasing scores, which gives values (chain, draw).
    **options : float
        Options of a named measure, such as ``threshold=0.25``, in (0, 1).

    Returns
    -------
    xarray.DataArray
        Draws with dims chain and draw, then those of the cases: classifier, class, group.

    Raises
    ------
    InputError
        If the result holds no curve, there is no such measure or option, or the function gives
        another shape or an undefined value.

    Warns
    -----
    DataWarning
        If some of several groups or classes have no value, as an AUC of one label: draws are NaN.

    Notes
    -----
    The estimand is the number that the population has: the curve P(Y = 1 | score), and how its
    scores are distributed. Draws of errors, slopes and of your own functions are of the whole
    posterior, in which the classifier may be calibrated; those of rates of rows and costs, such as
    the Brier score, the AUC or the net benefit, are of the labelled rows alone (see `Measure`).

    Cells are narrow ranges of the score, about 100, or each one score where there are fewer. Means
    over rows are of their parts, a hundredth of either label at most, whose rows count as tied; a
    threshold within one parts it evenly. So are squared and largest gaps and lines of a curve.

    Examples
    --------
    >>> import bayescal as bc
    >>> scores = bc.datasets.ece.truth("over").scores(2000, seed=1)
    >>> result = bc.fit(bc.ece, scores, seed=20, method="direct")
    >>> draws = bc.measure(result, "net_benefit", threshold=0.25)
    >>> draws.dims
    ('chain', 'draw')
    >>> by_hand = bc.measure(result, lambda rate, score, mass: (mass * rate).sum(axis=-1))
    >>> 0.4 < float(by_hand.mean()) < 0.6
    True
    """
    one = resolve(measure, **options)
    found = empty_draws(tree).rename(one.name)
    lost: _Lost = {}
    for case in curves_of(tree):
        cells = curve_cells(tree, case, one.components)
        if one.by_part:
            [cells] = _by_part(tree, case, (cells, ...))
        found.loc[access.place_in(found, case)] = next(values_of(cells, [one], case, lost))
    _check_lost(tree, lost)
    return found


def has_curve(tree: xr.DataTree) -> bool:
    """Whether a result holds draws of a calibration curve."""
    return access.has_variable(tree, schema.CURVE, RATE)


def curves_of(tree: xr.DataTree) -> list[ResultSlice]:
    """The cases, and within one the classes that have a curve each."""
    found = access.cases(tree)
    for dim, names in inner_names(tree).items():
        found = [replace(one, sel={**one.sel, dim: name}) for one in found for name in names]
    return found


def inner_names(tree: xr.DataTree) -> dict[str, list[str]]:
    """Names along the dims within a case that has a curve for each class of a row."""
    rate = access.variable(tree, schema.CURVE, RATE)
    of_cases = {*schema.DRAW_DIMS, *schema.CASE_DIMS, schema.CELL}
    return {str(dim): [*map(str, rate[dim].values)] for dim in rate.dims if dim not in of_cases}


def empty_draws(tree: xr.DataTree) -> xr.DataArray:
    """Room for draws, (chain, draw, ...)."""
    check_curve(tree)
    like = access.variable(tree, schema.CURVE, RATE).isel({schema.CELL: 0}, drop=True)
    return like.transpose(*schema.DRAW_DIMS, ...).astype(np.float64)


def _evaluated(wanted: Sequence[Measure], cells: Cells) -> Iterator[Any]:
    """Measures of cells, and of where rows are in them where their ends are known."""
    # Most of those at a threshold have the same one.
    parted = lru_cache(1)(cells.parted)
    for one in wanted:
        known = {} if cells.ends is None else signature(one.function).parameters
        parts = parted(known["threshold"].default) if "threshold" in known else cells
        more = {"within": cells.within()} if "within" in known else {}
        more |= {"added": cells.added} if "added" in known else {}
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            found = one.function(*parts[:3], **more)
        yield found


type _Lost = dict[Measure, list[ResultSlice]]


def _check_lost(tree: xr.DataTree, lost: _Lost) -> None:
    """Warn of groups and classes for which a measure has no value; the others must have one."""
    for one, cases in lost.items():
        if len(cases) == len(curves_of(tree)):
            raise _no_value(one, cases[0])
        named = "; ".join(case.title for case in cases)
        said = f"{one.name} has no value for {named}, the others have one. {one.undefined}"
        warn_caller(said.strip(), DataWarning)


def _no_value(one: Measure, case: ResultSlice) -> NoValueError:
    return NoValueError(
        f"{one.name} must be a finite number in every draw; it is not for {case.title}. "
        f"{one.undefined or 'Mend the function where a rate is 0 or 1, or masses are 0.'}"
    )


def values_of(
    cells: Cells, wanted: Sequence[Measure], case: ResultSlice, lost: _Lost
) -> Iterator[Floats]:
    """Values of each measure, which must be numbers; NaN of a group or class that has none."""
    expected, known = cells.rate.shape[:-1], ~np.isnan(cells.rate[..., 0])
    for one, found in zip(wanted, _evaluated(wanted, cells), strict=True):
        values = np.array(found, dtype=np.float64)
        if values.shape != expected:
            raise InputError(
                f"{one.name} must give one value a draw, shape {expected}; got {values.shape}. Sum "
                "over the last axis, that of cells."
            )
        if not np.isfinite(values[known]).all():
            if {*case.coords, *case.sel} <= {schema.CLASSIFIER, schema.PRIOR_NAME}:
                raise _no_value(one, case)
            if case not in lost.setdefault(one, []):
                lost[one].append(case)
            values[:] = np.nan
        yield values


def curve_cells(tree: xr.DataTree, case: ResultSlice, of: str) -> Cells:
    """The curve of a case: of the whole posterior, given miscalibration, or of its rows alone.

    Of unlabelled rows it is that given miscalibration, by the parts that rank them.
    """
    rows = bootstrap.rows_of(tree, case) if of == ROWS else None
    score, _, held = bootstrap.cells_with_rows(tree, case)
    if rows is not None:
        rng = access.stream_of(tree, schema.SHARED_ROWS, *case.names)
        rate, score, flat, ends, added = bootstrap.draw_cells(rows, Draws.of(tree), rng)
        dims = access.variable(tree, schema.CURVE, RATE, case)
        shape = (*(dims.sizes[dim] for dim in schema.DRAW_DIMS), len(score))
        of_draws = added.reshape(2, *shape[:-1])
        return Cells(rate.reshape(shape), score, flat.reshape(shape), ends, of_draws)
    rate, mass = (_of_kind(tree, name, of, case) for name in (RATE, MASS))
    rate, score = np.take(rate, held, axis=-1), score[held]
    # A result keeps both in single precision: a score as near as that is its own rate.
    rate = np.where(np.abs(rate - score) > np.spacing(np.float32(1)) * score, rate, score)
    if of != ALL and not access.has_variable(tree, schema.CURVE, f"{_GIVEN}{RATE}"):
        rate = np.where((rate == score).all(axis=-1, keepdims=True), np.nan, rate)
    mass = np.take(mass, held, axis=-1)
    cells = Cells(rate, score, mass / mass.sum(axis=-1, keepdims=True))
    return _by_part(tree, case, (cells, ...))[0] if of == ROWS else cells


def _by_part(tree: xr.DataTree, case: ResultSlice, *curves: tuple[Cells, Any]) -> list[Cells]:
    """Curves of a case, each of some draws, at the parts of their cells where rows are known."""
    if (rows := bootstrap.rows_in_cells(tree, case)) is None:
        return [cells for cells, _ in curves]
    stream = access.stream_of(tree, schema.PART, *case.names)
    weight = bootstrap.part_weights(rows, Draws.of(tree), stream)
    return [bootstrap.curve_by_part(cells, rows, weight[kept]) for cells, kept in curves]


def _of_kind(tree: xr.DataTree, name: str, kind: str, case: ResultSlice) -> Floats:
    """Rates or masses of a kind of curve by cell, (chain, draw, cell)."""
    own = f"{_GIVEN}{name}"
    if kind == ALL or not access.has_variable(tree, schema.CURVE, own):
        own = name
    held = access.variable(tree, schema.CURVE, own, case).transpose(*schema.DRAW_DIMS, schema.CELL)
    return np.asarray(held.values, dtype=np.float64)


def check_curve(tree: xr.DataTree) -> None:
    """Refuse a result without a curve."""
    schema.check_result(tree)
    if not has_curve(tree):
        if access.is_prior_grid(tree):
            raise InputError(
                "a measure under several priors needs a curve with the same cells under each; bins "
                "and curves have others. Pass var= to bayescal.prior_sensitivity."
            )
        known = ", ".join(one.name for one in access.answers(tree))
        raise InputError(
            f"a measure needs draws of a calibration curve; this result, of "
            f"{tree.attrs['quantity']}, holds none. Choose from {known}, or fit a calibration "
            "error to labelled rows with this version of bayescal, many of them with keep='draws'."
        )


def with_measures(tree: xr.DataTree, specs: Sequence[str | Measure]) -> xr.DataTree:
    """A result in which measures are variables like any other; those that it has stay."""
    wanted = {one.name: one for one in map(resolve, _checked_names(tree, specs))}
    added = [
        one for name, one in wanted.items() if not access.has_variable(tree, schema.POSTERIOR, name)
    ]
    if not added:
        return tree
    every, given = (_along(tree, found) for found in _of_both(tree, added))
    # An error of single cells is that of their few rows: it has no plug-in.
    points = _plug_ins(tree, [one for one in added if as_variable(one, None).role != ERROR])
    more = {
        schema.POSTERIOR: every,
        schema.GIVEN_MISCALIBRATION: {
            one.name: given[one.name] for one in added if one.components == ALL
        },
        schema.POINT_ESTIMATE: points,
        schema.PAIRED: _along(tree, _paired(tree, added)),
        schema.ERROR_CORRELATION: _correlations(tree, added),
    }
    groups = {name: node.to_dataset() for name, node in tree.children.items()}
    for name, values in more.items():
        if values or name in groups:
            groups[name] = groups.get(name, xr.Dataset()).assign(values)
    found = xr.DataTree()
    found.children = {name: xr.DataTree(held) for name, held in groups.items()}
    records = [as_variable(one, one.name if one.name in points else None) for one in added]
    # A quantity may list a name that this result does not hold, as credal does its intercept.
    others = [one for one in access.variables(tree) if one.name not in {new.name for new in added}]
    found.attrs = {
        **tree.attrs,
        schema.VARIABLES: to_json([*others, *records]),
        schema.MEASURES: json.dumps([*access.measure_names(tree), *(one.name for one in added)]),
    }
    return found


def _along(tree: xr.DataTree, draws: dict[str, xr.DataArray]) -> dict[str, xr.DataArray]:
    """Draws of measures along the chains and draws that a selection has left."""
    gone = {dim: 0 for dim in schema.DRAW_DIMS if dim not in tree[schema.POSTERIOR].dims}
    return {name: values.isel(gone, drop=True) for name, values in draws.items()}


def with_measure(tree: xr.DataTree, var: Any) -> tuple[xr.DataTree, Any]:
    """A result that has this measure as a variable, and the name of the one that is meant."""
    schema.check_result(tree)
    if var is None or access.has_variable(tree, schema.POSTERIOR, var):
        return tree, var
    if isinstance(var, str) and var.partition(":")[0] not in measures():
        if var in tree.children.get(schema.MODEL_AVERAGE, xr.DataTree()).dataset:
            raise InputError(
                f"var must have draws; {var!r} is a number without. Take "
                f"result['{schema.MODEL_AVERAGE}/{var}'], or bayescal.summary(result)."
            )
        if not has_curve(tree):
            return tree, var
        known = (*map(str, tree[schema.POSTERIOR].data_vars), *measures())
        check_known(var.partition(":")[0], known, "variable or measure", "the result")
    return with_measures(tree, [var]), resolve(var).name


def paired(tree: xr.DataTree, name: str) -> xr.DataTree:
    """A result that compares a metric of its curves by the rows, as priors pull curves apart."""
    own = measures().get(name)
    # A measure with options is not what a result has under its name.
    if own is None or own.options or access.has_variable(tree, schema.PAIRED, name):
        return tree
    pairs = _along(tree, _paired(tree, [own]))
    return tree.assign({schema.PAIRED: xr.DataTree(xr.Dataset(pairs))}) if pairs else tree


def compared_title(tree: xr.DataTree, name: str) -> str:
    """What classifiers are compared by, and how: of a metric of the curves, that of the rows."""
    title = access.described(tree, name).title
    if tree.attrs.get("pairing") == "independent":
        return f"{title} (as if each had rows of its own)"
    by_rows = access.has_variable(tree, schema.PAIRED, name)
    of_curve = by_rows and name not in access.measure_names(tree)
    return f"{title} (labelled rows)" if of_curve else title


def is_of_rows(tree: xr.DataTree, name: str) -> bool:
    """Whether a variable is a measure that was drawn from the labelled rows alone."""
    if name not in access.measure_names(tree) or name.partition(":")[0] not in measures():
        return False
    first = access.cases(tree)[0]
    return resolve(name).components == ROWS and bootstrap.rows_of(tree, first) is not None


def chosen_variable(tree: xr.DataTree, var: str | None) -> tuple[xr.DataTree, str]:
    """A result with the answer or measure of that name, and its name; the main one by default."""
    found, name = with_measure(tree, var)
    return found, access.check_variable(found, name)


def shown_measures(tree: xr.DataTree, specs: Any) -> tuple[xr.DataTree, list[Variable]]:
    """A result with further measures; and these, after those that were added before."""
    given = [specs] if isinstance(specs, str | Measure) or callable(specs) else specs
    check_is(given, Sequence, "measures", "Pass names in a list, such as ['e90', 'slope'].")
    names = [resolve(one).name for one in given]
    if names and has_curve(tree) and (inner := inner_names(tree)):
        ((_, classes),) = inner.items()
        raise InputError(
            f"measures in a table must have one number a case; {names[0]!r} has one for each of "
            f"the classes {listing(classes)}. Read bayescal.interval(result, {names[0]!r})."
        )
    found = _with_defined(tree, given)
    held = [name for name in names if access.has_variable(found, schema.POSTERIOR, name)]
    ordered = dict.fromkeys([*access.measure_names(found), *held])
    return found, [access.described(found, name) for name in ordered]


def _with_defined(tree: xr.DataTree, specs: Sequence[Any]) -> xr.DataTree:
    """A result with those measures that have a value; a warning says which have none."""
    try:
        return with_measures(tree, specs)
    except NoValueError:
        found, lost = with_each(tree, specs)
        if len(lost) == len(specs):
            raise
    warn_caller(" ".join(f"Left out: {error}" for _, error in lost), DataWarning)
    return found


def with_each(
    tree: xr.DataTree, specs: Sequence[str | Measure]
) -> tuple[xr.DataTree, list[tuple[str | Measure, InputError]]]:
    """A result with those measures that it can have; and the others, with what keeps them out."""
    lost = []
    for one in specs:
        try:
            tree = with_measures(tree, [one])
        except InputError as error:
            lost.append((one, error))
    return tree, lost


def _checked_names(tree: xr.DataTree, specs: Sequence[Any]) -> Sequence[Any]:
    """Refuse functions whose name is taken, and measures of whose name the model has a number."""
    names, answers = [resolve(one).name for one in specs], access.of_role(tree, ERROR, METRIC)
    for place, (one, name) in enumerate(zip(specs, names, strict=True)):
        held = access.has_variable(tree, schema.POSTERIOR, name)
        if held and isinstance(one, str) and name not in [answer.name for answer in answers]:
            raise InputError(
                f"{name} is a number of this result's model, not the measure. Take "
                f"bayescal.measure(result, {name!r}), or fit another prior."
            )
        taken = held or name in names[:place]
        if callable(one) and not isinstance(one, Measure) and taken:
            raise InputError(
                f"a function must have a name of its own among the variables of a result; {name!r} "
                "is taken. Define it by def under another name."
            )
    return specs


def _of_both(tree: xr.DataTree, wanted: Sequence[Measure]) -> tuple[_Found, _Found]:
    """Draws of measures from their own components, and given miscalibration."""
    like = empty_draws(tree)
    every, given = ({one.name: like.copy() for one in wanted} for _ in range(2))
    of_rows = [one for one in wanted if one.components == ROWS]
    of_curve = [one for one in wanted if one.components != ROWS]
    lost: _Lost = {}
    for case in curves_of(tree):
        place = access.place_in(like, case)
        if of_rows:
            cells = curve_cells(tree, case, ROWS)
            for one, values in zip(of_rows, values_of(cells, of_rows, case, lost), strict=True):
                every[one.name].loc[place] = values
        if not of_curve:
            continue
        own, whole = (curve_cells(tree, case, of) for of in (MISCALIBRATED, ALL))
        # Other draws are of the same curve in both, and need no second evaluation.
        other = (own.rate != whole.rate).any(-1) | (own.mass != whole.mass).any(-1)
        rest = Cells(whole.rate[None, other], whole.score, whole.mass[None, other])
        for by_part in sorted({one.by_part for one in of_curve}):
            if by_part:
                own, rest = _by_part(tree, case, (own, ...), (rest, other.ravel()))
            some = [one for one in of_curve if one.by_part == by_part]
            for one, values in zip(some, values_of(own, some, case, lost), strict=True):
                given[one.name].loc[place] = values
                if one.components == ALL and other.any():
                    values[other] = next(values_of(rest, [one], case, lost))[0]
                every[one.name].loc[place] = values
    _check_lost(tree, lost)
    return every, given


def _paired(tree: xr.DataTree, wanted: Sequence[Measure]) -> _Found:
    """Draws of measures of rows for classifiers that share rows, the same rows in each draw."""
    of_rows = [one for one in wanted if one.components == ROWS]
    if not of_rows or schema.SHARED_ROWS not in tree.children:
        return {}
    like = empty_draws(tree)
    found = {one.name: like.copy() for one in of_rows}
    shape = tuple(like.sizes[dim] for dim in schema.DRAW_DIMS)

    def values(cells: Cells) -> Floats:
        return np.stack([*_evaluated(of_rows, cells)])

    for cases in access.along(tree, schema.CLASSIFIER):
        drawn = bootstrap.joint_values(tree, values, cases)
        first = bootstrap.alike(tree, cases, by_rank=True)
        by_rank = any(one.function in _OF_RANKS for one in of_rows)
        ranked = bootstrap.ranked_alike(tree, cases, first) if by_rank else first
        for place, one in enumerate(of_rows):
            known = ranked if one.function in _OF_RANKS else first
            for case, k in zip(cases, _tied(tree, cases, one, known), strict=True):
                found[one.name].loc[access.place_in(like, case)] = drawn[k, place].reshape(shape)
    return found


def _tied(
    tree: xr.DataTree, cases: Sequence[ResultSlice], one: Measure, first: Sequence[int]
) -> Sequence[int]:
    """Of each case the first that has its values: nearly its scores, or its calls."""
    if not one.copies_tie:
        return range(len(cases))
    known = signature(one.function).parameters
    if "threshold" not in known:
        return first
    return [*bootstrap.called_alike(tree, cases, known["threshold"].default)[0]]


def _correlations(tree: xr.DataTree, wanted: Sequence[Measure]) -> _Found:
    """How the other measures of classifiers that share rows correlate, by class."""
    names = access.classifier_names(tree)
    if schema.SHARED_ROWS not in tree.children or len(names) < 2:
        return {}
    sets = access.along(tree, schema.CLASSIFIER)
    coords = {schema.CLASSIFIER: names, f"{schema.CLASSIFIER}_other": names}
    if schema.CLASS in sets[0][0].sel:
        coords = {schema.CLASS: [str(cases[0].class_) for cases in sets], **coords}
    shape = tuple(map(len, coords.values()))
    found = {}
    for one in wanted:
        if one.components == ALL:
            values = [measure_correlation(tree, one.function, cases) for cases in sets]
            found[one.name] = xr.DataArray(np.reshape(values, shape), coords, list(coords))
    return found


def _plug_ins(tree: xr.DataTree, wanted: Sequence[Measure]) -> _Found:
    """Measures of the labelled rows as counted, where they have a value and rows no weights."""
    if not wanted or access.has_variable(tree, schema.POINT_ESTIMATE, schema.EFFECTIVE_N):
        return {}
    like = empty_draws(tree).isel(dict.fromkeys(schema.DRAW_DIMS, 0), drop=True)
    found = {one.name: like.copy().rename(one.name) for one in wanted}
    for case in curves_of(tree):
        rows = bootstrap.rows_of(tree, case)
        if rows is None:
            return {}
        place, (rate, score, mass, ends, _) = access.place_in(like, case), rows.cells
        for is_known in (True, False):
            cells = Cells(rate[None], score, mass[None], ends if is_known else None)
            of_kind = [one for one in wanted if (one.components == ROWS) == is_known]
            for one, value in zip(of_kind, _evaluated(of_kind, cells), strict=True):
                found[one.name].loc[place] = np.asarray(value).item()
    some = np.any if access.names_along(tree, schema.GROUP) else np.all
    return {
        name: values.where(np.isfinite(values))
        for name, values in found.items()
        if some(np.isfinite(values))
    }


type Function = Callable[[Floats, Floats, Floats], Any]
"""From rates (..., cell), scores (cell,) and masses (..., cell) to values (...)."""

_LEAST: Final = 1e-12


def measure_correlation(
    tree: xr.DataTree, function: Function, cases: Sequence[ResultSlice]
) -> Floats:
    """Correlation of a number of the curve over the rows that classifiers share."""
    number = bootstrap.stands_for(tree)
    return correlation([_influence(tree, function, case, number) for case in cases], number)


def _influence(tree: xr.DataTree, function: Function, case: ResultSlice, number: Floats) -> Floats:
    """What each shared row adds to a number of the curve, (shared_row,)."""
    # A row of cell m moves its rate by (y - rate_m) / w_m, and the masses w towards e_m.
    every, score, masses, *_ = curve_cells(tree, case, MISCALIBRATED)
    rate, mass = (draws.reshape(-1, len(score)) for draws in (every, masses))
    label, stored = access.values(tree, schema.SHARED_ROWS, case, schema.LABEL, schema.CELL)
    cell = np.argsort(bootstrap.cells_with_rows(tree, case)[2])[stored]
    by_rate, by_mass = slopes(function, rate, score, mass)
    residual = label - rate.mean(axis=0)[cell]
    found = (by_rate / mass.mean(axis=0))[cell] * residual + by_mass[cell]
    weight = None
    if access.has_variable(tree, schema.SHARED_ROWS, schema.WEIGHT):
        weight = access.variable(tree, schema.SHARED_ROWS, schema.WEIGHT, case).to_numpy()
    return weighted_influence(found, weight, number)


def slopes(function: Function, rate: Floats, score: Floats, mass: Floats) -> tuple[Floats, Floats]:
    """Slopes by the rate of each cell, and by the share of the population in it, (cell,) each.

    Central differences at the mean of the draws (draw, cell), over a standard deviation to either
    side. Where the function bends, as an absolute gap does at 0, or jumps from cell to cell, as a
    quantile of gaps, they are what it does over the range of the posterior.
    """
    eta, w, own = rate.mean(axis=0), mass.mean(axis=0), np.eye(len(score))
    step = own * rate.std(axis=0)
    high, low = np.minimum(eta + step, 1), np.maximum(eta - step, 0)
    # Towards a population that is all of one cell, and as far from it; no mass falls below 0.
    share = np.minimum(mass.std(axis=0), w) / np.maximum(1 - w, _LEAST)
    towards = share[:, None] * (own - w)
    same_rate, same_mass = np.broadcast_to(eta, own.shape), np.broadcast_to(w, own.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        up, down, more, fewer = function(
            np.stack([high, low, same_rate, same_rate]),
            score,
            np.stack([same_mass, same_mass, w + towards, w - towards]),
        )
    return _over(up - down, np.diag(high - low)), _over(more - fewer, 2 * share)


def _over(change: Floats, step: Floats) -> Floats:
    return np.divide(change, step, out=np.zeros_like(step), where=step > 0)
