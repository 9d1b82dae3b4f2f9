"""``bayescal report --window``: a fit for each window of time, and their report."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from bayescal.cli.errors import FAILED, NOT_CONVERGED, OK, Interrupted, warn
from bayescal.cli.output import say_written
from bayescal.core.command import Command, Given, Option
from bayescal.core.errors import InputError
from bayescal.core.writing import check_writable

if TYPE_CHECKING:
    from bayescal.core.quantity import Quantity
    from bayescal.core.scores import Scores
    from bayescal.workflow.many_fits import ManyFits

WINDOW: Final = Option(
    flags=("--window",),
    metavar="COLUMN",
    help="Column of the window of time of each row, such as 2025-03: a report on calibration over "
    "time, for each group and classifier.",
)
POOL: Final = Option(
    flags=("--pool",),
    is_flag=True,
    help="With --window: one model for all windows of a group, which share what they have in "
    "common. Without it each window is fitted by itself.",
)
PROCESSES: Final = Option(
    flags=("--processes",), type=int, default=1, help="With --window: number of processes."
)
OPTIONS: Final = (WINDOW, POOL, PROCESSES)


class _Windows(NamedTuple):
    """Data by key, and the windows in order; pooled, a key is a group, and windows are its own."""

    data: Mapping[Any, Scores]
    order: tuple[str, ...]


def run_windows(quantity: Quantity, given: Given, output: Path, title: str) -> int:
    """Read, fit, write the report, and say what failed."""
    from bayescal.core.tables import open_table
    from bayescal.report.windows import windows_report
    from bayescal.results.windows import series_of

    check_writable(output)
    found = _read(open_table(given["file"]), given)
    with _store(given["checkpoint"], output) as store:
        fits = _fit(quantity, given, found, store)
        series = series_of(_rows(fits, found), found.order)
        windows_report(
            series,
            found.order,
            {_name(key): why.message for key, why in fits.failures.items()},
            output,
            title=title,
            prob=given["prob"],
            provenance=_provenance(given, found, quantity.COMMAND),
        )
    say_written([output], err=False)
    return _code(fits)


def _read(table: Any, given: Given) -> _Windows:
    """Split the rows of a table by group and window, or by group alone."""
    import numpy as np

    from bayescal.core.intake import Column, code_groups
    from bayescal.core.score_options import labeled_scores, score_columns
    from bayescal.core.scores import select_rows

    names = [name for name in (given["group"], given["window"]) if name is not None]
    columns = score_columns(given, table)
    values = table.read(names)
    n_rows = len(values[names[0]])

    def coded(name: str) -> tuple[Any, tuple[str, ...]]:
        where = f"column {name!r} of {table.path.name}"
        return code_groups(values[name], where, n_rows, "the table")

    window, order = coded(given["window"])
    group, groups = (
        (np.zeros(n_rows, np.int32), ("",)) if given["group"] is None else coded(given["group"])
    )
    pair = Column("group and window", group.astype(np.int64) * len(order) + window)
    scores = labeled_scores(given, table, columns, pair)
    of_row = np.array([int(name) for name in scores.groups])[scores.group]
    group, window = of_row // len(order), of_row % len(order)
    if not given["pool"]:
        parts = {divmod(int(name), len(order)): one for name, one in scores.by_group().items()}
        return _Windows({(groups[g], order[w]): one for (g, w), one in parts.items()}, order)
    data = {}
    for place, name in enumerate(groups):
        rows = np.flatnonzero(group == place)
        if len(rows):
            there, codes = np.unique(window[rows], return_inverse=True)
            own = tuple(order[w] for w in there)
            data[name] = select_rows(scores, rows, codes.astype(np.int32), own)
    return _Windows(data, order)


def _fit(quantity: Quantity, given: Given, found: _Windows, store: Path) -> ManyFits:
    import warnings

    from bayescal.core.errors import ConvergenceWarning, ManyFitsWarning
    from bayescal.workflow.fit_many import fit_many

    command: Command = quantity.COMMAND
    names = ("prob", "draws", "tune", "target_accept", "seed")
    with warnings.catch_warnings():
        # Said below, in terms of the report.
        for kind in (ConvergenceWarning, ManyFitsWarning):
            warnings.simplefilter("ignore", kind)
        return fit_many(
            quantity,
            found.data,
            priors=command.priors(given, found.data),
            method="direct" if given["quick"] else "nuts",
            store=store,
            executor=None if given["processes"] == 1 else given["processes"],
            keep="scalars",
            **{name: given[name] for name in names},
            **command.plan_options(given),
        )


@contextmanager
def _store(chosen: Path | None, output: Path) -> Iterator[Path]:
    """Where fits are kept: with --checkpoint for good, otherwise until the report is written."""
    store = chosen or output.with_name(output.name + ".partial")
    try:
        yield store
    except KeyboardInterrupt as interrupt:
        finished = len(list(store.glob("fits/*.npz")))
        raise Interrupted(
            f"interrupted; finished results ({finished}) are in {store.resolve()}. The same "
            "command goes on from there."
        ) from interrupt
    if chosen is None:
        shutil.rmtree(store)


def _rows(fits: ManyFits, found: _Windows) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Rows of the summaries, each with its group and window."""
    for key, rows in fits.rows.items():
        for row in rows:
            if isinstance(key, tuple):
                yield str(key[0]), str(key[1]), row
            else:
                # Of one window alone there is no dimension of groups.
                yield str(key), row.get("group", found.data[key].groups[0]), row


def _name(key: Any) -> str:
    return " / ".join(part for part in (key if isinstance(key, tuple) else (key,)) if part)


def _provenance(given: Given, found: _Windows, command: Command) -> dict[str, str]:
    how = "one model for all windows of a group" if given["pool"] else "each window by itself"
    priors = command.priors(given, found.data)
    return {
        "Data": Path(given["file"]).name,
        "Windows": f"column {given['window']!r}; {how}",
        "Priors": priors.describe(),
        "Seed": str(given["seed"]),
    }


def _code(fits: ManyFits) -> int:
    for key, why in fits.failures.items():
        warn(f"{_name(key)} could not be fitted: {why.message}")
    if fits.unconverged:
        warn(f"NOT CONVERGED, do not use: {', '.join(map(_name, fits.unconverged))}")
    if fits.failures:
        return FAILED
    return NOT_CONVERGED if fits.unconverged else OK


def check_windows(given: Given, files: tuple[Path, ...]) -> None:
    """Refuse options that windows do not go with."""
    for option in (POOL, PROCESSES):
        if given["window"] is None and given[option.name] != (option.default or False):
            raise click.UsageError(f"{option.flag} needs --window.")
    if given["window"] is not None and given["multiclass"]:
        raise InputError("--window needs binary scores. Leave out --multiclass.")
    if given["window"] is not None and len(files) > 1:
        raise click.UsageError("--window takes one table of scores.")
