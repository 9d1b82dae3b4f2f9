"""The tidy table of a result: a row an answer, a metric of a joint one, or a classifier."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import xarray as xr

from bayescal.results import schema
from bayescal.results.credal_rows import credal_rows, is_credal
from bayescal.results.intervals import averaged_quantile, interval
from bayescal.results.metrics import is_joint, metrics_of
from bayescal.results.schema import Case

if TYPE_CHECKING:
    import pandas as pd

OK: Final = "ok"
NOT_CONVERGED: Final = "NOT CONVERGED"
NO_LABELS: Final = "NO LABELS"


def summary(tree: xr.DataTree, prob: float = 0.9) -> pd.DataFrame:
    """Tabulate a result, one row per classifier, class and group.

    Parameters
    ----------
    tree : xarray.DataTree
        A result.
    prob : float
        Posterior probability of the intervals, strictly between 0 and 1.

    Returns
    -------
    pandas.DataFrame
        Index `case`, the shortest name that tells the rows apart. Columns, NaN where the result
        does not say:

        ==================  ==========================================================
        classifier          name; then `class` and `group` where there are several
        n                   labelled rows
        ece_point           the paper's point estimate
        ece_mean            posterior mean, averaged over calibrated and miscalibrated
        ece_median          posterior median, averaged likewise
        ece_lower, _upper   interval, see `interval`
        p_calibrated        posterior probability of perfect calibration
        tce_mean            as ece_mean, of the calibration error without bins
        tce_lower, _upper   its interval
        rhat_max, ess_min   worst over the variables
        divergences         number of divergent transitions
        jump                whether the calibration curve may jump
        status              "ok" or "NOT CONVERGED"
        ==================  ==========================================================

        A result of `bayescal.ssme` has one row a classifier (and group) and metric instead:

        ==================  ==========================================================
        classifier          name; then `group` where there are several
        metric              accuracy, ece, auc, auprc, mce, log_loss or brier
        mean, median        of the posterior
        lower, upper        equal-tailed interval
        ssme_kde            the paper's estimate
        ensemble            under the mean score, without a fit
        labeled             on the labeled rows alone
        rhat_max, ess_min   worst over the metrics of all classifiers
        divergences         number of divergent transitions
        status              "ok", "NOT CONVERGED", or "NO LABELS": no label has checked
                            the numbers, which are the prior's
        ==================  ==========================================================

        A result of `bayescal.credal` has one row a classifier; `bayescal.row_table` has its rows:

        ==================  ==========================================================
        classifier          name
        n                   labelled calibration rows
        n_target, n_rows    rows to answer for, and those of them that the result holds
        width               mean width of the bounds at level `prob`, over rows and classes
        ivap_width          mean of p1 - p0 of the Venn-Abers predictors
        open_share          share of rows with more than one class left open
        improper_share      share of all target rows whose p0 and p1 fit no probabilities
        rhat_max, ess_min   worst over the probabilities
        divergences         number of divergent transitions
        status              "ok" or "NOT CONVERGED"
        ==================  ==========================================================

        Scores and errors are in [0, 1], but for the log loss.

    Raises
    ------
    InputError
        If the tree is not a result, or prob lies outside (0, 1).
    """
    import pandas as pd

    found = schema.cases(tree)
    if is_joint(tree):
        ends = {name: interval(tree, name, prob) for name in metrics_of(tree)}
        rows = [row for case in found for row in _metric_rows(tree, case, ends)]
        labels = [case.label for case in found for _ in ends]
        return pd.DataFrame(rows, index=pd.Index(labels, name="case"))
    if is_credal(tree):
        lines = [_credal_row(tree, case, prob) for case in found]
        return pd.DataFrame(lines, index=pd.Index([case.label for case in found], name="case"))
    errors = [name for name in ("ece", "tce") if name in tree[schema.POSTERIOR].data_vars]
    bounds = {name: interval(tree, name, prob) for name in errors}
    index = pd.Index([case.label for case in found], name="case")
    return pd.DataFrame([_row(tree, case, bounds) for case in found], index=index)


def _row(
    tree: xr.DataTree, case: Case, bounds: dict[str, xr.DataArray]
) -> dict[str, str | float | bool | None]:
    p_calibrated = schema.scalar(tree, schema.MODEL_AVERAGE, schema.P_CALIBRATED, case)
    row: dict[str, str | float | bool | None] = {"classifier": case.classifier}
    row |= {dim: value for dim, value in case.sel.items() if dim != schema.CLASSIFIER}
    row["n"] = schema.scalar(tree, schema.POINT_ESTIMATE, "n", case)
    for name in bounds:
        lower, upper = (float(bound) for bound in schema.at(bounds[name], case).values)
        if name == "ece":
            row["ece_point"] = schema.scalar(tree, schema.POINT_ESTIMATE, "ece", case)
        row[f"{name}_mean"] = averaged_mean(tree, name, case)
        if name == "ece":
            draws = schema.variable(tree, schema.POSTERIOR, name, case).values
            row["ece_median"] = averaged_quantile(draws, _or_zero(p_calibrated), 0.5)
        row[f"{name}_lower"], row[f"{name}_upper"] = lower, upper
        if name == "ece":
            row[schema.P_CALIBRATED] = p_calibrated
    for name in ("rhat_max", "ess_min", "divergences"):
        row[name] = schema.scalar(tree, schema.DIAGNOSTICS, name, case)
    row["jump"] = bool(schema.scalar(tree, schema.DIAGNOSTICS, "jump_flag", case))
    row["status"] = OK if case_converged(tree, case) else NOT_CONVERGED
    return row


def _credal_row(tree: xr.DataTree, case: Case, prob: float) -> dict[str, str | float | None]:
    """One case of a result of bounds, over its rows."""
    rows = credal_rows(tree, case, prob)
    return {
        "classifier": case.classifier,
        **case.sel,
        "n": schema.scalar(tree, schema.POINT_ESTIMATE, "n", case),
        "n_target": float(tree.attrs["n_target"]),
        "n_rows": float(len(rows.row)),
        "width": float(rows.width.mean()),
        "ivap_width": float((rows.p1 - rows.p0).mean()),
        "open_share": float((rows.n_open > 1).mean()),
        "improper_share": schema.scalar(tree, schema.POINT_ESTIMATE, "improper_share", case),
        **{
            name: schema.scalar(tree, schema.DIAGNOSTICS, name, case)
            for name in ("rhat_max", "ess_min", "divergences")
        },
        "status": OK if case_converged(tree, case) else NOT_CONVERGED,
    }


def _metric_rows(
    tree: xr.DataTree, case: Case, ends: dict[str, xr.DataArray]
) -> list[dict[str, str | float | None]]:
    """One case of a joint result, metric by metric."""
    coords = {"classifier": case.classifier, **case.sel}
    health = {
        name: schema.scalar(tree, schema.DIAGNOSTICS, name, case)
        for name in ("rhat_max", "ess_min", "divergences")
    }
    status = _joint_status(tree, case)
    rows: list[dict[str, str | float | None]] = []
    for name in ends:
        draws = schema.variable(tree, schema.POSTERIOR, name, case)
        lower, upper = (float(end) for end in schema.at(ends[name], case).values)
        point = schema.scalar(tree, schema.POINT_ESTIMATE, name, case)
        rows.append(
            {
                **coords,
                "metric": name,
                "mean": float(draws.mean()),
                "median": float(draws.median()),
                "lower": lower,
                "upper": upper,
                "ssme_kde": point,
                **reference_estimates(tree, name, case),
                **health,
                "status": status,
            }
        )
    return rows


def _joint_status(tree: xr.DataTree, case: Case) -> str:
    """Whether a joint result's numbers may be relied on, in two words."""
    if not case_converged(tree, case):
        return NOT_CONVERGED
    return NO_LABELS if tree.attrs.get("n_labeled") == 0 else OK


def reference_estimates(tree: xr.DataTree, var: str, case: Case) -> dict[str, float]:
    """Read other estimates of a quantity, by method."""
    if not schema.has_variable(tree, schema.REFERENCE_ESTIMATES, var):
        return {}
    held = schema.variable(tree, schema.REFERENCE_ESTIMATES, var, case)
    return {str(method): float(held.sel({"method": method})) for method in held["method"].values}


def averaged_mean(tree: xr.DataTree, var: str, case: Case) -> float:
    """Posterior mean of a variable, averaged over calibrated and miscalibrated where it can be."""
    averaged = schema.scalar(tree, schema.MODEL_AVERAGE, f"{var}_mean", case)
    if averaged is not None and averaged == averaged:  # NaN: the prior has no calibrated part
        return averaged
    return float(schema.variable(tree, schema.POSTERIOR, var, case).mean())


def case_converged(tree: xr.DataTree, case: Case) -> bool:
    """Whether the fit of one case passed its diagnostics."""
    flag = schema.scalar(tree, schema.DIAGNOSTICS, "converged", case)
    return schema.is_converged(tree) if flag is None else bool(flag)


def _or_zero(value: float | None) -> float:
    return 0.0 if value is None or value != value else value
