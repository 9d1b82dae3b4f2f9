"""How a result is read: one function a fact."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, overload

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescal.core.errors import InputError
from bayescal.results import schema


@dataclass(frozen=True, slots=True)
class ResultSlice:
    """One case of a result: a classifier, and a class, group or prior where there are several."""

    classifier: str
    class_: str | None
    group: str | None
    sel: dict[str, str] = field(hash=False)
    label: str
    prior: str | None = None

    @property
    def title(self) -> str:
        """Full name in words: "vit, class cat, group women"."""
        others = {"class": self.class_, "group": self.group, "prior": self.prior}
        named = [f"{dim} {value}" for dim, value in others.items() if value is not None]
        return ", ".join([self.classifier, *named])

    @property
    def coords(self) -> dict[str, str]:
        """Columns that name the case in a table: the classifier always, others where they vary."""
        return {schema.CLASSIFIER: self.classifier, **self.sel}


def cases(tree: xr.DataTree) -> list[ResultSlice]:
    """List the cases of a result, classifier by classifier, in the order of its coordinates."""
    schema.check_result(tree)
    posterior = tree[schema.POSTERIOR].dataset
    values = {
        dim: [str(value) for value in posterior[dim].values]
        for dim in schema.CASE_DIMS
        if dim in posterior.dims
    }
    first = classifier_names(tree)[0]
    return [_slice(values, combo, first) for combo in product(*values.values())]


def _slice(values: dict[str, list[str]], combo: tuple[str, ...], first: str) -> ResultSlice:
    sel = dict(zip(values, combo, strict=True))
    classifier = sel.get(schema.CLASSIFIER) or first
    varying = [sel[dim] for dim in values if len(values[dim]) > 1]
    return ResultSlice(
        classifier=classifier,
        class_=sel.get(schema.CLASS),
        group=sel.get(schema.GROUP),
        sel=sel,
        label=" / ".join(varying) or classifier,
        prior=sel.get(schema.PRIOR_NAME),
    )


def find_case(
    tree: xr.DataTree,
    classifier: str | None = None,
    class_: str | None = None,
    group: str | None = None,
) -> ResultSlice:
    """Return the first case that matches what is given."""
    found = cases(tree)
    for dim, value in (("classifier", classifier), ("class_", class_), ("group", group)):
        if value is None:
            continue
        choices = list(dict.fromkeys(getattr(case, dim) for case in found))
        if value not in choices:
            name = dim.rstrip("_")
            listed = ", ".join(repr(choice) for choice in choices if choice is not None)
            raise InputError(
                f"{name} must be one in the result; got {value!r}. "
                + (f"Choose from {listed}." if listed else f"This result has no {name} dimension.")
            )
        found = [case for case in found if getattr(case, dim) == value]
    return found[0]


def named_case(tree: xr.DataTree, classifier: str | None, class_: str | None = None) -> ResultSlice:
    """Return the case of a classifier and class, which must be named where there are several."""
    check_given(tree, classifier=classifier, class_=class_)
    return find_case(tree, classifier, class_)


def check_given(tree: xr.DataTree, **given: str | None) -> None:
    """Refuse to choose a classifier, class or group for the user."""
    schema.check_result(tree)
    posterior = tree[schema.POSTERIOR].dataset
    for name, value in given.items():
        dim = name.rstrip("_")
        if value is None and posterior.sizes.get(dim, 1) > 1:
            choices = ", ".join(repr(str(v)) for v in posterior[dim].values)
            raise InputError(
                f"{name} must be one of the result's; got none. Choose from {choices}."
            )


@overload
def at(data: xr.DataArray, case: ResultSlice) -> xr.DataArray: ...
@overload
def at(data: xr.Dataset, case: ResultSlice) -> xr.Dataset: ...
def at(data: xr.DataArray | xr.Dataset, case: ResultSlice) -> xr.DataArray | xr.Dataset:
    """Select a case, along those of its dimensions that `data` has."""
    return data.sel({dim: value for dim, value in case.sel.items() if dim in data.dims})


def has_variable(tree: xr.DataTree, group: str, name: str) -> bool:
    """Whether a result holds a variable."""
    return group in tree.children and name in tree[group].data_vars


def variable(
    tree: xr.DataTree, group: str, name: str, case: ResultSlice | None = None
) -> xr.DataArray:
    """Fetch a variable of a result, of one case where `case` is given."""
    if not has_variable(tree, group, name):
        there = ", ".join(map(str, tree[group].data_vars)) if group in tree.children else "nothing"
        raise InputError(
            f"the result must hold {name!r} in its group {group!r}; it holds {there} there."
        )
    found = tree[group].dataset[name]
    return found if case is None else at(found, case)


def scalar(tree: xr.DataTree, group: str, name: str, case: ResultSlice) -> float | None:
    """Fetch one number of one case; None where the result does not hold it."""
    if not has_variable(tree, group, name):
        return None
    return float(variable(tree, group, name, case).item())


def is_scalar(draws: xr.DataArray) -> bool:
    """Whether draws are of one number a case (and description)."""
    own = (*schema.DRAW_DIMS, *schema.CASE_DIMS, schema.DESCRIPTION)
    return set(draws.dims) <= set(own)


def flat_draws(tree: xr.DataTree, var: str, case: ResultSlice) -> NDArray[np.float64]:
    """Draws of a posterior variable of one case, all chains in one, shape (chain * draw, ...)."""
    held = variable(tree, schema.POSTERIOR, var, case).transpose(*schema.DRAW_DIMS, ...)
    return np.asarray(held.values, dtype=np.float64).reshape(-1, *held.shape[2:])


def prob_calibrated(tree: xr.DataTree, case: ResultSlice) -> float | None:
    """Posterior probability of perfect calibration; None where the prior gives it none."""
    found = scalar(tree, schema.MODEL_AVERAGE, schema.P_CALIBRATED, case)
    return None if found is None or np.isnan(found) else found


def averaged_mean(tree: xr.DataTree, var: str, case: ResultSlice) -> float:
    """Posterior mean of a variable, averaged over calibrated and miscalibrated where it can be."""
    averaged = scalar(tree, schema.MODEL_AVERAGE, f"{var}_mean", case)
    if averaged is not None and not np.isnan(averaged):
        return averaged
    return float(variable(tree, schema.POSTERIOR, var, case).mean())


def reference_estimates(tree: xr.DataTree, var: str, case: ResultSlice) -> dict[str, float]:
    """Other estimates of a variable, by method."""
    if not has_variable(tree, schema.REFERENCE_ESTIMATES, var):
        return {}
    held = variable(tree, schema.REFERENCE_ESTIMATES, var, case)
    return {str(method): float(held.sel({"method": method})) for method in held["method"].values}


def health(tree: xr.DataTree, case: ResultSlice) -> dict[str, float | None]:
    """Diagnostics of a case that every result has."""
    names = ("rhat_max", "ess_min", "divergences")
    return {name: scalar(tree, schema.DIAGNOSTICS, name, case) for name in names}


def case_converged(tree: xr.DataTree, case: ResultSlice) -> bool:
    """Whether the fit of one case passed its diagnostics."""
    flag = scalar(tree, schema.DIAGNOSTICS, "converged", case)
    return is_converged(tree) if flag is None else bool(flag)


def case_status(tree: xr.DataTree, case: ResultSlice) -> str:
    """Status of a case as tables show it."""
    return schema.OK if case_converged(tree, case) else schema.NOT_CONVERGED


def is_converged(tree: xr.DataTree) -> bool:
    """Whether every fit of the result passed its diagnostics."""
    return str(tree.attrs["converged"]) == "true"


def is_prior_grid(tree: xr.DataTree) -> bool:
    """Whether a result holds refits of the same data under several priors."""
    return tree.attrs.get(schema.KIND) == schema.PRIOR_GRID


def json_attribute(tree: xr.DataTree, name: str) -> Any:
    """Decode a root attribute that is kept as JSON (lists and dicts; netCDF holds neither)."""
    return json.loads(str(tree.attrs[name]))


def sampler(tree: xr.DataTree) -> str:
    """Say what drew the posterior; under several priors that may be more than one sampler."""
    text = str(tree.attrs.get("sampler", ""))
    return ", ".join(dict.fromkeys(json.loads(text).values())) if text.startswith("{") else text


def classifier_names(tree: xr.DataTree) -> list[str]:
    """Names of the classifiers of a result, in its order."""
    return list(json_attribute(tree, "classifiers"))


def prior_names(tree: xr.DataTree) -> list[str]:
    """Names of the priors of a result of `bayescal.prior_sensitivity`."""
    schema.check_result(tree)
    if not is_prior_grid(tree):
        raise InputError(
            "a comparison of priors needs fits under several; this result has one prior. "
            "Pass what bayescal.prior_sensitivity returned."
        )
    return [str(name) for name in tree[schema.POSTERIOR].dataset[schema.PRIOR_NAME].values]


def name_over_priors(case: ResultSlice) -> str:
    """Name of a case without its prior; "" where there is only one."""
    return " / ".join(value for dim, value in case.sel.items() if dim != schema.PRIOR_NAME)


def group_over_priors(found: Sequence[ResultSlice]) -> list[tuple[ResultSlice, ...]]:
    """Gather the cases that differ by the prior alone."""
    gathered: dict[tuple[str, ...], list[ResultSlice]] = {}
    for case in found:
        key = tuple(value for dim, value in case.sel.items() if dim != schema.PRIOR_NAME)
        gathered.setdefault(key, []).append(case)
    return [tuple(together) for together in gathered.values()]
