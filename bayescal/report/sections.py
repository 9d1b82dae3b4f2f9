"""Sections of every report: warnings, answer, results, figures, diagnostics, bounds, provenance."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

import xarray as xr
from markupsafe import Markup, escape

from bayescal.core.quantity import ERROR, LESS, METRIC, MORE, ROW
from bayescal.core.shown import Box
from bayescal.core.text import (
    MISSING,
    capital,
    count,
    counted,
    ends,
    error,
    fixed,
    percent,
    probability,
    several,
)
from bayescal.plots.gallery import gallery
from bayescal.report import answers, metrics, rows
from bayescal.report.curves import uneven
from bayescal.report.render import (
    HIDDEN,
    Answer,
    Column,
    View,
    facts,
    figures,
    names,
    off,
    render,
    table,
)
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice, warned_cases
from bayescal.results.schema import MAX_RHAT, MIN_EBFMI, MIN_ESS
from bayescal.results.summary import heading, tabulate

if TYPE_CHECKING:
    import pandas as pd


_DIRECT: Final = Box(
    "quick",
    "Without MCMC",
    "These draws were made without MCMC. They are from the same posterior; for draws with chains "
    'and convergence diagnostics fit with method="nuts", or bayescal without --quick.',
)


def alerts(view: View) -> list[Box]:
    """List the boxes of a result, the most serious first; its status is said once."""
    boxes, n_cases = [], len(view.cases)
    status = "" if view.status == schema.OK else view.status
    if not view.converged:
        boxes.append(_not_converged(view, status))
        status = ""
    if status and view.warnings and form(view).ROWS_WARN and n_cases <= answers.MOST_ROWS:
        # The row of a case says what is wrong with it alone.
        found = warned_cases(view.tree, view.cases)
        status = " ".join(text for text, cases in found.items() if len(cases) == n_cases)
    if status:
        boxes.append(Box("warn", "Read this first", status))
    if sentences := uneven(view):
        text = " ".join([*sentences, "A smooth recalibration would not remove such an error."])
        boxes.append(Box("note", "The calibration curve is probably not smooth", text))
    if view.direct:
        boxes.append(_DIRECT)
    return boxes


def _not_converged(view: View, status: str) -> Box:
    said = status or "See the diagnostics below. Draw more, or raise target_accept, and fit again."
    if not status and len(view.failed) < len(view.cases):
        concerned = several([f"{view.kind}{case.label}" for case in view.failed])
        said = Markup("<bdi>{}</bdi>. {}").format(concerned, said)
    return Box("bad", "The fit did not converge: do not use these numbers", said)


def answer(view: View) -> Markup:
    """The main result of one fit, under what must be known first."""
    found = form(view).answer(view)._asdict()
    return render("answer.html.j2", alerts=alerts(view), converged=view.converged, **found)


class Form(Protocol):
    """How results with a main variable of one role are worded."""

    ROWS_WARN: bool
    """Whether the answer says of a case what is wrong with it."""
    BOUNDS_OF: str
    """What theoretical bounds are bounds of."""

    def answer(self, view: View) -> Answer:
        """The main result."""

    def titles(self, view: View) -> Mapping[str, str]:
        """Headings of the summary's columns."""

    def terms(self, view: View) -> list[tuple[str, str]]:
        """Entries of the glossary besides those of the variables."""


_FORMS: Final[Mapping[str, Form]] = {ERROR: answers, METRIC: metrics, ROW: rows}
_TITLES: Final = {
    "metric": "Metric",
    "mean": "Mean",
    "median": "Median",
    schema.P_CALIBRATED: "P(calibrated)",
    "status": "Fit",
}
# Names stand in the first column already, and diagnostics have a section of their own.
_ELSEWHERE: Final = {*schema.CASE_DIMS, *access.HEALTH}
_DIGITS: Final = {ERROR: 4, METRIC: 3, ROW: 4}


def form(view: View) -> Form:
    """How a result is worded."""
    return _FORMS[view.main.role]


def summary_columns(view: View) -> list[Column]:
    """The summary, without columns that say nothing."""
    frame = tabulate(view.tree, (), view.prob)
    titles = {**_TITLES, **form(view).titles(view)}
    heads = Column(view.case_word, names([str(label) for label in frame.index]), words=True)
    shown = [
        name
        for name in map(str, frame.columns)
        if name not in _ELSEWHERE
        and not name.endswith("upper")
        and titles.get(name) != HIDDEN
        and not (frame[name].isna() | (frame[name] == schema.OK)).all()
    ]
    return [heads, *(_summary_column(view, frame, name, titles) for name in shown)]


def _summary_column(
    view: View, frame: pd.DataFrame, name: str, titles: Mapping[str, str]
) -> Column:
    """One column; two ends of an interval make one."""
    digits, values = _DIGITS[view.main.role], frame[name].tolist()
    write = error if view.main.role == ERROR else fixed
    if name.endswith("lower"):
        var = name.removesuffix("lower").rstrip("_")
        both = zip(values, frame[f"{name.removesuffix('lower')}upper"].tolist(), strict=True)
        title = f"{percent(view.prob)} interval"
        named = f"{titles.get(var, var)}, {title}" if var else title
        return Column(titles.get(name, named), [ends(*one, digits, write) for one in both])
    if name == "metric":
        metrics_of = [access.described(view.tree, value).title for value in values]
        return Column(titles[name], metrics_of, words=True)
    cells = [_summary_cell(name, value, partial(write, digits=digits)) for value in values]
    return Column(titles.get(name, name.replace("_", " ")), cells, words=name == "curve")


def _summary_cell(name: str, value: Any, write: Callable[[float], str]) -> str:
    if isinstance(value, str):
        return value if name != "status" else MISSING if value == schema.OK else off(value)
    if value is None or math.isnan(value):
        return MISSING
    if name in ("n", schema.EFFECTIVE_N) or name.startswith("n_"):
        return count(value)
    if name.endswith("_share"):
        return f"{100 * value:.1f}%"
    return probability(value) if name.startswith("p_") else write(float(value))


def results(view: View) -> Markup | None:
    """Show the summary as a table, under what it estimates."""
    columns = summary_columns(view)
    if len(columns) < 2:
        return None
    estimand = Markup('<p class="note">{}</p>\n').format(view.text("estimand"))
    return (estimand if view.text("estimand") else Markup("")) + table("Summary", columns)


def plots(view: View) -> Markup | None:
    """Show every figure that the result has the numbers for."""
    found = gallery(view.tree, view.prob)
    if not (found.columns or found.wide):
        return None
    return figures(found.columns, found.wide, found.intro, found.note)


class Check(NamedTuple):
    """A diagnostic: its variable, how it is written, and when it passes."""

    name: str
    title: str
    rule: str
    write: Callable[[float], str]
    passes: Callable[[float], bool] | None = None


CHECKS = (
    Check(
        "rhat_max", "R-hat", f"at most {MAX_RHAT}", lambda x: fixed(x, 3), lambda x: x <= MAX_RHAT
    ),
    Check("ess_min", "Effective draws", f"at least {MIN_ESS}", count, lambda x: x >= MIN_ESS),
    Check("divergences", "Divergences", "none", count, lambda x: x == 0),
    Check(
        "ebfmi_min",
        "E-BFMI",
        f"at least {MIN_EBFMI}",
        lambda x: fixed(x, 2),
        lambda x: x >= MIN_EBFMI,
    ),
    Check("importance_ess", "Importance sampling", "effective draws", count),
)
_OUTSIDE = Markup(' <span aria-label="outside its rule">✗</span>')


def diagnostics(view: View) -> Markup | None:
    """Show every diagnostic of every fit, with its rule."""
    fits = _fits(view)
    found = [_column(view, check, [case for _, case in fits]) for check in CHECKS]
    columns = [column for column in found if column is not None]
    if not columns:
        return None
    word = view.case_word if len(fits) == len(view.cases) else "Fit"
    heads = Column(word, names([name for name, _ in fits]), words=True)
    return _verdict(view, len(fits)) + table("Diagnostics", [heads, *columns])


def _fits(view: View) -> list[tuple[str, ResultSlice]]:
    """A case of each fit: several classifiers may have one, as the diagnostics' dimensions say."""
    held = view.tree[schema.DIAGNOSTICS].dataset
    dims = [dim for dim in view.dims_of_cases if any(dim in held[name].dims for name in held)]
    if len(dims) == len(view.dims_of_cases):
        return [(case.label, case) for case in view.cases]
    joint = [] if schema.CLASSIFIER in dims else ["all classifiers"]
    fits: dict[tuple[str, ...], ResultSlice] = {}
    for case in view.cases:
        fits.setdefault((*joint, *(case.sel[dim] for dim in dims)), case)
    return [(", ".join(parts), case) for parts, case in fits.items()]


def _verdict(view: View, n_fits: int) -> Markup:
    remark = "" if view.status == schema.OK else view.status
    if not view.converged:
        failed = view.failed if n_fits == len(view.cases) else []
        of = f": {', '.join(f'{view.kind}{case.label}' for case in failed)}" if failed else ""
        return Markup("<p>{} {}</p>\n").format(off(f"Not converged{of}."), remark)
    if remark:
        said = "<p><strong>The checks passed, with a remark.</strong> {}</p>\n"
        return Markup(said).format(remark)
    good = "The chains agree, there are enough effective draws, and no trajectory diverged."
    said = '<p><span class="good"><strong>All checks passed.</strong></span> {}</p>\n'
    return Markup(said).format("" if view.direct else good)


def _column(view: View, check: Check, fits: list[ResultSlice]) -> Column | None:
    """One diagnostic; None where no fit has it, such as R-hat without chains."""
    values = [view.number_of(schema.DIAGNOSTICS, check.name, case) for case in fits]
    if all(value is None for value in values):
        return None
    return Column(check.title, [_cell(check, value) for value in values], small=check.rule)


def _cell(check: Check, value: float | None) -> str:
    """A value, marked where it breaks its rule."""
    if value is None:
        return fixed(None)
    text = check.write(value)
    return text if check.passes is None or check.passes(value) else off(text) + _OUTSIDE


MOST_COLUMNS = 4


def bounds(view: View) -> Markup | None:
    """Show every bound with its kind and its assumption in words."""
    if schema.BOUNDS not in view.tree.children:
        return None
    held = view.tree[schema.BOUNDS].dataset
    numbers = {str(name): _numbers(view, held[name]) for name in held.data_vars}
    # Bounds with dimensions of their own, such as classes, are shown by their range.
    alike = set(held.dims) - set(schema.CASE_DIMS) or all(
        len(set(values)) == 1 for values in numbers.values()
    )
    if alike or len(view.cases) > MOST_COLUMNS:
        written = (map(_writer(own), (min(own), max(own))) for own in numbers.values())
        columns = [Column("Value", [" to ".join(dict.fromkeys(ends)) for ends in written])]
    else:
        columns = [
            Column(name, [_writer(values)(values[k]) for values in numbers.values()])
            for k, name in enumerate(names([case.label for case in view.cases]))
        ]
    intro = (
        f"These hold for {form(view).BOUNDS_OF} whatever the model and its priors, under the "
        "assumption of each."
    )
    titles = [name.replace("n_bins", "number_of_bins") for name in numbers]
    names_of = Column("Bound", [name.replace("_", " ") for name in titles], words=True)
    kinds = Column("Kind and assumption", [_assumption(held[name]) for name in numbers], words=True)
    body = table("Bounds", [names_of, *columns, kinds])
    vacuous = any(
        str(held[name].attrs.get("kind", "")).startswith("upper bound") and max(values) > 1.0
        for name, values in numbers.items()
        if values
    )
    note = '<p class="note">What is bounded is 1 at most: an upper bound above 1 is vacuous.</p>'
    return Markup("<p>{}</p>\n{}{}").format(intro, body, Markup(note if vacuous else ""))


def _numbers(view: View, held: xr.DataArray) -> list[float]:
    """One value a case, NaN where there is none; all of a bound with dimensions of its own."""
    if set(held.dims) - set(schema.CASE_DIMS):
        return [float(value) for value in held.values.ravel()]
    found = (view.number_of(schema.BOUNDS, str(held.name), case) for case in view.cases)
    return [math.nan if number is None else number for number in found]


def _writer(numbers: list[float]) -> partial[str]:
    whole = all(math.isnan(number) or number.is_integer() for number in numbers)
    return partial(count) if whole else partial(fixed, digits=4)


def _assumption(held: xr.DataArray) -> Markup:
    kind, assumption = (str(held.attrs.get(name, "")) for name in ("kind", "assumption"))
    said = "{}<small>Assumes: {}</small>" if assumption else "{}"
    return Markup(said).format(kind, assumption)


_ADDRESS = re.compile(r"https?://[^\s<>\"']+[^\s<>\"'.,;)]")
_STRATEGIES = {"quantile": "equal-mass", "uniform": "equal-width"}


def priors(view: View) -> Markup | None:
    """Show the priors, in words and as JSON."""
    words, written = (access.of_prior(view.tree, name) for name in ("prior_text", "priors"))
    shown = Markup("<p>{}</p>\n").format(words) if words else Markup("")
    if written:
        values = json.dumps(json.loads(written), indent=2, ensure_ascii=False)
        shown += Markup('<pre tabindex="0" aria-label="Priors as JSON">{}</pre>').format(values)
    return shown or None


def provenance(view: View) -> Markup | None:
    """Show data, binning, sampler, seed and versions."""
    found = {
        "Quantity": view.text("quantity"),
        "Estimand": view.text("estimand"),
        "Data": view.data,
        "Classifiers": ", ".join(access.classifier_names(view.tree)),
        "Classes": ", ".join(view.names("classes")),
        "Multi-class": view.text("multiclass"),
        "Groups": ", ".join(access.group_names(view.tree)),
        "Labelled rows": view.text("labeling").replace("-", " "),
        "Calibration errors": view.text("ece_convention"),
        "Binning": _binning(view),
        "Sampler": _sampler(view),
        "Seed": view.text("seed"),
        "Data hash": view.text("data_hash"),
        "Made with": f"bayescal {view.text('bayescal_version')}",
        "Created": view.text("created").replace("T", " ").replace("+00:00", " UTC"),
    }
    bdi = Markup("<bdi>{}</bdi>")
    return facts({name: bdi.format(value) for name, value in found.items() if value})


def _binning(view: View) -> str:
    if not view.text("n_bins"):
        return ""
    strategy = _STRATEGIES.get(view.text("binning_strategy"), "given")
    bins = f"{strategy} bin" + "s" * (view.text("n_bins") != "1")
    return f"{view.text('n_bins')} {bins}, {view.text('closed')}-closed"


def _sampler(view: View) -> str:
    name = access.sampler_in_words(view.tree, view.text("sampler_version"))
    draws, chains = view.text("draws"), view.text("chains")
    if not draws:
        return name
    drawn = counted(float(draws), "draw")
    return f"{name}, {chains} × {drawn}" if chains else f"{name}, {drawn}"


def references(views: Sequence[View]) -> Markup | None:
    """List the papers of all results, each once, with what was taken from it."""
    papers: dict[str, tuple[Markup, list[str]]] = {}
    for view in views:
        for entry in view.structure("references") or []:
            _, places = papers.setdefault(entry["key"], (linked(entry["citation"]), []))
            where = entry["where"].rstrip(".")
            if where and where not in places:
                places.append(where)
    return render("references.html.j2", papers=list(papers.values())) if papers else None


def linked(text: str) -> Markup:
    """Escape a citation and make its web addresses into links."""
    parts, end = [], 0
    for match in _ADDRESS.finditer(text):
        parts.append(escape(text[end : match.start()]))
        parts.append(Markup('<a href="{0}">{0}</a>').format(match.group()))
        end = match.end()
    return Markup("").join([*parts, escape(text[end:])])


def _meanings(view: View) -> list[tuple[str, str]]:
    """What the variables of a result are, as its quantity says it."""
    better = {MORE: " Higher is better.", LESS: " Lower is better.", None: ""}
    found = []
    for one in (*view.answers, *view.parameters):
        direction = better[one.better] if one.role == METRIC else ""
        found.append((capital(heading(one)), one.meaning + direction))
    return [(name, text) for name, text in found if text]


def glossary(views: Sequence[View]) -> Markup:
    """Explain the words that the report uses, those of each kind first."""
    terms = dict(term for view in views for term in [*_meanings(view), *form(view).terms(view)])
    if any(schema.ERROR_CORRELATION in view.tree.children for view in views):
        terms["Paired difference"] = (
            "Classifiers are compared on the same rows, so the noise that they share cancels in "
            "the difference. Classifiers may differ although their two intervals overlap."
        )
    if not all(view.direct for view in views):
        terms["R-hat, effective draws, divergences"] = (
            "Checks of the sampler, not of the classifier. If they fail, the numbers may be wrong."
        )
    return facts(terms, "terms")
