"""The steps that commands share: from options to scores, and to a result."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayescal.cli import data as data_
from bayescal.cli.checkpoint import checkpoint
from bayescal.cli.finish import watched
from bayescal.cli.options import Bins, Data, Fit
from bayescal.cli.priors import priors_from_text
from bayescal.cli.progress import progress

if TYPE_CHECKING:
    from xarray import DataTree

    from bayescal.core.quantity import Quantity


def scores_of(data: Data, bins: Bins, *, compare: bool = False) -> Any:
    """Read the file, or count it where its rows are too many to hold."""
    if data_.streams(data, compare=compare):
        from bayescal.quantities.ece.data import CELLS

        return data_.stream(data, bins, CELLS)
    return data_.read(data)


@contextmanager
def fitted(
    data: Data, bins: Bins, how: Fit, output: Path | None, *, compare: bool = False
) -> Iterator[DataTree]:
    """Read the file and fit every classifier in it; the block writes the result.

    What each classifier gave is kept until the block is done, so that neither Ctrl-C nor a full
    disk costs it.
    """
    priors = priors_from_text(how.prior)
    scores = scores_of(data, bins, compare=compare)

    import bayescal as bc

    with checkpoint(how.checkpoint, output) as directory:
        yield fit(
            bc.ece,
            scores,
            priors,
            how,
            directory,
            n_bins=bins.n_bins,
            strategy=bins.strategy,
            closed=bins.closed,
            multiclass=data.multiclass or "top-label",
        )


def fit(
    quantity: Quantity, data: Any, priors: Any, how: Fit, directory: Path | None, **options: Any
) -> DataTree:
    """Fit every classifier as the options say, with progress shown."""
    import bayescal as bc

    with progress("Fitting") as update, watched():
        return bc.fit(
            quantity,
            data,
            priors=priors,
            draws=how.draws,
            tune=how.tune,
            target_accept=how.target_accept,
            seed=how.seed,
            progress=update,
            quick=how.quick,
            prob=how.prob,
            checkpoint=directory,
            **options,
        )
