"""From a matplotlib figure to an image inside the page, the same bytes for the same figure."""

from __future__ import annotations

import base64
import io
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
from markupsafe import Markup
from matplotlib.figure import Figure

from bayescal.core.text import undirected
from bayescal.plots.kind import Drawing
from bayescal.report.render import render

HEAVIEST_SVG = 300_000
"""Characters above which a figure is sent as PNG: about where the drawing starts to show."""

PNG_DPI = 160

FONTS = ["DejaVu Sans", "Noto Sans", "Segoe UI", "Helvetica Neue", "Arial", "sans-serif"]

_PATHS = re.compile(r' d="[^"]*"')
_TAILS = re.compile(r"(\.\d\d)\d+")
_COMMENTS = re.compile(r"<!--.*?-->", re.DOTALL)
_METADATA = re.compile(r"<metadata>.*?</metadata>", re.DOTALL)
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class Image:
    """A figure as the page shows it, with its size in CSS pixels."""

    address: str
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
    """Draw a figure as an image element: its ids and styles stay apart, and nothing in it runs."""
    settings: Any = {"svg.fonttype": "none", "svg.hashsalt": "bayescal", "font.sans-serif": FONTS}
    with mpl.rc_context(settings), warnings.catch_warnings():
        # The browser has the letters that matplotlib's font lacks.
        warnings.filterwarnings("ignore", message=r"Glyph \d+")
        figure = draw()
        address = _address(figure)
    width, height = (round(96 * inches) for inches in figure.get_size_inches())
    return Image(address, alt, caption, name, width, height)


def _address(figure: Figure) -> str:
    svg = to_svg(figure)
    if len(svg) <= HEAVIEST_SVG:
        return _encoded("image/svg+xml", svg.encode("utf-8"))
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=PNG_DPI, metadata={"Software": None})
    return _encoded("image/png", buffer.getvalue())


def to_svg(figure: Figure) -> str:
    """Write a figure as SVG without date, comments and what XML forbids or turns its direction."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    svg = buffer.getvalue()
    for unwanted in (_COMMENTS, _METADATA, _NOT_XML):
        svg = unwanted.sub("", svg)
    # A hundredth of a point is finer than any screen or printer, and half as long.
    svg = _PATHS.sub(lambda path: _TAILS.sub(r"\1", path.group()), svg)
    return undirected(svg[svg.index("<svg") :])


def _encoded(kind: str, content: bytes) -> str:
    return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"
