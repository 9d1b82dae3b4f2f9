"""Counts of rows that need not fit in memory, exactly those of the whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from bayescal.core.bins.binning import Binning, BinningFields
from bayescal.core.bins.streaming import StreamedCounts, stream_counts
from bayescal.core.checks import check_whole, checked_words
from bayescal.core.partitions import rows_of

_MOST_CELLS = 100_000


def count_rows(
    data: Any,
    *,
    label: str,
    score: str | Sequence[str],
    pos_label: Any = 1,
    from_logits: bool = False,
    weight: str | None = None,
    binning: Binning | None = None,
    n_cells: int | None = 100,
    **fields: Unpack[BinningFields],
) -> dict[str, StreamedCounts]:
    r"""Count labelled rows into bins, reading them partition by partition.

    Parameters
    ----------
    data : path, Dask dataframe or dict of Dask arrays
        A CSV or Parquet file, a directory of Parquet files, or the columns by name.
    label : str
        Column of the labels. Rows without one are left out.
    score : str or sequence of str
        Column of each classifier's scores.
    pos_label : default 1
        The positive label.
    from_logits : bool, default False
        Whether the scores are logits.
    weight : str, optional
        Column of sample weights.
    binning : Binning, optional
        The bins; or its fields as keyword arguments. By default 15 quantile bins.
    n_cells : int or None, default 100
        Cells within the bins that a calibration curve is fitted to, as many as for rows in memory;
        None for bins alone.
    **fields
        `n_bins`, `strategy` and `closed`, as of `Binning`.

    Returns
    -------
    dict of str to StreamedCounts
        What `bayescal.fit` of `bayescal.ece` takes, by score column.

    Raises
    ------
    InputError
        If data cannot be read, a column does not exist, or labels or scores cannot be used.

    Notes
    -----
    Edges and counts are those of all rows at once, exactly; mean scores to rounding, as sums are
    taken in another order. All rows are read twice for each score, three times with weights, and
    memory does not grow with them. Parts of Parquet files are read by several threads, and Dask's
    partitions are summed up where Dask computes them.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import bayescal as bc
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "rows.csv")
    ...     _ = path.write_text("y,p\n0,0.1\n0,0.4\n1,0.5\n1,0.9\n")
    ...     found = bc.count_rows(path, label="y", score="p", n_bins=2, strategy="uniform")
    >>> found["p"].bins.count.tolist()
    [3, 1]
    """
    rows = rows_of(data)
    chosen = Binning.of(binning, **fields)
    if n_cells is not None:
        check_whole(n_cells, "n_cells", most=_MOST_CELLS)
    names = checked_words(score, "score")
    return {
        name: stream_counts(
            rows,
            label=label,
            score=name,
            pos_label=pos_label,
            from_logits=from_logits,
            weight=weight,
            n_bins=chosen.n_bins,
            strategy=chosen.strategy,
            closed=chosen.closed,
            n_cells=n_cells,
        )
        for name in names
    }
