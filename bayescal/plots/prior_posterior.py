"""Prior against posterior of a calibration error."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from bayescal.core.errors import InputError
from bayescal.plots import style
from bayescal.plots.density import density
from bayescal.plots.kind import check_kind
from bayescal.plots.posterior import name_below, panels
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice


def plot_prior_posterior(tree: xr.DataTree, var: str = "ece") -> Figure:
    """Overlay the prior and the posterior density of a calibration error, one panel a case.

    Parameters
    ----------
    tree : xarray.DataTree
        A result with a group `prior`.
    var : {"ece", "tce", "mce"}
        Which error.

    Returns
    -------
    matplotlib.figure.Figure
        Both densities given miscalibration, each scaled to one height.

    Raises
    ------
    InputError
        If the result has no prior draws, or no such variable.
    """
    check_kind(tree, "errors", "a prior against a posterior of calibration errors")
    found = access.cases(tree)
    if schema.PRIOR not in tree.children:
        raise InputError(
            "prior against posterior needs the group 'prior', which this result does not have. "
            "Draw from the prior: pymc.sample_prior_predictive on the model of build_model."
        )
    figure, axes = panels(tree, found)
    for ax, case in zip(axes, found, strict=True):
        _draw_panel(ax, tree, var, case)
        style.case_title(ax, tree, case)
    name_below(axes, var.upper())
    entries: dict[str, Artist] = {
        "prior, scaled to its peak": Patch(facecolor=style.GREY, alpha=0.35),
        "posterior, scaled to its peak": Patch(facecolor=style.BLUE, alpha=0.3),
    }
    style.legend(figure, entries)
    return figure


def _draw_panel(ax: Axes, tree: xr.DataTree, var: str, case: ResultSlice) -> None:
    prior = access.variable(tree, schema.PRIOR, var, case).values
    posterior = access.variable(tree, schema.POSTERIOR, var, case).values
    # Of a long prior less is shown, or else the posterior is no more than a line.
    ends = ((prior, 0.9), (posterior, 0.98))
    limit = 1.05 * max(float(np.nanquantile(draws, level)) for draws, level in ends)
    x = np.linspace(0, max(limit, 1e-6), 400)
    _draw_density(ax, x, prior, style.GREY, 0.35)
    _draw_density(ax, x, posterior, style.BLUE, 0.3)
    style.dress(ax)
    ax.set_xlim(0, x[-1])
    ax.set_ylim(0, 1.08)
    ax.spines["left"].set_visible(False)
    ax.set_yticks([])
    ax.xaxis.set_major_locator(MaxNLocator(4, min_n_ticks=2))


def _draw_density(
    ax: Axes, x: NDArray[np.float64], draws: NDArray[np.float64], colour: str, alpha: float
) -> None:
    height = density(draws, x)
    if height.max() > 0:
        height = height / height.max()
        ax.fill_between(x, 0, height, color=colour, alpha=alpha, linewidth=0)
        ax.plot(x, height, color=colour, linewidth=1.2)
    else:
        ax.plot((draws.flat[0],) * 2, (0, 1), color=colour, linewidth=1.6)
