"""Measures as variables of a result like any other, with what compares classifiers by them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from bayescal.core.checks import check_is, check_known
from bayescal.core.errors import InputError
from bayescal.core.variables import ERROR, Variable, to_json
from bayescal.measures.measure import ALL, MISCALIBRATED, ROWS, Measure, as_variable
from bayescal.measures.registry import measures, resolve
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.bootstrap import Cells, Floats, joint_values, rows_of
from bayescal.results.coupling import measure_correlation
from bayescal.results.measure import (
    curve_cells,
    curves_of,
    empty_draws,
    has_curve,
    place_in,
    values_of,
)

type _Found = dict[str, xr.DataArray]


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
    found = xr.DataTree.from_dict(groups)
    records = [as_variable(one, one.name if one.name in points else None) for one in added]
    found.attrs = {
        **tree.attrs,
        schema.VARIABLES: to_json([*access.variables(tree), *records]),
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
        if not has_curve(tree):
            return tree, var
        known = (*map(str, tree[schema.POSTERIOR].data_vars), *measures())
        check_known(var.partition(":")[0], known, "variable or measure", "the result")
    return with_measures(tree, [var]), resolve(var).name


def is_of_rows(tree: xr.DataTree, name: str) -> bool:
    """Whether a variable is a measure that was drawn from the labelled rows alone."""
    if name not in access.measure_names(tree) or name.partition(":")[0] not in measures():
        return False
    return resolve(name).components == ROWS and rows_of(tree, access.cases(tree)[0]) is not None


def chosen_variable(tree: xr.DataTree, var: str | None) -> tuple[xr.DataTree, str]:
    """A result with the answer or measure of that name, and its name; the main one by default."""
    schema.check_result(tree)
    found, name = with_measure(tree, var)
    return found, access.check_variable(found, name)


def shown_measures(tree: xr.DataTree, specs: Any) -> tuple[xr.DataTree, list[Variable]]:
    """A result with further measures; and these, after those that were added before."""
    given = [specs] if isinstance(specs, str | Measure) or callable(specs) else specs
    check_is(given, Sequence, "measures", "Pass names in a list, such as ['e90', 'slope'].")
    names = [resolve(one).name for one in given]
    found = with_measures(tree, given)
    ordered = dict.fromkeys([*access.measure_names(found), *names])
    return found, [access.described(found, name) for name in ordered]


def _checked_names(tree: xr.DataTree, specs: Sequence[Any]) -> Sequence[Any]:
    """Refuse functions whose name is taken: which of the two is meant, nobody could say."""
    names = [resolve(one).name for one in specs]
    for place, (one, name) in enumerate(zip(specs, names, strict=True)):
        taken = access.has_variable(tree, schema.POSTERIOR, name) or name in names[:place]
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
    for case in curves_of(tree):
        place = place_in(like, case)
        if of_rows:
            cells = curve_cells(tree, case, ROWS)
            for one in of_rows:
                every[one.name].loc[place] = values_of(cells, one, case)
        if of_curve:
            own, whole = curve_cells(tree, case, MISCALIBRATED), curve_cells(tree, case, ALL)
            other = (own.rate != whole.rate).any(axis=-1) | (own.mass != whole.mass).any(axis=-1)
            rest = Cells(whole.rate[None, other], whole.score, whole.mass[None, other])
        for one in of_curve:
            values = values_of(own, one, case)
            given[one.name].loc[place] = values
            if one.components == ALL and other.any():
                # Most draws are of the same curve in both, and need no second evaluation.
                values[other] = values_of(rest, one, case)[0]
            every[one.name].loc[place] = values
    return every, given


def _paired(tree: xr.DataTree, wanted: Sequence[Measure]) -> _Found:
    """Draws of measures of rows for classifiers that share rows, the same rows in each draw."""
    of_rows = [one for one in wanted if one.components == ROWS]
    if not of_rows or schema.SHARED_ROWS not in tree.children:
        return {}
    like = empty_draws(tree)
    found = {one.name: like.copy() for one in of_rows}
    shape = tuple(like.sizes[dim] for dim in schema.DRAW_DIMS)

    def values(*cells: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.stack([one.function(*cells) for one in of_rows])

    for cases in _by_classifier(tree):
        drawn = joint_values(tree, values, cases)
        for case, own in zip(cases, drawn, strict=True):
            for one, draws in zip(of_rows, own, strict=True):
                found[one.name].loc[place_in(like, case)] = draws.reshape(shape)
    return found


def _correlations(tree: xr.DataTree, wanted: Sequence[Measure]) -> _Found:
    """How the other measures of classifiers that share rows correlate, by class."""
    names = access.classifier_names(tree)
    if schema.SHARED_ROWS not in tree.children or len(names) < 2:
        return {}
    sets = _by_classifier(tree)
    coords = {schema.CLASSIFIER: names, f"{schema.CLASSIFIER}_other": names}
    if sets[0][0].class_ is not None:
        coords = {schema.CLASS: [str(cases[0].class_) for cases in sets], **coords}
    shape = tuple(map(len, coords.values()))
    found = {}
    for one in wanted:
        if one.components != ROWS:
            values = [measure_correlation(tree, one.function, cases) for cases in sets]
            found[one.name] = xr.DataArray(np.reshape(values, shape), coords, list(coords))
    return found


def _by_classifier(tree: xr.DataTree) -> list[list[ResultSlice]]:
    """The cases of each class and group."""
    found: dict[tuple[str | None, str | None], list[ResultSlice]] = {}
    for case in access.cases(tree):
        found.setdefault((case.class_, case.group), []).append(case)
    return list(found.values())


def _plug_ins(tree: xr.DataTree, wanted: Sequence[Measure]) -> _Found:
    """Measures of the labelled rows as counted, where they have a value and rows no weights."""
    if not wanted or access.has_variable(tree, schema.POINT_ESTIMATE, schema.EFFECTIVE_N):
        return {}
    like = empty_draws(tree).isel(dict.fromkeys(schema.DRAW_DIMS, 0), drop=True)
    found = {one.name: like.copy().rename(one.name) for one in wanted}
    for case in curves_of(tree):
        rows = rows_of(tree, case)
        if rows is None:
            return {}
        place, (rate, score, mass) = place_in(like, case), rows.cells
        for one in wanted:
            with np.errstate(divide="ignore", invalid="ignore"):
                value = one.function(rate[None], score, mass[None])
            found[one.name].loc[place] = np.asarray(value).item()
    return {name: values for name, values in found.items() if np.isfinite(values).all()}
