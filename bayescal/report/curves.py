"""The calibration curve in the report: shape, models, groups, differences, further numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from markupsafe import Markup

from bayescal.core.errors import InputError
from bayescal.core.quantity import ERROR, LESS, MORE, ROW, Variable
from bayescal.core.text import (
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
    shorten,
    with_ends,
)
from bayescal.plots import plot_decision_curve, plot_differences
from bayescal.plots.style import Drawing
from bayescal.report.answers import LIKELY, answer_of, columns_of
from bayescal.report.render import WEIGHT, Column, View, bold, figures, names, plain, table
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.answers import decision_curve, shares_of_most
from bayescal.results.compare import Best, Difference, best, difference
from bayescal.results.curves import CurveShape, boundary_scores, curve_shape, description_weights
from bayescal.results.measure import is_of_rows
from bayescal.results.summary import numbers_of

if TYPE_CHECKING:
    import pandas as pd

MOST_UNEVEN = 4
MOST_SHAPES = 66
_UNEVEN = ("rough", "segments")


def shapes(view: View) -> Markup | None:
    """The most probable component of each curve, all probabilities, and scores of 0 and 1."""
    found = _found(view, view.cases)
    if not found:
        return None
    shown = found[:MOST_SHAPES]
    left = len(found) - len(shown)
    cases = [case for case, _ in shown]
    columns = _weights(view, cases)
    columns.append(Column("In words", [f"{shape.words}." for _, shape in shown], words=True))
    note = (
        "Posterior probabilities of the components of the calibration curve; scores of exactly 0 "
        "or 1 stand apart. Components without any are left out."
        + (f" {left} further cases are left out." if left else "")
    )
    curves = table("Components of the calibration curve", columns)
    rows, boundary = [(case, one) for case in cases for one in boundary_scores(view.tree, case)], ""
    if rows:
        columns = [
            Column(view.case_word, names([case.label for case, _ in rows]), words=True),
            Column("Score", [one.score for _, one in rows]),
            Column("Rows", [count(one.rows) for _, one in rows]),
            Column("Positive", [count(one.positives) for _, one in rows]),
            Column("P(calibrated)", [probability(one.p_calibrated) for _, one in rows]),
        ]
        boundary = table("Scores of exactly 0 and 1", columns)
    return Markup('{}<p class="note">{}</p>{}').format(curves, note, boundary)


def models(view: View) -> Markup | None:
    """A line a case: the probability of each model that the result is an average of."""
    curve = access.has_calibration_curve(view.tree)
    if not view.described or curve or view.main.role == ROW:
        return None
    note = (
        "Posterior probabilities of the models that the result is an average of, by evidence; what "
        "is shown of a model's own numbers is given that it holds."
    )
    columns = _weights(view, view.cases)
    return table("Models", columns) + Markup('<p class="note">{}</p>').format(note)


def _weights(view: View, cases: Sequence[ResultSlice]) -> list[Column]:
    """Probabilities of the components or models of an average, the largest of a case in bold."""
    held = [access.variable(view.tree, schema.MODEL_AVERAGE, WEIGHT, case) for case in cases]
    weights = np.array([one.values for one in held])
    columns = [Column(view.case_word, names([case.label for case in cases]), words=True)]
    for name, own in zip(held[0][schema.DESCRIPTION].values, weights.T, strict=True):
        if not own.any() and name != schema.CALIBRATED:
            continue
        cells = [
            bold(probability(one)) if one == most else probability(one)
            for one, most in zip(own.tolist(), weights.max(axis=1).tolist(), strict=True)
        ]
        columns.append(Column(capital(str(name)), cells, small="probability"))
    return columns


def uneven(view: View) -> list[str]:
    """Sentences on the cases whose curve is probably rough or made of segments; under one prior."""
    # What refits under other priors find is in their tables: one that is never calibrated must.
    cases = [case for case in view.cases if case.prior == view.cases[0].prior]
    found = [
        (case, shape)
        for case, shape in _found(view, cases)
        if shape.name in _UNEVEN and _chance_of_uneven(view, case) > LIKELY
    ]
    sentences = [
        f"{case.label}: {shape.sentence}" if len(cases) > 1 else shape.sentence
        for case, shape in found[:MOST_UNEVEN]
    ]
    left = len(found) - len(sentences)
    more = "one more case" if left == 1 else f"{left} more cases"
    return [*sentences, f"The same holds for {more}; see the table."] if left else sentences


def _chance_of_uneven(view: View, case: ResultSlice) -> float:
    weights = description_weights(view.tree, case)
    return sum(weights.get(name, 0.0) for name in _UNEVEN)


def _found(view: View, cases: Sequence[ResultSlice]) -> list[tuple[ResultSlice, CurveShape]]:
    """Cases with a curve that is an average over components."""
    if not access.has_calibration_curve(view.tree):
        return []
    both = ((case, curve_shape(view.tree, case)) for case in cases)
    return [(case, shape) for case, shape in both if shape is not None]


MOST_PAIRS = 66  # of twelve classifiers


def groups(view: View) -> Markup | None:
    """Groups of each classifier (and class) from the largest error to the smallest."""
    if view.main.role != ERROR or schema.GROUP not in view.dims_of_cases:
        return None
    return Markup("\n").join(_groups(view, of) for of in access.along(view.tree, schema.GROUP))


def _groups(view: View, of_owner: Sequence[ResultSlice]) -> Markup:
    block = [(case, answer_of(view, case)) for case in of_owner]
    cases, found = zip(*sorted(block, key=lambda row: -row[1].point), strict=True)
    owner = " / ".join(filter(None, (cases[0].classifier, cases[0].class_)))
    ordered = [str(case.group) for case in cases]
    draws = np.stack([access.flat_draws(view.tree, view.main.name, case) for case in cases])
    said = [
        Markup("{} calibrated in {} (probability {})").format(
            word, plain(ordered[own.argmax()]), probability(own.max())
        )
        for word, own in (("worst", shares_of_most(draws)), ("best", shares_of_most(-draws)))
        if round(own.max(), 2) > LIKELY and len(cases) > 1
    ]
    caption = plain(owner) + ": " + (Markup(", ").join(said) or "no group is clearly worst or best")

    def of(name: str) -> list[float | None]:
        return [view.number_of(schema.POINT_ESTIMATE, name, case) for case in cases]

    effective = of(schema.EFFECTIVE_N)
    rows = "Rows" if None in effective else "Rows (effective)"
    numbers = effective if None not in effective else [None] * len(cases)
    columns = [
        Column("Group", names(ordered, [one.failed for one in found]), words=True),
        Column(rows, list(map(row_count, of("n"), numbers))),
        Column("Positive labels", [fixed(value, 3) for value in of("prevalence")]),
        *(Column(title, cells) for title, cells in columns_of(view, found).items()),
    ]
    return table(f"Groups of {owner}", columns, caption)


def differences(view: View) -> Markup | None:
    """Differences of the errors of every pair of classifiers, the resolved ones first."""
    if view.main.role != ERROR or not view.paired:
        return None
    every = _pairs(view)
    if not every:
        return None
    left = max(0, len(every) - MOST_PAIRS)
    more = f" {left} further pairs are left out; bayescal.difference gives them." if left else ""
    drawings = []
    if view.dims_of_cases == (schema.CLASSIFIER,) and len(view.cases) > 2:
        draw = partial(plot_differences, view.tree, view.main.name, view.prob)
        caption = "Right of zero, the classifier is worse calibrated than the one with the least "
        drawings.append(Drawing(draw, "Difference from the best", f"{caption}error."))
    return Markup('<p>{}</p>\n{}{}<p class="note">{}</p>').format(
        "Calibration error of the first classifier minus that of the second, on the same rows. The "
        "first of each pair has the smaller estimate; where the interval lies below zero, it is "
        "the better calibrated one. Noise that both share cancels, so these intervals are more "
        "informative than the overlap of two separate ones.",
        figures(wide=drawings),
        table("Differences", _difference_columns(view, _most_apart(every))),
        "Bold: the interval, of this pair alone, excludes zero: the difference is resolved, though "
        "of many pairs some are so by chance. P(equal): both are calibrated, or copies of each "
        f"other. Correlation: that of the two errors over the shared rows.{more}",
    )


def _difference_columns(view: View, rows: list[tuple[str, Difference]]) -> list[Column]:
    pairs = [pair for _, pair in rows]
    digits = [decimals(pair.lower, pair.upper) for pair in pairs]
    both = list(zip(pairs, digits, strict=True))
    means = [(fixed(pair.mean, d), pair) for pair, d in both]
    shown = [bold(text) if _resolved(pair) else text for text, pair in means]
    intervals = [ends(pair.lower, pair.upper, d) for pair, d in both]
    smaller = [probability(1.0 - pair.prob_first_larger - pair.prob_equal) for pair in pairs]
    columns = [
        Column("First", names([pair.first for pair in pairs]), words=True),
        Column("Second", names([pair.second for pair in pairs]), words=True),
        Column("Difference", shown),
        Column(f"{percent(view.prob)} interval", intervals),
        Column("P(first smaller)", smaller),
        Column("P(equal)", [probability(pair.prob_equal) for pair in pairs]),
        Column("Correlation", [fixed(pair.correlation, 2) for pair in pairs]),
    ]
    where = [place for place, _ in rows]
    return [Column("Where", names(where), words=True), *columns] if any(where) else columns


def _resolved(pair: Difference) -> bool:
    return pair.lower > 0.0 or pair.upper < 0.0


type _Pairs = list[tuple[float, str, Callable[[], Difference]]]


def _pairs(view: View) -> _Pairs:
    """Every pair within each class and group, in falling order of the distance of means."""
    var, found = view.main.name, []
    for cases in access.along(view.tree, schema.CLASSIFIER):
        sel = cases[0].sel
        where: Any = {"class_": sel.get(schema.CLASS), "group": sel.get(schema.GROUP)}
        place = ", ".join(filter(None, where.values()))
        means = {case.classifier: access.posterior_mean(view.tree, var, case) for case in cases}
        for one, two in combinations(sorted(means, key=means.__getitem__), 2):
            apart = partial(difference, view.tree, one, two, var, view.prob, **where)
            found.append((means[two] - means[one], place, apart))
    return sorted(found, key=lambda pair: -pair[0])


def _most_apart(every: _Pairs) -> list[tuple[str, Difference]]:
    """The pairs of the table, resolved ones first; pairs come in order of the distance of means."""
    rows: list[tuple[str, Difference]] = []
    for _, place, apart in every:
        rows.append((place, apart()))
        if sum(_resolved(pair) for _, pair in rows) == MOST_PAIRS:
            break
    rows.sort(key=lambda row: (not _resolved(row[1]), -abs(row[1].mean)))
    return rows[:MOST_PAIRS]


MOST_LINES = 120
_BETTER = {LESS: "lower is better", MORE: "higher is better"}
_NOTE = "Draws are of the posterior of the calibration curve{}.{}{}"
_PLUG_INS = (
    " A plug-in is the number of the labelled rows as they are; errors of the curve have none."
)
_OF_ROWS = "; those of {} are of the labelled rows alone (Bayesian bootstrap)"


def measures(view: View) -> Markup | None:
    """A line a measure and case."""
    if not view.measures:
        return None
    lines = [(one, case) for one in view.measures for case in view.cases]
    shown = lines[:MOST_LINES]
    ranks: dict[str, Best] = {}
    for one in view.measures:
        # Where classifiers are one, or not of the same rows, there is no ranking.
        with suppress(InputError):
            ranks[one.name] = best(view.tree, one.name)
    titles = ("Mean", f"{percent(view.prob)} interval")
    plug_ins, *numbers = zip(
        *(numbers_of(view.tree, case, one, view.interval(one.name, case)) for one, case in shown),
        strict=True,
    )
    has_plug_ins = set(plug_ins) != {MISSING}
    columns = [
        Column("Measure", [_name(one, case is view.cases[0]) for one, case in shown], words=True),
        *([Column("Plug‑in", plug_ins)] if has_plug_ins else []),
        *(Column(title, cells) for title, cells in zip(titles, numbers, strict=True)),
    ]
    if len(view.cases) > 1:
        failed = [not access.case_converged(view.tree, case) for _, case in shown]
        cells = names([case.label for _, case in shown], failed)
        columns.insert(1, Column(view.case_word, cells, words=True))
    if ranks:
        chances = [
            probability(float(access.at(ranks[one.name].prob_best, case)))
            if one.name in ranks
            else MISSING
            for one, case in shown
        ]
        columns.append(Column("P(best)", chances))
    left = len(lines) - len(shown)
    more = f" {left} further lines are left out; bayescal.summary gives them." if left else ""
    means = ", ".join(one.title for one in view.measures if is_of_rows(view.tree, one.name))
    of_rows = _OF_ROWS.format(means) if means else ""
    note = _NOTE.format(of_rows, _PLUG_INS if has_plug_ins else "", more)
    return table("Further measures", columns) + Markup('<p class="note">{}</p>').format(note)


def _name(one: Variable, first: bool) -> Markup:
    """Its title; in the first of its lines, what it is."""
    title = Markup("{}").format(capital(one.title))
    if not (first and one.meaning):
        return title
    # Some meanings begin with the title, which stands above.
    text = capital(one.meaning.removeprefix(f"{capital(one.title)}: ").rstrip("."))
    text += f"; {_BETTER[one.better]}." if one.better else "."
    return title + Markup("<small>{}</small>").format(text)


_NAME: Final = "net_benefit"
_MOST_CURVES: Final = 6


def decisions(view: View) -> Markup | None:
    """A curve, a sentence and a table for each class and group."""
    split = (name.partition(":") for name in access.measure_names(view.tree))
    thresholds = sorted({float(options) for name, _, options in split if name == _NAME})
    if not thresholds:
        return None
    of_cases = list(dict.fromkeys((case.class_, case.group) for case in view.cases))
    parts = [_of_one(view, class_, group, thresholds) for class_, group in of_cases[:_MOST_CURVES]]
    left = len(of_cases) - _MOST_CURVES
    if left > 0:
        note = '<p class="note">In Python, plots.plot_decision_curve draws the other {}.</p>\n'
        parts.append(Markup(note).format(left))
    return Markup("\n").join(parts)


def _of_one(view: View, class_: str | None, group: str | None, thresholds: list[float]) -> Markup:
    of_case = partial(decision_curve, view.tree, prob=view.prob, class_=class_, group=group)
    where = ", ".join(shorten(name) for name in (class_, group) if name is not None)
    drawing = Drawing(
        partial(plot_decision_curve, view.tree, None, view.prob, class_=class_, group=group),
        f"Decision curve, {where}" if where else "Decision curve",
        "Net benefit of treating the rows whose score is at the threshold or above: the share of "
        "true positives, less that of false positives at the threshold's odds. P(useful) is the "
        "probability that it is above those of treating all and treating none, EVPI the net "
        "benefit that knowing the best strategy would add.",
    )
    sentence = Markup("<p>{}</p>\n").format(of_case().text)
    return sentence + figures(wide=[drawing]) + _table(view, of_case(thresholds).table, where)


def _table(view: View, found: pd.DataFrame, where: str) -> Markup:
    """Net benefit at the thresholds of the measures."""
    rows = [row for _, row in found.sort_values("threshold", kind="stable").iterrows()]
    failed = [row["status"] != schema.OK for row in rows]
    columns = [
        Column("Classifier", names([row["classifier"] for row in rows], failed), words=True),
        Column("Threshold", [f"{row['threshold']:g}" for row in rows]),
        Column("Net benefit", [_interval(row, "") for row in rows]),
        Column("Treating all", [_interval(row, "all_") for row in rows]),
        Column("P(useful)", [probability(row["p_useful"]) for row in rows]),
        Column("P(best)", [probability(row["p_best"]) for row in rows]),
        Column("EVPI", [error(row["evpi"], 4) for row in rows]),
    ]
    caption = f"Posterior means with {percent(view.prob)} intervals; treating none has 0."
    return table(f"Net benefit {where}".strip(), columns, caption)


def _interval(row: pd.Series, prefix: str) -> str:
    mean, low, high = (float(row[f"{prefix}{name}"]) for name in ("mean", "lower", "upper"))
    return with_ends(mean, low, high)
