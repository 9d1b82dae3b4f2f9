"""What can be asked of any figure without comparing pictures."""

from itertools import pairwise

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text


def words(figure: Figure) -> list[str]:
    """All that is written in a figure."""
    return [text.get_text() for text in _texts(figure)]


def assert_readable(figure: Figure) -> None:
    """Nothing written is cut off by the edge, and no two labels of an axis run into each other."""
    canvas = FigureCanvasAgg(figure)
    # Places are those of a drawn figure; pixels are not asked for.
    figure.draw_without_rendering()
    renderer = canvas.get_renderer()
    width, height = canvas.get_width_height()
    for text in _texts(figure):
        box = text.get_window_extent(renderer)
        inside = box.x0 >= -1 and box.y0 >= -1 and box.x1 <= width + 1 and box.y1 <= height + 1
        assert inside, f"cut off: {text.get_text()!r} at {box} in {width} x {height}"
    for ax in figure.axes:
        for labels, ends in ((ax.get_xticklabels(), "x"), (ax.get_yticklabels(), "y")):
            shown = [label for label in labels if label.get_visible() and label.get_text()]
            spans = sorted(
                (box.x0, box.x1) if ends == "x" else (box.y0, box.y1)
                for box in (label.get_window_extent(renderer) for label in shown)
            )
            for one, other in pairwise(spans):
                assert one[1] <= other[0] + 1, f"labels overlap on the {ends} axis of {ax}"


def _texts(figure: Figure) -> list[Text]:
    found = [text for text in figure.findobj(Text) if isinstance(text, Text)]
    hidden = {id(label) for ax in figure.axes for label in _unseen(ax)}
    return [
        text
        for text in found
        if text.get_visible() and text.get_text().strip() and id(text) not in hidden
    ]


def _unseen(ax: Axes) -> list[Text]:
    """Tick labels that exist outside the view, and those of the lower edge switched off."""
    unseen: list[Text] = []
    for axis, (low, high) in ((ax.xaxis, sorted(ax.get_xlim())), (ax.yaxis, sorted(ax.get_ylim()))):
        for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]:
            margin = 1e-9 * (high - low)
            if not low - margin <= tick.get_loc() <= high + margin:
                unseen += [tick.label1, tick.label2]
    return unseen
