"""Class probabilities row by row: bounds, what they decide, and which classes stay open."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.intervals import tail

type Floats = NDArray[np.float64]

LABEL_CLASS = "label_class"
EVEN = 0.5
"""Probability above which one of two classes is the more probable one."""


class Rows(NamedTuple):
    """The target rows that a result holds, of one case; made by `read_rows`."""

    row: NDArray[np.int64]  # (obs,)
    curves: tuple[str, ...]
    classes: tuple[str, ...]
    score: Floats  # (obs, curve)
    median: Floats  # (obs, curve)
    lower: Floats  # (obs, curve)
    upper: Floats  # (obs, curve)
    p0: Floats  # (obs, curve)
    p1: Floats  # (obs, curve)
    merged: Floats  # (obs, curve)
    p_decision: Floats  # (obs, class)
    p_admissible: Floats  # (obs, class)
    is_open: NDArray[np.bool_]  # (obs, class)
    improper: NDArray[np.bool_]  # (obs,)
    p_improper: Floats  # (obs,)

    @property
    def decision(self) -> NDArray[np.intp]:
        """Place of the class most often decided on."""
        return np.asarray(self.p_decision.argmax(axis=1))

    @property
    def n_open(self) -> NDArray[np.int64]:
        """How many classes stay open in each row."""
        return np.asarray(self.is_open.sum(axis=1))

    @property
    def width(self) -> Floats:
        """Widths of the bounds, (obs, curve)."""
        return self.upper - self.lower


def read_rows(tree: xr.DataTree, case: ResultSlice, prob: float = 0.9) -> Rows:
    """Read the rows of one case.

    Notes
    -----
    With ``alpha = (1 - prob) / 2`` the bounds run from the alpha quantile of ``prob_lower`` to the
    1 - alpha quantile of ``prob_upper``. Of two classes one is ruled out where the bounds lie on
    the other's side of 1/2. Of more, classes are ruled out, the least often admissible ones first,
    as long as the posterior probability that any of them is admissible stays at or below alpha.
    """
    alpha = tail(prob)

    def draws(name: str) -> NDArray[np.float64]:
        held = access.variable(tree, schema.POSTERIOR, name, case).transpose(*schema.DRAW_DIMS, ...)
        return np.asarray(held.values).reshape(-1, *held.shape[2:])

    def plain(group: str, name: str) -> Floats:
        return _columns(access.variable(tree, group, name, case).values)

    binary = tree.attrs["multiclass"] == "binary"
    classes = tuple(map(str, access.json_attribute(tree, "classes")))
    lower = _columns(np.quantile(draws("prob_lower"), alpha, axis=0))
    upper = _columns(np.quantile(draws("prob_upper"), 1 - alpha, axis=0))
    admissible = draws("admissible").astype(bool)
    decided = draws("decision")
    proper = draws("proper").mean(axis=0) if not binary else np.ones(len(lower))
    open_ = np.hstack([lower <= EVEN, upper >= EVEN]) if binary else _open(admissible, alpha)
    return Rows(
        row=access.variable(tree, schema.CONSTANT_DATA, "target_row", case).values,
        curves=classes[1:] if binary else classes,
        classes=classes,
        score=plain(schema.CONSTANT_DATA, "target_score"),
        median=_columns(np.median(draws("prob"), axis=0)),
        lower=lower,
        upper=upper,
        p0=plain(schema.POINT_ESTIMATE, "p0"),
        p1=plain(schema.POINT_ESTIMATE, "p1"),
        merged=plain(schema.POINT_ESTIMATE, "prob"),
        p_decision=np.stack([(decided == k).mean(axis=0) for k in range(len(classes))], axis=1),
        p_admissible=admissible.mean(axis=0),
        is_open=open_,
        improper=access.variable(tree, schema.POINT_ESTIMATE, "improper", case).values.astype(bool),
        p_improper=1 - proper,
    )


def _columns(values: NDArray[np.float64]) -> Floats:
    """A row's values side by side, one where there is one curve."""
    return np.asarray(values if values.ndim == 2 else values[:, np.newaxis], dtype=np.float64)


def _open(admissible: NDArray[np.bool_], alpha: float) -> NDArray[np.bool_]:
    """Classes that cannot be ruled out together at probability alpha, (obs, class)."""
    order = np.argsort(admissible.mean(axis=0), axis=-1, kind="stable")
    ascending = np.take_along_axis(admissible, order[np.newaxis], axis=-1)
    any_of_these = np.logical_or.accumulate(ascending, axis=-1).mean(axis=0)
    found = np.empty(order.shape, bool)
    # In every draw one class is admissible, so that the last one never goes.
    np.put_along_axis(found, order, any_of_these > alpha, axis=-1)
    return found


def evenly(values: NDArray[Any], most: int) -> NDArray[np.intp]:
    """Places of at most so many values, evenly spaced in ascending order."""
    order = np.argsort(values, kind="stable")
    return order[np.linspace(0, len(order) - 1, min(len(order), most)).round().astype(np.intp)]
