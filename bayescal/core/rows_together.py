"""Rows of files and of Dask that several classifiers share, counted together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from bayescal.core.columns import MISSING, factorize
from bayescal.core.intake import position, probabilities
from bayescal.core.partial_sums import Batch, summed
from bayescal.core.partitions import rows_of
from bayescal.core.shared_counts import SharedCounts, check_together


def counted_together(
    data: Any, label: str, scores: Sequence[str], pos_label: Any, from_logits: bool
) -> SharedCounts:
    """Count labelled rows by combinations of cells, in one reading."""
    names = tuple(dict.fromkeys(scores))
    check_together(names)
    count = partial(
        _counts, label=label, scores=names, pos_label=pos_label, from_logits=from_logits
    )
    return summed(rows_of(data), [label, *names], count)


def _counts(
    batches: Iterator[Batch], label: str, scores: Sequence[str], pos_label: Any, from_logits: bool
) -> SharedCounts:
    """Count the rows of a part."""
    found = SharedCounts.of_rows({name: np.zeros(0) for name in scores}, np.zeros(0, np.bool_))
    for batch in batches:
        code, labels = factorize(batch.column(label).values, label)
        known = code != MISSING
        value = {name: probabilities(batch.column(name), from_logits)[known] for name in scores}
        positive = code[known] == position(pos_label, labels)
        found = found.plus(SharedCounts.of_rows(value, positive, found.shift))
    return found
