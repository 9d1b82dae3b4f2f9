"""Conventions of the expected calibration error: which score is binned, and how bins count."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from bayescal.core.bins.edges import OPTIMAL, bin_edges, effective_number, resolved_number
from bayescal.core.checks import check_choice
from bayescal.core.errors import InputError
from bayescal.core.functionals import expected_calibration_error, maximum_calibration_error
from bayescal.core.quantity import Floats


class Convention(NamedTuple):
    """How an expected calibration error is defined."""

    strategy: str  # bins of equal mass ("quantile") or of equal width ("uniform")
    n_bins: int | str  # "optimal" follows the number of rows
    mass_weighted: bool  # else all bins that hold rows count alike
    top_label: bool  # the largest probability and being right, else the positive score and class


CONVENTIONS: Final = {
    "equal-mass": Convention("quantile", 10, mass_weighted=False, top_label=False),
    "equal-width": Convention("uniform", 15, mass_weighted=True, top_label=False),
    "top-label": Convention("uniform", 15, mass_weighted=True, top_label=True),
    "equal-mass-optimal": Convention("quantile", OPTIMAL, mass_weighted=True, top_label=False),
    "equal-width-optimal": Convention("uniform", OPTIMAL, mass_weighted=True, top_label=False),
    "top-label-optimal": Convention("uniform", OPTIMAL, mass_weighted=True, top_label=True),
}


def convention_name(name: str | None, n_classes: int) -> str:
    """Name the convention of the calibration errors."""
    if name is None:
        return "equal-mass" if n_classes == 2 else "top-label"
    check_choice(name, tuple(CONVENTIONS), "ece")
    if n_classes > 2 and not CONVENTIONS[name].top_label:
        raise InputError(
            f"ece={name!r} bins the score of the positive class and needs 2 classes; "
            f"got {n_classes}. Use ece='top-label'."
        )
    return name


def membership(score: Floats, convention: Convention, weight: Floats | None = None) -> Floats:
    """Say which right-closed bin each row is in, (obs, bin)."""
    n_bins = resolved_number(convention.n_bins, effective_number(len(score), weight))
    edges = bin_edges(score, n_bins, convention.strategy, weight)
    place = np.searchsorted(edges[1:-1], score, side="left")
    nonempty, column = np.unique(place, return_inverse=True)
    found = np.zeros((len(score), len(nonempty)))
    found[np.arange(len(score)), column] = 1.0
    return found


def moments(score: Floats, bins: Floats) -> Floats:
    """Of each row its bin, and its score in the column of its bin, (obs, 2 * bin)."""
    return np.concatenate([bins, bins * score[:, np.newaxis]], axis=1)


def binned_errors(
    of_rows: Floats, event: Floats, weight: Floats, *, mass_weighted: bool
) -> tuple[Floats, Floats]:
    """Expected and maximum calibration error; `of_rows` is of `moments`, the rest (draw, obs)."""
    bins, _ = np.split(of_rows, 2, axis=1)
    mass, scored = np.split(weight @ of_rows, 2, axis=1)
    # A bin without weight has sums of 0, and so a rate and a confidence of 0.
    divisor = np.maximum(mass, np.finfo(np.float64).tiny)
    rate, confidence = event @ bins / divisor, scored / divisor
    share = mass if mass_weighted else (mass > 0).astype(np.float64)
    share = share / share.sum(axis=1, keepdims=True)
    return (
        np.asarray(expected_calibration_error(share, rate, confidence)),
        np.asarray(maximum_calibration_error(mass, rate, confidence)),
    )
