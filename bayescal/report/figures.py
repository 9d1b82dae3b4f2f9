"""From a matplotlib figure to an image inside the page, the same bytes for the same figure."""

from __future__ import annotations

import base64
import io
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

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
    """A figure as the page shows it.

    Parameters
    ----------
    address : str
        ``data:`` address of the image.
    alt : str
        What it shows, for those who do not see it.
    caption : str
        What stands below it.
    name : str
        The case it is of, "" for all.
    width, height : int
        Size in CSS pixels, so that the page does not move while it loads.
    """

    address: str
    alt: str
    caption: str
    name: str
    width: int
    height: int


def image(draw: Callable[[], Figure], *, alt: str, caption: str = "", name: str = "") -> Image:
    """Draw a figure and turn it into an image.

    An image element keeps the figure's own ids and styles apart from the page, and nothing within
    it can run.
    """
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
    """Write a figure as SVG without date, comments and characters that XML forbids."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    svg = buffer.getvalue()
    for unwanted in (_COMMENTS, _METADATA, _NOT_XML):
        svg = unwanted.sub("", svg)
    # A hundredth of a point is finer than any screen or printer, and half as long.
    svg = _PATHS.sub(lambda path: _TAILS.sub(r"\1", path.group()), svg)
    return svg[svg.index("<svg") :]


def _encoded(kind: str, content: bytes) -> str:
    return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"
