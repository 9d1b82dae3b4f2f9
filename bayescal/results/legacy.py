"""Results written by earlier versions, brought to the present schema.

The only place above the quantities that names one: version 1 did not say of which kind a result is.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

import numpy as np
import xarray as xr

from bayescal.core.variables import (
    CALIBRATION_CURVE,
    CALIBRATION_ERRORS,
    LESS,
    METRIC,
    MORE,
    ROW,
    Variable,
    to_json,
)
from bayescal.results import schema

_KINDS: Final = {"ece": "errors", "pu_ece": "errors", "ssme": "metrics", "credal": "rows"}
# Sections of the report that only some quantities have.
_SECTIONS: Final = {
    "agnostic": ["costs"],
    "credal": ["rows"],
    "pu_ece": ["class_prior"],
    "ssme": ["assumptions"],
    "temperature": ["classes"],
}
_POINT_LABELS: Final = {"ssme": "SSME-KDE"}
_GROUPS: Final = {"yardsticks": schema.REFERENCE_ESTIMATES, "pairing": schema.ERROR_CORRELATION}
_ONLY_ECE: Final = ("log_bayes_factor_jump", "jump_flag")
_ONLY_WEIGHTED: Final = ("importance_ess",)
# Numbers that are 0 where a classifier is calibrated.
_MAY_BE_ZERO: Final = ("tce", "ece", "mce", "c", "ks")

# Metrics of version 0.2 that had a direction, in the order of its tables.
_METRICS: Final = {
    "accuracy": "accuracy",
    "ece": "ECE",
    "auc": "AUC",
    "auprc": "AUPRC",
    "mce": "MCE",
    "log_loss": "log loss",
    "brier": "Brier score",
}
_FULL: Final = {one.name: one.full for one in CALIBRATION_ERRORS}
_MORE: Final = ("accuracy", "auc", "auprc")
_LESS: Final = ("max_ece", "avg_ece")
_TITLES: Final = {
    "avg_ece": "avg-ECE",
    "avg_ece_uncalibrated": "avg-ECE before calibration",
    "class_ece": "ECE",
    "class_ece_uncalibrated": "ECE before calibration",
    "ece_uncalibrated": "ECE before calibration",
    "max_ece": "max-ECE",
    "max_ece_uncalibrated": "max-ECE before calibration",
    "unlabeled_auc": "AUC, unlabelled rows",
    "unlabeled_cost": "cost, unlabelled rows",
}


def upgrade(tree: xr.DataTree) -> xr.DataTree:
    """Bring a result of an earlier version to the present schema; others are left as they are."""
    tree = _of_version_2(tree)
    if schema.VARIABLES not in tree.attrs and schema.RESULT_KIND in tree.attrs:
        tree.attrs[schema.VARIABLES] = to_json(_variables(tree))
        if tree.attrs[schema.RESULT_KIND] == "rows":
            tree.attrs.setdefault(schema.POINT_LABEL, "Venn-Abers")
        own = _SECTIONS.get(str(tree.attrs.get("quantity")), [])
        tree.attrs.setdefault("sections", json.dumps(own))
    return _with_zeros(tree)


def _with_zeros(tree: xr.DataTree) -> xr.DataTree:
    """Put into the posterior the draws in which a classifier is calibrated.

    Before version 0.3 the posterior of an error was that given miscalibration, and components of
    the curve had weights by their evidence itself: its power is 1.
    """
    if schema.MODEL_AVERAGE not in tree.children or schema.GIVEN_MISCALIBRATION in tree.children:
        return tree
    average = tree[schema.MODEL_AVERAGE].to_dataset()
    if schema.P_CALIBRATED not in average:
        return tree
    held = average[schema.P_CALIBRATED]
    posterior = tree[schema.POSTERIOR].to_dataset()
    names = [name for name in _MAY_BE_ZERO if name in posterior]
    size = posterior.sizes[schema.CHAIN] * posterior.sizes[schema.DRAW]
    order = np.random.default_rng(0).permutation(size).reshape(posterior.sizes[schema.CHAIN], -1)
    place = xr.DataArray((order + 0.5) / size, dims=schema.DRAW_DIMS)
    given = posterior[names]
    zeros = given.map(
        lambda draws: draws.where(place >= held.fillna(0.0), 0.0).transpose(*draws.dims)
    )
    tree[schema.POSTERIOR] = posterior.assign(zeros)
    tree[schema.GIVEN_MISCALIBRATION] = given
    tree.attrs.setdefault(schema.AVERAGE_POWER, 1.0)
    return tree


def _of_version_2(tree: xr.DataTree) -> xr.DataTree:
    """Bring a result of schema 1 to schema 2."""
    if tree.attrs.get("schema_version") != 1 or tree.attrs.get("quantity") not in _KINDS:
        return tree
    quantity = str(tree.attrs["quantity"])
    groups = {
        _GROUPS.get(str(name), str(name)): child.to_dataset()
        for name, child in tree.children.items()
    }
    if schema.DIAGNOSTICS in groups:
        surplus = {"ece": (), "pu_ece": _ONLY_ECE}.get(quantity, _ONLY_ECE + _ONLY_WEIGHTED)
        groups[schema.DIAGNOSTICS] = groups[schema.DIAGNOSTICS].drop_vars(surplus, errors="ignore")
    attrs = dict(tree.attrs)
    nuts = str(attrs.get("sampler", "")).startswith("nutpie")
    attrs |= {
        "schema_version": schema.SCHEMA_VERSION,
        schema.RESULT_KIND: _KINDS[quantity],
        "method": "nuts" if nuts else "direct",
    }
    if quantity in _POINT_LABELS:
        attrs[schema.POINT_LABEL] = _POINT_LABELS[quantity]
    if "survives" in attrs:
        attrs["robust"] = attrs.pop("survives")
    found = xr.DataTree.from_dict(groups)
    found.attrs = attrs
    return found


def _variables(tree: xr.DataTree) -> list[Variable]:
    held, estimated = (
        [str(name) for name in tree[group].data_vars] if group in tree.children else []
        for group in (schema.POSTERIOR, schema.POINT_ESTIMATE)
    )
    names = [name for name in held if name in _METRICS or name in estimated]
    return variables_of_kind(str(tree.attrs[schema.RESULT_KIND]), names)


def variables_of_kind(kind: str, names: Sequence[str]) -> list[Variable]:
    """What version 0.2 knew of variables, and did not store; metrics are `names`."""
    if kind == "errors":
        class_prior = Variable("class_prior", "class prior", point="class_prior")
        return [*CALIBRATION_ERRORS, *CALIBRATION_CURVE, class_prior]
    if kind == "rows":
        return [Variable("prob", "class probability", ("obs",), ROW, point="prob")]
    ordered = [name for name in _METRICS if name in names]
    ordered += [name for name in names if name not in ordered]
    metrics = (
        Variable(name, _title(name), (), METRIC, _better(name), name, "", _FULL.get(name, ""))
        for name in ordered
    )
    return [*metrics, *CALIBRATION_CURVE]


def _title(name: str) -> str:
    if (cost := name.removeprefix("unlabeled_cost_")) != name:
        return f"cost {cost}, unlabelled rows"
    return _METRICS.get(name) or _TITLES.get(name) or name.replace("_", " ")


def _better(name: str) -> str | None:
    if name in _MORE:
        return MORE
    return LESS if name in (*_METRICS, *_LESS) else None
