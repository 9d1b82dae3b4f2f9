"""Calibration errors, each classifier (class, group) with a posterior of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import xarray as xr

from bayescal.core.errors import InputError
from bayescal.results import access, schema, text
from bayescal.results.access import ResultSlice
from bayescal.results.compare import couple_pair, rank_coupled
from bayescal.results.conclude import Conclusion, check_one_number, conclude
from bayescal.results.curves import curve_shape
from bayescal.results.intervals import Marginal, averaged_quantile, credible_interval, marginals
from bayescal.results.kind import Table
from bayescal.results.power_scaling import numbers_of_case

if TYPE_CHECKING:
    import pandas as pd

_SHOWN = ("ece", "tce")

title = text.variable_title
interval = credible_interval
difference = couple_pair
best = rank_coupled
power_scaled = numbers_of_case


def variables(tree: xr.DataTree) -> list[str]:
    """Calibration errors of the result, that without bins first."""
    return [one.name for one in access.answers(tree)]


def higher_is_better(var: str) -> bool | None:
    """Less error is better."""
    return False if var in schema.CALIBRATION_ERRORS else None


def point_label(tree: xr.DataTree) -> str:
    """Name the plug-in estimate."""
    return str(tree.attrs.get(schema.POINT_LABEL, "plug-in"))


def point(tree: xr.DataTree, var: str, case: ResultSlice) -> float | None:
    """The plug-in estimate; that of the ECE stands for the error without bins too."""
    return access.scalar(tree, schema.POINT_ESTIMATE, "mce" if var == "mce" else "ece", case)


def description(tree: xr.DataTree) -> str:
    """Say how many rows there are, with and without labels."""
    return text.labelled_rows(tree.attrs)


def summary(tree: xr.DataTree, prob: float) -> pd.DataFrame:
    """One row a case."""
    import pandas as pd

    found = access.cases(tree)
    shown = [name for name in _SHOWN if access.has_variable(tree, schema.POSTERIOR, name)]
    ends = {name: interval(tree, name, prob) for name in shown}
    index = pd.Index([case.label for case in found], name="case")
    return pd.DataFrame([_row(tree, case, ends) for case in found], index=index)


rows = summary


def _row(tree: xr.DataTree, case: ResultSlice, ends: Mapping[str, xr.DataArray]) -> dict[str, Any]:
    row: dict[str, Any] = {
        **case.coords,
        "n": access.scalar(tree, schema.POINT_ESTIMATE, "n", case),
    }
    if access.has_variable(tree, schema.POINT_ESTIMATE, schema.EFFECTIVE_N):
        row[schema.EFFECTIVE_N] = access.scalar(
            tree, schema.POINT_ESTIMATE, schema.EFFECTIVE_N, case
        )
    for name, bounds in ends.items():
        lower, upper = (float(end) for end in access.at(bounds, case).values)
        binned = name == "ece"
        if binned:
            row["ece_point"] = point(tree, name, case)
        row[f"{name}_mean"] = access.averaged_mean(tree, name, case)
        if binned:
            row["ece_median"] = averaged_quantile(
                access.flat_draws(tree, name, case), access.prob_calibrated(tree, case) or 0.0, 0.5
            )
        row[f"{name}_lower"], row[f"{name}_upper"] = lower, upper
        if binned:
            row[schema.P_CALIBRATED] = access.scalar(
                tree, schema.MODEL_AVERAGE, schema.P_CALIBRATED, case
            )
    row |= access.health(tree, case)
    if access.has_variable(tree, schema.MODEL_AVERAGE, "weight"):
        shape = curve_shape(tree, case)
        row["curve"] = None if shape is None else shape.name
    return row | {"status": access.case_status(tree, case)}


def records(tree: xr.DataTree, prob: float) -> list[dict[str, Any]]:
    """Rows of the summary, and the means over classes where the result is of their mean."""
    found = text.plain_records(summary(tree, prob))
    if tree.attrs.get("multiclass") != "marginal":
        return found
    ece, tce = (marginals(tree, var, prob) for var in _SHOWN)
    return found + [
        _mean_over_classes(case, binned, without_bins, found)
        for (case, binned), (_, without_bins) in zip(ece, tce, strict=True)
    ]


def _mean_over_classes(
    case: ResultSlice, ece: Marginal, tce: Marginal, found: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """One classifier's (and group's) mean over classes, as sound as its worst class."""
    names = {"classifier": case.classifier}
    names |= {} if case.group is None else {"group": case.group}
    own = [row for row in found if all(row[name] == value for name, value in names.items())]
    failed = [row["status"] for row in own if row["status"] != schema.OK]
    varying = [value for dim, value in names.items() if len({row[dim] for row in found}) > 1]
    return {
        "case": " / ".join([*varying, "mean over classes"]),
        **names,
        **{name: own[0][name] for name in ("n", schema.EFFECTIVE_N) if name in own[0]},
        "ece_point": text.plain(ece.plug_in),
        **{f"ece_{end}": getattr(ece, end) for end in ("mean", "lower", "upper")},
        schema.P_CALIBRATED: None,
        **{f"tce_{end}": getattr(tce, end) for end in ("mean", "lower", "upper")},
        "status": failed[0] if failed else schema.OK,
    }


def table(tree: xr.DataTree, prob: float) -> Table:
    """The binned error of each case, or that without bins where there is no other."""
    found = records(tree, prob)
    var = next(name for name in _SHOWN if f"{name}_mean" in found[0])
    name, label = title(var), point_label(tree)
    with_point, with_calibrated = f"{var}_point" in found[0], schema.P_CALIBRATED in found[0]
    with_curve = "curve" in found[0]
    columns = [
        "",
        "rows (effective)" if schema.EFFECTIVE_N in found[0] else "rows",
        *([f"{name}, {label}"] if with_point else []),
        f"{name}, posterior",
        f"{text.percent(prob)} interval",
        *(["P(calibrated)"] if with_calibrated else []),
        *(["curve"] if with_curve else []),
        "status",
    ]
    lines = []
    for row in found:
        low, high = row[f"{var}_lower"], row[f"{var}_upper"]
        digits = text.decimals(low, high)
        lines.append(
            (
                str(row["case"]),
                text.row_count(row["n"], row.get(schema.EFFECTIVE_N)),
                *([text.fixed(row[f"{var}_point"], digits)] if with_point else []),
                text.fixed(row[f"{var}_mean"], digits),
                text.ends(low, high, digits),
                *([text.probability(row[schema.P_CALIBRATED])] if with_calibrated else []),
                *([row.get("curve") or text.MISSING] if with_curve else []),
                str(row["status"]),
            )
        )
    return Table(tuple(columns), lines)


def conclusions(
    tree: xr.DataTree, var: str, prob: float, threshold: float | None
) -> list[Conclusion]:
    """Against perfect calibration, or a threshold."""
    check_one_number(access.variable(tree, schema.POSTERIOR, var))
    if threshold is None and var not in schema.CALIBRATION_ERRORS:
        raise InputError(
            f"threshold must be given for {var!r}: only calibration errors have a value, 0, that "
            "stands for perfect calibration. Pass the value that matters."
        )
    return conclude(tree, var, prob, threshold, sided=True)
