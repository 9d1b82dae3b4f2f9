"""Point estimates of every case, with NumPy alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from bayescal.cli import data as data_
from bayescal.cli.options import Bins, Data

if TYPE_CHECKING:
    from bayescal.core.bins.bin_counts import BinCounts
    from bayescal.core.scores import Task

Row = dict[str, Any]


def estimate_rows(data: Data, bins: Bins) -> list[Row]:
    """Estimate each classifier's calibration error, class by class and group by group."""
    if data_.streams(data):
        counted = data_.stream(data, bins)
        return [_row({"classifier": name}, found.bins) for name, found in counted.items()]
    from bayescal.core.bins.binning import bin_scores

    tasks = data_.read(data).tasks(data.multiclass or "top-label")
    rows = [
        _row(
            dict(part.coords),
            bin_scores(part, n_bins=bins.n_bins, strategy=bins.strategy, closed=bins.closed),
        )
        for task in tasks
        for part in _by_group(task)
    ]
    return _averaged(rows) if data.multiclass == "marginal" else rows


def _by_group(task: Task) -> Iterator[Task]:
    if task.group is None:
        yield task
        return
    from bayescal.core.scores import Task

    for code, name in enumerate(task.groups):
        rows = task.group == code
        if rows.any():
            yield Task({**task.coords, "group": name}, task.score[rows], task.event[rows])


def _row(coords: dict[str, str], counts: BinCounts) -> Row:
    from bayescal.quantities.ece.estimator import estimate

    found = estimate(counts)
    return {
        "case": " / ".join(coords.values()),
        **coords,
        "n": counts.n,
        "ece_point": float(found.ece),
        "mce_point": float(found.mce),
        "l2": float(found.l2),
        "l2_debiased": float(found.l2_debiased),
    }


def _averaged(rows: list[Row]) -> list[Row]:
    """Average over classes: the marginal calibration error."""
    cases: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        cases.setdefault((row["classifier"], row.get("group", "")), []).append(row)
    return [_mean(parts) for parts in cases.values()]


def _mean(parts: list[Row]) -> Row:
    first = {name: value for name, value in parts[0].items() if name != "class"}
    first["case"] = " / ".join(first[name] for name in ("classifier", "group") if name in first)
    numbers = ("ece_point", "mce_point", "l2", "l2_debiased")
    return first | {name: sum(part[name] for part in parts) / len(parts) for name in numbers}
