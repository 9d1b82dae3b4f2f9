"""Bounds and decisions of every row in a CSV or Parquet file, a batch at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from bayescal.core.checks import check_call
from bayescal.core.errors import InputError
from bayescal.core.quantity import Floats
from bayescal.core.text import cell
from bayescal.core.writing import check_writable, checked_path, replacing
from bayescal.quantities.credal.row_bounds import lookups
from bayescal.quantities.credal.row_lookup import Lookup, RowBounds, batches

if TYPE_CHECKING:
    from xarray import DataTree

Progress = Callable[[str, int, int], None]
"""Called with the classifier, how many rows are written, and of how many."""

_ENDINGS: Final = (".csv", ".parquet")


def write_rows(
    result: DataTree,
    path: str | os.PathLike[str],
    scores: Any = None,
    prob: float = 0.9,
    progress: Progress | None = None,
) -> Path:
    """Write bounds and decisions of every row to a file, in little memory.

    Parameters
    ----------
    result : xarray.DataTree
        What ``bayescal.fit(bayescal.credal, ...)`` or ``bayescal.load`` returned.
    path : path
        A file that ends in .csv or .parquet; an existing one is replaced, once the new one is
        complete.
    scores : Scores or array-like of shape (obs,) or (obs, class), in [0, 1], optional
        As `bounds_for` takes them; all target rows of the fit if not given.
    prob : float, in (0, 1), default 0.9
        Credible probability of the bounds of each class.
    progress : callable, optional
        Called after each batch with the classifier, how many rows are written, and of how many.

    Returns
    -------
    pathlib.Path
        Where the rows are: one line a row, and class of more than two. Columns are those of
        ``bayescal.row_table`` that need no draws of the row itself.

    Raises
    ------
    InputError
        If the path has another ending, or what `bounds_for` raises.
    OutputError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import bayescal as bc
    >>> data = bc.datasets.credal.truth("logistic").split(200, [0.1, 0.9], seed=1)
    >>> priors = bc.credal.Priors(bc.credal.ImpreciseDirichlet())
    >>> result = bc.fit(bc.credal, data, priors=priors, seed=20, method="direct")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = bc.credal.write_rows(result, Path(folder) / "rows.csv")
    ...     len(file.read_text().splitlines())
    3
    """
    target = checked_path(path)
    check_call(progress, "progress")
    if target.suffix.casefold() not in _ENDINGS:
        raise InputError(f"path must end in .csv or .parquet; got {target.name!r}.")
    check_writable(target)
    ending = target.suffix.casefold()
    spell = cell if ending == ".csv" else str
    found = lookups(result, scores, prob)
    total, done = sum(len(lookup.score) for lookup in found), 0
    with replacing(target) as draft, _writer(draft, ending) as write:
        for lookup in found:
            first = 0
            for score in batches(lookup.score):
                write(_lines(lookup, first, score, spell, named=len(found) > 1))
                first += len(score)
                done += len(score)
                if progress is not None:
                    progress(lookup.classifier, done, total)
    return target


@contextmanager
def _writer(path: Path, ending: str) -> Iterator[Callable[[Any], None]]:
    """Open a file with the first table, whose schema it takes."""
    from pyarrow import csv, parquet

    opened: list[Any] = []

    def write(table: Any) -> None:
        if not opened:
            make = csv.CSVWriter if ending == ".csv" else parquet.ParquetWriter
            opened.append(make(path, table.schema))
        opened[0].write_table(table)

    try:
        yield write
    finally:
        for writer in opened:
            writer.close()


def _lines(
    lookup: Lookup, first: int, score: Floats, spell: Callable[[str], str], *, named: bool
) -> Any:
    """An Arrow table of a batch of rows, whose first is at this place."""
    import pyarrow as pa

    found = lookup.bounds(score)
    n_curves = 1 if score.ndim == 1 else score.shape[1]
    names = lookup.classes[-n_curves:]
    rows = len(score)

    def words(codes: NDArray[np.integer], of: tuple[str, ...]) -> Any:
        spelled = pa.array([spell(name) for name in of])
        coded = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), spelled)
        return coded.dictionary_decode()

    def each(values: NDArray[Any]) -> NDArray[Any]:
        return np.repeat(values, n_curves)

    columns: dict[str, Any] = {}
    if named:
        columns["classifier"] = words(np.zeros(rows * n_curves, np.int32), (lookup.classifier,))
    columns["row"] = each(np.arange(first, first + rows))
    columns["class"] = words(np.tile(np.arange(n_curves), rows), names)
    columns["score"] = score.ravel().astype(np.float64)
    for name in ("prob", "lower", "upper", "p0", "p1", "merged"):
        columns[name] = getattr(found, name).ravel()
    columns["decision"] = words(each(found.decision), lookup.classes)
    columns["n_open"] = each(found.admissible.sum(axis=1))
    columns["open"] = words(*_open_names(found, lookup.classes, each))
    columns["improper"] = each(found.improper)
    return pa.table(columns)


def _open_names(
    found: RowBounds, classes: tuple[str, ...], each: Callable[[NDArray[Any]], NDArray[Any]]
) -> tuple[NDArray[Any], tuple[str, ...]]:
    """Which of the patterns that occur each line has, and their names joined."""
    patterns, place = np.unique(found.admissible, axis=0, return_inverse=True)
    joined = tuple(
        " / ".join(name for name, stays in zip(classes, pattern, strict=True) if stays)
        for pattern in patterns
    )
    return each(place.ravel()), joined
