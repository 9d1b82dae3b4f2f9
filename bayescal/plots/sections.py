"""Figures of what single quantities have: ROC curves, classes, and the class prior."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import numpy as np
import xarray as xr
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from scipy.special import betaincinv

from bayescal.core.checks import check_flag, check_known, checked_words
from bayescal.core.errors import InputError
from bayescal.core.quantity import METRIC
from bayescal.core.text import distinct, fixed, percent
from bayescal.plots import style
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.curves import check_roc, has_unlabeled_roc, labeled_roc, roc_band
from bayescal.results.intervals import tail

_COLUMNS: Final = 3
_PLUG_DASH: Final = (0, (3, 2))
_ROC_INCHES: Final = 2.9


def plot_roc(
    tree: xr.DataTree, prob: float = 0.9, *, unlabeled: bool | None = None, ax: Axes | None = None
) -> Figure:
    """Draw the ROC curve of each classifier with its simultaneous and its pointwise band.

    Parameters
    ----------
    tree : xarray.DataTree
        A result that holds ROC curves, such as of `bayescal.agnostic`.
    prob : float, in (0, 1), default 0.9
        Posterior probability of the bands.
    unlabeled : bool, optional
        Whether the curves are those of the unlabelled rows, or of the population; by default the
        former where the result has such rows, of both labels in some draw.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on, where there is one panel; those of a new figure by default.

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
    style.check_role(tree, METRIC, "a plot of ROC curves")
    check_roc(tree)
    if unlabeled is not None:
        check_flag(unlabeled, "unlabeled")
    of_unlabeled = has_unlabeled_roc(tree) if unlabeled is None else unlabeled
    cases = access.cases(tree)
    n, notes, tall = len(cases), style.notes_for(tree, cases), _ROC_INCHES + 0.15
    width = max(_ROC_INCHES * min(n, _COLUMNS), 4.6)
    figure, axes = style.panels(ax, n, _COLUMNS, width, 0.5, notes, tall=tall)
    for ax, case in zip(axes, cases, strict=True):
        _draw_roc(ax, tree, case, prob, of_unlabeled)
    entries = {
        "posterior mean": style.line(color=style.BLUE, lw=1.6),
        **style.bands(prob),
        "labelled rows": style.line(color=style.ink(), lw=1, ls=":"),
    }
    of = "of the unlabelled rows" if of_unlabeled else "of the population"
    return style.legend(figure, entries, head=f"ROC curve {of}")


def _draw_roc(ax: Axes, tree: xr.DataTree, case: ResultSlice, prob: float, unlabeled: bool) -> None:
    """One panel: bands below, then the labelled rows, then the mean."""
    style.draw_diagonal(ax)
    of: Any = {"unlabeled": unlabeled, "classifier": case.classifier, "class_": case.class_}
    for simultaneous in (True, False):
        band = roc_band(tree, prob, simultaneous=simultaneous, **of)
        ends = band.lower.values, band.upper.values
        style.draw_band(ax, band.fpr.values, *ends, simultaneous=simultaneous)
    labeled = labeled_roc(tree, case)
    if labeled is not None:
        ax.plot(*labeled, color=style.ink(), lw=1, ls=":")
    ax.plot(band.fpr.values, band["mean"].values, color=style.BLUE, lw=1.6)
    ax.set(xlim=(0, 1), ylim=(0, 1.01), aspect="equal")
    ax.set(xlabel="false positive rate", ylabel="true positive rate")
    style.dress(ax)
    style.case_title(ax, tree, case)


MOST_PANELS: Final = 20
_CLASS_COLUMNS: Final = 5
_PANEL_INCHES: Final = 1.75
_FRAME_INCHES: Final = 1.1
_CLASS: Final = "label_class"
_CLASS_BINS: Final = ("bin_confidence", "bin_accuracy", "bin_rows")
_STAGES: Final = {"before": ("o", style.VERMILLION), "after": ("s", style.BLUE)}


def plot_class_reliability(
    tree: xr.DataTree,
    classifier: str | None = None,
    classes: Sequence[str] | None = None,
    prob: float = 0.9,
    *,
    ax: Axes | None = None,
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
    prob : float, default 0.9
        Probability of the intervals.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on, where there is one panel; those of a new figure by default.

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
    style.check_role(tree, METRIC, "a reliability diagram of each class")
    case = access.find_case(tree, classifier)
    if not access.has_variable(tree, schema.POINT_ESTIMATE, "bin_accuracy"):
        raise InputError(
            "a reliability diagram of each class needs bins of each class; this result of "
            f"{tree.attrs['quantity']} has none. Pass one of temperature."
        )
    tail(prob)
    names = _shown(tree, case, classes)
    columns = min(len(names), _CLASS_COLUMNS)
    width = max(_PANEL_INCHES * columns + 0.9, 4.8)
    notes, tall = style.notes_for(tree, [case]), 1.25 * _PANEL_INCHES
    figure, axes = style.panels(
        ax, len(names), columns, width, _FRAME_INCHES, notes, tall=tall, sharex=True, sharey=True
    )
    entries: dict[str, Artist] = {}
    short = distinct(names, 18)
    for ax, name in zip(axes, names, strict=True):
        errors = _draw_class(ax, tree, case, name, prob, entries)
        style.title(ax, f"{short[name]}\nECE {errors}", pad=7, fontsize=style.SMALL_SIZE)
    for ax in axes[::columns]:
        ax.set_ylabel("accuracy")
    for ax in axes[-columns:]:
        ax.set_xlabel("confidence")
    entries["perfect calibration"] = style.diagonal()
    return style.legend(figure, entries)


def _shown(tree: xr.DataTree, case: ResultSlice, classes: Sequence[str] | None) -> list[str]:
    """Choose what to draw: the classes given, or those with the most rows."""
    rows = access.variable_along(tree, _CLASS, schema.POINT_ESTIMATE, "bin_rows", case)
    held = rows.isel(stage=0)
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
) -> str:
    """Bins before and after; the errors are given back."""
    style.draw_diagonal(ax)
    held, errors = partial(access.variable_along, tree, _CLASS, case=case), []
    for stage, (marker, edge) in _STAGES.items():
        face = edge if stage == "after" else style.paper()
        bins = [held(schema.POINT_ESTIMATE, var) for var in _CLASS_BINS]
        own = np.array([one.sel({"stage": stage, _CLASS: name}).values for one in bins], np.float64)
        # Bins of the class that have labelled rows.
        confidence, accuracy, rows = own[:, own[2] > 0]
        right, wrong = rows * accuracy + 0.5, rows * (1 - accuracy) + 0.5
        ends = betaincinv(right, wrong, [[tail(prob)], [1 - tail(prob)]])
        ax.vlines(confidence, *ends, color=edge, lw=0.9, alpha=0.7, zorder=2.5)
        look: dict[str, Any] = {"facecolor": face, "edgecolor": edge, "linewidth": 1.1}
        area = np.maximum(45 * rows / max(rows.max(initial=1), 1), 6)
        ax.scatter(confidence, accuracy, area, marker=marker, zorder=3, clip_on=False, **look)
        words = f"{stage} calibration, {percent(prob)} interval"
        entries[words] = style.mark(marker=marker, color=face, mec=edge)
        var = "class_ece_uncalibrated" if stage == "before" else "class_ece"
        draws = held(schema.POSTERIOR, var).sel({_CLASS: name})
        errors.append(f"{fixed(float(draws.mean()), 3).lstrip('0')} {stage}")
    ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    ax.set_xticks([0, 0.5, 1], ["0", ".5", "1"])
    ax.set_yticks([0, 0.5, 1], ["0", ".5", "1"])
    style.dress(ax)
    return ", ".join(errors)


def plot_sensitivity_curve(tree: xr.DataTree, *, ax: Axes | None = None) -> Figure:
    """Draw the calibration error against the class prior, one panel a case.

    Parameters
    ----------
    tree : xarray.DataTree
        A result with a group `sensitivity`: ``class_prior`` and, along it, ``ece`` (the paper's
        estimate), ``envelope_lower`` and ``envelope_upper``, and the posterior's ends ``tce_lower``
        and ``tce_upper`` or ``ece_lower`` and ``ece_upper``, each where there is one.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on, where there is one panel; those of a new figure by default.

    Returns
    -------
    matplotlib.figure.Figure
        The paper's estimate as a line, within the envelope that Theorem 2 gives it from the class
        prior that is assumed; the posterior of the error were each class prior known; and below,
        where the result has it, the central 90% of the class prior's own posterior.

    Raises
    ------
    InputError
        If the result has no such group.
    """
    found = access.cases(tree)
    for name in ("class_prior", "ece"):
        if not access.has_variable(tree, schema.SENSITIVITY, name):
            raise InputError(
                f"a curve against the class prior needs {schema.SENSITIVITY}/{name}, which this "
                "result does not have. It comes with fits to positive and unlabelled rows."
            )
    columns = min(_COLUMNS, len(found))
    width = 6.4 if columns == 1 else 0.8 + 2.4 * columns
    notes = style.notes_for(tree, found)
    figure, axes = style.panels(ax, len(found), columns, width, 1.1, notes, tall=2.6)
    for ax, case in zip(axes, found, strict=True):
        _draw_curve(ax, tree, case)
        if len(found) > 1:
            style.case_title(ax, tree, case)
        ax.set_xlabel("class prior")
    for ax in axes[::columns]:
        ax.set_ylabel("calibration error")
    return _curve_legend(figure, tree)


def _posterior_name(tree: xr.DataTree) -> str | None:
    """Which error the posterior's ends along the class prior are of."""
    known = (name for name in ("tce", "ece") if _has(tree, f"{name}_lower", f"{name}_upper"))
    return next(known, None)


def _has(tree: xr.DataTree, *names: str) -> bool:
    return access.has_variable(tree, schema.SENSITIVITY, *names)


def _draw_curve(ax: Axes, tree: xr.DataTree, case: ResultSlice) -> None:
    def along(name: str) -> xr.DataArray:
        return access.variable(tree, schema.SENSITIVITY, name, case)

    x = along("class_prior").values
    if _has(tree, "envelope_lower", "envelope_upper"):
        lower, upper = along("envelope_lower").values, along("envelope_upper").values
        ax.fill_between(x, lower, upper, color=style.GREY, alpha=0.2, lw=0)
    error = _posterior_name(tree)
    if error is not None:
        lower, upper = along(f"{error}_lower").values, along(f"{error}_upper").values
        ax.fill_between(x, lower, upper, color=style.BLUE, alpha=0.25, lw=0)
        if _has(tree, f"{error}_mean"):
            ax.plot(x, along(f"{error}_mean").values, color=style.BLUE, lw=1.4)
    ax.plot(x, along("ece").values, color=style.VERMILLION, lw=1.4, ls=_PLUG_DASH)
    style.dress(ax, grid="y")
    ax.set(xlim=(x[0], x[-1]), ylim=(0, None))
    ax.xaxis.set_major_locator(MaxNLocator(4, min_n_ticks=2))
    if access.has_variable(tree, schema.POSTERIOR, "class_prior"):
        # Its central 90% after the data, as a bar on the axis.
        draws = access.variable(tree, schema.POSTERIOR, "class_prior", case).values
        across, ends = ax.get_xaxis_transform(), np.quantile(draws, (0.05, 0.95))
        look: dict[str, Any] = {"color": style.ink(), "lw": 4, "solid_capstyle": "butt", "ms": 12}
        for at, marker in ((ends, ""), ((draws.mean(),), "|")):
            ax.plot(at, (0,) * len(at), marker=marker, transform=across, clip_on=False, **look)


def _curve_legend(figure: style.Ground, tree: xr.DataTree) -> Figure:
    entries: dict[str, Artist] = {
        "plug-in ECE": style.line(color=style.VERMILLION, lw=1.4, ls=_PLUG_DASH)
    }
    if _has(tree, "envelope_lower", "envelope_upper"):
        entries["range of the plug-in by Theorem 2"] = Patch(facecolor=style.GREY, alpha=0.2)
    error = _posterior_name(tree)
    if error is not None:
        entries[f"{error.upper()} if miscalibrated, mean and 90%"] = Patch(
            facecolor=style.BLUE, alpha=0.25
        )
    if access.has_variable(tree, schema.POSTERIOR, "class_prior"):
        entries["class prior after the data, 90%"] = style.line(
            color=style.ink(), lw=4, marker="|", ms=12
        )
    return style.legend(figure, entries)
