"""``bayescal report``: one HTML file from a table, window by window if wished, or from results."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import batched
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from bayescal.cli import options, run
from bayescal.cli.options import MEASURE, RESULT, ROWS, SEED
from bayescal.cli.output import (
    FAILED,
    NOT_CONVERGED,
    OK,
    as_options,
    check_target,
    say_written,
    warn,
    with_options,
)
from bayescal.core.checks import check_known, check_number, check_whole
from bayescal.core.command import COUNTS, Command, Given, Option, are_counts, files_of
from bayescal.core.errors import InputError
from bayescal.quantities import of_tables
from bayescal.report import ENDINGS

if TYPE_CHECKING:
    from bayescal.core.count_table import CountTable
    from bayescal.core.quantity import Quantity
    from bayescal.core.scores import Scores
    from bayescal.results.change import Change
    from bayescal.workflow.fit_many import ManyFits


_WINDOW: Final = Option(
    flags=("--window",),
    metavar="COLUMN",
    help="Column of the window of time of each row, such as 2025-03: a report on calibration over "
    "time, for each group and classifier.",
)
_BY_FILE: Final = Option(
    flags=("--by-file",),
    is_flag=True,
    help="Each file of counts is a window of time, named as the file, in the order given.",
)
_SPAN: Final = Option(
    flags=("--span",),
    type=int,
    default=1,
    metavar="NUMBER",
    help="With --by-file: files that one window adds up, such as 7 days.",
)
_POOL: Final = Option(
    flags=("--pool",),
    is_flag=True,
    help="With windows: one model for all windows of a group, which share what they have in "
    "common. Without it each window is fitted by itself.",
)
_PROCESSES: Final = Option(
    flags=("--processes",), type=int, default=1, help="With windows: number of processes."
)
_BASELINE: Final = Option(
    flags=("--baseline",),
    metavar="WINDOW",
    help="With windows: the one that all others are compared with, the first of each series by "
    "default.",
)
_ALARM: Final = Option(
    flags=("--alarm",),
    type=float,
    default=0.95,
    help="With windows: least probability of an error above that of the baseline that is an "
    "alarm, from 0.5 to 1.",
)
_WINDOW_OPTIONS: Final = (_WINDOW, _BY_FILE, _SPAN, _POOL, _PROCESSES, _BASELINE, _ALARM)


class _Windows(NamedTuple):
    """Data by key, and the windows in order; pooled, a key is a group, and windows are its own."""

    data: Mapping[Any, Scores | CountTable]
    order: tuple[str, ...]


def _of_windows(quantity: Quantity, given: Given, output: Path, title: str) -> int:
    """Read, fit, write the report, and say what failed."""
    from bayescal.core.tables import open_table
    from bayescal.report.page import windows_report
    from bayescal.results.change import series_of

    check_number(given["alarm"], "alarm", "[0.5, 1]", "Pass 0.95, say.")
    by_file = given["by_file"]
    found = _counted(given) if by_file else _read(open_table(given["file"]), given)
    if given["baseline"] is not None:
        where = "the list of files" if by_file else f"column {given['window']!r}"
        check_known(given["baseline"], found.order, "window", where)
    with run.checkpoint(given["checkpoint"], output) as store:
        fits = _fit(quantity, given, found, store)
        changes = _changes(fits, found, given)
        series = series_of(_rows(fits, found), found.order, changes)
        measured, failures = [], dict[str, str]()
        for key, failure in fits.failures.items():
            failures[_name(key)] = as_options(failure.message, _OPTIONS)
        for spec in given[MEASURE.name]:
            lost: dict[tuple[str, str], str] = {}
            measured.append(_changes(fits, found, given, spec, lost))
            failures |= {f"{spec} of {_name(key)}": message for key, message in lost.items()}
        left_out = _left_out(fits, found)
        windows_report(
            series,
            found.order,
            failures | left_out,
            output,
            title=title,
            prob=given["prob"],
            provenance=_provenance(given, found, quantity.COMMAND),
            measured=measured,
        )
    say_written([output], err=False)
    for name, why in left_out.items():
        warn(f"{name} is left out: {why}")
    return _code(fits, failures, given["quick"])


def _left_out(fits: ManyFits, found: _Windows) -> dict[str, str]:
    """Windows without a label, which a model of all windows has no number of."""
    from bayescal.results import access

    groups = [(key, fits[key]) for key in fits if not isinstance(key, tuple)]
    return {
        _name((str(key), window)): "none of its rows has a label."
        for key, tree in groups
        for window in found.data[key].groups
        if window not in access.group_names(tree)
    }


def _read(table: Any, given: Given) -> _Windows:
    """Split the rows of a table by group and window, or by group alone."""
    import numpy as np

    from bayescal.core.command import labeled_scores, score_columns
    from bayescal.core.intake import Column, code_groups
    from bayescal.core.scores import select_rows

    names = [name for name in (given["group"], given["window"]) if name is not None]
    columns = score_columns(given, table)
    values = table.with_words(*names).read(names)
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


def _counted(given: Given) -> _Windows:
    """Add up the counts of each window, by group and window, or by group alone."""
    from bayescal.core.checks import check_unique
    from bayescal.core.command import sum_of
    from bayescal.core.count_table import CountTable

    files, data = files_of(given), dict[Any, dict[str, CountTable]]()
    check_unique([path.stem for path in files], "window")
    order = []
    for part in batched(files, check_whole(given["span"], "span")):
        names = dict.fromkeys(path.stem for path in (part[0], part[-1]))
        order.append(" to ".join(names))
        table = sum_of({"file": part})
        for group, own in (table.by_group() if table.groups else {"": table}).items():
            data.setdefault(group, {})[order[-1]] = own
    if "" in data and len(data) > 1:
        raise InputError("files must all have groups, or none; got some of both. Count all alike.")
    if not given["pool"]:
        parts = {(group, window): own[window] for group, own in data.items() for window in own}
        return _Windows(parts, tuple(order))
    pooled = {}
    for group, windows in data.items():
        # Counts by classifier, with windows as groups.
        by_name: dict[str, dict[str, Any]] = {}
        for window, table in windows.items():
            for name, counts in table.items():
                by_name.setdefault(name, {})[window] = counts
        pooled[group] = CountTable(by_name)
    return _Windows(pooled, tuple(order))


def _fit(quantity: Quantity, given: Given, found: _Windows, store: Path) -> ManyFits:
    from bayescal.core.errors import ConvergenceWarning, ManyFitsWarning, ignored
    from bayescal.workflow.fit_many import fit_many

    command: Command = quantity.COMMAND
    # Said below, in terms of the report.
    with ignored(ConvergenceWarning, ManyFitsWarning):
        return fit_many(
            quantity,
            found.data,
            priors=command.priors_of(given, found.data),
            store=store,
            executor=None if given["processes"] == 1 else given["processes"],
            keep="draws" if given[MEASURE.name] else "scalars",
            **run.settings_of(given),
            **run.plan_options(quantity, given),
        )


def _rows(fits: ManyFits, found: _Windows) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Rows of the summaries, each with its group and window."""
    for key, rows in fits.rows.items():
        for row in rows:
            if isinstance(key, tuple):
                yield str(key[0]), str(key[1]), row
            else:
                # Of one window alone there is no dimension of groups.
                yield str(key), row.get("group", found.data[key].groups[0]), row


def _changes(
    fits: ManyFits,
    found: _Windows,
    given: Given,
    var: str | None = None,
    lost: dict[tuple[str, str], str] | None = None,
) -> dict[tuple[str, str], Change]:
    """Change of each classifier of each group; where a measure has no value goes into `lost`."""
    keys, changes = set(fits), {}
    for group in dict.fromkeys(key[0] if isinstance(key, tuple) else key for key in fits):
        apart = [window for window in found.order if (group, window) in keys]
        results = {window: fits[group, window] for window in apart} if apart else fits[group]
        for classifier, number, changed in _of_group(results, apart, given, var):
            key = str(group), classifier
            try:
                with warnings.catch_warnings(record=True, action="always") as caught:
                    changes[key] = changed()
            except InputError as error:
                if lost is None:
                    raise
                lost[key] = str(error)
            else:
                said = " ".join(str(one.message) for one in caught)
                if lost is not None and len(changes[key].windows) < number:
                    lost[key] = said
                elif lost is not None and said:
                    warn(f"{var} of {_name(key)}: {said}")
    return changes


def _of_group(
    results: Any, apart: Sequence[str], given: Given, var: str | None
) -> Iterator[tuple[str, int, Callable[[], Change]]]:
    """Windows and change of each classifier, where there is the baseline and another window."""
    from bayescal.results import access
    from bayescal.results.change import change

    how = {name: given[name] for name in ("prob", "baseline", "alarm")}
    each = [results[window] for window in apart] if apart else [results]
    for name in dict.fromkeys(name for one in each for name in access.classifier_names(one)):
        own = results
        if apart:
            # Files of counts need not all have the same classifiers.
            held = [one for one in apart if name in access.classifier_names(results[one])]
            own = {window: results[window] for window in held}
        windows = list(own) if apart else access.group_names(results)
        if len(windows) > 1 and given["baseline"] in (None, *windows):
            yield name, len(windows), partial(change, own, var, classifier=name, **how)


def _name(key: Any) -> str:
    """What a fit is of; that of all rows has no group."""
    parts = key if isinstance(key, tuple) else (key,)
    return " / ".join(filter(None, parts)) or "the model of all windows"


def _provenance(given: Given, found: _Windows, command: Command) -> dict[str, str]:
    how = "one model for all windows of a group" if given["pool"] else "each window by itself"
    how += "; without MCMC" if given["quick"] else ""
    priors = command.priors_of(given, found.data)
    files = [path.name for path in files_of(given)]
    windows = f"column {given['window']!r}"
    if given["by_file"]:
        windows = "a file of counts each" if given["span"] == 1 else f"{given['span']} files each"
    return {
        "Data": files[0] if len(files) == 1 else f"{files[0]} to {files[-1]}",
        "Windows": f"{windows}; {how}",
        "Baseline": given["baseline"] or "the first window of each series",
        "Priors": priors.describe(),
        "Seed": str(given["seed"]),
    }


def _code(fits: ManyFits, failures: Mapping[str, str], quick: bool) -> int:
    from bayescal.results.schema import DIRECT_REMEDY, REMEDY

    for name, message in failures.items():
        warn(f"{name} could not be fitted: {message}")
    if fits.unconverged:
        remedy = as_options(DIRECT_REMEDY if quick else REMEDY, _OPTIONS)
        warn(f"NOT CONVERGED, do not use: {', '.join(map(_name, fits.unconverged))}. {remedy}")
    if failures:
        return FAILED
    return NOT_CONVERGED if fits.unconverged else OK


def _check_windows(given: Given, files: tuple[Path, ...]) -> None:
    from bayescal.measures import resolve

    if given["by_file"]:
        if not are_counts({**given, "file": files}):
            raise click.UsageError("--by-file needs files of counts, of bayescal count.")
        if given["window"] is not None:
            raise click.UsageError("--window names a column; with --by-file leave it out.")
    elif given["span"] != _SPAN.default:
        raise click.UsageError("--span needs --by-file.")
    elif given["window"] is not None and any(path.suffix.casefold() == COUNTS for path in files):
        raise click.UsageError("--window names a column of a table; of counts add --by-file.")
    check_whole(given["processes"], _PROCESSES.flag, most=1024)
    windows = given["by_file"] or given["window"] is not None
    for option in (_POOL, _PROCESSES, _BASELINE, _ALARM):
        if not windows and (given[option.name] or False) != (option.default or False):
            raise click.UsageError(f"{option.flag} needs --window, or --by-file.")
    if not windows:
        return
    if given["multiclass"]:
        raise InputError(
            "--window needs binary scores; got --multiclass. In Python, bayescal.fit_many fits "
            f'windows with multiclass="{given["multiclass"]}", and bayescal.change compares them.'
        )
    for spec in given[MEASURE.name]:
        if resolve(spec).better is None:
            rule = "with windows it must be one of which more or less is better"
            raise click.UsageError(f"--measure {spec}: {rule}, such as e90 or brier.")
    if len(files) > 1 and not given["by_file"]:
        raise click.UsageError("--window takes one table of scores.")


_OUTPUT: Final = Option(
    flags=("-o", "--output"), type=Path, default=Path("calibration.html"), help="The report."
)
_TITLE: Final = Option(flags=("--title",), default="Calibration report", help="Its heading.")
_QUANTITY: Final = of_tables()
_OPTIONS: Final = (*options.report_options(_QUANTITY.COMMAND), *_WINDOW_OPTIONS)


def _report(files: tuple[Path, ...], output: Path, title: str, **given: Any) -> int:
    check_target(output, ENDINGS, ".html")
    _check_windows(given, files)
    others = [path for path in files if path.suffix.casefold() != RESULT]
    if len(others) < len(files):
        if others:
            raise click.UsageError(
                f"a report takes results (.nc) or one table of scores; got {others[0].name!r} "
                "among results."
            )
        run.check_of_result(_QUANTITY.COMMAND, given, SEED, _WINDOW)
        return _of_results(files, output, title, given)
    data = {**given, "file": files[0] if len(files) == 1 else files}
    with run.in_terms_of(_OPTIONS):
        options.check_required(_QUANTITY.COMMAND, data)
        if given["by_file"] or given["window"] is not None:
            return _of_windows(_QUANTITY, data, output, title)
    fixed = {"output": (output,), "report": None, "estimate_only": False, "json": False}
    return run.run_fit(_QUANTITY, {**data, **fixed}, title)


def _of_results(files: Sequence[Path], output: Path, title: str, given: Given) -> int:
    """Bring results together, and say what is wrong with any of them."""
    from bayescal.report import report
    from bayescal.results.io import load

    with run.in_terms_of(_OPTIONS):
        trees = [load(path) for path in files]
        prob, measures = given["prob"], given[MEASURE.name]
        shown = [with_options(tree, _OPTIONS) for tree in trees]
        written = report(shown, output, title=title, prob=prob, measures=measures)
        say_written([written], err=False)
        named = zip(files, trees, strict=True)
        return max(run.status_code(tree, _OPTIONS, f"{path.name}: ") for path, tree in named)


report = click.Command(
    "report",
    params=[
        click.Argument(["files"], type=ROWS, nargs=-1, required=True, metavar="FILE..."),
        *(options.click_option(option) for option in (*_OPTIONS, _OUTPUT, _TITLE)),
    ],
    callback=_report,
    short_help="Write a calibration report, one HTML file.",
    help="Write a calibration report: one HTML file that needs no network. FILE is a table of "
    "scores, CSV or Parquet, to be fitted first, window by window with --window; rows without a "
    "label are left out. FILE... may be counts of bayescal count, which are added up, or windows "
    "with --by-file. Or FILE... are results (.nc) that other commands kept, of whatever quantity: "
    "the report brings them together.",
)
