"""From values to HTML: templates, names, tables and figures; every value is put in escaped."""

from __future__ import annotations

import base64
import io
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import matplotlib as mpl
from jinja2 import Environment
from markupsafe import Markup
from matplotlib.figure import Figure

from bayescal._version import __version__
from bayescal.core.shown import templates
from bayescal.core.text import distinct, undirected
from bayescal.plots import style
from bayescal.plots.style import Drawing, shorten
from bayescal.results.ranking import MOST_NAMED
from bayescal.results.text import percent, several

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


@cache
def environment() -> Environment:
    """Return the environment of the report's templates."""
    env = templates("bayescal.report")
    env.filters["percent"] = percent
    return env


def render(template: str, **context: Any) -> Markup:
    """Fill a template."""
    return Markup(environment().get_template(template).render(**context))


def document(title: str, byline: Sequence[str], parts: Sequence[Mapping[str, Any]]) -> str:
    """Fill the whole page, in which no name turns the writing direction of what follows."""
    content = {"title": title, "byline": byline, "parts": parts, "version": __version__}
    return undirected(render("report.html.j2", style=source("style.css"), **content))


def facts(found: Mapping[str, str], kind: str = "facts") -> Markup:
    """Names and their values, as a list."""
    return render("facts.html.j2", facts=list(found.items()), kind=kind)


def source(template: str) -> Markup:
    """Return the text of one of the project's own files, unfilled and unescaped."""
    env = environment()
    assert env.loader is not None
    return Markup(env.loader.get_source(env, template)[0])


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

    address: str
    dark: str
    alt: str
    caption: str
    name: str
    width: int
    height: int


def images(drawings: Sequence[Drawing]) -> list[Image]:
    """Draw figures."""
    return [image(one.draw, alt=one.words, caption=one.caption, name=one.name) for one in drawings]


def figures(
    columns: Sequence[Drawing] = (), wide: Sequence[Drawing] = (), intro: str = "", note: str = ""
) -> Markup:
    """Figures as a section shows them."""
    return render(
        "figures.html.j2", columns=images(columns), wide=images(wide), intro=intro, note=note
    )


def image(draw: Callable[[], Figure], *, alt: str, caption: str = "", name: str = "") -> Image:
    """Draw a figure, which changes its colours itself on a dark page; pixels are drawn twice."""
    dark = ""
    with _colours(style.INK, "#FFFFFF"):
        figure = draw()
        svg = to_svg(figure)
        light = _encoded("image/svg+xml", svg.encode("utf-8"))
        if len(svg) > HEAVIEST_SVG:
            light = _pixels(figure)
    if len(svg) > HEAVIEST_SVG:
        with _colours(DARK[style.INK], DARK["#FFFFFF"]):
            dark = _pixels(draw())
    width, height = (round(96 * inches) for inches in figure.get_size_inches())
    return Image(light, dark, alt, caption, name, width, height)


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
