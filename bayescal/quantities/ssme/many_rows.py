"""Labelled rows and a random part of the others, of rows that need not fit in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.checks import (
    check_columns,
    check_rows,
    check_unique,
    checked_labels,
    checked_words,
    listing,
)
from bayescal.core.columns import MISSING, Label
from bayescal.core.errors import InputError
from bayescal.core.intake import Parts, binary_classes, collect
from bayescal.core.partial_sums import Batch, Labels, batches_of, summed
from bayescal.core.partitions import rows_of
from bayescal.core.quantity import Floats
from bayescal.core.scores import Scores, from_parts, select_rows
from bayescal.quantities.ssme.data import MOST_UNLABELED, sampled


class SampledRows(NamedTuple):
    """Rows that stand for all rows."""

    scores: Scores
    weight: Floats
    n_obs: int


def count_rows(
    data: Any,
    *,
    label: str,
    score: str | Sequence[str] | Mapping[str, str | Sequence[str]],
    pos_label: Any = 1,
    from_logits: bool = False,
    classes: Sequence[Any] | None = None,
) -> SampledRows:
    r"""Take the labelled rows and a random part of the others, partition by partition.

    Parameters
    ----------
    data : path, Dask dataframe or dict of Dask arrays
        A CSV or Parquet file, a directory of Parquet files, or the columns by name.
    label : str
        Column of the labels. Labelled rows must fit in memory.
    score : str, sequence of str, or mapping of str to str or sequence of str
        Column of each classifier's scores; or, by name of the classifier, its columns, one a class.
    pos_label : default 1
        The positive label of two classes.
    from_logits : bool, default False
        Whether the scores are logits.
    classes : sequence of labels, optional
        The label of each of several columns; without it labels are column numbers.

    Returns
    -------
    SampledRows
        What `bayescal.fit` of `bayescal.ssme` takes.

    Raises
    ------
    InputError
        If data cannot be read, a column does not exist, or labels or scores cannot be used.

    Notes
    -----
    The model sees scores of single rows, which no sums stand for. But it sees 5,000 rows without a
    label at most, also of rows in memory, each of which stands for as many rows as were left out.
    These are the same 5,000 rows here, so that the posterior is the same. All rows are read and
    checked once, after their labels were counted.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import bayescal as bc
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "rows.csv")
    ...     _ = path.write_text("y,vit,gbm\n1,0.75,0.5\n,0.5,0.25\n0,0.25,0.5\n")
    ...     found = bc.ssme.count_rows(path, label="y", score=["vit", "gbm"])
    >>> found.scores, found.n_obs
    (<Scores: classifiers 'vit', 'gbm'; n_obs 3, n_labeled 2; classes 0, 1>, 3)
    """
    check_columns(label=label)
    rows, columns = rows_of(data), _columns(score)
    counted = summed(rows, [label], partial(Labels.of, label=label))
    check_rows(counted.n, f"the column {label!r}")
    if classes is None:
        classes = _classes(columns, counted.seen, pos_label, label)
    source = _Columns(label, columns, pos_label, from_logits, checked_labels(classes, "classes"))
    chosen = sampled(counted.n_unlabeled, MOST_UNLABELED)
    parts, read, passed = [], 0, 0
    for batch in batches_of(rows, source.names):
        found = source.scores(batch)
        missing = found.y_true == MISSING
        place = np.where(missing, passed + np.cumsum(missing) - 1, -1)
        parts.append(select_rows(found, np.flatnonzero(~missing | _among(place, chosen))))
        passed += int(missing.sum())
        read += len(missing)
    if (read, passed) != (counted.n, counted.n_unlabeled):
        raise InputError(
            f"the columns {listing(source.names)} must not change while they are read twice; the "
            "second time there were other rows. Count the rows when none is written."
        )
    scores = _joined(parts)
    weight = np.ones(scores.n_obs)
    weight[scores.y_true == MISSING] = counted.n_unlabeled / max(len(chosen), 1)
    return SampledRows(scores, weight, counted.n)


@dataclass(frozen=True, slots=True)
class _Columns:
    """Which columns are labels and scores, and of what."""

    label: str
    by_classifier: Mapping[str, Sequence[str]]
    pos_label: Any
    from_logits: bool
    classes: tuple[Any, ...]

    @property
    def names(self) -> list[str]:
        """All columns."""
        return [self.label, *(name for names in self.by_classifier.values() for name in names)]

    def scores(self, batch: Batch) -> Scores:
        """Check the rows of a batch."""
        return from_parts(
            collect(
                {name: batch.table(names) for name, names in self.by_classifier.items()},
                batch.column(self.label),
                group=None,
                pos_label=self.pos_label,
                from_logits=self.from_logits,
                classes=self.classes,
            )
        )


def _columns(
    score: str | Sequence[str] | Mapping[str, str | Sequence[str]],
) -> dict[str, Sequence[str]]:
    """Columns by classifier."""
    if isinstance(score, Mapping):
        return {name: checked_words(own, f"score[{name!r}]") for name, own in score.items()}
    names = checked_words(score, "score")
    check_unique(names, "classifier")
    return {name: [name] for name in names}


def _classes(
    columns: Mapping[str, Sequence[str]], labels: frozenset[Label], pos_label: Any, label: str
) -> Sequence[Label]:
    """Both labels of two classes, which a part need not have; else column numbers."""
    size = max(map(len, columns.values()), default=0)
    if size > 2:
        return range(size)
    return binary_classes(labels, pos_label, label)


def _among(place: NDArray[np.int64], chosen: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether places are among those chosen, which rise."""
    if not len(chosen):
        return np.zeros(len(place), dtype=bool)
    at = np.minimum(np.searchsorted(chosen, place), len(chosen) - 1)
    return np.asarray(chosen[at] == place)


def _joined(parts: Sequence[Scores]) -> Scores:
    """Put rows of the same classifiers together."""
    first = parts[0]
    y_prob = np.concatenate([part.y_prob for part in parts], axis=1)
    y_true = np.concatenate([part.y_true for part in parts])
    return from_parts(Parts(y_prob, y_true, first.classifiers, first.classes, None, ()))
