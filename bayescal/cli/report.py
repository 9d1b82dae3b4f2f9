"""``bayescal report``: one HTML file from a table of scores, or from results that are kept."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import click

from bayescal.cli.options import PATH, click_option, report_options
from bayescal.cli.output import check_report, say_written
from bayescal.cli.run import in_terms_of, run_fit, status_code
from bayescal.cli.windows import OPTIONS as WINDOW_OPTIONS
from bayescal.cli.windows import WINDOW, check_windows, run_windows
from bayescal.core.command import Option
from bayescal.core.writing import check_writable
from bayescal.quantities import quantities

_RESULT: Final = ".nc"
_OUTPUT: Final = Option(
    flags=("-o", "--output"), type=Path, default=Path("calibration.html"), help="The report."
)
_TITLE: Final = Option(flags=("--title",), default="Calibration report", help="Its heading.")
_QUANTITY: Final = next(found for found in quantities().values() if found.COMMAND.reports)
_OPTIONS: Final = (*report_options(_QUANTITY.COMMAND), *WINDOW_OPTIONS)


def _report(files: tuple[Path, ...], output: Path, title: str, **given: Any) -> int:
    check_report(output, "--output")
    check_windows(given, files)
    if any(path.suffix.casefold() == _RESULT for path in files):
        _check_results(files, given)
        return _of_results(files, output, title, given["prob"])
    for option in (*_QUANTITY.COMMAND.options, _QUANTITY.COMMAND.prior):
        if option.required and not given[option.name]:
            raise click.UsageError(f"Missing option '{option.flag}'.")
    if len(files) > 1:
        raise click.UsageError(
            f"a report takes one table of scores; got {len(files)}. Fit each with -o "
            "RESULT.nc, and pass the results."
        )
    argument = _QUANTITY.COMMAND.arguments[0].lower()
    if given[WINDOW.name] is not None:
        with in_terms_of(_OPTIONS):
            return run_windows(_QUANTITY, {**given, argument: files[0]}, output, title)
    fixed = {argument: files[0], "output": (output,), "report": None}
    return run_fit(_QUANTITY, {**given, **fixed, "estimate_only": False, "json": False}, title)


def _check_results(files: tuple[Path, ...], given: dict[str, Any]) -> None:
    other = next((path for path in files if path.suffix.casefold() != _RESULT), None)
    if other is not None:
        raise click.UsageError(
            f"a report takes results (.nc) or one table of scores; got {other.name!r} "
            "among results."
        )
    for option in _OPTIONS:
        if option.metavar == "COLUMN" and given[option.name]:
            raise click.UsageError(f"{option.flag} names a column of a table; results have none.")


def _of_results(files: Sequence[Path], output: Path, title: str, prob: float) -> int:
    """Bring results together, and say what is wrong with any of them."""
    from bayescal.report.html import report
    from bayescal.results.io import load

    check_writable(output)
    with in_terms_of(_OPTIONS):
        trees = [load(path) for path in files]
        say_written([report(trees, output, title=title, prob=prob)], err=False)
        named = zip(files, trees, strict=True)
        return max(status_code(tree, _OPTIONS, f"{path.name}: ") for path, tree in named)


command = click.Command(
    "report",
    params=[
        click.Argument(["files"], type=PATH, nargs=-1, required=True, metavar="FILE..."),
        *(click_option(option) for option in (*_OPTIONS, _OUTPUT, _TITLE)),
    ],
    callback=_report,
    help="Write a calibration report: one HTML file that needs no network. FILE is a table of "
    "scores, CSV or Parquet, to be fitted first, window by window with --window; rows without a "
    "label are left out. Or FILE... "
    "are results (.nc) that other commands kept, of whatever quantity: the report brings them "
    "together.",
)
