"""Class probabilities of target rows, each with bounds and the classes that stay open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Never

import numpy as np
import xarray as xr

from bayescal.core.errors import InputError
from bayescal.results import access, schema, text
from bayescal.results.access import ResultSlice
from bayescal.results.compare import Pair
from bayescal.results.conclude import Conclusion, conclude
from bayescal.results.intervals import credible_interval
from bayescal.results.kind import Table
from bayescal.results.rows import VAR, RowConclusion, evenly, read_rows, row_conclusions, row_table

if TYPE_CHECKING:
    import pandas as pd

_FEW: Final = 9
"""Rows that power scaling takes by default."""

title = text.variable_title
interval = credible_interval
rows = row_table


def variables(tree: xr.DataTree) -> list[str]:
    """The probability of a class."""
    return [VAR]


def higher_is_better(var: str) -> bool | None:
    """Neither: a row's probability is what it is."""
    return None


def point_label(tree: xr.DataTree) -> str:
    """Name of the point estimate."""
    return str(tree.attrs.get(schema.POINT_LABEL, "Venn-Abers"))


def point(tree: xr.DataTree, var: str, case: ResultSlice) -> float | None:
    """None: every row has its own."""
    return None


def description(tree: xr.DataTree) -> str:
    """Say how many rows calibrate, and how many are targets."""
    targets = text.counted(int(tree.attrs["n_target"]), "target row")
    return f"{text.counted(int(tree.attrs['n_labeled']), 'labelled row')}, {targets}"


def summary(tree: xr.DataTree, prob: float) -> pd.DataFrame:
    """One row a case."""
    import pandas as pd

    found = access.cases(tree)
    index = pd.Index([case.label for case in found], name="case")
    return pd.DataFrame([_row(tree, case, prob) for case in found], index=index)


def _row(tree: xr.DataTree, case: ResultSlice, prob: float) -> dict[str, Any]:
    """One case, over its rows."""
    found = read_rows(tree, case, prob)
    return {
        **case.coords,
        "n": access.scalar(tree, schema.POINT_ESTIMATE, "n", case),
        "n_target": float(tree.attrs["n_target"]),
        "n_rows": float(len(found.row)),
        "width": float(found.width.mean()),
        "ivap_width": float((found.p1 - found.p0).mean()),
        "open_share": float((found.n_open > 1).mean()),
        "improper_share": access.scalar(tree, schema.POINT_ESTIMATE, "improper_share", case),
        **access.health(tree, case),
        "status": access.case_status(tree, case),
    }


def records(tree: xr.DataTree, prob: float) -> list[dict[str, Any]]:
    """Rows of the summary."""
    return text.plain_records(summary(tree, prob))


def table(tree: xr.DataTree, prob: float) -> Table:
    """Widths of each case, and how many of its rows are decided."""
    columns = ("", "calibration", "target", "reported", f"{text.percent(prob)} width")
    more = ("p0 to p1", "decided", "open", "improper", "status")
    return Table(columns + more, [_cells(row) for row in records(tree, prob)])


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    n_open = round(row["open_share"] * row["n_rows"])
    return (
        str(row["case"]),
        *(text.count(row[name]) for name in ("n", "n_target", "n_rows")),
        text.fixed(row["width"], 3),
        text.fixed(row["ivap_width"], 3),
        text.count(row["n_rows"] - n_open),
        text.count(n_open),
        f"{100 * row['improper_share']:.1f}%" if row["improper_share"] else text.MISSING,
        str(row["status"]),
    )


def difference(tree: xr.DataTree, pair: Pair) -> Never:
    """Refuse: probabilities given different scores are not one quantity."""
    raise _incomparable("a difference")


def best(tree: xr.DataTree, var: str, class_: str | None, group: str | None) -> Never:
    """Refuse, as `difference` does."""
    raise _incomparable("a ranking")


def _incomparable(what: str) -> InputError:
    return InputError(
        f"{what} needs an error or a metric of each classifier; this result holds probabilities "
        "given each classifier's own score, which are different quantities. Compare widths and "
        "open rows with bayescal.summary, or fit a calibration error."
    )


def power_scaled(tree: xr.DataTree, case: ResultSlice) -> dict[str, xr.DataArray]:
    """Probabilities at a few rows, evenly spaced by the score of the last class."""
    score = access.variable(tree, schema.CONSTANT_DATA, "target_score", case).values
    places = evenly(score.reshape(len(score), -1)[:, -1], _FEW)
    draws = access.variable(tree, schema.POSTERIOR, VAR, case)
    return {VAR: draws.isel(obs=np.sort(places))}


def conclusions(
    tree: xr.DataTree, var: str, prob: float, threshold: float | None
) -> Sequence[Conclusion] | Sequence[RowConclusion]:
    """Of the decisions of all rows, or of another variable with one number a case."""
    if var != VAR:
        return conclude(tree, var, prob, threshold, sided=threshold is not None)
    if threshold is not None:
        raise InputError(
            f"threshold must be left out for rows; got {threshold}. Their classes are compared "
            "with each other."
        )
    return row_conclusions(tree, prob)
