"""Formulas as drawings by Matplotlib: no script, no network, no fonts to be found."""

from __future__ import annotations

import re
from html import escape
from typing import Any, Never

from docutils import nodes
from matplotlib.font_manager import FontProperties
from matplotlib.mathtext import MathTextParser
from matplotlib.path import Path
from matplotlib.textpath import TextPath
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata
from sphinx.writers.html5 import HTML5Translator

_FONT = FontProperties(size=100, math_fontfamily="stix")
_PARSER = MathTextParser("path")
_PER_EM = 100 / 1.15
_COMMANDS = {Path.MOVETO: "M", Path.LINETO: "L", Path.CURVE3: "Q", Path.CURVE4: "C"}
# TeX that Matplotlib does not know, and what it calls the same.
_SPELLING = {
    r"\lvert": "|",
    r"\rvert": "|",
    r"\tfrac": r"\frac",
    r"\mid": r"\;|\;",
    r"\ge ": r"\geq ",
    **{rf"\{size}{side[0]}": rf"\{side}" for size in ("big", "Big") for side in ("left", "right")},
}


def drawing(formula: str) -> str:
    """Draw a formula.

    Parameters
    ----------
    formula : str
        TeX of one line.

    Returns
    -------
    str
        An SVG element whose baseline is that of the text around it.
    """
    text = " ".join(formula.split())
    for theirs, ours in _SPELLING.items():
        text = text.replace(theirs, ours)
    # Matplotlib sets the summand right at the operator.
    text = re.sub(r"(\\(?:sum|prod|max)_(?:\{[^}]*\}|\w)) ", r"\1\\,", f"${text}$")
    width, height, depth, _, _ = _PARSER.parse(text, dpi=72, prop=_FONT)
    path = TextPath((0, 0), text, prop=_FONT)
    shape = "".join(_segment(points, code) for points, code in path.iter_segments(simplify=False))
    size = f'width="{width / _PER_EM:.3f}em" height="{height / _PER_EM:.3f}em"'
    box = f"0 {depth - height:.1f} {width:.1f} {height:.1f}"
    return (
        f'<svg class="math" role="img" aria-label="{escape(formula)}" {size} viewBox="{box}" '
        f'style="vertical-align: {-depth / _PER_EM:.3f}em"><path fill="currentColor" d="{shape}"/>'
        "</svg>"
    )


def _segment(points: Any, code: Any) -> str:
    if code == Path.CLOSEPOLY:
        return "Z"
    flipped = points.reshape(-1, 2) * (1, -1)
    return _COMMANDS[code] + " ".join(f"{value:.1f}" for value in flipped.ravel())


def _inline(self: HTML5Translator, node: nodes.math) -> Never:
    self.body.append(drawing(node.astext()))
    raise nodes.SkipNode


def _block(self: HTML5Translator, node: nodes.math_block) -> Never:
    inside = re.sub(r"\\(begin|end)\{(aligned|split)\}", "", node.astext())
    inside = inside.replace(r"\frac", r"\dfrac")
    lines = [line.split("&") for line in inside.split(r"\\")]
    rows = ("".join(f"<td>{drawing(part)}</td>" for part in parts) for parts in lines)
    table = "".join(f"<tr>{row}</tr>" for row in rows)
    self.body.append(f'<table class="math">{table}</table>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the renderer, to be chosen by `html_math_renderer`."""
    nothing: Any = None
    app.add_html_math_renderer("mathtext", (_inline, nothing), (_block, nothing))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
