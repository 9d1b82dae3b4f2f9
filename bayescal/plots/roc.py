"""ROC curves of a result, with their bands."""

from __future__ import annotations

from typing import Final

import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from bayescal.core.checks import check_flag
from bayescal.core.errors import InputError
from bayescal.plots import style
from bayescal.plots.kind import check_kind
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.curves import has_roc, labeled_roc, roc_band
from bayescal.results.text import percent

_COLUMNS: Final = 3
_PANEL_INCHES: Final = 2.9
_SHADES: Final = {True: 0.18, False: 0.30}
"""How dark the simultaneous and the pointwise band are."""


def plot_roc(tree: xr.DataTree, prob: float = 0.9, *, unlabeled: bool | None = None) -> Figure:
    """Draw the ROC curve of each classifier with its simultaneous and its pointwise band.

    Parameters
    ----------
    tree : xarray.DataTree
        A result that holds ROC curves, such as of `bayescal.agnostic`.
    prob : float, in (0, 1), default 0.9
        Posterior probability of the bands.
    unlabeled : bool, optional
        Whether the curves are those of the unlabelled rows, or of the population; by default the
        former where the result has such rows.

    Returns
    -------
    matplotlib.figure.Figure
        A panel a classifier (and class): posterior mean, the band of the whole curve, the band of
        each point, and the curve of the labelled rows.

    Raises
    ------
    InputError
        If the result holds no ROC curves, or no unlabelled row.
    """
    check_kind(tree, "metrics", "a plot of ROC curves")
    if not has_roc(tree):
        raise InputError(
            f"the result of {tree.attrs['quantity']} holds no ROC curves. Fit bayescal.agnostic."
        )
    held = access.has_variable(tree, schema.POSTERIOR, "unlabeled_tpr")
    if unlabeled is not None:
        check_flag(unlabeled, "unlabeled")
    of_unlabeled = held if unlabeled is None else unlabeled
    cases = access.cases(tree)
    columns = min(len(cases), _COLUMNS)
    rows = -(-len(cases) // columns)
    figure = style.new_figure(
        max(_PANEL_INCHES * columns, 4.6),
        (_PANEL_INCHES + 0.15) * rows + 0.5,
        style.notes_for(tree, cases),
    )
    for ax, case in zip(style.panels(figure, len(cases), columns), cases, strict=True):
        _draw(ax, tree, case, prob, of_unlabeled)
    entries = {
        "posterior mean": style.line(color=style.BLUE, linewidth=1.6),
        f"{percent(prob)} band of the curve": _patch(simultaneous=True),
        f"{percent(prob)} band of each point": _patch(simultaneous=False),
        "labelled rows": style.line(color=style.INK, linewidth=1, linestyle=":"),
    }
    of = "of the unlabelled rows" if of_unlabeled else "of the population"
    style.legend(figure, entries, head=f"ROC curve {of}")
    return figure


def _draw(ax: Axes, tree: xr.DataTree, case: ResultSlice, prob: float, unlabeled: bool) -> None:
    """One panel: bands below, then the labelled rows, then the mean."""
    style.draw_diagonal(ax)
    for simultaneous in (True, False):
        band = roc_band(
            tree,
            prob,
            simultaneous=simultaneous,
            unlabeled=unlabeled,
            classifier=case.classifier,
            class_=case.class_,
        )
        ax.fill_between(
            band.fpr.values,
            band.lower.values,
            band.upper.values,
            color=style.BLUE,
            alpha=_SHADES[simultaneous],
            linewidth=0,
        )
    labeled = labeled_roc(tree, case)
    if labeled is not None:
        ax.plot(*labeled, color=style.INK, linewidth=1, linestyle=":")
    ax.plot(band.fpr.values, band["mean"].values, color=style.BLUE, linewidth=1.6)
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1.01)
    ax.set_aspect("equal")
    ax.set_xlabel("false positive rate")
    ax.set_ylabel("true positive rate")
    style.dress(ax)
    style.case_title(ax, tree, case)


def _patch(*, simultaneous: bool) -> Patch:
    # The band of each point lies on that of the curve.
    alpha = _SHADES[True] if simultaneous else 1 - (1 - _SHADES[True]) * (1 - _SHADES[False])
    return Patch(facecolor=style.BLUE, alpha=alpha, linewidth=0)
