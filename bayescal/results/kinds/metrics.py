"""Metrics of all classifiers in one posterior, draw by draw on the same rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import xarray as xr

from bayescal.core.errors import InputError
from bayescal.results import access, schema, text
from bayescal.results.access import ResultSlice
from bayescal.results.compare import (
    Best,
    Difference,
    Pair,
    by_rank_shares,
    couple_pair,
    is_coupled,
    of_paired_draws,
    of_two_variables,
    rank_coupled,
)
from bayescal.results.conclude import Conclusion, conclude
from bayescal.results.intervals import credible_interval
from bayescal.results.kind import Table, check_variable
from bayescal.results.power_scaling import numbers_of_case

if TYPE_CHECKING:
    import pandas as pd

HIGHER: Final = ("accuracy", "auc", "auprc")
"""Metrics of which more is better."""
LOWER: Final = ("ece", "max_ece", "avg_ece", "mce", "log_loss", "brier")
"""Metrics of which less is better."""
ORDER: Final = ("accuracy", "ece", "auc", "auprc", "mce", "log_loss", "brier")
"""Of tables; a quantity's own metrics follow."""
_SHOWN: Final = 4
"""Metrics that fit a terminal; JSON and the report have all."""

title = text.variable_title
interval = credible_interval
power_scaled = numbers_of_case


def variables(tree: xr.DataTree) -> list[str]:
    """Metrics of the result: what the posterior and the point estimate both hold."""
    return [one.name for one in access.answers(tree)]


def higher_is_better(var: str) -> bool | None:
    """Direction of the standard metrics."""
    return True if var in HIGHER else False if var in LOWER else None


def point_label(tree: xr.DataTree) -> str:
    """Name of the estimate, as the quantity has it."""
    return str(tree.attrs.get(schema.POINT_LABEL, "point estimate"))


def point(tree: xr.DataTree, var: str, case: ResultSlice) -> float | None:
    """The point estimate of a metric."""
    return access.scalar(tree, schema.POINT_ESTIMATE, var, case)


def description(tree: xr.DataTree) -> str:
    """Say how many rows there are, with and without labels."""
    return text.labelled_rows(tree.attrs)


def summary(tree: xr.DataTree, prob: float) -> pd.DataFrame:
    """One row a case and metric."""
    import pandas as pd

    found = access.cases(tree)
    ends = {name: interval(tree, name, prob) for name in variables(tree)}
    lines = [_row(tree, case, name, bounds) for case in found for name, bounds in ends.items()]
    index = pd.Index([case.label for case in found for _ in ends], name="case")
    return pd.DataFrame(lines, index=index)


rows = summary


def _row(tree: xr.DataTree, case: ResultSlice, var: str, ends: xr.DataArray) -> dict[str, Any]:
    draws = access.variable(tree, schema.POSTERIOR, var, case)
    lower, upper = (float(end) for end in access.at(ends, case).values)
    return {
        **case.coords,
        "metric": var,
        "mean": access.averaged_mean(tree, var, case),
        "median": float(draws.median()),
        "lower": lower,
        "upper": upper,
        "point": point(tree, var, case),
        **access.reference_estimates(tree, var, case),
        **access.health(tree, case),
        "status": _status(tree, case),
    }


def _status(tree: xr.DataTree, case: ResultSlice) -> str:
    """Without a label, the numbers are the prior's."""
    unlabelled = access.case_converged(tree, case) and tree.attrs.get("n_labeled") == 0
    return schema.NO_LABELS if unlabelled else access.case_status(tree, case)


def records(tree: xr.DataTree, prob: float) -> list[dict[str, Any]]:
    """Rows of the summary."""
    return text.plain_records(summary(tree, prob))


def table(tree: xr.DataTree, prob: float) -> Table:
    """A row a case, a column a metric: mean and interval; and which classifier is best."""
    shown = variables(tree)[:_SHOWN]
    rankable = len(access.classifier_names(tree)) > 1 and higher_is_better(shown[0]) is not None
    ranked = best(tree, shown[0], None, None) if rankable else None
    ends = {var: interval(tree, var, prob) for var in shown}
    columns = ("", *map(title, shown), *(["P(best)"] if ranked else []), "status")
    lines = [
        (
            case.label,
            *(_cell(tree, var, case, ends[var]) for var in shown),
            *([text.probability(float(access.at(ranked.prob_best, case)))] if ranked else []),
            _status(tree, case),
        )
        for case in access.cases(tree)
    ]
    notes = [f"Posterior means with {text.percent(prob)} intervals."]
    if ranked:
        notes += [f"P(best) is by {title(shown[0])}.", ranked.text]
    return Table(columns, lines, tuple(notes))


def _cell(tree: xr.DataTree, var: str, case: ResultSlice, ends: xr.DataArray) -> str:
    """Mean and interval."""
    mean = access.averaged_mean(tree, var, case)
    lower, upper = (float(end) for end in access.at(ends, case).values)
    return f"{text.fixed(mean)} ({text.ends(lower, upper)})"


def difference(tree: xr.DataTree, pair: Pair) -> Difference:
    """Draw by draw in one posterior; coupled where classifiers were fitted one by one."""
    if {pair.first, pair.second} <= set(variables(tree)):
        return of_two_variables(tree, pair)
    return (couple_pair if is_coupled(tree, pair.var) else of_paired_draws)(tree, pair)


def best(tree: xr.DataTree, var: str, class_: str | None, group: str | None) -> Best:
    """Rank draw by draw."""
    draws = access.variable(tree, schema.POSTERIOR, check_variable(tree, var))
    higher = higher_is_better(var)
    if higher is None:
        raise InputError(
            f"a ranking needs to know whether more of {var!r} is better; it is not a standard "
            f"metric. Choose from {', '.join(ORDER)}, or compare with bayescal.difference."
        )
    if is_coupled(tree, var):
        return rank_coupled(tree, var, class_, group)
    return by_rank_shares(tree, draws, higher, class_, group)


def conclusions(
    tree: xr.DataTree, var: str, prob: float, threshold: float | None
) -> list[Conclusion]:
    """Against a threshold, or none: metrics have no value that all want to reach."""
    return conclude(tree, var, prob, threshold, sided=threshold is not None)
