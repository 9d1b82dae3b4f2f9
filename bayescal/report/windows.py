"""The report on many windows of time: what changed, the figure, the table, and what failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from markupsafe import Markup

from bayescal.core.writing import check_writable, write_text
from bayescal.plots.kind import Drawing
from bayescal.plots.windows import MOST_PANELS, draw_windows
from bayescal.report.render import Column, document, facts, figures, named, names, render, table
from bayescal.results.summary import Series
from bayescal.results.text import count as whole
from bayescal.results.text import counted, decimals, ends, error, in_words, percent, probability

_MOST_SENTENCES: Final = 5


def windows_report(
    series: Sequence[Series],
    order: Sequence[str],
    failures: Mapping[str, str],
    path: Path,
    *,
    title: str,
    prob: float,
    provenance: Mapping[str, str],
) -> None:
    """Write the page; `failures` are reasons by what they are of."""
    check_writable(path)
    parts = [("answer", "Calibration over time", "Answer", _answer(series, order, prob))]
    parts.append(("windows", "Windows", "Windows", _table(series, prob)))
    if failures:
        parts.append(("failures", "What could not be fitted", "Failures", facts(failures)))
    parts.append(("provenance", "How it was made", "Provenance", facts(provenance)))
    byline = [f"{len(series)} series", counted(len(order), "window")]
    names_of_part = ("id", "title", "short", "body")
    sections = [dict(zip(names_of_part, part, strict=True)) for part in parts]
    write_text(path, document(title, byline, sections))


def _answer(series: Sequence[Series], order: Sequence[str], prob: float) -> Markup:
    """Sentences on the largest errors, and the figure."""
    if not series:
        return Markup('<p class="lead">No window could be fitted.</p>')
    worst = sorted(series, key=lambda one: -max(window.mean for window in one.windows))
    drawing = Drawing(
        partial(draw_windows, worst, order, prob),
        "Calibration error by window",
        f"Posterior mean and {percent(prob)} credible interval of the calibration error (TCE); a "
        "gap is a window without a fit.",
    )
    hidden = len(series) - MOST_PANELS
    return render(
        "answer.html.j2",
        alerts=[],
        converged=all(window.converged for one in series for window in one.windows),
        lead=[_sentence(one, prob) for one in worst[:_MOST_SENTENCES]],
        body=figures(wide=[drawing]),
        notes=[f"The {MOST_PANELS} series with the largest errors; the table has {hidden} more."]
        if hidden > 0
        else [],
    )


def _sentence(one: Series, prob: float) -> Markup:
    """Where a series has its largest error, and whether its least lies below for sure."""
    most = max(one.windows, key=lambda window: window.mean)
    least = min(one.windows, key=lambda window: window.mean)
    digits = decimals(most.lower, most.upper)
    text = Markup("{}: the calibration error is largest in {}, {} ({} interval {})").format(
        named(one.name),
        most.name,
        in_words(error(most.mean, digits)),
        percent(prob),
        ends(most.lower, most.upper, digits),
    )
    if most is least:
        return text + "."
    apart = "does not overlap" if least.upper < most.lower else "overlaps"
    return text + Markup(", and least in {}, {}, whose interval {} with it.").format(
        least.name, in_words(error(least.mean, digits)), apart
    )


def _table(series: Sequence[Series], prob: float) -> Markup:
    rows = [(one.name, window) for one in series for window in one.windows]
    digits = max((decimals(w.lower, w.upper) for _, w in rows), default=3)
    return table(
        "Calibration error by window",
        [
            Column("Series", names([name for name, _ in rows]), True),
            Column("Window", names([w.name for _, w in rows], [not w.converged for _, w in rows])),
            Column("Rows", [whole(w.n) for _, w in rows]),
            Column("TCE, mean", [error(w.mean, digits) for _, w in rows]),
            Column(f"{percent(prob)} interval", [ends(w.lower, w.upper, digits) for _, w in rows]),
            Column("P(calibrated)", [probability(w.p_calibrated) for _, w in rows]),
        ],
    )
