"""Put the arrays of one or more fits together into a result.

A fit answers one case (one classifier, perhaps one class) and hands over plain NumPy arrays. Here
they are stacked along `classifier`, `class` and `group`, labelled, and given their provenance; and
refits of the same data under several priors are put side by side.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from bayescal.core.checks import plain
from bayescal.core.errors import InputError
from bayescal.core.quantity import CaseArrays, Dims, Variable, dims_of, result_kind, to_json
from bayescal.results import access, schema

Arrays = Mapping[str, ArrayLike]


def assemble(
    case_results: Sequence[CaseArrays],
    *,
    variables: Sequence[Variable],
    attrs: Mapping[str, Any],
    coords: Mapping[str, Sequence[Any]] | None = None,
    error_correlation: Mapping[str, xr.DataArray] | None = None,
) -> xr.DataTree:
    """Build a result from the fits of its cases."""
    if not case_results:
        raise InputError("a result must have at least one case; got none. Fit a classifier first.")
    grid = _grid(case_results)
    ordered = _in_grid_order(case_results, grid)
    stacked = {dim: values for dim, values in grid.items() if len(values) > 1}
    known = {**stacked, **{dim: list(values) for dim, values in (coords or {}).items()}}
    notes = {f"{schema.BOUNDS}/{name}": found for name, found in ordered[0].bounds_attrs.items()}
    dims = dims_of(variables, coords or ())
    groups = {}
    for name in (*schema.DRAW_GROUPS, *schema.PLAIN_GROUPS):
        built = _dataset(name, ordered, stacked, dims, known, notes)
        if built.data_vars:
            groups[name] = built
    groups = _without_padding(groups)
    if error_correlation:
        groups[schema.ERROR_CORRELATION] = xr.Dataset(dict(error_correlation))
    tree = xr.DataTree()
    # Without the copies of every group that `from_dict` makes.
    tree.children = {name: xr.DataTree(held) for name, held in groups.items()}
    said = {schema.VARIABLES: to_json(variables), schema.RESULT_KIND: result_kind(variables)}
    tree.attrs = _root_attrs({**said, **attrs, **_shared(groups)}, grid, known)
    return tree


def _shared(groups: Mapping[str, xr.Dataset]) -> dict[str, dict[str, list[str]]]:
    """Variables that are of no single case, by the dimension that they lack."""
    found = {
        dim: [
            f"{group}/{name}"
            for group in (schema.POSTERIOR, schema.LOG_PRIOR, schema.LOG_LIKELIHOOD)
            for name, values in groups.get(group, xr.Dataset()).data_vars.items()
            if dim not in values.dims
        ]
        for dim in schema.CASE_DIMS
        if dim in groups[schema.POSTERIOR].dims
    }
    shared = {dim: names for dim, names in found.items() if names}
    return {schema.SHARED: shared} if shared else {}


def _without_padding(groups: Mapping[str, xr.Dataset]) -> dict[str, xr.Dataset]:
    """Drop cells without rows, at which ArviZ stops, and merge those some cases lack."""
    constant = groups.get(schema.CONSTANT_DATA, xr.Dataset())
    if schema.CELL_COUNT not in constant:
        return dict(groups)
    count = constant[schema.CELL_COUNT].transpose(..., schema.CELL)
    held = np.flatnonzero(count.values.reshape(-1, count.shape[-1]).any(axis=0))
    if len(held) < count.shape[-1]:
        count = count.isel({schema.CELL: held})
        groups = {
            name: one.isel({schema.CELL: held}) if schema.CELL in one.dims else one
            for name, one in groups.items()
        }
    return _in_blocks(groups, count)


_OBSERVED: Final = (schema.LOG_LIKELIHOOD, schema.OBSERVED_DATA, schema.POSTERIOR_PREDICTIVE)


def _in_blocks(groups: Mapping[str, xr.Dataset], count: xr.DataArray) -> dict[str, xr.Dataset]:
    """Observations in as many blocks of neighbouring cells as the case of fewest cells has."""
    cells = [np.flatnonzero(own) for own in count.values.reshape(-1, count.shape[-1])]
    size = min(map(len, cells))
    if size in (0, count.shape[-1]):
        return dict(groups)
    found = dict(groups)
    for group in set(_OBSERVED) & set(groups):
        found[group] = groups[group].map(partial(_summed, lead=count.dims[:-1], cells=cells))
    # Figures show the cells themselves.
    kept = {
        f"cell_{name}": values
        for name, values in groups.get(schema.OBSERVED_DATA, xr.Dataset()).items()
        if schema.CELL in values.dims
    }
    found[schema.CONSTANT_DATA] = groups[schema.CONSTANT_DATA].assign(kept)
    return found


def _summed(
    values: xr.DataArray, lead: Sequence[Hashable], cells: Sequence[NDArray[np.intp]]
) -> xr.DataArray:
    """Sums over the cells of each block, cells being those with rows, case by case."""
    if schema.CELL not in values.dims:
        return values
    ordered = values.transpose(..., *lead, schema.CELL)
    outer = ordered.shape[: ordered.ndim - len(lead) - 1]
    flat = ordered.values.reshape(*outer, len(cells), -1)
    size = min(map(len, cells))
    sums = [
        np.add.reduceat(flat[..., k, own], len(own) * np.arange(size) // size, axis=-1)
        for k, own in enumerate(cells)
    ]
    summed = ordered.isel({schema.CELL: slice(size)}).copy(
        data=np.stack(sums, axis=-2).reshape(*ordered.shape[:-1], size)
    )
    return summed.rename({schema.CELL: schema.BLOCK}).transpose(
        *(schema.BLOCK if dim == schema.CELL else dim for dim in values.dims)
    )


def _grid(case_results: Sequence[CaseArrays]) -> dict[str, list[str]]:
    """Values of each dimension of the cases, in order of appearance."""
    return {
        dim: list(dict.fromkeys(case.coords[dim] for case in case_results if dim in case.coords))
        for dim in schema.CASE_DIMS
        if any(dim in case.coords for case in case_results)
    }


def _in_grid_order(
    case_results: Sequence[CaseArrays], grid: Mapping[str, list[str]]
) -> list[CaseArrays]:
    """Sort the cases as C order of the grid; refuse holes and repetitions."""
    by_place: dict[tuple[int, ...], CaseArrays] = {}
    for case in case_results:
        if set(case.coords) != set(grid):
            raise InputError(
                f"every case must have the coords {list(grid)}; got {case.coords}. "
                "Do not mix results with and without classes or groups."
            )
        place = tuple(values.index(case.coords[dim]) for dim, values in grid.items())
        if place in by_place:
            raise InputError(f"cases must differ; got {case.coords} twice. Name each once.")
        by_place[place] = case
    size = int(np.prod([len(values) for values in grid.values()]))
    if len(by_place) != size:
        raise InputError(
            f"cases must fill the grid of {', '.join(grid)}: {size} cases; got {len(by_place)}. "
            "Leave out the classifiers that are incomplete."
        )
    return [by_place[place] for place in sorted(by_place)]


def _dataset(
    group: str,
    ordered: Sequence[CaseArrays],
    stacked: Mapping[str, list[str]],
    dims: Dims,
    known: Mapping[str, Sequence[Any]],
    variable_attrs: Mapping[str, Mapping[str, Any]],
) -> xr.Dataset:
    """One group: every variable stacked over the cases."""
    lead = schema.DRAW_DIMS if group in schema.DRAW_GROUPS else ()
    variables = {}
    for name in getattr(ordered[0], group):
        own = _own_dims(dims, group, name)
        arrays = [_array(case, group, name, len(lead) + len(own)) for case in ordered]
        if own[-1:] in ((schema.CELL,), (schema.PART,)):
            arrays = _padded(arrays)
        shapes = {array.shape for array in arrays}
        if len(shapes) > 1:
            raise InputError(
                f"{group}/{name} must have one shape in all cases; got {sorted(shapes)}. "
                "Fit every case with the same numbers of draws, bins and cells."
            )
        data = _stack(arrays, len(lead), [len(values) for values in stacked.values()])
        if data.dtype == bool and group == schema.POSTERIOR:
            # ArviZ subtracts draws from each other.
            data = data.astype(np.int8)
        variables[name] = xr.Variable(
            (*lead, *stacked, *own), data, attrs=dict(variable_attrs.get(f"{group}/{name}", {}))
        )
    sizes = {dim: size for one in variables.values() for dim, size in one.sizes.items()}
    coords = {dim: _coordinate(str(dim), size, known.get(str(dim))) for dim, size in sizes.items()}
    return xr.Dataset(variables, coords)


def _own_dims(dims: Dims, group: str, name: str) -> tuple[str, ...]:
    """Dims of a variable in a group of the result, without those of draws and cases."""
    if (said := dims.get(f"{group}/{name}")) is not None:
        return said
    own = dims.get(name, ())
    if group == schema.DESCRIPTIONS:
        return (*own, schema.DESCRIPTION)
    return (schema.METHOD, *own) if group == schema.REFERENCE_ESTIMATES else own


def _array(case: CaseArrays, group: str, name: str, ndim: int) -> NDArray[Any]:
    held: Arrays = getattr(case, group)
    if name not in held:
        raise InputError(
            f"every case must have the same variables; {group}/{name} is missing for {case.coords}."
        )
    array = np.asarray(held[name])
    if array.ndim != ndim:
        raise InputError(
            f"{group}/{name} must have {ndim} dimensions; got shape {array.shape} for "
            f"{case.coords}. List its dims in VARIABLES."
        )
    return array


def _padded(arrays: list[NDArray[Any]]) -> list[NDArray[Any]]:
    """Append cells without rows up to the most that a case has; the last axis runs over cells."""
    most = max(array.shape[-1] for array in arrays)
    more = [[(0, 0)] * (one.ndim - 1) + [(0, most - one.shape[-1])] for one in arrays]
    return [np.pad(one, by) if by[-1][1] else one for one, by in zip(arrays, more, strict=True)]


def _stack(arrays: list[NDArray[Any]], axis: int, shape: list[int]) -> NDArray[Any]:
    """Stack over cases at `axis` and unfold that axis to the grid; as it is without a grid."""
    if not shape:
        return arrays[0]
    flat = np.stack(arrays, axis=axis)
    return flat.reshape(*flat.shape[:axis], *shape, *flat.shape[axis + 1 :])


def _coordinate(dim: str, size: int, values: Sequence[Any] | None) -> NDArray[Any]:
    coordinate = np.arange(size) if values is None else np.asarray(values)
    if coordinate.shape != (size,):
        raise InputError(f"{dim} must have {size} coordinate values; got {len(coordinate)}.")
    return coordinate


def _root_attrs(
    attrs: Mapping[str, Any], grid: Mapping[str, list[str]], known: Mapping[str, Sequence[Any]]
) -> dict[str, Any]:
    """Root attributes as netCDF holds them, with what assembling itself knows."""
    defaults: dict[str, Any] = {
        "schema_version": schema.SCHEMA_VERSION,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "classifiers": grid.get(schema.CLASSIFIER, []),
        "groups": list(known.get(schema.GROUP, [])),
    }
    return {name: _attr(value) for name, value in {**defaults, **attrs}.items()}


def _attr(value: Any) -> str | int | float:
    value = plain(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str | int | float) else json.dumps(value)


# Sums of parts that priors do not share would be sums of something else.
_WHOLE: Final = (schema.LOG_PRIOR, schema.LOG_LIKELIHOOD)
# Draws of a grid are not coupled: correlation and rows belong to one fit.
_SINGLE: Final = (schema.ERROR_CORRELATION, schema.SHARED_ROWS)


def combine(trees: Mapping[str, xr.DataTree]) -> xr.DataTree:
    """Put the fits of one data set under several priors into one result."""
    found = list(trees.values())
    groups = {
        name: _together(
            [tree[name].to_dataset() if name in tree.children else xr.Dataset() for tree in found],
            list(trees),
        )
        for name in dict.fromkeys(name for tree in found for name in tree.children)
        if name not in (*_WHOLE, *_SINGLE)
    }
    combined = xr.DataTree.from_dict({name: held for name, held in groups.items() if held})
    combined.attrs = _attrs(trees)
    return combined


def _together(datasets: Sequence[xr.Dataset], names: Sequence[str]) -> xr.Dataset:
    """Stack variables of one shape, priors after chain and draw; NaN where a prior lacks one."""
    variables = {}
    for name in dict.fromkeys(name for dataset in datasets for name in dataset.data_vars):
        own = [dataset[name].variable if name in dataset else None for dataset in datasets]
        held = _of_each_case([array for array in own if array is not None])
        lacking = len(held) < len(datasets) and schema.DESCRIPTION not in held[0].dims
        if lacking or len({(array.dims, array.shape) for array in held}) > 1:
            continue
        blank, rest = held[0].copy(data=np.full(held[0].shape, np.nan)), iter(held)
        arrays = [blank if array is None else next(rest) for array in own]
        lead = sum(dim in schema.DRAW_DIMS for dim in arrays[0].dims)
        dims = (*arrays[0].dims[:lead], schema.PRIOR_NAME, *arrays[0].dims[lead:])
        values = np.stack([array.values for array in arrays], axis=lead)
        variables[name] = xr.Variable(dims, values, attrs=arrays[0].attrs)
    if not variables:
        return xr.Dataset()
    stacked = xr.Dataset(variables, coords={schema.PRIOR_NAME: list(names)})
    known = {dim: values for one in reversed(datasets) for dim, values in one.coords.items()}
    return stacked.assign_coords({dim: known[dim] for dim in stacked.dims if dim in known})


def _of_each_case(arrays: Sequence[xr.Variable]) -> list[xr.Variable]:
    """What one model has for all groups, such as diagnostics, as others have it group by group."""
    most = max(arrays, key=lambda array: array.ndim)
    least = {*most.dims} - {*schema.CASE_DIMS}
    return [
        array.set_dims(most.sizes)  # type: ignore[no-untyped-call]  # xarray's
        if least <= {*array.dims} <= {*most.dims}
        else array
        for array in arrays
    ]


def _attrs(trees: Mapping[str, xr.DataTree]) -> dict[str, Any]:
    """Attributes of all fits; JSON by prior where they differ."""
    attrs: dict[str, Any] = {}
    for name in dict.fromkeys(str(name) for tree in trees.values() for name in tree.attrs):
        found = {prior: plain(tree.attrs.get(name)) for prior, tree in trees.items()}
        if name not in (*schema.BY_PRIOR, schema.WARNINGS):
            same = len(set(map(str, found.values()))) == 1
            attrs[name] = next(iter(found.values())) if same else json.dumps(found)
    for name, by_name in schema.BY_PRIOR.items():
        attrs[by_name] = json.dumps({prior: _read(tree, name) for prior, tree in trees.items()})
    converged = all(access.is_converged(tree) for tree in trees.values())
    statuses = {prior: str(tree.attrs["status"]) for prior, tree in trees.items()}
    said = {prior: status for prior, status in statuses.items() if status != schema.OK}
    variables: dict[str, Variable] = {}
    for tree in trees.values():
        variables |= {one.name: one for one in access.variables(tree) if one.name not in variables}
    return attrs | {
        schema.KIND: schema.PRIOR_GRID,
        schema.VARIABLES: to_json(variables.values()),
        "created": max(str(tree.attrs.get("created", "")) for tree in trees.values()),
        "status": access.under_priors(said, len(trees)),
        **_warned(trees),
        "converged": "true" if converged else "false",
    }


def _warned(trees: Mapping[str, xr.DataTree]) -> dict[str, str]:
    """Sentences of every fit, with the prior among the names of its cases."""
    if not all(schema.WARNINGS in tree.attrs for tree in trees.values()):
        return {}
    found = [
        (text, [{**coords, schema.PRIOR_NAME: prior} for coords in cases])
        for prior, tree in trees.items()
        for text, cases in access.json_attribute(tree, schema.WARNINGS)
    ]
    return {schema.WARNINGS: json.dumps(found)}


def _read(tree: xr.DataTree, name: str) -> Any:
    """An attribute, of which priors alone are JSON."""
    value = str(tree.attrs.get(name, ""))
    return json.loads(value) if name == "priors" and value else value
