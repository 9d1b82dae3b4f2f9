"""``bayescal credal``: class probabilities of rows, with bounds, and what they decide."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayescal.cli.options import (
    PATH,
    ROW_PRIOR_HELP,
    Fit,
    Split,
    sampling_options,
    split_options,
    take,
)

if TYPE_CHECKING:
    from xarray import DataTree

    from bayescal.quantities.credal.calibration_split import CalibrationSplit


@click.command("credal")
@split_options
@click.option("--prior", default="curve", show_default=True, metavar="PRIOR", help=ROW_PRIOR_HELP)
@sampling_options
@click.option("--estimate-only", is_flag=True, help="Venn-Abers probabilities alone; fast.")
@click.option(
    "-o", "--output", type=PATH, help="Write a report (.html), or keep the result (.nc), here."
)
@click.option("--report", "page", type=PATH, help="Write a report (.html) here.")
@click.option("--rows", "listed", type=PATH, help="Write the rows with their bounds (.csv) here.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def command(
    estimate_only: bool,
    output: Path | None,
    page: Path | None,
    listed: Path | None,
    as_json: bool,
    **given: Any,
) -> int:
    """Calibrate the scores in TARGET on the labelled rows of CALIBRATION, with bounds.

    Both files are CSV or Parquet, of one population; the classifier was trained on neither.
    CALIBRATION has a column of labels, TARGET needs none, and both have the score columns. For each
    target row: the probability of the class given the score, its credal-credible bounds, and
    whether the class can be decided on.
    """
    data, how = take(Split, given), take(Fit, given)
    _check(estimate_only, how, output, page, listed)
    if estimate_only:
        return _estimates(data, listed, as_json)
    return _posterior(data, how, output, page, listed, as_json)


def _check(
    estimate_only: bool, how: Fit, output: Path | None, page: Path | None, listed: Path | None
) -> None:
    asked = {"--output": output is not None, "--report": page is not None, "--quick": how.quick}
    wrong = [option for option, given in asked.items() if given]
    if estimate_only and wrong:
        raise click.UsageError(
            f"--estimate-only computes no posterior, and {wrong[0]} is about one. Leave one out."
        )
    if page is not None and page.suffix.casefold() not in (".html", ".htm"):
        raise click.UsageError(f"--report must end in .html; got {page.name!r}.")
    if listed is not None and listed.suffix.casefold() != ".csv":
        raise click.UsageError(f"--rows must end in .csv; got {listed.name!r}.")


def _head(data: Split, split: CalibrationSplit) -> dict[str, Any]:
    return {
        "quantity": "credal",
        "calibration": str(data.calibration),
        "target": str(data.target),
        "label": data.label,
        "classes": [str(name) for name in split.calibration.classes],
        "n_calibration": split.n_calibration,
        "n_target": split.n_target,
    }


def _estimates(data: Split, listed: Path | None, as_json: bool) -> int:
    from bayescal.cli.credal_data import read_split
    from bayescal.cli.credal_table import estimated_rows, print_estimates, write_rows
    from bayescal.cli.table import print_json

    if listed is not None:
        # Loaded for a file alone: it brings xarray with it.
        from bayescal.results.io import check_writable

        check_writable(listed)
    split = read_split(data)
    rows = estimated_rows(split)
    if listed is not None:
        write_rows(rows, listed)
    if as_json:
        print_json(_head(data, split), rows)
    else:
        print_estimates(rows)
    if listed is not None:
        click.echo(f"Written: {listed.resolve()}", err=as_json)
    return 0


def _posterior(
    data: Split,
    how: Fit,
    output: Path | None,
    page: Path | None,
    listed: Path | None,
    as_json: bool,
) -> int:
    from bayescal.cli.credal_data import read_split
    from bayescal.cli.credal_priors import credal_priors_from_text
    from bayescal.cli.credal_table import posterior_lines, write_rows
    from bayescal.cli.finish import finish
    from bayescal.cli.table import posterior_rows, print_json
    from bayescal.cli.writing import check_output
    from bayescal.quantities.credal.priors import MonotoneCurve
    from bayescal.results.io import check_writable

    for path in (output, page):
        check_output(path)
    if listed is not None:
        check_writable(listed)
    priors = credal_priors_from_text(how.prior, data.s)
    if how.quick and isinstance(priors.label_rate, MonotoneCurve):
        raise click.UsageError(
            "--quick knows --prior steps and bins; the curve is sampled by NUTS. Leave one out."
        )
    split = read_split(data)
    tree = _fitted(split, priors, how, output, page)
    lines = posterior_lines(tree, how.prob)
    if listed is not None:
        write_rows(lines, listed)
    if as_json:
        head = _head(data, split) | {"prior": how.prior, "s": data.s, "seed": how.seed}
        head |= {"prob": how.prob, "status": tree.attrs["status"]}
        head |= {"converged": tree.attrs["converged"] == "true", "sampler": tree.attrs["sampler"]}
        print_json(head | {"rows": lines}, posterior_rows(tree, how.prob))
    code = finish(tree, prob=how.prob, output=output, table=not as_json)
    for path in (page, listed):
        if path is not None:
            click.echo(f"Written: {path.resolve()}", err=as_json)
    if not as_json:
        click.echo(priors.describe())
    return code


def _fitted(
    split: CalibrationSplit, priors: Any, how: Fit, output: Path | None, page: Path | None
) -> DataTree:
    """Fit every classifier, and write what was asked for."""
    import bayescal as bc
    from bayescal.cli.checkpoint import checkpoint
    from bayescal.cli.fitting import fit
    from bayescal.cli.writing import write

    with checkpoint(how.checkpoint, output or page) as directory:
        tree = fit(bc.credal, split, priors, how, directory)
        write(tree, output, how.prob)
        write(tree, page, how.prob)
    return tree
