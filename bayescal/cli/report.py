"""``bayescal report``: one HTML file from a table of scores, or from results that are kept."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from bayescal.cli.options import (
    PATH,
    Bins,
    Data,
    Fit,
    bin_options,
    fit_options,
    report_options,
    take,
)

_RESULT = ".nc"


@click.command()
@report_options
@bin_options
@fit_options
@click.option(
    "-o",
    "--output",
    type=PATH,
    default="calibration.html",
    show_default=True,
    help="The file to write.",
)
@click.option("--title", default="Calibration report", show_default=True, help="Its heading.")
def command(files: tuple[Path, ...], output: Path, title: str, **given: Any) -> int:
    """Write a calibration report: one HTML file that needs no network.

    FILE is a table of scores, CSV or Parquet, to be fitted first; rows without a label are left
    out. Or FILE... are results (.nc) that other commands kept, of whatever quantity: the report
    brings them together.
    """
    from bayescal.results.io import check_writable

    if any(path.suffix.casefold() == _RESULT for path in files):
        _check_results(files, given)
        check_writable(output)
        return _of_results(files, output, title, given["prob"])
    data, bins, how = _table(files, given), take(Bins, given), take(Fit, given)
    check_writable(output)
    from bayescal.cli.finish import finish
    from bayescal.cli.fitting import fitted
    from bayescal.report.html import report

    with fitted(data, bins, how, output, compare=True) as tree:
        written = report(tree, output, title=title, prob=how.prob)
    return finish(tree, prob=how.prob, output=written)


def _table(files: tuple[Path, ...], given: dict[str, Any]) -> Data:
    for option, value in (("--label", given["label"]), ("--score", given["scores"])):
        if not value:
            raise click.UsageError(f"Missing option '{option}'.")
    if len(files) > 1:
        raise click.UsageError(
            f"a report takes one table of scores; got {len(files)}. Fit each with -o "
            "RESULT.nc, and pass the results."
        )
    return take(Data, given | {"file": files[0]})


def _check_results(files: tuple[Path, ...], given: dict[str, Any]) -> None:
    other = next((path for path in files if path.suffix.casefold() != _RESULT), None)
    if other is not None:
        raise click.UsageError(
            f"a report takes results (.nc) or one table of scores; got {other.name!r} "
            "among results."
        )
    for option, value in (("--label", given["label"]), ("--score", given["scores"])):
        if value:
            raise click.UsageError(f"{option} names a column of a table; results have none.")


def _of_results(files: Sequence[Path], output: Path, title: str, prob: float) -> int:
    """Bring results together, and say what is wrong with any of them."""
    from bayescal.cli.errors import NOT_CONVERGED, OK, as_options, warn
    from bayescal.report.html import report
    from bayescal.results.io import load

    trees = [load(path) for path in files]
    written = report(trees, output, title=title, prob=prob)
    click.echo(f"Written: {written.resolve()}")
    code = OK
    for path, tree in zip(files, trees, strict=True):
        status, converged = as_options(str(tree.attrs["status"])), tree.attrs["converged"] == "true"
        if not converged:
            code = NOT_CONVERGED
            warn(f"{path.name}: NOT CONVERGED, do not use these numbers: {status}")
        elif status != "ok":
            warn(f"{path.name}: {status}")
    return code
