"""How a fit ends on the command line: what is said about it, and with which exit code."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bayescal.cli.errors import NOT_CONVERGED, OK, as_options, warn
from bayescal.cli.table import marginal_rows, posterior_rows, print_posterior
from bayescal.core.errors import ConvergenceWarning, ScarWarning

if TYPE_CHECKING:
    from xarray import DataTree


@contextmanager
def watched() -> Iterator[None]:
    """Fit without Python's printing of warnings that the status holds: :func:`finish` says it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", ScarWarning)
        yield


def finish(tree: DataTree, *, prob: float, output: Path | None, table: bool = True) -> int:
    """Print a result, its status and where it was written."""
    if table:
        _print_table(tree, prob)
        click.echo(f"Posterior: {tree.attrs['sampler']}.")
    if output is not None:
        click.echo(f"Written: {output.resolve()}", err=not table)
    converged = str(tree.attrs["converged"]) == "true"
    status = as_options(str(tree.attrs["status"]))
    if not converged:
        warn(f"NOT CONVERGED, do not use these numbers: {status}")
    elif status != "ok":
        warn(status)
    return OK if converged else NOT_CONVERGED


def _print_table(tree: DataTree, prob: float) -> None:
    from bayescal.results.credal_rows import is_credal
    from bayescal.results.metrics import is_joint

    if is_joint(tree):
        from bayescal.cli.metrics_table import print_metrics

        print_metrics(tree, prob)
    elif is_credal(tree):
        from bayescal.cli.credal_table import print_rows_decided

        print_rows_decided(tree, prob)
    else:
        print_posterior([*posterior_rows(tree, prob), *marginal_rows(tree, prob)], prob)
