"""Tables of calibration errors: the summary, pairs of classifiers, and groups."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from bayescal.plots import plot_differences
from bayescal.plots.kind import Drawing
from bayescal.report.errors.answers import answer_of, target
from bayescal.report.errors.sentences import CaseAnswer
from bayescal.report.figures import figures
from bayescal.report.render import plain
from bayescal.report.tables import Column, bold, names, off, table
from bayescal.report.view import View
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.difference import Difference, difference
from bayescal.results.kind import kind_of
from bayescal.results.text import (
    MISSING,
    count,
    decimals,
    ends,
    error,
    fixed,
    percent,
    probability,
    row_count,
)

if TYPE_CHECKING:
    import pandas as pd

MOST_ROWS = 66
"""All pairs of twelve classifiers."""
_DIGITS = 4
_TITLES = {
    "n": "Rows",
    schema.EFFECTIVE_N: "Effective rows",
    "ece_point": "Plug‑in ECE",
    "ece_mean": "ECE, mean",
    "ece_median": "ECE, median",
    "ece": "ECE",
    "tce_mean": "Calibration error, mean",
    "tce": "Calibration error",
    "p_calibrated": "P(calibrated)",
    "curve": "Curve",
    "status": "Fit",
}
# Names stand in the first column already, and diagnostics have a section of their own.
_ELSEWHERE = {*schema.CASE_DIMS, "rhat_max", "ess_min", "divergences"}


def summary_columns(view: View) -> list[Column]:
    """The summary, without columns that say nothing."""
    frame = kind_of(view.tree).summary(view.tree, view.prob)
    shown = [name for name in map(str, frame.columns) if name not in _ELSEWHERE]
    found = [_column(frame, name, view.prob) for name in shown]
    heads = Column(view.case_word, names([str(label) for label in frame.index]), words=True)
    return [heads, *(column for column in found if column is not None)]


def _column(frame: pd.DataFrame, name: str, prob: float) -> Column | None:
    """One column; two ends of an interval make one, a column that says nothing none."""
    values = frame[name].tolist()
    if name.endswith("_upper") or all(map(_is_missing, values)) or set(values) == {schema.OK}:
        return None
    if name.endswith("_lower"):
        var = name.removesuffix("_lower")
        both = zip(values, frame[f"{var}_upper"].tolist(), strict=True)
        cells = [f"{error(low, _DIGITS)} to {error(high, _DIGITS)}" for low, high in both]
        return Column(f"{_title(var)}, {percent(prob)} interval", cells)
    words = name == "curve"
    return Column(_title(name), [_cell(name, value) for value in values], words=words)


def _title(name: str) -> str:
    return _TITLES.get(name, name.replace("_", " "))


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _cell(name: str, value: Any) -> str:
    if isinstance(value, str):
        return off(value) if value == schema.NOT_CONVERGED else value
    if _is_missing(value):
        return MISSING
    if name in ("n", schema.EFFECTIVE_N):
        return count(value)
    return probability(value) if name.startswith("p_") else error(float(value), _DIGITS)


def groups(view: View) -> Markup | None:
    """Groups of each classifier (and class) from the worst calibrated to the best."""
    if schema.GROUP not in view.dims_of_cases:
        return None
    blocks: dict[str, list[tuple[ResultSlice, CaseAnswer]]] = {}
    for case in view.cases:
        if (found := answer_of(view, case)) is not None:
            owner = " / ".join(name for name in (case.classifier, case.class_) if name is not None)
            blocks.setdefault(owner, []).append((case, found))
    for block in blocks.values():
        block.sort(key=lambda row: -row[1].point)
    return Markup("\n").join(_groups(view, *both) for both in blocks.items()) or None


def _groups(view: View, owner: str, block: list[tuple[ResultSlice, CaseAnswer]]) -> Markup:
    cases, found = zip(*block, strict=True)
    ordered = [str(case.group) for case in cases]
    best = Markup(", best in {}").format(plain(ordered[-1])) if len(ordered) > 1 else ""
    caption = Markup("{}: worst calibrated in {}{}").format(plain(owner), plain(ordered[0]), best)

    def of(name: str) -> list[float | None]:
        return [view.number_of(schema.POINT_ESTIMATE, name, case) for case in cases]

    columns = [
        Column("Group", names(ordered, [one.failed for one in found]), words=True),
        _row_numbers(of("n"), of(schema.EFFECTIVE_N)),
        Column("Positive labels", [fixed(value, 3) for value in of("prevalence")]),
        Column("Calibration error", [one.point_text for one in found]),
        Column(f"{percent(view.prob)} interval", [one.range_text for one in found]),
        Column("Plug‑in ECE", [error(one.plug_in, one.digits) for one in found]),
        Column("P(calibrated)", [probability(one.p_calibrated) for one in found]),
    ]
    return table(f"Groups of {owner}", columns, caption)


def _row_numbers(n: list[float | None], effective: list[float | None]) -> Column:
    """Numbers of rows, and effective ones where rows have weights."""
    if any(one is None for one in effective):
        return Column("Rows", [count(value) for value in n])
    return Column("Rows (effective)", list(map(row_count, n, effective)))


def differences(view: View) -> Markup | None:
    """Differences of the errors of every pair of classifiers, the resolved ones first."""
    if target(view) is None or not view.has(schema.ERROR_CORRELATION, "correlation"):
        return None
    rows = sorted(_pairs(view), key=lambda row: (not _resolved(row[1]), -abs(row[1].mean)))
    if not rows:
        return None
    left = max(0, len(rows) - MOST_ROWS)
    more = f" {left} further pairs are left out; bayescal.difference gives them." if left else ""
    return Markup('<p>{}</p>\n{}{}<p class="note">{}</p>').format(
        "Calibration error of the first classifier minus that of the second, on the same rows. The "
        "first of each pair has the smaller estimate; where the interval lies below zero, it is "
        "the better calibrated one. Noise that both share cancels, so these intervals are more "
        "informative than the overlap of two separate ones.",
        figures(wide=_from_best(view)),
        table("Differences", _difference_columns(view, rows[:MOST_ROWS])),
        "Bold: the interval excludes zero, so the difference is resolved. Correlation: that of the "
        f"two errors over the shared rows.{more}",
    )


def _from_best(view: View) -> list[Drawing]:
    """Every classifier against the best: worth a figure from three on."""
    if view.dims_of_cases != (schema.CLASSIFIER,) or len(view.cases) < 3:
        return []
    return [
        Drawing(
            lambda: plot_differences(view.tree, target(view) or "tce", view.prob),
            "Difference from the best",
            "Right of zero, the classifier is worse calibrated than the one with the least error.",
        )
    ]


def _difference_columns(view: View, rows: list[tuple[str, Difference]]) -> list[Column]:
    pairs = [pair for _, pair in rows]
    digits = [decimals(pair.lower, pair.upper) for pair in pairs]
    means = [fixed(pair.mean, d) for pair, d in zip(pairs, digits, strict=True)]
    shown = [
        bold(text) if _resolved(pair) else text for text, pair in zip(means, pairs, strict=True)
    ]
    intervals = [ends(pair.lower, pair.upper, d) for pair, d in zip(pairs, digits, strict=True)]
    smaller = [probability(1.0 - pair.prob_first_larger - pair.prob_equal) for pair in pairs]
    columns = [
        Column("First", names([pair.first for pair in pairs]), words=True),
        Column("Second", names([pair.second for pair in pairs]), words=True),
        Column("Difference", shown),
        Column(f"{percent(view.prob)} interval", intervals),
        Column("P(first smaller)", smaller),
        Column("P(both calibrated)", [probability(pair.prob_equal) for pair in pairs]),
        Column("Correlation", [fixed(pair.correlation, 2) for pair in pairs]),
    ]
    where = [place for place, _ in rows]
    return [Column("Where", names(where), words=True), *columns] if any(where) else columns


def _resolved(pair: Difference) -> bool:
    return pair.lower > 0.0 or pair.upper < 0.0


def _pairs(view: View) -> Iterator[tuple[str, Difference]]:
    """Every pair within each class and group, the smaller mean first."""
    var = target(view)
    assert var is not None
    held = view.tree[schema.POSTERIOR].dataset
    values = [
        [str(value) for value in held[dim].values] if dim in held.dims else [None]
        for dim in (schema.CLASS, schema.GROUP)
    ]
    means = {
        (case.class_, case.group, case.classifier): access.averaged_mean(view.tree, var, case)
        for case in view.cases
    }
    for class_, group in product(*values):
        ordered = sorted(
            access.classifier_names(view.tree), key=lambda name: means[class_, group, name]
        )
        for first, second in combinations(ordered, 2):
            pair = difference(view.tree, first, second, var, view.prob, class_=class_, group=group)
            yield ", ".join(name for name in (class_, group) if name is not None), pair
