"""Show a result, or another object of the package: HTML in a notebook, text in a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import xarray as xr

from bayescal.core.checks import check_number
from bayescal.core.errors import InputError
from bayescal.core.shown import Bar, Box, Showing, Shown, Strip, strip_of
from bayescal.core.variables import ERROR, METRIC
from bayescal.results import access, schema
from bayescal.results.summary import table
from bayescal.results.text import MISSING, count, fixed, percent

if TYPE_CHECKING:
    import pandas as pd

    from bayescal.report.view import View

_MOST_ROWS: Final = 30


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
    prob : float
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
        return _of_estimate(result._asdict())
    raise InputError(
        f"show takes a result or another object of bayescal; got {type(result).__name__}. Pass "
        "what bayescal.fit returned."
    )


def _of_result(tree: xr.DataTree, prob: float) -> Shown:
    """The report's answer over a table of the cases."""
    # They bring Jinja and Matplotlib.
    from bayescal.report.sections import alerts, form
    from bayescal.report.view import View

    schema.check_result(tree)
    view = View(tree, prob)
    drawn = (_of_errors if view.main.role == ERROR else _of_others)(view)
    return replace(
        drawn,
        lead=[view.text("conclusion")] if view.is_grid else form(view).answer(view).lead,
        boxes=[
            Box(one.kind, one.title, f"{one.names}. {one.text}" if one.names else one.text)
            for one in alerts(view)
            # The origin says how draws were made.
            if one.kind != "quick"
        ],
        origin=_origin(view),
    )


def _of_errors(view: View) -> Shown:
    """The report's numbers of each case; the largest errors where there are many."""
    from bayescal.report.answers import WIDTH, answer_of, answers, columns_of, scale

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
    key = f"Dot: posterior mean; band: {percent(view.prob)} interval{diamond}."
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
    found = table(view.tree, view.prob)
    main, strip = view.main, None
    if main.role == METRIC:
        key = f"Dot: posterior mean of {main.title}; band: {percent(view.prob)} interval."
        means = (access.posterior_mean(view.tree, main.name, case) for case in view.cases)
        ends = (view.interval(main.name, case) for case in view.cases)
        strip = strip_of([(*both, mean) for both, mean in zip(ends, means, strict=True)], key)
    failed = [k for k, one in enumerate(view.cases) if not access.case_converged(view.tree, one)]
    left = len(found.rows) - _MOST_ROWS
    notes = [f"{left} more are in bayescal.summary(result)."] if left > 0 else []
    kept = [k for k, column in enumerate(zip(*found.rows, strict=True)) if {*column} != {schema.OK}]
    heads = [(view.case_word, *found.columns[1:])[k] for k in kept]
    rows = [[row[k] for k in kept] for row in found.rows[:_MOST_ROWS]]
    # What is best is in the sentences above.
    notes = [*found.notes[:1], *notes]
    return Shown(lead=[], columns=heads, rows=rows, strip=strip, failed=failed, notes=notes)


def _origin(view: View) -> str:
    """Say what was estimated from which data, by which draws, and when."""
    seed = view.text("seed")
    parts = [
        view.text("title") or view.text("quantity"),
        view.data,
        access.sampler_in_words(view.tree),
        f"seed {seed}" if seed else "",
        f"bayescal {view.text('bayescal_version')}",
        view.text("created")[:10],
    ]
    return " · ".join(filter(None, parts))


def _of_table(frame: pd.DataFrame) -> Shown:
    """A table of pandas, such as that of power scaling."""
    shown = frame.reset_index() if frame.index.name or frame.index.nlevels > 1 else frame
    cells = {str(name): [*map(_cell, shown[name].head(_MOST_ROWS))] for name in shown}
    same = [name for name, column in cells.items() if len({*column}) == 1 < len(column)]
    left = len(shown) - _MOST_ROWS
    notes = [f"{count(left)} more rows."] if left > 0 else []
    if same and len(same) < len(cells):
        listed = ", ".join(f"{name} {cells.pop(name)[0]}" for name in same)
        notes.append(f"In every row: {listed}.")
    rows = list(zip(*cells.values(), strict=True))
    return Shown(lead=[], columns=[*cells], rows=rows, notes=notes)


def _of_estimate(fields: Mapping[str, Any]) -> Shown:
    """Numbers of an estimate, and the shapes of its arrays."""
    rows = [[name, _cell(value)] for name, value in fields.items()]
    return Shown(
        lead=["A plug-in estimate, without a posterior."], columns=["", "Value"], rows=rows
    )


def _cell(value: Any) -> str:
    """Write any value in short."""
    if isinstance(value, np.ndarray) and value.ndim:
        return f"array of shape {value.shape}"
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, float):
        return fixed(value, 4)
    return MISSING if value is None else str(value)
