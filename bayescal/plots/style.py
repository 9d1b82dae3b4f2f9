"""What all figures share: colours, text, and the notes above a result that is unreliable.

Ground, text and fonts are those of matplotlib's style in force, which no plot changes; the colours
of data are ours. On axes of the user's nothing else is set.
"""

from __future__ import annotations

import io
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, cast

import matplotlib as mpl
import numpy as np
import xarray as xr
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.text import Text
from matplotlib.textpath import text_to_path
from matplotlib.ticker import MaxNLocator

from bayescal.core.checks import check_is
from bayescal.core.errors import InputError
from bayescal.core.quantity import ERROR, METRIC, ROW, Variable
from bayescal.core.text import cell_len, distinct, percent
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice, status
from bayescal.results.measure import chosen_variable
from bayescal.results.robustness import check_one_number

# Okabe and Ito's colours, which stay apart for colour-blind readers and in grey print; all of them,
# and the grey, stand out from white and from black.
BLUE: Final = "#0072B2"
ORANGE: Final = "#E69F00"
VERMILLION: Final = "#D55E00"
GREEN: Final = "#009E73"
PURPLE: Final = "#CC79A7"
INK: Final = "#222222"
GREY: Final = "#8C8C8C"
PALE: Final = (GREY, 0.33)
RED: Final = "#B00020"
ON_COLOUR: Final = "#FAFAFA"
LIGHT_RED: Final = "#FF8A80"
AMBER: Final = "#FFE8B3"

TITLE_SIZE: Final = 10.0
TEXT_SIZE: Final = 9.0
SMALL_SIZE: Final = 8.0
# Width of a mark in a legend and of what is beside it, in heights of the text.
_SIGN: Final = 5.0
BAND: Final[Any] = {"color": BLUE, "alpha": 0.22, "linewidth": 0}
"""Look of an interval along an axis."""

_CHARS_PER_INCH: Final = 13.5
_LINE_INCHES: Final = 0.155
_NOTE_PADDING: Final = 0.16
_NOTE_LINES: Final = 4
_SHADES: Final = {True: 0.18, False: 0.30}
"""How dark the simultaneous and the pointwise band are."""


def ink() -> str:
    """Colour of text and of lines that are no data."""
    return str(mpl.rcParams["text.color"])


def paper() -> str:
    """Colour of the ground, of which hollow marks are filled."""
    return str(mpl.rcParams["axes.facecolor"])


def red() -> str:
    """Colour of what failed."""
    return LIGHT_RED if sum(to_rgb(ink())) > 1.5 else RED


class Note(NamedTuple):
    """A sentence above the axes, on its own ground."""

    text: str
    colour: str
    ground: str


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure that can be drawn: its name, its caption, and what it shows in words."""

    draw: Callable[[], Figure]
    name: str
    caption: str
    alt: str = ""

    @property
    def words(self) -> str:
        """Alternative text."""
        return self.alt or f"{self.name}. {self.caption}"


_DRAWN_BY: Final = {
    ERROR: (
        "calibration errors",
        "plot_reliability, plot_posterior, plot_comparison, plot_prior_posterior",
    ),
    METRIC: ("metrics", "plot_metrics, plot_ranks"),
    ROW: ("single rows", "plot_probability, plot_decisions, plot_credal_sets"),
}


def check_role(tree: xr.DataTree, role: str, what: str) -> None:
    """Refuse a result whose main variable has another role, naming what draws it."""
    schema.check_result(tree)
    found = access.main(tree).role
    if found != role:
        of, functions = _DRAWN_BY[found]
        raise InputError(
            f"{what} needs a result on {_DRAWN_BY[role][0]}; this one, of "
            f"{tree.attrs['quantity']}, is on {of}. Draw it with bayescal.plots: {functions}."
        )


def chosen(
    tree: xr.DataTree, var: str | None, role: str, what: str
) -> tuple[xr.DataTree, Variable]:
    """A result with the variable to draw, of this role; by default the first of its own."""
    if var is None:
        check_role(tree, role, what)
        return tree, access.main(tree)
    found, name = chosen_variable(tree, var)
    one = access.described(found, name)
    if one.role != role:
        functions = _DRAWN_BY[one.role][1]
        raise InputError(
            f"{what} needs one of the {_DRAWN_BY[role][0]}; got var {name!r}. Choose another, or "
            f"draw it with bayescal.plots: {functions}."
        )
    check_one_number(name, access.variable(found, schema.POSTERIOR, name).dims)
    return found, one


class ResultFigure(Figure):
    """A figure of its own, outside pyplot, that notebooks nevertheless show."""

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=110)
        return buffer.getvalue()


def new_figure(width: float, height: float, notes: Sequence[Note] = ()) -> Figure:
    """Make an empty figure with space for its notes."""
    blocks = [_wrap(note.text, width) for note in notes]
    inches = [block.count("\n") * _LINE_INCHES + _LINE_INCHES + _NOTE_PADDING for block in blocks]
    total = height + sum(inches)
    layout = ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.06, rect=(0, 0, 1, height / total))
    figure = ResultFigure(figsize=(width, total), layout=layout)
    top = total
    look: dict[str, Any] = {"edgecolor": "none", "transform": figure.transFigure}
    for note, block, tall in zip(notes, blocks, inches, strict=True):
        top -= tall
        bottom, share = top / total, tall / total
        figure.add_artist(Rectangle((0, bottom), 1, share, facecolor=note.ground, **look))
        figure.text(
            0.1 / width,
            bottom + share / 2,
            block,
            va="center",
            fontsize=SMALL_SIZE,
            color=note.colour,
            fontweight="bold" if note.ground == RED else "normal",
            parse_math=False,
        )
    return figure


type Ground = Figure | Axes
"""What panels and a legend are drawn on."""


def panels(
    ax: Axes | None,
    n: int,
    columns: int,
    width: float,
    height: float,
    notes: Sequence[Note] = (),
    *,
    tall: float = 0.0,
    **kwargs: Any,
) -> tuple[Ground, list[Axes]]:
    """Make n panels in columns, `tall` inches more a row; or take the user's axes for one."""
    columns = min(columns, n)
    rows = -(-n // columns)
    if ax is None:
        figure = new_figure(width, tall * rows + height, notes)
        axes = list(figure.subplots(rows, columns, squeeze=False, **kwargs).flat)
        for spare in axes[n:]:
            spare.remove()
        for lowest in axes[n - columns : n]:
            # Of a shared axis only the last row has labels, and of a column it may be empty.
            lowest.tick_params(labelbottom=True)
        return figure, axes[:n]
    check_is(ax, Axes, "ax", "Pass one of plt.subplots().")
    if n > 1:
        raise InputError(
            f"ax takes one panel; this plot has {n}. Leave ax out, or draw a part, such as "
            "result.sel(classifier='rf')."
        )
    for note in notes:
        ax.annotate(
            _wrap(note.text, 0.7 * ax.get_window_extent().width / figure_of(ax).dpi),
            (0.02, 0.02),
            xycoords="axes fraction",
            fontsize=SMALL_SIZE,
            color=note.colour,
            backgroundcolor=note.ground,
            zorder=10,
            parse_math=False,
        )
    return ax, [ax]


def figure_of(drawn: Ground) -> Figure:
    """The figure of a ground."""
    return drawn if isinstance(drawn, Figure) else cast("Figure", drawn.get_figure(root=True))


def is_own(ax: Axes) -> bool:
    """Whether an axes is of a figure made here, not of the user's."""
    return isinstance(figure_of(ax), ResultFigure)


def not_robust(what: str, lost: list[str]) -> list[Note]:
    """The note above refits that disagree; `lost` are the cases, "" where there is only one."""
    if not lost:
        return []
    of = f" for {', '.join(distinct(lost).values())}" if any(lost) else ""
    return [Note(f"{what} not robust to the choice of prior{of}.", INK, AMBER)]


def notes_for(tree: xr.DataTree, shown: Sequence[ResultSlice]) -> list[Note]:
    """Collect what a reader of these cases must know."""
    said = status(tree, shown)
    if not access.all_converged(tree, shown):
        return [Note(f"{schema.NOT_CONVERGED}: {said}", ON_COLOUR, RED)]
    found = [] if said == schema.OK else [Note(said, INK, AMBER)]
    if access.is_prior_grid(tree) and len({case.prior for case in shown}) == 1:
        found.append(Note(f"Prior: {shown[0].prior}", INK, AMBER))
    return found


def _wrap(text: str, width: float) -> str:
    return "\n".join(
        textwrap.wrap(
            text, int(width * _CHARS_PER_INCH), max_lines=_NOTE_LINES, placeholder=" [...]"
        )
    )


def dress(ax: Axes, *, grid: Literal["x", "y"] | None = None) -> None:
    """Take labels as they are; of an axes of ours take the frame off, and set its text."""
    as_written((ax.xaxis.label, ax.yaxis.label))
    if not is_own(ax):
        return
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(GREY)
        ax.spines[side].set_linewidth(0.8)
    ax.tick_params(labelsize=SMALL_SIZE, color=GREY, labelcolor=ink(), width=0.8)
    for label in (ax.xaxis.label, ax.yaxis.label):
        label.set_fontsize(TEXT_SIZE)
        label.set_color(ink())
    ax.grid(visible=False)
    if grid is not None:
        ax.grid(visible=True, axis=grid, color=PALE, linewidth=0.6, linestyle="-")
    ax.set_axisbelow(True)


def name_rows(ax: Axes, places: Sequence[float] | range, names: Iterable[str]) -> None:
    """Name the rows of an axes at its left, which needs no frame there."""
    ax.set_yticks(places, list(names))
    as_written(ax.get_yticklabels())
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(not is_own(ax))


def no_scale(ax: Axes) -> None:
    """Take away the vertical scale of densities, whose heights are relative."""
    ax.spines["left"].set_visible(False)
    ax.set_yticks([])
    ax.xaxis.set_major_locator(MaxNLocator(4, min_n_ticks=2))


def draw_band(ax: Axes, x: Any, lower: Any, upper: Any, *, simultaneous: bool) -> None:
    """The band of a whole curve, or that of each point, which is drawn on it."""
    ax.fill_between(x, lower, upper, color=BLUE, alpha=_SHADES[simultaneous], lw=0)


def bands(prob: float) -> dict[str, Artist]:
    """Legend entries of both bands."""
    both = 1 - (1 - _SHADES[True]) * (1 - _SHADES[False])
    return {
        f"{percent(prob)} band of the curve": Patch(color=BLUE, alpha=_SHADES[True], lw=0),
        f"{percent(prob)} band of each point": Patch(color=BLUE, alpha=both, lw=0),
    }


def draw_interval(
    ax: Axes, ends: tuple[float, float], mean: float, y: float, colour: str = BLUE
) -> None:
    """Draw an interval below a density, with the mean as a dot."""
    ax.plot(ends, (y, y), color=colour, lw=2.2, solid_capstyle="butt")
    ax.plot(mean, y, marker="o", ms=4.5, color=colour, mec=paper(), mew=0.6, clip_on=False)


def mark(**look: Any) -> Line2D:
    """A mark, alone, for the legend."""
    return Line2D([], [], **{"linestyle": "", **look})


def line(**look: Any) -> Line2D:
    """A line for the legend."""
    return Line2D([], [], **look)


def diagonal() -> Line2D:
    """What `draw_diagonal` draws, for the legend."""
    return line(color=GREY, lw=1, ls=(0, (4, 3)))


def draw_diagonal(ax: Axes) -> None:
    """Draw where scores are the probabilities themselves."""
    ax.plot((0, 1), (0, 1), color=GREY, lw=1, ls=(0, (4, 3)), zorder=1)


def interval_line() -> Line2D:
    """What `draw_interval` draws, for the legend."""
    return line(color=BLUE, lw=2.2, marker="o", ms=4.5)


def title(ax: Axes, text: str, **kwargs: Any) -> None:
    """Set a title at the left, taking the text as it is."""
    if is_own(ax):
        kwargs = {"fontsize": TITLE_SIZE, "color": ink(), **kwargs}
    else:
        kwargs.pop("fontsize", None)
    ax.set_title(text, loc="left", **kwargs).set_parse_math(False)


def full_title(tree: xr.DataTree, case: ResultSlice) -> str:
    """Name a case in words, unlike every other case of the result."""
    return distinct([one.title for one in access.cases(tree)], 52)[case.title]


def case_title(ax: Axes, tree: xr.DataTree, case: ResultSlice) -> None:
    """Head the panel of a case with its name, in red if its fit did not converge."""
    fine, every = access.case_converged(tree, case), access.cases(tree)
    width = 26 if fine else 12
    name = distinct([one.label for one in every], width)[case.label]
    if cell_len(name) > width:
        # No cut at one place keeps apart what differs in classifier and group: each has its line.
        parts = zip(*(one.coords.values() for one in every), strict=True)
        lines = zip(parts, case.coords.values(), strict=True)
        name = "\n".join(distinct(names, width)[own] for names, own in lines)
    text = name if fine else f"{name} {schema.NOT_CONVERGED}"
    title(ax, text, fontsize=TEXT_SIZE, **({} if fine else {"color": red()}))


def legend(
    figure: Ground, entries: Mapping[str, Artist], columns: int = 2, head: str = ""
) -> Figure:
    """Explain the marks in one block, below the axes of a figure of ours, and return the figure."""
    own = isinstance(figure, Axes)
    box = figure.legend(
        list(entries.values()),
        list(entries),
        loc="best" if own else "outside lower center",
        ncols=1 if own else _fitting(list(entries), columns, figure_of(figure).get_figwidth()),
        fontsize=SMALL_SIZE,
        frameon=own,
        handlelength=2.2,
    )
    as_written(box.get_texts())
    if head:
        box.set_title(head)
        box.get_title().set_fontsize(SMALL_SIZE)
    return figure_of(figure)


def _fitting(names: Sequence[str], columns: int, inches: float) -> int:
    """The largest number of columns, up to `columns`, in which the names fit."""
    points = [max(map(_points, name.splitlines()), default=0.0) for name in names]
    for number in range(columns, 1, -1):
        parts = np.array_split(points, number)
        if sum(_SIGN * SMALL_SIZE + part.max(initial=0) for part in parts) <= 72 * inches:
            return number
    return 1


def _points(line: str) -> float:
    """Width of a small line of text."""
    font = FontProperties(size=SMALL_SIZE)
    return text_to_path.get_text_width_height_descent(line, font, ismath=False)[0]


def write(
    ax: Axes, text: str, at: tuple[float, float], shift: tuple[float, float], **look: Any
) -> None:
    """Write small at a place, shifted by so many points."""
    look = {"fontsize": SMALL_SIZE, "color": ink(), **look}
    ax.annotate(text, at, shift, textcoords="offset points", **look)


def as_written(texts: Iterable[Text]) -> None:
    """Take texts as they are, so that a dollar sign in a user's name starts no formula."""
    for text in texts:
        text.set_parse_math(False)
