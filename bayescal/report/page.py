"""The pages of a report, and how a result or another object is shown without a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import xarray as xr
from markupsafe import Markup

from bayescal.core.checks import check_is, check_number
from bayescal.core.errors import InputError
from bayescal.core.quantity import ERROR, METRIC
from bayescal.core.shown import Bar, Showing, Shown, Strip, strip_of
from bayescal.core.text import (
    MISSING,
    capital,
    count,
    counted,
    decimals,
    ends,
    error,
    fixed,
    in_words,
    percent,
    probability,
)
from bayescal.core.writing import check_writable, write_text
from bayescal.plots.answers import MOST_PANELS, draw_windows
from bayescal.plots.style import Drawing
from bayescal.report import curves, sections
from bayescal.report.answers import WIDTH, answer_of, answers, columns_of, scale
from bayescal.report.quantity_sections import assumptions, by_class, class_prior, curves_and_costs
from bayescal.report.render import (
    Column,
    Section,
    View,
    document,
    facts,
    figures,
    for_each,
    named,
    names,
    off,
    render,
    table,
)
from bayescal.report.rows import details
from bayescal.report.sensitivity import concluded, sensitivity
from bayescal.results import access, schema
from bayescal.results.change import Change, Series, series_names
from bayescal.results.measure import has_curve, shown_measures
from bayescal.results.summary import heading
from bayescal.results.summary import table as table_of_numbers

if TYPE_CHECKING:
    import pandas as pd

_MOST_SENTENCES: Final = 5
_BEFORE: Final = "the window before that has a fit"
_ROSE: Final = ("P(rose)", f"from {_BEFORE}", "above the baseline")
_WORSE: Final = ("P(worse)", f"than {_BEFORE}", "than the baseline")
_ABOUT_ALARMS: Final = (
    "An alarm is a window whose calibration error is above the baseline's with probability {:g} or "
    "more. At 0.95, where nothing had changed, 4% of the windows at most had one, more at a lower "
    "level; of series of 24 windows, which share their baseline, up to 36% had one somewhere."
)


def _each(
    id: str, title: str, short: str, of_one: Callable[[View], Markup | None], **what: bool
) -> Section:
    return Section(id, title, short, for_each(of_one), **what)


_declared = partial(_each, declared=True)
SECTIONS: Final = (
    _each("answer", "The answer", "Answer", sections.answer),
    _each("table", "Results", "Results", sections.results),
    _each("plots", "Figures", "Figures", sections.plots),
    _each("measures", "Further measures", "Measures", curves.measures),
    _each("curve", "What the curve looks like", "Curve", curves.shapes),
    _each("models", "Models", "Models", curves.models),
    _each("differences", "Differences between classifiers", "Differences", curves.differences),
    _each("groups", "Groups", "Groups", curves.groups),
    _each("decisions", "Decision curves", "Decisions", curves.decisions),
    _declared("class_prior", "Class prior", "Class prior", class_prior),
    _declared("assumptions", "Few labels: what is assumed", "Assumptions", assumptions),
    _declared("classes", "Classes", "Classes", by_class),
    _declared("costs", "Score intervals, costs and ROC curve", "Costs", curves_and_costs),
    _declared("rows", "Credal intervals and decisions", "Intervals and decisions", details),
    _each("diagnostics", "Convergence diagnostics", "Diagnostics", sections.diagnostics),
    _each("priors", "Priors", "Priors", sections.priors),
    _each("sensitivity", "Prior sensitivity", "Sensitivity", sensitivity, grids=True),
    _each("bounds", "Theoretical bounds", "Bounds", sections.bounds),
    _each("provenance", "Provenance", "Provenance", sections.provenance, grids=True),
    Section("references", "References", "References", sections.references, grids=True),
    Section("glossary", "Glossary", "Glossary", sections.glossary, grids=True),
)
"""In the order in which they are read; each is left out where the results hold nothing for it."""


def page(
    results: xr.DataTree | Sequence[xr.DataTree],
    *,
    title: str = "Calibration report",
    prob: float = 0.9,
    measures: Any = (),
) -> str:
    """Render the report."""
    views = _views(results, prob, measures)
    parts = []
    for section in SECTIONS:
        # Refits under several priors have no main result.
        read = [view for view in views if section.grids or not view.is_grid]
        if section.declared:
            read = [view for view in read if section.id in view.names("sections")]
        if (body := section.render(read)) is not None:
            parts.append((section.id, section.title, section.short, body))
    return document(title, _byline(views), parts)


def _views(results: xr.DataTree | Sequence[xr.DataTree], prob: float, measures: Any) -> list[View]:
    check_number(prob, "prob", "(0, 1)", "Pass 0.9 for 90% intervals.")
    check_is(results, (xr.DataTree, Sequence), "results", "Pass what bayescal.fit returned.")
    trees = [results] if isinstance(results, xr.DataTree) else list(results)
    if not trees:
        raise InputError("a report must have at least one result; got none. Fit first.")
    for tree in trees:
        schema.check_result(tree)
    # Where no result holds a curve, the first one says so.
    curves = [has_curve(tree) for tree in trees]
    asked = [measures if curve or not any(curves) else () for curve in curves]
    measured = [shown_measures(*both) for both in zip(trees, asked, strict=True)]
    return [
        View(tree, prob, number, tuple(shown))
        for number, (tree, shown) in enumerate(measured, start=1)
    ]


def _byline(views: Sequence[View]) -> list[str]:
    """Say what was estimated on which data, and when."""
    names = {name for view in views for name in access.classifier_names(view.tree)}
    data = {view.data for view in views}
    facts = [*names] if len(names) == 1 else [f"{len(names)} classifiers" if names else ""]
    facts += data if len(data) == 1 else []
    facts.append(max(view.text("created") for view in views)[:10])
    return [fact for fact in facts if fact]


def windows_report(
    series: Sequence[Series],
    order: Sequence[str],
    failures: Mapping[str, str],
    path: Path,
    *,
    title: str,
    prob: float,
    provenance: Mapping[str, str],
    measured: Sequence[Mapping[tuple[str, str], Change]] = (),
) -> None:
    """Write the page; `failures` are reasons by what they are of, `measured` further measures."""
    check_writable(path)
    parts = [("answer", "Calibration over time", "Answer", _answer(series, order, prob))]
    parts.append(("windows", "Windows", "Windows", _table("Calibration error", series, prob)))
    for number, changes in enumerate(filter(None, measured), start=1):
        name = capital(heading(next(iter(changes.values())).variable))
        found = [(one, changes[key]) for key, one in series_names(changes).items()]
        of_measure = [Series(one, changed.windows, changed) for one, changed in found]
        shown = _table(name, of_measure, prob, "Mean", fixed, _WORSE)
        parts.append((f"measure-{number}", name, name, shown))
    if failures:
        parts.append(("failures", "What could not be fitted", "Failures", facts(failures)))
    parts.append(("provenance", "How it was made", "Provenance", facts(provenance)))
    byline = [f"{len(series)} series", counted(len(order), "window")]
    write_text(path, document(title, byline, parts))


def _answer(series: Sequence[Series], order: Sequence[str], prob: float) -> Markup:
    """Sentences on the largest errors, and the figure."""
    if not series:
        return Markup('<p class="lead">No window could be fitted.</p>')
    worst = sorted(series, key=lambda one: -max(window.mean for window in one.windows))
    worst.sort(key=lambda one: not (one.change and one.change.alarms))
    drawing = Drawing(
        partial(draw_windows, worst, order, prob),
        "Calibration error by window",
        f"Posterior mean and {percent(prob)} credible interval of the calibration error (TCE); a "
        "gap is a window without a fit. The grey band is the interval of the baseline, a number "
        "above an interval the probability that the error rose above the baseline's.",
    )
    hidden = len(series) - MOST_PANELS
    levels = {one.change.alarm for one in series if one.change is not None}
    notes = [_ABOUT_ALARMS.format(level) for level in levels]
    if len(series) > _MOST_SENTENCES:
        notes.append(f"In words: the {_MOST_SENTENCES} series with alarms, or the largest errors.")
    if hidden > 0:
        shown = f"The {MOST_PANELS} series with alarms, or with the largest errors"
        notes.append(f"{shown}; the table has {hidden} more.")
    return render(
        "answer.html.j2",
        alerts=[],
        converged=all(window.converged for one in series for window in one.windows),
        lead=[_sentence(one, prob) for one in worst[:_MOST_SENTENCES]],
        body=figures(wide=[drawing]),
        notes=notes,
    )


def _sentence(one: Series, prob: float) -> Markup:
    """Where a series has its largest error and its least, and its alarms."""
    most = max(one.windows, key=lambda window: window.mean)
    least = min(one.windows, key=lambda window: window.mean)
    digits = decimals(most.lower, most.upper)
    text = Markup("{}: the calibration error is largest in {}, {} ({} interval {})").format(
        named(one.name),
        most.name,
        in_words(error(most.mean, digits)),
        percent(prob),
        ends(most.lower, most.upper, digits, error),
    )
    if one.change is None:
        return text + "."
    least_of = Markup(", and least in {}, {}. {}")
    return text + least_of.format(least.name, in_words(error(least.mean, digits)), one.change.text)


def _table(
    name: str,
    series: Sequence[Series],
    prob: float,
    mean: str = "TCE, mean",
    write: Callable[[float | None, int], str] = error,
    worse: tuple[str, str, str] = _ROSE,
) -> Markup:
    """Mean and interval by window, and the probability that it is worse than another."""
    rows = [(one, window) for one in series for window in one.windows]
    windows = [window for _, window in rows]
    digits = max((decimals(one.lower, one.upper) for one in windows), default=3)
    failed = [not one.converged for one in windows]
    zero = [probability(one.p_calibrated) for one in windows]
    chance, *against = worse
    columns = [
        Column("Series", names([one.name for one, _ in rows]), True),
        Column("Window", names([one.name for one in windows], failed)),
        Column("Rows", [count(one.n) for one in windows]),
        Column(mean, [write(one.mean, digits) for one in windows]),
        Column(
            f"{percent(prob)} interval", [ends(w.lower, w.upper, digits, write) for w in windows]
        ),
        *([Column("P(calibrated)", zero)] if {*zero} != {MISSING} else []),
    ]
    for key, small in zip(("previous", "baseline"), against, strict=True):
        cells = [_rise(one.change, window.name, key) for one, window in rows]
        columns.append(Column(chance, cells, small=small))
    return table(f"{name} by window", columns)


def _rise(change: Change | None, window: str, against: str) -> str:
    """One probability; an alarm is marked, and the baseline named."""
    if change is None:
        return MISSING
    if against == "baseline" and window == change.baseline:
        return "baseline"
    chance = probability(float(change.table.loc[window, f"{against}_prob_worse"]))
    alarm = against == "baseline" and window in change.alarms
    return off(f"{chance} alarm") if alarm else chance


_MOST_ROWS: Final = 30
_PLUG_IN: Final = "A plug-in estimate, without a posterior."


def show(result: xr.DataTree | object, prob: float = 0.9) -> Shown:
    """Show a result or another object of the package in a few lines.

    In a notebook, the last expression of a cell shows itself as HTML; in a terminal, and by
    `print`, it is plain text as wide as the terminal.

    Parameters
    ----------
    result : DataTree or object
        A result; scores, counts, a difference or another object of the package, which show
        themselves in a notebook without this call too; a table, such as that of
        `bayescal.power_scale`; or what an `estimate` returned.
    prob : float, default 0.9
        Posterior probability of a result's intervals, in (0, 1); other objects have their own.

    Returns
    -------
    Shown
        Answer, table with a strip of intervals, status with its remedy, and origin.

    Raises
    ------
    InputError
        If result is none of these, or prob lies outside (0, 1).

    Examples
    --------
    >>> import bayescal as bc
    >>> bc.show(bc.Scores(y_true=[0, 1], y_prob=[0.2, 0.9], classifier="forest"))
    2 rows, all labelled (1 of label 1); classes 0, 1.
    <BLANKLINE>
    Classifier  Lowest score  Mean score  Highest score
    ───────────────────────────────────────────────────
    forest            0.2000      0.5500         0.9000
    """
    import pandas as pd

    check_number(prob, "prob", "(0, 1)", "Pass 0.9 for 90% intervals.")
    if isinstance(result, Shown):
        return result
    if isinstance(result, Showing):
        return result._show_()
    if isinstance(result, xr.DataTree):
        return _of_result(result, prob)
    if isinstance(result, pd.DataFrame):
        return _of_table(result)
    if isinstance(result, tuple) and hasattr(result, "_asdict"):
        values = result._asdict()
        plug_in = _PLUG_IN if type(result).__name__ == "Estimate" else None
        said = values.pop("text", plug_in)
        rows = [[name, _cell(value)] for name, value in values.items()]
        return Shown(lead=[said] if said else [], columns=["", "Value"], rows=rows)
    raise InputError(
        f"show takes a result or another object of bayescal; got {type(result).__name__}. Pass "
        "what bayescal.fit returned."
    )


def _of_result(tree: xr.DataTree, prob: float) -> Shown:
    """The report's answer over a table of the cases."""
    schema.check_result(tree)
    view = View(tree, prob)
    drawn = (_of_errors if view.main.role == ERROR else _of_others)(view)
    seed = view.text("seed")
    parts = [
        ", ".join([view.text("title") or view.text("quantity"), *view.selected]),
        view.data,
        access.sampler_in_words(view.tree),
        f"seed {seed}" if seed else "",
        f"bayescal {view.text('bayescal_version')}",
        view.text("created")[:10],
    ]
    return replace(
        drawn,
        lead=[" ".join(one.text for one in concluded(view))]
        if view.is_grid
        else sections.form(view).answer(view).lead,
        # The origin says how draws were made.
        boxes=[one for one in sections.alerts(view) if one.kind != "quick"],
        origin=" · ".join(filter(None, parts)),
    )


def _of_errors(view: View) -> Shown:
    """The report's numbers of each case; the largest errors where there are many."""
    # Priors stay in their order.
    found = [answer_of(view, case) for case in view.cases] if view.is_grid else answers(view)
    lines = found[:_MOST_ROWS] if view.is_grid else found[-_MOST_ROWS:]
    which = "first cases" if view.is_grid else "largest errors"
    on = scale(lines)

    def at(value: float) -> float:
        return float(on.at(value)) / WIDTH

    columns = {view.case_word: [one.name for one in lines]}
    for title, cells in columns_of(view, lines).items():
        if {*cells} != {MISSING}:
            # Not every terminal has a hyphen that does not break.
            columns[title.replace("‑", "-")] = cells
    plug_ins = [None if one.plug_in is None else at(one.plug_in) for one in lines]
    ends = [(at(one.low), at(one.high), at(one.point)) for one in lines]
    bars = [Bar(*own, plug_in) for own, plug_in in zip(ends, plug_ins, strict=True)]
    diamond = "; diamond: plug-in ECE" if any(one.plug_in is not None for one in lines) else ""
    apart = "; logarithmic scale, 0 apart" if on.least else ""
    key = f"Dot: posterior mean; band: {percent(view.prob)} interval{diamond}{apart}."
    return Shown(
        lead=[],
        columns=list(columns),
        rows=list(zip(*columns.values(), strict=True)),
        strip=Strip(bars, [(at(tick), on.label(tick)) for tick in on.ticks], key),
        failed=[place for place, one in enumerate(lines) if one.failed],
        notes=[f"The {len(lines)} {which} of {len(found)}."] if len(lines) < len(found) else [],
    )


def _of_others(view: View) -> Shown:
    """The table of the terminal, with intervals of the first metric."""
    found, cases = table_of_numbers(view.tree, view.prob), view.cases[:_MOST_ROWS]
    main, strip = view.main, None
    if main.role == METRIC:
        key = f"Dot: posterior mean of {main.title}; band: {percent(view.prob)} interval."
        means = (access.posterior_mean(view.tree, main.name, case) for case in cases)
        ends = (view.interval(main.name, case) for case in cases)
        strip = strip_of([(*both, mean) for both, mean in zip(ends, means, strict=True)], key)
    failed = [k for k, one in enumerate(cases) if not access.case_converged(view.tree, one)]
    left = len(found.rows) - _MOST_ROWS
    notes = [f"{left} more are in bayescal.summary(result)."] if left > 0 else []
    # Which fits have not converged is said of each row already, and warnings above.
    said = {schema.OK, schema.NOT_CONVERGED, schema.WARNED}
    columns = enumerate(zip(*found.rows, strict=True))
    kept = [k for k, column in columns if k == 0 or not {*column} <= said]
    heads = [(view.case_word, *found.columns[1:])[k] for k in kept]
    rows = [[row[k] for k in kept] for row in found.rows[:_MOST_ROWS]]
    # What is best is in the sentences above.
    notes = [*found.notes[:1], *notes]
    return Shown(lead=[], columns=heads, rows=rows, strip=strip, failed=failed, notes=notes)


def _of_table(frame: pd.DataFrame) -> Shown:
    """A table of pandas, such as that of power scaling."""
    shown = frame.reset_index() if frame.index.name or frame.index.nlevels > 1 else frame
    cells = {str(name): [*map(_cell, shown[name].head(_MOST_ROWS))] for name in shown}
    same = [name for name, column in cells.items() if len({*column}) == 1 < len(column)]
    left = len(shown) - _MOST_ROWS
    notes = [f"{counted(left, 'more row')}."] if left > 0 else []
    if same and len(same) < len(cells):
        listed = ", ".join(f"{name} {cells.pop(name)[0]}" for name in same)
        notes.append(f"In every row: {listed}.")
    rows = list(zip(*cells.values(), strict=True))
    return Shown(lead=[], columns=[*cells], rows=rows, notes=notes)


def _cell(value: Any) -> str:
    """Write any value in short."""
    if isinstance(value, np.ndarray) and value.ndim:
        return f"array of shape {value.shape}"
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, float):
        return fixed(value, 4)
    return MISSING if value is None else str(value)
