"""``bayescal report``: one HTML file from a table of scores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bayescal.cli.options import PATH, Bins, Data, Fit, bin_options, data_options, fit_options, take


@click.command()
@data_options
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
@click.option(
    "--with",
    "others",
    type=PATH,
    multiple=True,
    help="A result kept by another command (.nc), to be in the same report; may be repeated.",
)
@click.option("--title", default="Calibration report", show_default=True, help="Its heading.")
def command(output: Path, others: tuple[Path, ...], title: str, **given: Any) -> int:
    """Write a calibration report on the scores in FILE: one HTML file that needs no network.

    FILE is CSV or Parquet. Rows without a label are left out. What `bayescal pu-ece`, `ssme`,
    `credal` or `sensitivity` kept with `-o result.nc` joins in by `--with`.
    """
    from bayescal.cli.finish import finish
    from bayescal.cli.fitting import fitted
    from bayescal.report.html import report
    from bayescal.results.io import check_writable, load

    data, bins, how = take(Data, given), take(Bins, given), take(Fit, given)
    check_writable(output)
    kept = [load(path) for path in others]
    with fitted(data, bins, how, output, compare=True) as tree:
        written = report([tree, *kept], output, title=title, prob=how.prob)
    codes = [finish(tree, prob=how.prob, output=written)]
    codes += [finish(one, prob=how.prob, output=None, table=False) for one in kept]
    return max(codes)
