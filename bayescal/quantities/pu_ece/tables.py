"""Positive and unlabelled scores from a file."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescal.core.checks import check_columns, check_known, check_unique, checked_words, listing
from bayescal.core.errors import InputError
from bayescal.core.tables import Table, open_table
from bayescal.quantities.pu_ece.data import PUScores

_YES = ("1", "true", "yes", "positive", "p")
_NO = ("0", "false", "no", "unlabeled", "unlabelled", "u")


def read_pu_scores(
    path: str | PathLike[str], *, positive_column: str, score: str | Sequence[str] | None = None
) -> PUScores:
    r"""Read the scores of positives and unlabelled rows from a CSV or Parquet file.

    Parameters
    ----------
    path : path-like
        The file; see `bayescal.core.tables.open_table`.
    positive_column : str
        Column that says of each row which sample it is from: 1 (or true, yes, positive) for a
        positive, 0 (or false, no, unlabeled, an empty field) for an unlabelled row.
    score : str or sequence of str, optional
        Column of each classifier's scores; the one other column of the file if not given.

    Returns
    -------
    PUScores
        Classifiers are named after their columns.

    Raises
    ------
    InputError
        If the file cannot be read, a column does not exist or holds something else, or `PUScores`
        refuses the scores.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from bayescal.quantities.pu_ece.tables import read_pu_scores
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "pu.csv")
    ...     _ = path.write_text("s,vit\n1,0.75\n0,0.5\n,0.25\n")
    ...     read_pu_scores(path, positive_column="s")
    <PUScores: classifiers 'vit'; n_positive 1, n_unlabeled 2>
    """
    table = open_table(path)
    check_known(positive_column, table.columns, "column", table.path.name)
    names = _score_columns(table, positive_column, score)
    check_columns(names, positive_column=positive_column)
    columns = table.read([positive_column, *names])
    where = f"column {positive_column!r} of {table.path.name}"
    _check_not_swapped(columns, positive_column, names, table.path.name)
    positive = selected(columns[positive_column], where)
    return PUScores.stack(
        {name: (columns[name][positive], columns[name][~positive]) for name in names}
    )


def _score_columns(
    table: Table, positive_column: str, score: str | Sequence[str] | None
) -> list[str]:
    if score is not None:
        names = checked_words(score, "score")
        check_unique(names, "classifier")
        return names
    others = [name for name in table.columns if name != positive_column]
    if len(others) != 1:
        raise InputError(
            f"the column of the scores must be named where there are several; {table.path.name} "
            f"has {listing(others) if others else 'no other column'}. Name it as the score."
        )
    return others


def _check_not_swapped(
    columns: dict[str, NDArray[Any]], positive_column: str, names: Sequence[str], file: str
) -> None:
    """Recognise a column of scores where that of the samples should be, and the reverse."""
    if columns[positive_column].dtype.kind != "f":
        return
    values = columns[positive_column]
    known = values[np.isfinite(values)]
    scores_there = len(np.unique(known)) > 2 and ((known >= 0) & (known <= 1)).all()
    binary = [
        name
        for name in names
        if columns[name].dtype.kind in "biuf" and set(np.unique(columns[name]).tolist()) <= {0, 1}
    ]
    if scores_there and binary:
        raise InputError(
            f"column {positive_column!r} of {file} must hold 1 for positives and 0 for unlabelled "
            f"rows; it holds scores, and column {binary[0]!r} holds 0 and 1. Swap the two."
        )


def selected(values: NDArray[Any], where: str) -> NDArray[np.bool_]:
    """Which rows are positives."""
    if values.dtype.kind in "biuf":
        positive = np.asarray(values == 1)
        # Missing ones, which are no number, are unlabelled.
        unlabeled = (values == 0) | (values != values)
    else:
        words = [_word(value) for value in values.tolist()]
        positive = np.array([word in _YES for word in words], dtype=np.bool_)
        unlabeled = np.array([word in _NO or not word for word in words], dtype=np.bool_)
    wrong = np.flatnonzero(~(positive | unlabeled))
    if wrong.size:
        raise InputError(
            f"{where} must hold 1 for positives and 0 for unlabelled rows; got "
            f"{values[wrong[:1]].tolist()[0]!r} at row {wrong[0]}. Name the column that says which "
            "is which."
        )
    return positive


def _word(value: Any) -> str:
    """A cell in lower case; whole numbers without a point, nothing for a missing value."""
    if value is None or value != value:
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip().casefold()
