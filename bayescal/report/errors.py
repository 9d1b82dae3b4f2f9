"""Calibration errors in the report: tables, the shape of the curve, differences and groups."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from bayescal.plots import plot_differences
from bayescal.plots.kind import Drawing
from bayescal.report.answers import CaseAnswer, answer, answer_of, target
from bayescal.report.render import Column, bold, figures, names, off, plain, table
from bayescal.report.sections import Alert
from bayescal.report.sensitivity import refits
from bayescal.report.view import Check, Scaling, Section, View, for_each
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.compare import Difference, difference
from bayescal.results.curves import (
    CurveShape,
    boundary_scores,
    curve_shape,
    description_weights,
)
from bayescal.results.intervals import HEDGED, interval
from bayescal.results.kind import kind_of
from bayescal.results.text import (
    MISSING,
    capital,
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


MOST_UNEVEN = 4
MOST_SHAPES = 66
_UNEVEN = ("rough", "segments")


def shapes(view: View) -> Markup | None:
    """The most probable description of each curve, and the probabilities of all."""
    found = _found(view)
    if not found:
        return None
    shown = found[:MOST_SHAPES]
    weights = [description_weights(view.tree, case) for case, _ in shown]
    columns = [
        Column(view.case_word, names([case.label for case, _ in shown]), words=True),
        *(
            Column(capital(name), [_weight(own, name) for own in weights], small="probability")
            for name in weights[0]
        ),
        Column("In words", [f"{shape.words}." for _, shape in shown], words=True),
    ]
    left = len(found) - len(shown)
    note = (
        "Posterior probabilities of the descriptions of the calibration curve; scores of exactly 0 "
        "or 1 stand apart." + (f" {left} further cases are left out." if left else "")
    )
    return Markup('{}<p class="note">{}</p>{}').format(
        table("Descriptions of the calibration curve", columns),
        note,
        _boundary([case for case, _ in shown], view),
    )


def _boundary(cases: list[ResultSlice], view: View) -> Markup:
    """Rows whose score is exactly 0 or 1, and whether such scores are calibrated."""
    rows = [(case, one) for case in cases for one in boundary_scores(view.tree, case)]
    if not rows:
        return Markup()
    return table(
        "Scores of exactly 0 and 1",
        [
            Column(view.case_word, names([case.label for case, _ in rows]), words=True),
            Column("Score", [one.score for _, one in rows]),
            Column("Rows", [count(one.rows) for _, one in rows]),
            Column("Positive", [count(one.positives) for _, one in rows]),
            Column("P(calibrated)", [probability(one.p_calibrated) for _, one in rows]),
        ],
    )


def uneven(view: View) -> list[str]:
    """Sentences on the cases whose curve is most probably rough or made of segments."""
    found = [(case, shape) for case, shape in _found(view) if shape.name in _UNEVEN]
    named = len(view.cases) > 1
    sentences = [
        f"{case.label}: {shape.sentence}" if named else shape.sentence
        for case, shape in found[:MOST_UNEVEN]
    ]
    left = len(found) - len(sentences)
    more = "one more case" if left == 1 else f"{left} more cases"
    return [*sentences, f"The same holds for {more}; see the table."] if left else sentences


def _found(view: View) -> list[tuple[ResultSlice, CurveShape]]:
    """Cases with descriptions."""
    both = ((case, curve_shape(view.tree, case)) for case in view.cases)
    return [(case, shape) for case, shape in both if shape is not None]


def _weight(weights: dict[str, float], name: str) -> str:
    """A probability, the largest in bold."""
    text = probability(weights[name])
    return bold(text) if weights[name] == max(weights.values()) else text


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


__all__ = ["answer", "refits"]

SECTIONS = (
    Section("curve", "What the curve looks like", "Curve", for_each(shapes)),
    Section("differences", "Differences between classifiers", "Differences", for_each(differences)),
    Section("groups", "Groups", "Groups", for_each(groups)),
)
CHECKS = (Check("importance_ess", "Importance sampling", "effective draws", count),)
BOUNDS_OF = "the plug-in estimate"
PRIOR_NAMES = {
    "coef": "calibration curve",
    "common": "common curve",
    "curve": "calibration curve",
    "intercept": "middle of the curve",
    "rate": "label rates",
}
_NAMES = {"class_prior": "Class prior", "ece": "ECE", "tce": "Calibration error"}


def alerts(view: View) -> list[Alert]:
    """Cases whose calibration curve is most probably rough, or jumps."""
    sentences = uneven(view)
    if not sentences:
        return []
    text = " ".join([*sentences, "A smooth recalibration would not remove such an error."])
    return [Alert("note", "The calibration curve is not smooth", "", text)]


def scaling(view: View) -> Scaling:
    """The main error, and the class prior where it is unknown."""
    wanted = (target(view), "class_prior")
    names = [name for name in wanted if name and view.has(schema.POSTERIOR, name)]
    note = ""
    if view.has(schema.MODEL_AVERAGE, schema.P_CALIBRATED):
        note = (
            " The prior probability of perfect calibration is not scaled: it enters P(calibrated) "
            "alone, as odds."
        )
    return Scaling(names, "posterior given miscalibration" if note else "posterior", note)


def variable_name(view: View, name: str) -> str:
    """Name of an error, or of the class prior."""
    return _NAMES.get(name, name.replace("_", " "))


def terms(view: View) -> list[tuple[str, str]]:
    """What a calibration error is, and what its interval and its probability of 0 mean."""
    held = {str(name) for name in view.tree[schema.POSTERIOR].data_vars}
    found = [
        (
            True,
            "Calibrated",
            "Among the rows with score 0.7, 70% have a positive label, and so for every other "
            "score: the score can be read as a probability.",
        ),
        (
            "tce" in held,
            "Calibration error (TCE)",
            "Mean absolute difference over rows of the score and the probability of a positive "
            "label. 0.03 means that scores are off by three percentage points. It is a "
            "property of the population, so a sample leaves it uncertain.",
        ),
        (
            "ece" in held,
            "ECE",
            "The same mean after rows are put into bins by score. Errors of opposite sign "
            "within a bin cancel, so the ECE is never larger than the calibration error.",
        ),
        ("mce" in held, "MCE", "The largest gap of any bin."),
        (
            view.has(schema.POINT_ESTIMATE, "ece"),
            "Plug-in ECE",
            "The usual estimate: label rates of the sample are taken as if they were known. "
            "Noise counts as error, so it is biased upwards, most with many bins and few rows.",
        ),
        (
            view.has(schema.MODEL_AVERAGE, "weight"),
            "Description of the curve",
            "The calibration curve may be the diagonal (calibrated), smooth, rough (smooth with "
            "deviations that differ from score to score) or made of segments, some calibrated and "
            "others shifted. The posterior is an average over them, each weighted by its posterior "
            "probability.",
        ),
        (True, "{prob} credible interval", _interval_words(view)),
        (
            view.has(schema.MODEL_AVERAGE, schema.P_CALIBRATED),
            "P(calibrated)",
            "The posterior probability that the calibration error is exactly 0. Before the "
            "data it is one half, unless the priors say otherwise.",
        ),
    ]
    return [(word, text) for applies, word, text in found if applies]


def _interval_words(view: View) -> str:
    """What an interval of the main error means."""
    starts = "Where perfect calibration is not excluded, the interval starts at 0."
    var = target(view)
    if var and interval(view.tree, var, view.prob).attrs["ci_kind"] == HEDGED:
        return (
            "From the lower to the upper quantile of the posterior of the error. In it unlikely "
            "descriptions of the curve count for more than their probability, so that they widen "
            f"the interval. {starts}"
        )
    return (
        "Given the data and the priors, the error lies in it with a probability of at least "
        f"{{prob}}. {starts}"
    )
