"""Binned calibration errors of one score under many label draws at once."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.bins.edges import bin_edges


class Convention(NamedTuple):
    """How an expected calibration error is defined.

    Parameters
    ----------
    strategy : {"quantile", "uniform"}
        Bins of equal mass or of equal width.
    n_bins : int
        Number of bins.
    mass_weighted : bool
        Whether a bin counts by its mass; else all bins that hold rows count alike.
    top_label : bool
        Whether the score is the largest probability and the event being right; else the score is
        that of the positive class.
    """

    strategy: str
    n_bins: int
    mass_weighted: bool
    top_label: bool


CONVENTIONS: Final = {
    "equal-mass": Convention("quantile", 10, mass_weighted=False, top_label=False),
    "equal-width": Convention("uniform", 15, mass_weighted=True, top_label=False),
    "top-label": Convention("uniform", 15, mass_weighted=True, top_label=True),
}


def membership(score: NDArray[np.float64], convention: Convention) -> NDArray[np.float64]:
    """Say which right-closed bin each row is in, (obs, bin)."""
    edges = bin_edges(score, convention.n_bins, convention.strategy)
    place = np.searchsorted(edges[1:-1], score, side="left")
    held, column = np.unique(place, return_inverse=True)
    found = np.zeros((len(score), len(held)))
    found[np.arange(len(score)), column] = 1.0
    return found


def binned_errors(
    score: NDArray[np.float64],
    bins: NDArray[np.float64],
    event: NDArray[np.float64],
    weight: NDArray[np.float64],
    *,
    mass_weighted: bool,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Expected and maximum calibration error."""
    mass = weight @ bins
    surplus = np.abs((weight * score) @ bins - event @ bins)
    gap = np.divide(surplus, mass, out=np.zeros(surplus.shape), where=mass > 0)
    if mass_weighted:
        ece = surplus.sum(axis=1) / mass.sum(axis=1)
    else:
        ece = gap.sum(axis=1) / np.count_nonzero(mass > 0, axis=1)
    return ece, gap.max(axis=1)
