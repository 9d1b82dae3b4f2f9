"""Use `bayescal.best` instead; to be removed once nothing imports it from here."""

from __future__ import annotations

import xarray as xr

from bayescal.results.best import best


def prob_best(
    tree: xr.DataTree, var: str = "tce", *, class_: str | None = None, group: str | None = None
) -> dict[str, float]:
    """Probability of each classifier that its calibration error is the smallest."""
    shares = best(tree, var, class_=class_, group=group).prob_best
    return {str(name): float(shares.sel(classifier=name)) for name in shares["classifier"].values}
