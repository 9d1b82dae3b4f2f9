"""How the answer moves with what was assumed: prior by prior, or along a class prior."""

from __future__ import annotations

from functools import partial
from typing import Final

import numpy as np
import xarray as xr
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from bayescal.core.checks import check_number
from bayescal.core.errors import InputError
from bayescal.plots import style
from bayescal.plots.kind import Drawing, plots_of
from bayescal.plots.posterior import density
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.conclude import Conclusion, conclusions
from bayescal.results.kind import check_variable, kind_of
from bayescal.results.text import number, percent, relation

MOST_PANELS: Final = 24
_COLUMNS: Final = 3
_ROW_INCHES: Final = 0.5
_FRAME_INCHES: Final = 1.35
_TALLEST: Final = 0.72
_SEEN: Final = 0.001
_SAME_DASH: Final = (0, (1, 2))
_PLUG_DASH: Final = (0, (3, 2))


def plot_sensitivity(
    tree: xr.DataTree,
    var: str | None = None,
    prob: float = 0.9,
    threshold: float | None = None,
) -> Figure:
    """Draw the posterior of a variable under each prior, one row a prior, one panel a case.

    Parameters
    ----------
    tree : xarray.DataTree
        What `bayescal.prior_sensitivity` returned.
    var : str, optional
        A variable of its posterior with one number a case; by default that of the conclusion.
    prob : float
        Posterior probability of the interval below each density.
    threshold : float, optional
        Value that the variable is compared with, as a line; by default that of the result.

    Returns
    -------
    matplotlib.figure.Figure
        Each row has the density given miscalibration, scaled to one height; at 0 a bar as high as
        the probability of perfect calibration; the interval with the posterior mean; a dotted line
        at the mean under the first prior. A note above says so if a conclusion is not robust.
        Of results of `bayescal.credal`, bounds of up to 16 rows under each prior.

    Raises
    ------
    InputError
        If it is a result of one prior, or has no such variable.
    """
    access.prior_names(tree)
    return plots_of(tree).plot_refits(tree, var, prob, threshold)


def drawings(tree: xr.DataTree, prob: float) -> list[Drawing]:
    """Figures of prior sensitivity: of a prior grid, or of what one fit has of it."""
    if access.is_prior_grid(tree):
        return _drawn_refits(tree, prob)
    if not _has(tree, "class_prior"):
        return []
    caption = (
        "The result depends on the share of positives among the unlabelled rows. The shaded wedge "
        "is Theorem 2: the plug-in moves by no more than the class prior does. If the class prior "
        "is declared known but is off by a tenth, no interval may cover the true value."
    )
    name = "Calibration error against the class prior"
    return [Drawing(partial(plot_sensitivity_curve, tree), name, caption)]


def _drawn_refits(tree: xr.DataTree, prob: float) -> list[Drawing]:
    """The figure of a prior grid, left out where it would have too many panels."""
    if len(access.group_over_priors(access.cases(tree))) > MOST_PANELS:
        return []
    var = tree.attrs.get("conclusion_var")
    all_of = conclusions(tree, var, prob, _threshold(tree, None))
    return [
        Drawing(
            partial(plot_sensitivity, tree, var, prob),
            "Posterior under each prior",
            "The same data under each prior, with the same random numbers.",
            "Posterior under each prior. " + " ".join(one.text for one in all_of[:4]),
        )
    ]


def plot_conclusions(
    tree: xr.DataTree, var: str | None, prob: float, threshold: float | None, *, from_zero: bool
) -> Figure:
    """Densities under each prior, seen from 0 on or where their draws are."""
    name = check_variable(tree, tree.attrs.get("conclusion_var") if var is None else var)
    all_of = conclusions(tree, name, prob, _threshold(tree, threshold))
    found = [one for one in all_of if isinstance(one, Conclusion)]
    gathered = access.group_over_priors(access.cases(tree))
    columns = min(_COLUMNS, len(found))
    width = 6.4 if columns == 1 else 1.6 + 2.4 * columns
    height = -(-len(found) // columns) * (_ROW_INCHES * len(gathered[0]) + 0.45) + _FRAME_INCHES
    lost = [one.case for one in found if not one.robust]
    notes = style.notes_for(tree, access.cases(tree)) + not_robust("The conclusion is", lost)
    figure = style.new_figure(width, height, notes)
    axes = style.panels(figure, len(found), columns, sharey=True)
    limits = _limits(tree, name, gathered, from_zero=from_zero)
    for ax, one, cases, ends in zip(axes, found, gathered, limits, strict=True):
        _draw_rows(ax, tree, one, cases, ends)
        if len(found) == 1:
            _write_numbers(ax, one)
        else:
            style.title(ax, style.shorten(one.case, 26), fontsize=style.TEXT_SIZE)
        ax.set_xlabel(kind_of(tree).title(name), fontsize=style.TEXT_SIZE, color=style.INK)
    _legend(figure, found, prob)
    return figure


def not_robust(what: str, lost: list[str]) -> list[style.Note]:
    """The note above refits that disagree; `lost` are the cases, "" where there is only one."""
    if not lost:
        return []
    of = f" for {', '.join(map(style.shorten, lost))}" if any(lost) else ""
    text = f"{what} not robust to the choice of prior{of}."
    return [style.Note(text, style.INK, style.AMBER)]


def _threshold(tree: xr.DataTree, given: float | None) -> float | None:
    found = tree.attrs.get("threshold") if given is None else given
    return None if found is None else check_number(found, "threshold", "(-inf, inf)")


def plot_sensitivity_curve(tree: xr.DataTree) -> Figure:
    """Draw the calibration error against the class prior, one panel a case.

    Parameters
    ----------
    tree : xarray.DataTree
        A result with a group `sensitivity`: ``class_prior`` and, along it, ``ece`` (the paper's
        estimate), ``envelope_lower`` and ``envelope_upper``, and the posterior's ends ``tce_lower``
        and ``tce_upper`` or ``ece_lower`` and ``ece_upper``, each where there is one.

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
    height = 2.6 * -(-len(found) // columns) + 1.1
    figure = style.new_figure(width, height, style.notes_for(tree, found))
    axes = style.panels(figure, len(found), columns)
    for ax, case in zip(axes, found, strict=True):
        _draw_curve(ax, tree, case)
        if len(found) > 1:
            style.case_title(ax, tree, case)
        ax.set_xlabel("class prior", fontsize=style.TEXT_SIZE, color=style.INK)
    for ax in axes[::columns]:
        ax.set_ylabel("calibration error", fontsize=style.TEXT_SIZE, color=style.INK)
    _curve_legend(figure, tree)
    return figure


def _limits(
    tree: xr.DataTree, var: str, gathered: list[tuple[ResultSlice, ...]], *, from_zero: bool
) -> list[tuple[float, float]]:
    """Ends of the panels: alike, unless the narrowest would then be a mere line."""
    quantiles = [_spread(tree, var, cases) for cases in gathered]
    if not from_zero:
        low, high = min(one[0] for one in quantiles), max(one[1] for one in quantiles)
        margin = max(0.03 * (high - low), 1e-6)
        return [(max(low - margin, 0.0), high + margin)] * len(gathered)
    ends = [max(1.06 * high, 1e-6) for _, high in quantiles]
    shared = max(ends) <= 5 * min(ends)
    return [(-0.03 * end, end) for end in ([max(ends)] * len(ends) if shared else ends)]


def _spread(tree: xr.DataTree, var: str, cases: tuple[ResultSlice, ...]) -> tuple[float, float]:
    """Lowest and highest of what the densities of a panel have to show."""
    draws = [access.variable(tree, schema.POSTERIOR, var, case).values for case in cases]
    ends = [np.nanquantile(one, (0.002, 0.998)) for one in draws]
    return min(float(low) for low, _ in ends), max(float(high) for _, high in ends)


def _draw_rows(
    ax: Axes,
    tree: xr.DataTree,
    one: Conclusion,
    cases: tuple[ResultSlice, ...],
    ends: tuple[float, float],
) -> None:
    x = np.linspace(max(ends[0], 0.0), ends[1], 400)
    for place, (row, case) in enumerate(zip(one.rows, cases, strict=True)):
        base = float(len(cases) - 1 - place)
        colour = style.BLUE if row.converged else style.RED
        draws = access.variable(tree, schema.POSTERIOR, one.var, case).values
        height = density(draws, x)
        if height.max() > 0:
            height = _TALLEST * height / height.max()
            ax.fill_between(x, base, base + height, color=colour, alpha=0.25, linewidth=0)
            ax.plot(x, base + height, color=colour, linewidth=1.1)
        if one.var in schema.CALIBRATION_ERRORS and (row.p_calibrated or 0.0) >= _SEEN:
            top = base + _TALLEST * float(row.p_calibrated or 0.0)
            ax.plot((0, 0), (base, top), color=style.INK, linewidth=4, solid_capstyle="butt")
        style.draw_interval(ax, (row.lower, row.upper), row.mean, base - 0.09, colour)
    ax.axvline(one.rows[0].mean, color=style.GREY, linewidth=1.0, linestyle=_SAME_DASH, zorder=0)
    if one.threshold is not None:
        ax.axvline(one.threshold, color=style.VERMILLION, linewidth=1.3, linestyle=_PLUG_DASH)
    style.dress(ax, grid="x")
    ax.set_xlim(*ends)
    ax.set_ylim(-0.3, len(cases) - 0.1)
    ax.spines["left"].set_visible(False)
    downwards = range(len(cases) - 1, -1, -1)
    names = [row.prior + ("" if row.converged else " (not converged)") for row in one.rows]
    style.name_rows(ax, downwards, [style.shorten(name, 26) for name in names])
    ax.xaxis.set_major_locator(MaxNLocator(4, min_n_ticks=2))


def _write_numbers(ax: Axes, one: Conclusion) -> None:
    """Mean, interval and probability of calibration at the right of each row."""
    for place, row in enumerate(reversed(one.rows)):
        lines = [f"{number(row.mean)} ({number(row.lower)} to {number(row.upper)})"]
        if one.var in schema.CALIBRATION_ERRORS and row.p_calibrated is not None:
            lines.append(f"P(0) {relation(row.p_calibrated)}")
        ax.annotate(
            "\n".join(lines),
            (1, place + 0.12),
            xycoords=("axes fraction", "data"),
            xytext=(8, 0),
            textcoords="offset points",
            va="center",
            fontsize=style.SMALL_SIZE,
            color=style.INK,
            annotation_clip=False,
        )


def _legend(figure: Figure, found: list[Conclusion], prob: float) -> None:
    # No prior gives perfect calibration a probability in metrics.
    error = any(row.p_calibrated is not None for one in found for row in one.rows)
    error = error and found[0].var in schema.CALIBRATION_ERRORS
    entries: dict[str, Artist] = {
        "posterior if miscalibrated" if error else "posterior": Patch(
            facecolor=style.BLUE, alpha=0.25
        ),
        f"mean and {percent(prob)} interval": style.interval_line(),
    }
    if error and any((row.p_calibrated or 0.0) >= _SEEN for one in found for row in one.rows):
        entries["P(0): probability of perfect calibration"] = style.line(
            color=style.INK, linewidth=4
        )
    entries["mean under the first prior"] = style.line(
        color=style.GREY, linewidth=1.0, linestyle=_SAME_DASH
    )
    if found[0].threshold is not None:
        entries[f"threshold {found[0].threshold:g}"] = style.line(
            color=style.VERMILLION, linewidth=1.3, linestyle=_PLUG_DASH
        )
    style.legend(figure, entries)


def _posterior_name(tree: xr.DataTree) -> str | None:
    """Which error the posterior's ends along the class prior are of."""
    return next(
        (name for name in ("tce", "ece") if _has(tree, f"{name}_lower", f"{name}_upper")), None
    )


def _has(tree: xr.DataTree, *names: str) -> bool:
    return all(access.has_variable(tree, schema.SENSITIVITY, name) for name in names)


def _draw_curve(ax: Axes, tree: xr.DataTree, case: ResultSlice) -> None:
    def along(name: str) -> xr.DataArray:
        return access.variable(tree, schema.SENSITIVITY, name, case)

    x = along("class_prior").values
    if _has(tree, "envelope_lower", "envelope_upper"):
        lower, upper = along("envelope_lower").values, along("envelope_upper").values
        ax.fill_between(x, lower, upper, color=style.PALE, alpha=0.6, linewidth=0)
    error = _posterior_name(tree)
    if error is not None:
        lower, upper = along(f"{error}_lower").values, along(f"{error}_upper").values
        ax.fill_between(x, lower, upper, color=style.BLUE, alpha=0.25, linewidth=0)
        if _has(tree, f"{error}_mean"):
            ax.plot(x, along(f"{error}_mean").values, color=style.BLUE, linewidth=1.4)
    ax.plot(x, along("ece").values, color=style.VERMILLION, linewidth=1.4, linestyle=_PLUG_DASH)
    style.dress(ax, grid="y")
    ax.set_xlim(x[0], x[-1])
    ax.set_ylim(0, None)
    ax.xaxis.set_major_locator(MaxNLocator(4, min_n_ticks=2))
    _draw_belief(ax, tree, case)


def _draw_belief(ax: Axes, tree: xr.DataTree, case: ResultSlice) -> None:
    """Central 90% of the class prior after the data, as a bar on the axis."""
    if not access.has_variable(tree, schema.POSTERIOR, "class_prior"):
        return
    draws = access.variable(tree, schema.POSTERIOR, "class_prior", case).values
    low, high = np.quantile(draws, (0.05, 0.95))
    across = ax.get_xaxis_transform()
    for x, marker in (((low, high), ""), ((draws.mean(),), "|")):
        ax.plot(
            x,
            (0,) * len(x),
            color=style.INK,
            linewidth=4,
            solid_capstyle="butt",
            marker=marker,
            markersize=12,
            transform=across,
            clip_on=False,
        )


def _curve_legend(figure: Figure, tree: xr.DataTree) -> None:
    entries: dict[str, Artist] = {
        "plug-in ECE": style.line(color=style.VERMILLION, linewidth=1.4, linestyle=_PLUG_DASH)
    }
    if _has(tree, "envelope_lower", "envelope_upper"):
        entries["range of the plug-in by Theorem 2"] = Patch(facecolor=style.PALE, alpha=0.6)
    error = _posterior_name(tree)
    if error is not None:
        entries[f"{error.upper()} if miscalibrated and the class prior known, 90%"] = Patch(
            facecolor=style.BLUE, alpha=0.25
        )
    if access.has_variable(tree, schema.POSTERIOR, "class_prior"):
        entries["class prior after the data, 90%"] = style.line(
            color=style.INK, linewidth=4, marker="|", markersize=12
        )
    style.legend(figure, entries)
