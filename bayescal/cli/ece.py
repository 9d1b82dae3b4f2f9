"""``bayescal ece``: the expected calibration error on the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bayescal.cli.options import PATH, Bins, Data, Fit, bin_options, data_options, fit_options, take


@click.command()
@data_options
@bin_options
@fit_options
@click.option("--estimate-only", is_flag=True, help="Point estimates, no posterior; fast.")
@click.option("-o", "--output", type=PATH, help="Keep the result in this netCDF file.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def command(estimate_only: bool, output: Path | None, as_json: bool, **given: Any) -> int:
    """Measure the expected calibration error of the scores in FILE, with its posterior.

    FILE is CSV or Parquet. Rows without a label are left out. Files too large for memory are read
    in batches.
    """
    data, bins, how = take(Data, given), take(Bins, given), take(Fit, given)
    if not estimate_only:
        return _posterior(data, bins, how, output, as_json)
    if output is not None or how.quick:
        option = "--quick" if how.quick else "--output"
        raise click.UsageError(
            f"--estimate-only computes no posterior, and {option} is about one. Leave one out."
        )
    _estimates(data, bins, as_json)
    return 0


def _estimates(data: Data, bins: Bins, as_json: bool) -> None:
    from bayescal.cli.estimates import estimate_rows
    from bayescal.cli.table import print_estimates, print_json

    rows = estimate_rows(data, bins)
    if as_json:
        print_json(_head(data, bins), rows)
    else:
        print_estimates(rows)


def _posterior(data: Data, bins: Bins, how: Fit, output: Path | None, as_json: bool) -> int:
    from bayescal.cli.finish import finish
    from bayescal.cli.fitting import fitted
    from bayescal.cli.table import marginal_rows, posterior_rows, print_json
    from bayescal.results.io import check_writable, save

    if output is not None:
        check_writable(output)
    with fitted(data, bins, how, output) as tree:
        if output is not None:
            save(tree, output)
    if as_json:
        about = {name: tree.attrs[name] for name in ("sampler", "status", "bayescal_version")}
        about |= {"converged": tree.attrs["converged"] == "true", "seed": how.seed}
        about |= {"prob": how.prob, "prior": how.prior}
        means = marginal_rows(tree, how.prob)
        about |= {"marginal": means} if means else {}
        print_json(_head(data, bins) | about, posterior_rows(tree, how.prob))
    return finish(tree, prob=how.prob, output=output, table=not as_json)


def _head(data: Data, bins: Bins) -> dict[str, Any]:
    return {
        "quantity": "ece",
        "file": str(data.file),
        "label": data.label,
        "multiclass": data.multiclass,
        "n_bins": bins.n_bins,
        "strategy": bins.strategy,
        "closed": bins.closed,
    }
