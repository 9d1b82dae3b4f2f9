"""How a result is read: one function a fact.

Names of cases are those of the coordinates, which a selection by xarray (``sel``, ``isel``) keeps:
along a dimension, or as the one name of a dimension that is gone. Lists of names in the root
attributes are of the whole fit.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import Any, Final, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescal.core.checks import check_is, listing
from bayescal.core.errors import InputError
from bayescal.core.quantity import CURVE, ERROR, METRIC, ROW, Variable, from_json
from bayescal.core.streams import stream
from bayescal.core.text import counted
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
    fixed: dict[str, str] = field(default_factory=dict, hash=False)
    """Names along dimensions that a selection took away."""

    @property
    def title(self) -> str:
        """Full name in words: "vit, class cat, group women"."""
        inner = (name for dim, name in self.sel.items() if dim not in schema.CASE_DIMS)
        class_ = next(inner, self.class_)
        others = {"class": class_, "group": self.group, "prior": self.prior}
        named = [f"{dim} {value}" for dim, value in others.items() if value is not None]
        return ", ".join([self.classifier, *named])

    @property
    def coords(self) -> dict[str, str]:
        """Columns that name the case in a table: the classifier always, others if there are any."""
        held = {schema.CLASSIFIER: self.classifier, **self.fixed, **self.sel}
        return {dim: held[dim] for dim in schema.CASE_DIMS if dim in held}

    @property
    def names(self) -> tuple[str, ...]:
        """What random numbers of the case belong to: the same in every selection."""
        return (self.classifier, self.class_ or "", self.group or "")


def cases(tree: xr.DataTree) -> list[ResultSlice]:
    """List the cases of a result, classifier by classifier, in the order of its coordinates."""
    schema.check_result(tree)
    held = tree[schema.POSTERIOR].dims
    names = {dim: found for dim in schema.CASE_DIMS if (found := names_along(tree, dim))}
    names.setdefault(schema.CLASSIFIER, classifier_names(tree))
    values = {dim: names[dim] for dim in schema.CASE_DIMS if dim in held}
    fixed = {dim: found[0] for dim, found in names.items() if dim not in held}
    several, listed = [dim for dim in values if len(values[dim]) > 1], []
    for combo in product(*values.values()):
        sel = dict(zip(values, combo, strict=True))
        named = {**fixed, **sel}
        classifier, class_, group, prior = (named.get(dim) for dim in schema.CASE_DIMS)
        label = " / ".join(sel[dim] for dim in several) or named[schema.CLASSIFIER]
        listed.append(ResultSlice(str(classifier), class_, group, sel, label, prior, fixed))
    return listed


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
        if not isinstance(value, str) or value not in choices:
            name = dim.rstrip("_")
            listed = ", ".join(repr(choice) for choice in choices if choice is not None)
            raise InputError(
                f"{name} must be one in the result; got {value!r}. "
                + (f"Choose from {listed}." if listed else f"This result has no {name} dimension.")
            )
        found = [case for case in found if getattr(case, dim) == value]
    return found[0]


def named_case(
    tree: xr.DataTree, classifier: str | None, class_: str | None = None, group: str | None = None
) -> ResultSlice:
    """Return the case of names, each of which must be given where there are several."""
    check_given(tree, classifier=classifier, class_=class_, group=group)
    return find_case(tree, classifier, class_, group)


def check_given(tree: xr.DataTree, **given: str | None) -> None:
    """Refuse to choose a classifier, class, group or prior for the user."""
    schema.check_result(tree)
    if len(priors := names_along(tree, schema.PRIOR_NAME)) > 1:
        raise InputError(
            f"the result must be of one prior; got {len(priors)}. Choose one, such as "
            f"result.sel(prior={priors[0]!r}), or fit it alone."
        )
    check_chosen(partial(names_along, tree), **given)


def check_chosen(names_of: Callable[[str], Sequence[str]], **given: str | None) -> None:
    """Refuse to choose one of several names along a dimension."""
    for name, value in given.items():
        names = names_of(name.rstrip("_"))
        if value is None and len(names) > 1:
            choices = ", ".join(map(repr, names))
            raise InputError(
                f"{name} must be one of the result's; got none. Choose from {choices}."
            )


def at[Data: (xr.DataArray, xr.Dataset)](data: Data, case: ResultSlice) -> Data:
    """Select a case, in half the time of ``sel``."""
    place = {dim: data.get_index(dim).get_loc(name) for dim, name in place_in(data, case).items()}
    return data.isel(place) if place else data


def place_in(data: xr.DataArray | xr.Dataset, case: ResultSlice) -> dict[str, Any]:
    """Where data have a case: its names along those of its dimensions that they have."""
    return {dim: value for dim, value in case.sel.items() if dim in data.dims}


def variables(tree: xr.DataTree) -> tuple[Variable, ...]:
    """What a result says of its variables, the main ones first."""
    schema.check_result(tree)
    return from_json(str(tree.attrs[schema.VARIABLES]))


def described(tree: xr.DataTree, name: str) -> Variable:
    """What a result says of a variable; of one that it does not list, its name."""
    check_is(name, str, "var", "Pass the name of one in the result.")
    found = (one for one in variables(tree) if one.name == name)
    return next(found, None) or Variable(name, name.replace("_", " "))


def of_role(tree: xr.DataTree, *roles: str) -> list[Variable]:
    """The variables of a role that the posterior holds, in the quantity's order."""
    known = variables(tree)
    held = tree[schema.POSTERIOR].data_vars
    return [one for one in known if one.role in roles and one.name in held]


def has_calibration_curve(tree: xr.DataTree) -> bool:
    """Whether a result holds draws of a calibration curve over the scores."""
    return any("point" in one.dims for one in of_role(tree, CURVE))


def answers(tree: xr.DataTree) -> list[Variable]:
    """What a result is for: errors and metrics with one number a case, or what rows are judged by.

    They are what is summarised, compared and drawn, the main one first; no added measures.
    """
    schema.check_result(tree)
    added, dims = measure_names(tree), set(schema.CASE_DIMS)
    found = [one for one in of_role(tree, ERROR, METRIC, ROW) if one.name not in added]
    single = [one for one in found if one.role != ROW and set(one.dims) <= dims]
    return single or [one for one in found if one.role == ROW][:1]


def added_measures(tree: xr.DataTree) -> list[Variable]:
    """The measures that were added to a result, in order."""
    return [described(tree, name) for name in measure_names(tree)]


def main(tree: xr.DataTree) -> Variable:
    """The first of the answers; its role says which form tables and pages have."""
    found = answers(tree)
    if not found:
        raise InputError(
            "a result must hold an error, a metric or rows; it holds "
            f"{', '.join(map(str, tree[schema.POSTERIOR].data_vars))}. Give one of its variables "
            "such a role in VARIABLES."
        )
    return found[0]


def check_variable(tree: xr.DataTree, var: str | None) -> str:
    """The answer of that name, or the main one where none is given; others are refused."""
    if var is None:
        return main(tree).name
    known = [one.name for one in (*answers(tree), *added_measures(tree))]
    if not isinstance(var, str) or var not in known:
        raise InputError(
            f"var must be one of the result's; got {var!r}. Choose from {', '.join(known)}."
        )
    return var


def point(tree: xr.DataTree, var: str, case: ResultSlice) -> float | None:
    """The point estimate beside a variable with one number a case; None where there is none."""
    one = described(tree, var)
    if one.point is None or one.role == ROW:
        return None
    return scalar(tree, schema.POINT_ESTIMATE, one.point, case)


def point_label(tree: xr.DataTree) -> str:
    """Name of the point estimate, as the quantity has it."""
    default = "plug-in" if main(tree).role == ERROR else "point estimate"
    return str(tree.attrs.get(schema.POINT_LABEL, default))


def has_variable(tree: xr.DataTree, group: str, *names: str) -> bool:
    """Whether a result holds a variable."""
    known = tree.children[group].data_vars if group in tree.children else {}
    return all(isinstance(name, str) and name in known for name in names)


def values(tree: xr.DataTree, group: str, case: ResultSlice, *names: str) -> list[NDArray[Any]]:
    """Values of several variables for one case, in a third of the time of `variable`."""
    found = []
    for name in names:
        held = _with(tree, group, name)
        own = held.variables[name]
        place: list[Any] = [None] * len(_lost(group, own.dims))
        for dim in own.dims:
            here = dim in case.sel
            place.append(held.get_index(dim).get_loc(case.sel[str(dim)]) if here else slice(None))
        found.append(np.asarray(own.values[tuple(place)]))
    return found


def ends(bounds: xr.DataArray, case: ResultSlice) -> tuple[float, float]:
    """Both ends of the interval of one case."""
    low, high = at(bounds, case).values
    return float(low), float(high)


def variable(
    tree: xr.DataTree, group: str, name: str, case: ResultSlice | None = None
) -> xr.DataArray:
    """Fetch a variable of a result, of one case where `case` is given."""
    found: xr.DataArray = _with(tree, group, name)[name]
    if lost := _lost(group, found.dims):
        found = found.expand_dims(lost)
    return found if case is None else at(found, case)


def variable_along(
    tree: xr.DataTree, dim: str, group: str, name: str, case: ResultSlice
) -> xr.DataArray:
    """A variable of a case with a value for each row, say: one row where one was selected."""
    found = variable(tree, group, name, case)
    return found if dim in found.dims else found.expand_dims(dim)


def _with(tree: xr.DataTree, group: str, name: str) -> Any:
    """View the group of a result that holds a variable."""
    held = tree.children[group].dataset if group in tree.children else xr.Dataset()
    if isinstance(name, str) and name in held.data_vars:
        return held
    there = ", ".join(map(str, held.data_vars)) if group in tree.children else "nothing"
    raise InputError(
        f"the result must hold {name!r} in its group {group!r}; it holds {there} there."
    )


def _lost(group: str, dims: Sequence[Hashable]) -> list[str]:
    """What a variable of draws lacks: of a chain, or a draw, that was selected there is one."""
    draws = group in (*schema.DRAW_GROUPS, schema.PAIRED)
    return [dim for dim in schema.DRAW_DIMS if draws and dim not in dims]


def is_along(tree: xr.DataTree, group: str, name: str, dim: str) -> bool:
    """Whether a variable has a value for each name along a dimension, or had before a selection."""
    if dim in tree[schema.POSTERIOR].dims:
        return dim in tree[group][name].dims
    shared = json.loads(str(tree.attrs.get(schema.SHARED, "{}")))
    return f"{group}/{name}" not in shared.get(dim, ())


def scalar(tree: xr.DataTree, group: str, name: str, case: ResultSlice) -> float | None:
    """Fetch one number of one case; None where the result does not hold it."""
    if not has_variable(tree, group, name):
        return None
    (found,) = values(tree, group, case, name)
    return float(found.item())


def is_scalar(draws: xr.DataArray) -> bool:
    """Whether draws are of one number a case (and description)."""
    own = (*schema.DRAW_DIMS, *schema.CASE_DIMS, schema.DESCRIPTION)
    return set(draws.dims) <= set(own)


def cell_events(tree: xr.DataTree, case: ResultSlice) -> xr.DataArray:
    """Rows of each cell with the label, which are observed in blocks where cases differ."""
    if has_variable(tree, schema.CONSTANT_DATA, "cell_events"):
        return variable(tree, schema.CONSTANT_DATA, "cell_events", case)
    return variable(tree, schema.OBSERVED_DATA, schema.EVENTS, case)


def flat_draws(
    tree: xr.DataTree, var: str, case: ResultSlice, group: str = schema.POSTERIOR
) -> NDArray[np.float64]:
    """Draws of a variable of one case, all chains in one, shape (chain * draw, ...)."""
    return flattened(variable(tree, group, var, case))


def flattened(draws: xr.DataArray) -> NDArray[np.float64]:
    """Draws with all chains in one, shape (chain * draw, ...)."""
    held = draws.transpose(*schema.DRAW_DIMS, ...)
    return np.asarray(held.values, dtype=np.float64).reshape(-1, *held.shape[2:])


def prob_calibrated(tree: xr.DataTree, case: ResultSlice) -> float | None:
    """Posterior probability of perfect calibration; None where the prior gives it none."""
    found = scalar(tree, schema.MODEL_AVERAGE, schema.P_CALIBRATED, case)
    return None if found is None or np.isnan(found) else found


def conditional_group(tree: xr.DataTree, var: str) -> str:
    """Where draws of a variable are of miscalibrated classifiers only."""
    given = schema.GIVEN_MISCALIBRATION
    return given if has_variable(tree, given, var) else schema.POSTERIOR


def posterior_mean(tree: xr.DataTree, var: str, case: ResultSlice) -> float:
    """Posterior mean of a variable; undefined draws are left out."""
    return float(variable(tree, schema.POSTERIOR, var, case).mean())


def reference_estimates(tree: xr.DataTree, var: str, case: ResultSlice) -> dict[str, float]:
    """Other estimates of a variable, by method."""
    if not has_variable(tree, schema.REFERENCE_ESTIMATES, var):
        return {}
    held = variable(tree, schema.REFERENCE_ESTIMATES, var, case)
    return {str(method): float(held.sel({"method": method})) for method in held["method"].values}


HEALTH: Final = ("rhat_max", "ess_min", "divergences")
"""Diagnostics of a case that every result has."""


def health(tree: xr.DataTree, case: ResultSlice) -> dict[str, float | None]:
    """Diagnostics of a case by name."""
    return {name: scalar(tree, schema.DIAGNOSTICS, name, case) for name in HEALTH}


def case_converged(tree: xr.DataTree, case: ResultSlice) -> bool:
    """Whether the fit of one case passed its diagnostics."""
    flag = scalar(tree, schema.DIAGNOSTICS, "converged", case)
    return is_converged(tree) if flag is None else bool(flag)


def case_status(tree: xr.DataTree, case: ResultSlice) -> str:
    """Status of a case as tables show it."""
    return schema.OK if case_converged(tree, case) else schema.NOT_CONVERGED


def is_converged(tree: xr.DataTree) -> bool:
    """Whether every fit of the result passed its diagnostics."""
    # The root attribute is of the whole fit: what was selected may have converged alone.
    if schema.WARNINGS in tree.attrs and has_variable(tree, schema.DIAGNOSTICS, "converged"):
        return bool(variable(tree, schema.DIAGNOSTICS, "converged").all())
    return str(tree.attrs["converged"]) == "true"


def all_converged(tree: xr.DataTree, shown: Sequence[ResultSlice]) -> bool:
    """Whether some cases are reliable: a failed fit that no case owns to may be any of them."""
    flags = (schema.DIAGNOSTICS, "converged")
    if not has_variable(tree, *flags) or variable(tree, *flags).all():
        return is_converged(tree)
    return all(case_converged(tree, case) for case in shown)


def is_prior_grid(tree: xr.DataTree) -> bool:
    """Whether a result holds refits of the same data under several priors."""
    return len(names_along(tree, schema.PRIOR_NAME)) > 1


def of_prior(tree: xr.DataTree, name: str) -> str:
    """A root attribute of one fit, which refits under several priors hold by prior."""
    if tree.attrs.get(schema.KIND) != schema.PRIOR_GRID:
        return str(tree.attrs.get(name, ""))
    held = json_attribute(tree, schema.BY_PRIOR[name])[names_along(tree, schema.PRIOR_NAME)[0]]
    return held if isinstance(held, str) else json.dumps(held)


def json_attribute(tree: xr.DataTree, name: str) -> Any:
    """Decode a root attribute that is kept as JSON (lists and dicts; netCDF holds neither)."""
    return json.loads(str(tree.attrs[name]))


def check_every_class(tree: xr.DataTree) -> None:
    """Refuse a selection of the classes of rows, whose probabilities belong together."""
    held = tree[schema.POSTERIOR].coords.get("label_class")
    names = [str(name) for name in json_attribute(tree, "classes")]
    kept = names if held is None else [str(name) for name in np.ravel(held)]
    if kept != names:
        raise InputError(
            f"probabilities of rows need all classes, {listing(names)}, in that order; got a "
            f"result of {listing(kept)}. Pass what bayescal.fit returned, and select classes of "
            "what comes out."
        )


def measure_names(tree: xr.DataTree) -> list[str]:
    """Names of the measures that were added to a result, in order."""
    return list(json.loads(str(tree.attrs.get(schema.MEASURES, "[]"))))


def sampler(tree: xr.DataTree) -> str:
    """Say what drew the posterior; under several priors that may be more than one sampler."""
    text = str(tree.attrs.get("sampler", ""))
    return ", ".join(dict.fromkeys(json.loads(text).values())) if text.startswith("{") else text


def sampler_in_words(tree: xr.DataTree, version: str = "") -> str:
    """Say what drew the posterior, and which descriptions of an average NUTS did not draw."""
    name = f"{sampler(tree)} {version}".strip()
    average = tree.children.get(schema.MODEL_AVERAGE, xr.DataTree()).dataset
    if schema.NUTS_DRAWS not in average or not (nuts := average[schema.NUTS_DRAWS] > 0).any():
        return name
    cases = [dim for dim in nuts.dims if dim != schema.DESCRIPTION]
    apart = (average[schema.WEIGHT] > 0) & ~nuts & (nuts[schema.DESCRIPTION] != schema.CALIBRATED)
    by, without = (
        ", ".join(one[schema.DESCRIPTION].values[one.any(cases).values]) for one in (nuts, apart)
    )
    return f"{name} ({by}{'; direct draws: ' * bool(without)}{without})"


def classifier_names(tree: xr.DataTree) -> list[str]:
    """Names of the classifiers of a result, in its order."""
    found = names_along(tree, schema.CLASSIFIER) or list(json_attribute(tree, "classifiers"))
    if len(found) > 1 and schema.CLASSIFIER not in tree[schema.POSTERIOR].dims:
        raise InputError(
            "a result must say which of its classifiers it is of; this selection, from "
            f"{', '.join(found)}, does not. Select without drop=True."
        )
    return found


def names_of_cases(tree: xr.DataTree, dim: str) -> list[str]:
    """Names along a dimension of the cases; those of classifiers of a result without it, too."""
    return classifier_names(tree) if dim == schema.CLASSIFIER else names_along(tree, dim)


def group_names(tree: xr.DataTree) -> list[str]:
    """Names of the groups of a result, in its order."""
    return names_along(tree, schema.GROUP) or list(json_attribute(tree, "groups"))


def names_along(tree: xr.DataTree, dim: str) -> list[str]:
    """Names along a dimension of the cases, the one of a dimension that is gone, or none."""
    found = tree.children[schema.POSTERIOR].coords.variables.get(dim)
    return [] if found is None else [str(name) for name in np.atleast_1d(found.values)]


def stream_of(tree: xr.DataTree, *names: str, number: int = 0) -> np.random.Generator:
    """Random numbers that belong to a result's seed and to names."""
    return stream(abs(int(tree.attrs["seed"])), *names, number=number)


def prior_names(tree: xr.DataTree) -> list[str]:
    """Names of the priors of a result of `bayescal.prior_sensitivity`."""
    schema.check_result(tree)
    if not is_prior_grid(tree):
        raise InputError(
            "a comparison of priors needs fits under several; this result has one prior. "
            "Pass what bayescal.prior_sensitivity returned."
        )
    return names_along(tree, schema.PRIOR_NAME)


def name_over_priors(case: ResultSlice) -> str:
    """Name of a case without its prior; "" where there is only one."""
    return " / ".join(value for dim, value in case.sel.items() if dim != schema.PRIOR_NAME)


def along(tree: xr.DataTree, dim: str) -> list[tuple[ResultSlice, ...]]:
    """Gather the cases that differ along one dimension alone."""
    gathered: dict[tuple[str, ...], list[ResultSlice]] = {}
    for case in cases(tree):
        key = tuple(value for other, value in case.sel.items() if other != dim)
        gathered.setdefault(key, []).append(case)
    return [tuple(together) for together in gathered.values()]


_MOST_NAMES: Final = 4
_MOST_SENTENCES: Final = 6


class Warned(NamedTuple):
    """A sentence, and the names of the cases that it is of, by dimension; none of a joint fit."""

    text: str
    cases: Sequence[Mapping[str, str]]


def gather(said: Iterable[tuple[Mapping[str, str], str]]) -> list[Warned]:
    """Put sentences of single cases together, each sentence once."""
    by_text: dict[str, list[Mapping[str, str]]] = {}
    for coords, text in said:
        by_text.setdefault(text, []).append(dict(coords))
    return [Warned(text, cases) for text, cases in by_text.items()]


def in_words(found: Sequence[Warned], n_priors: int = 1) -> str:
    """Say "ok", or name cases, problems and remedies, and under which priors, unless it is all."""
    by_prior: dict[str, list[tuple[Mapping[str, str], str]]] = {}
    for text, cases in found:
        for coords in cases:
            own = {dim: name for dim, name in coords.items() if dim != schema.PRIOR_NAME}
            by_prior.setdefault(coords.get(schema.PRIOR_NAME, ""), []).append((own, text))
    texts = {prior: _sentences(gather(said)) for prior, said in by_prior.items()}
    return under_priors(texts, n_priors)


def under_priors(texts: Mapping[str, str], n_priors: int) -> str:
    """Join what is said under some of the priors, and name these unless it is said of all."""
    priors: dict[str, list[str]] = {}
    for prior, text in texts.items():
        priors.setdefault(text, []).append(prior)
    found = (
        text if len(names) == n_priors else f"Under {', '.join(names)}: {text}"
        for text, names in priors.items()
    )
    return " ".join(found) or schema.OK


def _sentences(found: Sequence[Warned]) -> str:
    """The first ones, since numbers make one of each case, and how many more there are."""
    shown = [_sentence(one) for one in found[:_MOST_SENTENCES]]
    left = len(found) - len(shown)
    more = [f"{counted(left, 'more warning')}: see the status of each case."] if left else []
    return " ".join([*shown, *more])


def _sentence(one: Warned) -> str:
    names = [" / ".join(coords.values()) or "all classifiers" for coords in one.cases]
    shown = names if len(names) <= _MOST_NAMES else names[: _MOST_NAMES - 1]
    more = f" and {len(names) - len(shown)} more" if len(shown) < len(names) else ""
    return f"{', '.join(shown)}{more}: {one.text}"


def status(tree: xr.DataTree, shown: Sequence[ResultSlice] | None = None) -> str:
    """Status of the cases shown, or of all; a result of an earlier version has one text for all."""
    held = cases(tree) if shown is None else shown
    if schema.WARNINGS not in tree.attrs:
        others = all_converged(tree, held) and not is_converged(tree)
        return schema.OK if others else str(tree.attrs["status"])
    return in_words(
        [
            Warned(text, of_shown)
            for text, coords in json_attribute(tree, schema.WARNINGS)
            if (of_shown := [one for one in coords if any(_is_of(one, case) for case in held)])
        ],
        len({case.prior for case in held}),
    )


def warned_cases(tree: xr.DataTree, shown: Sequence[ResultSlice]) -> dict[str, list[ResultSlice]]:
    """Sentences of the status, and which of the cases shown each is of."""
    if schema.WARNINGS not in tree.attrs:
        return {}
    found = {
        str(text): [case for case in shown if any(_is_of(one, case) for one in coords)]
        for text, coords in json_attribute(tree, schema.WARNINGS)
    }
    return {text: cases for text, cases in found.items() if cases}


def _is_of(coords: Mapping[str, str], case: ResultSlice) -> bool:
    """Whether a case is the named one, or part of it."""
    held = {**case.fixed, **case.sel}
    return all(held.get(dim, name) == name for dim, name in coords.items())
