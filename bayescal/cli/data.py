"""From FILE and its options to scores, or to counts where the rows are too many to hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from bayescal.cli.options import Bins, Data, Panel

if TYPE_CHECKING:
    from bayescal.core.bins.streaming import StreamedCounts
    from bayescal.core.scores import Scores

_MOST_VALUES: Final = 8_000_000
"""Scores and labels that are read at once; beyond it the file is read in batches."""
_MOST_PAIRED: Final = 25_000_000
"""The same where classifiers are to be compared, for which their rows are needed side by side."""
_MOST_BYTES: Final = 150_000_000
"""The same for a file that does not say how many rows it has (CSV)."""


def streams(data: Data, *, compare: bool = False) -> bool:
    """Whether the file is to be read in batches, for lack of quantity.

    Groups and several classes need all rows at hand, whatever their number.
    """
    from bayescal.core.tables import open_table

    if data.group is not None or data.multiclass is not None:
        return False
    rows = open_table(data.file).n_rows
    if rows is None:
        return data.file.stat().st_size > _MOST_BYTES
    most = _MOST_PAIRED if compare and len(data.scores) > 1 else _MOST_VALUES
    return rows * (len(data.scores) + 1) > most


def read(data: Data) -> Scores:
    """Read the columns that the options name."""
    if data.multiclass is not None:
        return _read_classes(data)
    from bayescal.core.tables import read_scores

    return read_scores(
        data.file,
        label=data.label,
        score=list(data.scores),
        group=data.group,
        pos_label=data.pos_label,
        from_logits=data.from_logits,
    )


def read_panel(data: Panel) -> Scores:
    """Read the columns of several classifiers, labels missing where they are not known."""
    from bayescal.core.tables import read_scores

    return read_scores(
        data.file,
        label=data.label,
        score=list(data.scores),
        group=data.group,
        pos_label=data.pos_label,
        from_logits=data.from_logits,
    )


def _read_classes(data: Data) -> Scores:
    if len(data.scores) < 3:
        raise click.UsageError(
            f"--multiclass needs a --score for each of three classes or more; got "
            f"{len(data.scores)}. With two classes, give the column of the positive one, without "
            "--multiclass."
        )
    import numpy as np

    from bayescal.core.checks import check_unique
    from bayescal.core.scores import Scores
    from bayescal.core.tables import open_table

    check_unique(data.scores, "--score")
    others = [] if data.group is None else [data.group]
    columns = open_table(data.file).read(list(dict.fromkeys([data.label, *data.scores, *others])))
    return Scores(
        y_true=columns[data.label],
        y_prob=np.column_stack([columns[name] for name in data.scores]),
        classifier=data.file.stem,
        group=None if data.group is None else columns[data.group],
        from_logits=data.from_logits,
        classes=data.scores,
    )


def stream(data: Data, bins: Bins, n_cells: int | None = None) -> dict[str, StreamedCounts]:
    """Count the rows of each classifier into bins, a batch at a time."""
    from bayescal.core.bins.streaming import stream_counts
    from bayescal.core.checks import check_unique
    from bayescal.core.tables import open_table

    check_unique(data.scores, "--score")
    table = open_table(data.file)
    return {
        name: stream_counts(
            table,
            label=data.label,
            score=name,
            pos_label=data.pos_label,
            from_logits=data.from_logits,
            n_bins=bins.n_bins,
            strategy=bins.strategy,
            closed=bins.closed,
            n_cells=n_cells,
        )
        for name in data.scores
    }
