"""Reliability diagrams of each predicted class, before calibration and after."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import xarray as xr
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.stats import beta

from bayescal.core.checks import check_known, checked_words
from bayescal.core.errors import InputError
from bayescal.plots import style
from bayescal.plots.kind import check_kind
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.intervals import tail
from bayescal.results.text import fixed, percent

MOST_PANELS: Final = 20
_COLUMNS: Final = 5
_PANEL_INCHES: Final = 1.75
_FRAME_INCHES: Final = 1.1
_CLASS: Final = "label_class"
_LOOKS: Final = {"before": ("o", style.VERMILLION, "white"), "after": ("s", style.BLUE, style.BLUE)}


class _Bins(NamedTuple):
    """Bins with rows: mean confidence, accuracy and rows."""

    confidence: NDArray[np.float64]
    accuracy: NDArray[np.float64]
    rows: NDArray[np.float64]


def plot_class_reliability(
    tree: xr.DataTree,
    classifier: str | None = None,
    classes: Sequence[str] | None = None,
    prob: float = 0.9,
) -> Figure:
    """Draw a reliability diagram of the labelled rows of each predicted class.

    Parameters
    ----------
    tree : xarray.DataTree
        A result with reliability by class, such as of `bayescal.temperature`.
    classifier : str, optional
        Which of several classifiers; the first if not given.
    classes : sequence of str, optional
        Predicted classes; if not given those with the most labelled rows, 20 at most.
    prob : float
        Probability of the intervals.

    Returns
    -------
    matplotlib.figure.Figure
        A panel a class: accuracy of each bin against its mean confidence, before calibration and
        after, marks larger the more rows. Lines are intervals of the accuracy of each bin alone,
        under a Beta(1/2, 1/2) prior. Above each panel the posterior means of the calibration error.

    Raises
    ------
    InputError
        If the result has no reliability by class, or a class is unknown or none is named.

    Notes
    -----
    The rows are those that the temperatures were fitted to: with few of them a class lies nearer to
    the diagonal than new rows would.
    """
    check_kind(tree, "metrics", "a reliability diagram of each class")
    case = access.find_case(tree, classifier)
    if not has_class_reliability(tree):
        raise InputError(
            "a reliability diagram of each class needs bins of each class; this result of "
            f"{tree.attrs['quantity']} has none. Pass one of temperature."
        )
    tail(prob)
    names = _shown(tree, case, classes)
    rows = -(-len(names) // _COLUMNS)
    height = _PANEL_INCHES * rows * 1.25 + _FRAME_INCHES
    width = max(_PANEL_INCHES * min(len(names), _COLUMNS) + 0.9, 4.8)
    figure = style.new_figure(width, height, style.notes_for(tree, [case]))
    entries: dict[str, Artist] = {}
    axes = style.panels(figure, len(names), _COLUMNS, sharex=True, sharey=True)
    for ax, name in zip(axes, names, strict=True):
        _draw_class(ax, tree, case, name, prob, entries)
    for ax in axes[:: min(len(names), _COLUMNS)]:
        ax.set_ylabel("accuracy")
    for ax in axes[-min(len(names), _COLUMNS) :]:
        ax.set_xlabel("confidence")
        ax.tick_params(labelbottom=True)
    entries["perfect calibration"] = style.diagonal()
    style.legend(figure, entries)
    return figure


def has_class_reliability(tree: xr.DataTree) -> bool:
    """Whether a result has bins of each class."""
    return access.has_variable(tree, schema.POINT_ESTIMATE, "bin_accuracy")


def _shown(tree: xr.DataTree, case: ResultSlice, classes: Sequence[str] | None) -> list[str]:
    """Choose what to draw: the classes given, or those with the most rows."""
    held = access.variable(tree, schema.POINT_ESTIMATE, "bin_rows", case).isel(stage=0)
    known = [str(name) for name in held[_CLASS].values]
    if classes is not None:
        names = checked_words(classes, "classes")
        for name in names:
            check_known(name, known, "class", "the result")
        return names
    count = held.sum(schema.BIN).values
    most = np.argsort(-count, kind="stable")[:MOST_PANELS]
    return [known[k] for k in sorted(most) if count[k] > 0]


def _draw_class(
    ax: Axes,
    tree: xr.DataTree,
    case: ResultSlice,
    name: str,
    prob: float,
    entries: dict[str, Artist],
) -> None:
    style.draw_diagonal(ax)
    errors = []
    for stage, (marker, edge, face) in _LOOKS.items():
        bins = _bins(tree, case, name, stage)
        tail = (1 - prob) / 2
        right, wrong = bins.rows * bins.accuracy + 0.5, bins.rows * (1 - bins.accuracy) + 0.5
        ends = beta.ppf([[tail], [1 - tail]], right, wrong)
        ax.vlines(bins.confidence, *ends, color=edge, linewidth=0.9, alpha=0.7, zorder=2.5)
        look: dict[str, Any] = {"facecolor": face, "edgecolor": edge, "linewidth": 1.1}
        area = np.maximum(45 * bins.rows / max(bins.rows.max(initial=1), 1), 6)
        ax.scatter(
            bins.confidence, bins.accuracy, area, marker=marker, zorder=3, clip_on=False, **look
        )
        words = f"{stage} calibration, {percent(prob)} interval"
        entries[words] = style.mark(marker=marker, color=face, markeredgecolor=edge)
        errors.append(_mean_error(tree, case, name, "_uncalibrated" if stage == "before" else ""))
    style.title(ax, f"{style.shorten(name, 18)}\nECE {errors[0]} to {errors[1]}", pad=7)
    ax.title.set_fontsize(style.SMALL_SIZE)
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1)
    ax.set_xticks([0, 0.5, 1], ["0", ".5", "1"])
    ax.set_yticks([0, 0.5, 1], ["0", ".5", "1"])
    ax.set_aspect("equal")
    style.dress(ax)


def _bins(tree: xr.DataTree, case: ResultSlice, name: str, stage: str) -> _Bins:
    """Bins of one class that have labelled rows."""
    held = [
        access.variable(tree, schema.POINT_ESTIMATE, var, case)
        .sel({"stage": stage, _CLASS: name})
        .values
        for var in ("bin_confidence", "bin_accuracy", "bin_rows")
    ]
    full = held[2] > 0
    return _Bins(*(np.asarray(values[full], np.float64) for values in held))


def _mean_error(tree: xr.DataTree, case: ResultSlice, name: str, suffix: str) -> str:
    draws = access.variable(tree, schema.POSTERIOR, f"class_ece{suffix}", case)
    return fixed(float(draws.sel({_CLASS: name}).mean()), 3).lstrip("0")
