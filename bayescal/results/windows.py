"""Calibration over time: one number and its interval for each window of each series."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from bayescal.results import schema


class Window(NamedTuple):
    """What is known of one classifier (in one group) in one window of time."""

    name: str
    n: float
    mean: float
    lower: float
    upper: float
    p_calibrated: float | None
    converged: bool


class Series(NamedTuple):
    """One classifier (in one group) over time."""

    name: str
    windows: list[Window]


def series_of(
    rows: Iterable[tuple[str, str, dict[str, Any]]], order: Iterable[str], var: str = "tce"
) -> list[Series]:
    """Put rows of summaries in order: of each its group ("" for none), its window, and itself."""
    place = {name: at for at, name in enumerate(order)}
    found: dict[tuple[str, str], list[Window]] = {}
    for group, window, row in rows:
        one = Window(
            window,
            row["n"],
            row[f"{var}_mean"],
            row[f"{var}_lower"],
            row[f"{var}_upper"],
            row.get(schema.P_CALIBRATED),
            row["status"] == schema.OK,
        )
        found.setdefault((group, row["classifier"]), []).append(one)
    several = len({classifier for _, classifier in found}) > 1
    return [
        Series(
            " / ".join(filter(None, (group, classifier if several or not group else ""))),
            sorted(windows, key=lambda one: place[one.name]),
        )
        for (group, classifier), windows in sorted(found.items())
    ]
