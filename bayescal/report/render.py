"""From values to HTML: what a section of the report is and sees; every value is put in escaped."""

from __future__ import annotations

import base64
import io
import json
import math
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Any, Final, NamedTuple

import matplotlib as mpl
import xarray as xr
from markupsafe import Markup
from matplotlib.figure import Figure

from bayescal._version import __version__
from bayescal.core.quantity import PARAMETER, Variable
from bayescal.core.shown import templates
from bayescal.core.text import (
    capital,
    decimals,
    distinct,
    labelled_rows,
    several,
    shorten,
    undirected,
)
from bayescal.plots import style
from bayescal.plots.style import Drawing
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice, status, warned_cases
from bayescal.results.compare import MOST_NAMED
from bayescal.results.intervals import interval
from bayescal.results.summary import heading

LONGEST, LONGEST_CELL = 120, 64
"""Characters of a name that text and tables show; the whole name is in its tooltip."""
_JOINTS = re.compile(r"(?<=[\w\s][_./-])(?=\w)")
"""Where a line may end within a name."""


def plain(name: str, short: str | None = None) -> Markup:
    """Set a name so that its writing direction touches neither its parts nor the text around it."""
    short = shorten(name, LONGEST) if short is None else short
    whole = "" if short == name else Markup(' title="{}"').format(name)
    parts = [Markup("<wbr>").join(_JOINTS.split(part)) for part in short.split(" / ")]
    return Markup(" / ").join(Markup("<bdi{}>{}</bdi>").format(whole, part) for part in parts)


def named(name: str) -> Markup:
    """Set a name in bold, for running text."""
    return Markup("<strong>{}</strong>").format(plain(name))


def several_named(names: Sequence[str]) -> Markup:
    """Set names in bold, with commas and "and", or their number where they are many."""
    if len(names) > MOST_NAMED:
        return Markup("{} classifiers").format(len(names))
    return Markup(several([named(name) for name in names]))


def render(template: str, **context: Any) -> Markup:
    """Fill a template."""
    return Markup(templates("bayescal.report").get_template(template).render(**context))


def document(title: str, byline: Sequence[str], parts: Sequence[tuple[str, ...]]) -> str:
    """Fill the page with parts of id, title, short title and body; no name turns its direction."""
    content = {"title": title, "byline": byline, "parts": parts, "version": __version__}
    css = files("bayescal.report").joinpath("templates", "style.css").read_text("utf-8")
    return undirected(render("report.html.j2", style=Markup(css), **content))


def facts(found: Mapping[str, str], kind: str = "facts") -> Markup:
    """Names and their values, as a list."""
    return render("facts.html.j2", facts=list(found.items()), kind=kind)


class Column(NamedTuple):
    """A heading, with a second line in small type, and cells; `words` are set at the left."""

    title: str
    cells: Sequence[str]
    words: bool = False
    small: str = ""


def table(label: str, columns: Sequence[Column], caption: str = "") -> Markup:
    """Write a table; `label` names it to those who do not see it."""
    rows = list(zip(*(column.cells for column in columns), strict=True))
    return render("table.html.j2", label=label, columns=columns, rows=rows, caption=caption)


def names(values: Sequence[str], failed: Sequence[bool] = ()) -> list[str]:
    """Cells with names, those of failed fits marked."""
    marked = failed or [False] * len(values)
    mark = Markup('<small class="off">not converged</small>')
    short = distinct(values, LONGEST_CELL)
    cells = [plain(value, short[value]) for value in values]
    return [cell + (mark if bad else "") for cell, bad in zip(cells, marked, strict=True)]


def off(text: str) -> Markup:
    """A cell that must not be overlooked."""
    return Markup('<span class="off">{}</span>').format(text)


def bold(text: str) -> Markup:
    """A cell in bold."""
    return Markup("<strong>{}</strong>").format(text)


HEAVIEST_SVG = 300_000
"""Characters above which a figure is sent as PNG: about where the drawing starts to show."""

PNG_DPI = 160

FONTS = ["DejaVu Sans", "Noto Sans", "Segoe UI", "Helvetica Neue", "Arial", "sans-serif"]

# What each colour of a figure becomes on a dark page, whose ground is that of style.css.
DARK = {
    style.BLUE: "#5CB3EA",
    style.VERMILLION: "#F58F5A",
    style.GREEN: "#3CC79C",
    style.RED: style.LIGHT_RED,
    style.AMBER: "#3D300F",
    style.INK: "#E4E7EB",
    "#FFFFFF": "#14181D",
}
_INKS = ("text.color", "axes.labelcolor", "xtick.color", "ytick.color", "axes.edgecolor")
_GROUNDS = ("figure.facecolor", "axes.facecolor")

_PATHS = re.compile(r' d="[^"]*"')
_TAILS = re.compile(r"(\.\d\d)\d+")
_COMMENTS = re.compile(r"<!--.*?-->", re.DOTALL)
_METADATA = re.compile(r"<metadata>.*?</metadata>", re.DOTALL)
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class Image:
    """A figure as the page shows it, with its size in CSS pixels."""

    drawing: Drawing
    address: str
    dark: str
    width: int
    height: int


def figures(
    columns: Sequence[Drawing] = (), wide: Sequence[Drawing] = (), intro: str = "", note: str = ""
) -> Markup:
    """Figures as a section shows them."""
    drawn = {"columns": [*map(image, columns)], "wide": [*map(image, wide)]}
    return render("figures.html.j2", **drawn, intro=intro, note=note)


def image(drawing: Drawing) -> Image:
    """Draw a figure, which changes its colours itself on a dark page; pixels are drawn twice."""
    dark = ""
    with _colours(style.INK, "#FFFFFF"):
        figure = drawing.draw()
        svg = to_svg(figure)
        light = _encoded("image/svg+xml", svg.encode("utf-8"))
        if len(svg) > HEAVIEST_SVG:
            light = _pixels(figure)
    if len(svg) > HEAVIEST_SVG:
        with _colours(DARK[style.INK], DARK["#FFFFFF"]):
            dark = _pixels(drawing.draw())
    width, height = (round(96 * inches) for inches in figure.get_size_inches())
    return Image(drawing, light, dark, width, height)


@contextmanager
def _colours(ink: str, ground: str) -> Iterator[None]:
    """Matplotlib's own style, whatever the user's, with text and ground of these colours."""
    settings: Any = dict.fromkeys(_INKS, ink) | dict.fromkeys(_GROUNDS, ground)
    settings |= {"svg.fonttype": "none", "svg.hashsalt": "bayescal", "font.sans-serif": FONTS}
    with mpl.rc_context(), warnings.catch_warnings():
        # The browser has the letters that matplotlib's font lacks.
        warnings.filterwarnings("ignore", message=r"Glyph \d+")
        mpl.rcdefaults()
        mpl.rcParams.update(settings)
        yield


def _pixels(figure: Figure) -> str:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=PNG_DPI, metadata={"Software": None})
    return _encoded("image/png", buffer.getvalue())


def _adapting(svg: str) -> str:
    """Let a drawing take other colours where the reader's screen is dark."""
    variables = {colour.lower(): f"--c{k}" for k, colour in enumerate(DARK)}
    for colour, name in variables.items():
        svg = svg.replace(f": {colour}", f": var({name})")
    both = zip(variables.items(), DARK.values(), strict=True)
    light, dark = zip(*((f"{n}:{c}", f"{n}:{d}") for (c, n), d in both), strict=True)
    rules = (
        f":root{{{';'.join(light)}}}"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{';'.join(dark)}}}}}"
    )
    return svg.replace("</style>", f"{rules}</style>", 1)


def to_svg(figure: Figure) -> str:
    """Write a figure as SVG without date, comments and what XML forbids or turns its direction."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    svg = buffer.getvalue()
    for unwanted in (_COMMENTS, _METADATA, _NOT_XML):
        svg = unwanted.sub("", svg)
    # A hundredth of a point is finer than any screen or printer, and half as long.
    svg = _PATHS.sub(lambda path: _TAILS.sub(r"\1", path.group()), svg)
    return undirected(_adapting(svg[svg.index("<svg") :]))


def _encoded(kind: str, content: bytes) -> str:
    return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"


HIDDEN: Final = ""
"""Heading of a column that is left out."""
WEIGHT: Final = "weight"
"""Posterior probabilities of what a result is an average of."""


type Render = Callable[[Sequence[View]], Markup | None]


class Section(NamedTuple):
    """One section: its anchor, its heading, its name in the contents, and its body or None."""

    id: str
    title: str
    short: str
    render: Render
    grids: bool = False  # whether it reads refits under several priors too
    declared: bool = False  # whether results ask for it, in their attribute ``sections``


def for_each(render_one: Callable[[View], Markup | None]) -> Render:
    """Make a section of one result into a section of several; what is the same is shown once."""

    def render_all(views: Sequence[View]) -> Markup | None:
        parts: dict[Markup, list[str]] = {}
        for view in views:
            part = render_one(view)
            if part is not None:
                parts.setdefault(part, []).append(view.heading)
        if not parts:
            return None
        return render("parts.html.j2", parts=parts, titled=len(views) > 1)

    return render_all


class Answer(NamedTuple):
    """The main result: sentences, a table or list below them, and notes."""

    lead: Sequence[str]
    body: str = ""
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class View:
    """One result as the sections of the report read it, with its place in the report from 1."""

    tree: xr.DataTree
    prob: float
    number: int = 1
    measures: tuple[Variable, ...] = ()
    """Further numbers of the calibration curve that the report shows."""

    @cached_property
    def answers(self) -> list[Variable]:
        """Errors, metrics, or what rows are judged by, the main one first."""
        return access.answers(self.tree)

    @cached_property
    def main(self) -> Variable:
        """The main one; by its role the answer is worded."""
        return access.main(self.tree)

    @property
    def main_heading(self) -> str:
        """Heading of its column, as on the command line: "Calibration error (TCE)"."""
        return capital(heading(self.main))

    @property
    def parameters(self) -> list[Variable]:
        """Parameters that are shown beside an estimate, such as a class prior."""
        return [one for one in access.of_role(self.tree, PARAMETER) if one.point]

    @property
    def data(self) -> str:
        """Say what the data are: of a group that was selected, the rows that all were fitted to."""
        said, held = labelled_rows(self.tree.attrs), self.cases[0].coords
        one_group = schema.GROUP in held and schema.GROUP not in self.dims_of_cases
        return f"{said} in all groups" if one_group else said

    @property
    def paired(self) -> bool:
        """Whether the result knows how the errors of classifiers correlate."""
        return not {schema.ERROR_CORRELATION, schema.SHARED_ROWS}.isdisjoint(self.tree.children)

    @property
    def described(self) -> bool:
        """Whether the result is an average over components or models, with their weights."""
        return self.has(schema.MODEL_AVERAGE, WEIGHT)

    @cached_property
    def cases(self) -> tuple[ResultSlice, ...]:
        """Every case of the result, classifier by classifier."""
        return tuple(access.cases(self.tree))

    @property
    def heading(self) -> str:
        """The title, and how this result differs from others of the same quantity."""
        parts = [self.text("title") or f"Result {self.number}"]
        multiclass = self.text("multiclass", "binary")
        if multiclass not in ("binary", "joint"):
            parts.append(multiclass)
        if schema.GROUP in self.dims_of_cases:
            parts.append("by group")
        if self.is_grid:
            parts.append("under several priors")
        parts += self.selected
        return f"{self.number}. {', '.join(parts)}"

    @property
    def is_grid(self) -> bool:
        """Whether this is the same data under several priors."""
        return access.is_prior_grid(self.tree)

    @property
    def dims_of_cases(self) -> tuple[str, ...]:
        """Dimensions along which the cases of this result differ."""
        sizes = self.tree[schema.POSTERIOR].dataset.sizes
        return tuple(dim for dim in schema.CASE_DIMS if sizes.get(dim, 1) > 1)

    @property
    def selected(self) -> list[str]:
        """The classifier, class and group, in words, where all cases are of one."""
        # The name of a single case is that of its classifier.
        alone = () if self.dims_of_cases else (schema.CLASSIFIER,)
        elsewhere = (*alone, schema.PRIOR_NAME, *self.dims_of_cases)
        held = self.cases[0].coords
        return [f"{dim} {name}" for dim, name in held.items() if dim not in elsewhere]

    @property
    def case_word(self) -> str:
        """What one case is: "Classifier", "Class", "Group", or "Case" where they mix."""
        dims = self.dims_of_cases or (schema.CLASSIFIER,)
        return dims[0].capitalize() if len(dims) == 1 else "Case"

    @cached_property
    def kind(self) -> str:
        """What stands before a name in a sentence: a bare "3" would not say that it is a class."""
        dims = self.dims_of_cases
        return f"{dims[0]} " if dims in ((schema.CLASS,), (schema.GROUP,)) else ""

    @cached_property
    def status(self) -> str:
        """What is wrong with the cases of this result; "ok" if nothing is."""
        return status(self.tree, self.cases)

    @cached_property
    def warnings(self) -> dict[ResultSlice, list[str]]:
        """What is wrong with single cases and not with all of several; it stands in their rows."""
        found: dict[ResultSlice, list[str]] = {}
        for text, cases in warned_cases(self.tree, self.cases).items():
            for case in cases if len(cases) < len(self.cases) else []:
                found.setdefault(case, []).append(text)
        return found

    @property
    def direct(self) -> bool:
        """Whether the draws were made without MCMC."""
        return self.text("method") == "direct"

    @property
    def converged(self) -> bool:
        """Whether every fit passed its convergence checks."""
        return access.all_converged(self.tree, self.cases)

    def has(self, group: str, name: str) -> bool:
        """Whether the result holds a variable."""
        return access.has_variable(self.tree, group, name)

    def text(self, name: str, default: str = "") -> str:
        """Return a root attribute as text."""
        value = self.tree.attrs.get(name)
        return default if value is None else str(value)

    def structure(self, name: str) -> Any:
        """Return a root attribute kept as JSON; None where there is none."""
        return json.loads(self.text(name, "null"))

    def names(self, name: str) -> list[str]:
        """Return a root attribute that holds a JSON list, as texts."""
        return [str(item) for item in self.structure(name) or []]

    def number_of(self, group: str, name: str, case: ResultSlice) -> float | None:
        """Return one number of one case, or None where there is none."""
        if not self.has(group, name):
            return None
        found = access.variable(self.tree, group, name, case)
        value = float(found.item()) if found.ndim == 0 else math.nan
        return None if math.isnan(value) else value

    @property
    def failed(self) -> list[ResultSlice]:
        """The cases that did not converge."""
        return [case for case in self.cases if not access.case_converged(self.tree, case)]

    @cached_property
    def digits(self) -> int:
        """Decimals that suit the narrowest interval of the main variable: numbers line up."""
        return max(decimals(*self.interval(self.main.name, case)) for case in self.cases)

    @cached_property
    def _intervals(self) -> dict[str, xr.DataArray]:
        return {}

    def interval(self, name: str, case: ResultSlice) -> tuple[float, float]:
        """Return the credible interval of a posterior variable for one case."""
        if name not in self._intervals:
            self._intervals[name] = interval(self.tree, name, prob=self.prob)
        return access.ends(self._intervals[name], case)
