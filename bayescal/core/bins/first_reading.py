"""What one reading of all rows finds, before it is known which of them an answer depends on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from bayescal.core.bins.cells import DistinctScores
from bayescal.core.bins.labeled_columns import LabeledColumns
from bayescal.core.bins.score_cells import CellSums
from bayescal.core.bins.weights import WeightUnits
from bayescal.core.checks import check_rows, check_some_weight
from bayescal.core.columns import Label
from bayescal.core.errors import InputError
from bayescal.core.intake import code_binary
from bayescal.core.partial_sums import Batch


@dataclass(frozen=True, slots=True)
class FirstReading:
    """Labels, numbers of rows and what their scores add up to; those of two parts add up."""

    labels: tuple[Label, ...]
    n_read: int
    n_obs: int  # of a weight above 0
    n_labeled: int
    units: WeightUnits | None  # of the labelled rows, where they have weights
    distinct: DistinctScores
    sums: CellSums | None  # with the second label as the event, where rows have no weights

    @classmethod
    def of(
        cls, batches: Iterable[Batch], columns: LabeledColumns, most_distinct: int
    ) -> FirstReading:
        """Sum up batches; of distinct scores no more are kept than are asked for."""
        labels: dict[Label, int] = {}
        distinct = DistinctScores(most_distinct)
        units, sums = (None, CellSums.none()) if columns.weight is None else (WeightUnits(), None)
        n_read = n_obs = n_labeled = 0
        for rows in columns.rows(batches):
            for label in rows.labels:
                labels.setdefault(label, len(labels))
            if sums is not None and len(labels) <= 2:
                # Which label is the positive one is known when all have been seen.
                sums.add(rows.score, rows.is_label(next(islice(labels, 1, None), None)))
            if units is not None and rows.weight is not None:
                units.add(rows.weight)
            distinct.add(rows.score)
            n_read += rows.n_read
            n_obs += rows.n_obs
            n_labeled += len(rows.score)
        return cls(tuple(labels), n_read, n_obs, n_labeled, units, distinct, sums)

    def plus(self, other: FirstReading) -> FirstReading:
        """Join with the rows that come next."""
        labels = tuple(dict.fromkeys(self.labels + other.labels))
        units = None if self.units is None or other.units is None else self.units.plus(other.units)
        sums = None
        if self.sums is not None and other.sums is not None:
            moved = other.labels and labels.index(other.labels[0]) > 0
            sums = self.sums.plus(other.sums.swapped() if moved else other.sums)
        return FirstReading(
            labels,
            self.n_read + other.n_read,
            self.n_obs + other.n_obs,
            self.n_labeled + other.n_labeled,
            units,
            self.distinct.plus(other.distinct),
            sums,
        )

    @property
    def effective_n(self) -> float:
        """Labelled rows; of weighted ones the effective number."""
        return self.n_labeled if self.units is None else self.units.effective_n

    def classes(self, columns: LabeledColumns, pos_label: Any) -> tuple[Label, Label]:
        """Check the rows as a whole; return the negative and the positive label."""
        check_rows(self.n_read, f"the column {columns.label!r}")
        if columns.weight is not None:
            check_some_weight(self.n_obs, self.n_read, columns.weight)
        if self.n_labeled == 0:
            raise InputError(
                f"{columns.label} must hold at least one label; all {self.n_obs} rows are missing. "
                "Label some rows: calibration cannot be measured without."
            )
        found = np.array(sorted(self.labels, key=str), dtype=object)
        return code_binary(found, pos_label, None, columns.label)[1]

    def sums_with(self, positive: Label) -> CellSums:
        """Sums by cell with the positive label as the event."""
        assert self.sums is not None, "asked for where rows have no weights"
        return self.sums.swapped() if self.labels[0] == positive else self.sums
