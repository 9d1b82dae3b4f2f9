"""What a result is: the names of its groups, dimensions and attributes, and the check of them.

A result is an `xarray.DataTree` on which every ArviZ function works as it stands: PyMC's own
groups, and beside them the paper's estimate, bounds, diagnostics and model averages. Plots, the
report and the command line read nothing else, so this file is the contract between them and
whatever computed the result.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Final, overload

import xarray as xr

from bayescal.core.errors import InputError

SCHEMA_VERSION: Final = 2

# Groups that PyMC and ArviZ know.
POSTERIOR: Final = "posterior"
PRIOR: Final = "prior"
SAMPLE_STATS: Final = "sample_stats"
LOG_LIKELIHOOD: Final = "log_likelihood"
LOG_PRIOR: Final = "log_prior"
POSTERIOR_PREDICTIVE: Final = "posterior_predictive"
OBSERVED_DATA: Final = "observed_data"
CONSTANT_DATA: Final = "constant_data"
# Groups of our own.
POINT_ESTIMATE: Final = "point_estimate"
BOUNDS: Final = "bounds"
DIAGNOSTICS: Final = "diagnostics"
MODEL_AVERAGE: Final = "model_average"
ERROR_CORRELATION: Final = "error_correlation"
SENSITIVITY: Final = "sensitivity"
"""The answer as a function of what is assumed, such as the class prior."""
REFERENCE_ESTIMATES: Final = "reference_estimates"
"""Other estimates of the same quantities, by method, to be read beside the posterior."""

DRAW_GROUPS: Final = (
    POSTERIOR,
    PRIOR,
    POSTERIOR_PREDICTIVE,
    SAMPLE_STATS,
    LOG_LIKELIHOOD,
    LOG_PRIOR,
)
PLAIN_GROUPS: Final = (
    OBSERVED_DATA,
    CONSTANT_DATA,
    POINT_ESTIMATE,
    BOUNDS,
    MODEL_AVERAGE,
    DIAGNOSTICS,
    SENSITIVITY,
    REFERENCE_ESTIMATES,
)
REQUIRED_GROUPS: Final = (POSTERIOR, POINT_ESTIMATE, DIAGNOSTICS)

CHAIN: Final = "chain"
DRAW: Final = "draw"
DRAW_DIMS: Final = (CHAIN, DRAW)
CLASSIFIER: Final = "classifier"
CLASS: Final = "class"
GROUP: Final = "group"
PRIOR_NAME: Final = "prior"
"""Dimension of the priors that the same data were fitted under, one refit each."""
CASE_DIMS: Final = (CLASSIFIER, CLASS, GROUP, PRIOR_NAME)
"""Dimensions that tell one answer from another, present only with more than one value."""

KIND: Final = "kind"
"""Root attribute of what is not a single fit."""
PRIOR_GRID: Final = "prior sensitivity"
"""What `KIND` says of the refits of one data set under several priors."""

BIN: Final = "bin"
CELL: Final = "cell"
CELL_COUNT: Final = "cell_count"
"""Rows in each cell, in `constant_data`; 0 where a case has fewer cells than another."""

CI_BOUND: Final = "ci_bound"

CALIBRATION_ERRORS: Final = ("ece", "tce", "mce")
"""Variables that are 0 exactly when the classifier is calibrated, and positive otherwise."""

P_CALIBRATED: Final = "p_calibrated"

REQUIRED_ATTRS: Final = (
    "schema_version",
    "bayescal_version",
    "quantity",
    "result_kind",
    "title",
    "estimand",
    "classifiers",
    "seed",
    "status",
    "converged",
)

_REMAKE = "Pass what bayescal.fit or bayescal.load returned."


@dataclass(frozen=True, slots=True)
class Case:
    """One answer within a result: a classifier, and a class or a group where there are several.

    Attributes
    ----------
    classifier : str
    class_, group : str or None
        None where the result does not tell classes or groups apart.
    sel : dict
        What `DataArray.sel` needs to reach this case; empty in a result with one case.
    label : str
        Shortest name that tells the case from the others of its result; for axes and tables.
    prior : str or None
        None where the result is of one prior.
    """

    classifier: str
    class_: str | None
    group: str | None
    sel: dict[str, str] = field(hash=False)
    label: str
    prior: str | None = None

    @property
    def title(self) -> str:
        """Full name in words: "vit, class cat, group women"."""
        parts = [self.classifier]
        if self.class_ is not None:
            parts.append(f"class {self.class_}")
        if self.group is not None:
            parts.append(f"group {self.group}")
        if self.prior is not None:
            parts.append(f"prior {self.prior}")
        return ", ".join(parts)


def cases(tree: xr.DataTree) -> list[Case]:
    """List the cases of a result, classifier by classifier, in the order of its coordinates."""
    check_result(tree)
    values = _case_values(tree)
    return [_case(tree, values, combo) for combo in product(*values.values())]


def _case_values(tree: xr.DataTree) -> dict[str, list[str]]:
    """Coordinate values of the case dimensions that the posterior has."""
    posterior = tree[POSTERIOR].dataset
    return {
        dim: [str(value) for value in posterior[dim].values]
        for dim in CASE_DIMS
        if dim in posterior.dims
    }


def _case(tree: xr.DataTree, values: dict[str, list[str]], combo: tuple[str, ...]) -> Case:
    sel = dict(zip(values, combo, strict=True))
    classifier = sel.get(CLASSIFIER) or classifier_names(tree)[0]
    varying = [sel[dim] for dim in values if len(values[dim]) > 1]
    return Case(
        classifier=classifier,
        class_=sel.get(CLASS),
        group=sel.get(GROUP),
        sel=sel,
        label=" / ".join(varying) or classifier,
        prior=sel.get(PRIOR_NAME),
    )


@overload
def at(data: xr.DataArray, case: Case) -> xr.DataArray: ...
@overload
def at(data: xr.Dataset, case: Case) -> xr.Dataset: ...
def at(data: xr.DataArray | xr.Dataset, case: Case) -> xr.DataArray | xr.Dataset:
    """Select a case, along those of its dimensions that `data` has."""
    return data.sel({dim: value for dim, value in case.sel.items() if dim in data.dims})


def variable(tree: xr.DataTree, group: str, name: str, case: Case | None = None) -> xr.DataArray:
    """Fetch a variable of a result, of one case where `case` is given."""
    if not has_variable(tree, group, name):
        there = ", ".join(map(str, tree[group].data_vars)) if group in tree.children else "nothing"
        raise InputError(
            f"the result must hold {name!r} in its group {group!r}; it holds {there} there."
        )
    found = tree[group].dataset[name]
    return found if case is None else at(found, case)


def has_variable(tree: xr.DataTree, group: str, name: str) -> bool:
    """Whether a result holds a variable."""
    return group in tree.children and name in tree[group].data_vars


def scalar(tree: xr.DataTree, group: str, name: str, case: Case) -> float | None:
    """Fetch one number of one case; None where the result does not hold it."""
    if not has_variable(tree, group, name):
        return None
    return float(variable(tree, group, name, case).item())


def classifier_names(tree: xr.DataTree) -> list[str]:
    """List the names of the classifiers of a result, in its order."""
    return list(structure(tree, "classifiers"))


def structure(tree: xr.DataTree, name: str) -> Any:
    """Decode a root attribute that is kept as JSON (lists and dicts; netCDF holds neither)."""
    return json.loads(str(tree.attrs[name]))


def is_prior_grid(tree: xr.DataTree) -> bool:
    """Whether a result holds refits of the same data under several priors."""
    return tree.attrs.get(KIND) == PRIOR_GRID


def is_converged(tree: xr.DataTree) -> bool:
    """Whether every fit of the result passed its diagnostics."""
    return str(tree.attrs["converged"]) == "true"


def check_result(tree: object) -> None:
    """Check that an object is a result of this schema."""
    if not isinstance(tree, xr.DataTree):
        raise InputError(
            f"a result must be an xarray.DataTree; got {type(tree).__name__}. {_REMAKE}"
        )
    missing = [f"group {name!r}" for name in _absent(REQUIRED_GROUPS, tree.children)]
    missing += [f"root attribute {name!r}" for name in _absent(REQUIRED_ATTRS, tree.attrs)]
    if missing:
        raise InputError(f"a result must hold {', '.join(missing)}; this tree does not. {_REMAKE}")
    version = tree.attrs["schema_version"]
    if int(version) != SCHEMA_VERSION:
        raise InputError(
            f"schema_version must be {SCHEMA_VERSION}; got {version}. The result was written by "
            f"bayescal {tree.attrs['bayescal_version']}: read it with that version, or fit again."
        )
    lost = [dim for dim in DRAW_DIMS if dim not in tree[POSTERIOR].dims]
    if lost:
        raise InputError(f"posterior must have dims chain and draw; {lost} missing. {_REMAKE}")


def _absent(names: Iterable[str], there: Iterable[Hashable]) -> list[str]:
    present = set(there)
    return [name for name in names if name not in present]
