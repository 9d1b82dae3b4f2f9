"""Columns of labels, scores and weights, checked batch by batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.bins.score_cells import Rows, before_rounding, rows_in
from bayescal.core.bins.weights import RowWeights, WeightUnits
from bayescal.core.checks import check_columns, check_flag
from bayescal.core.columns import MISSING, Label, factorize
from bayescal.core.intake import probabilities, weights
from bayescal.core.partial_sums import Batch


class LabeledRows(NamedTuple):
    """Rows of a batch that have a label and a weight above 0."""

    n_read: int  # rows of the batch
    n_obs: int  # those of a weight above 0
    labels: tuple[Label, ...]
    code: NDArray[np.int32]  # (labelled,), places in `labels`
    score: NDArray[np.floating]  # (labelled,)
    weight: NDArray[np.float64] | None  # (labelled,)

    def is_label(self, label: Label | None) -> NDArray[np.uint8]:
        """Which rows have a label, (labelled,)."""
        place = self.labels.index(label) if label in self.labels else MISSING
        return np.asarray(self.code == place).view(np.uint8)


@dataclass(frozen=True, slots=True)
class LabeledColumns:
    """Which columns of a table are labels, scores and weights."""

    label: str
    score: str
    weight: str | None = None
    from_logits: bool = False

    def __post_init__(self) -> None:
        check_columns(label=self.label, score=self.score, weight=self.weight)
        check_flag(self.from_logits, "from_logits")

    @property
    def names(self) -> list[str]:
        """All columns."""
        return [self.label, self.score, *([] if self.weight is None else [self.weight])]

    def near(self, batches: Iterable[Batch], cells: NDArray[np.bool_]) -> Iterator[Batch]:
        """Leave out rows that cannot have scores in some cells, before they are checked again.

        Scores that are not floats, and logits, are all kept.
        """
        cells = before_rounding(cells)
        for batch in batches:
            score = batch.columns[self.score]
            plain = isinstance(score, np.ndarray) and score.ndim == 1 and score.dtype.kind == "f"
            if self.from_logits or not plain:
                yield batch
            elif len(held := rows_in(cells, score)):
                yield batch._replace(columns={n: batch.columns[n][held] for n in self.names})

    def rows(self, batches: Iterable[Batch]) -> Iterator[LabeledRows]:
        """Check batches, and leave out rows without a label or weight."""
        for batch in batches:
            label = batch.column(self.label)
            code, labels = factorize(label.values, label.name)
            score = probabilities(batch.column(self.score), self.from_logits)
            known, weight, n_obs = code != MISSING, None, len(code)
            if self.weight is not None:
                weight = weights(batch.column(self.weight))
                known &= weight > 0
                n_obs = int((weight > 0).sum())
                weight = weight[known]
            if not known.all():
                score, code = score[known], code[known]
            yield LabeledRows(len(known), n_obs, labels, code, score, weight)

    def events(
        self, batches: Iterable[Batch], positive: Label, units: WeightUnits | None = None
    ) -> Iterator[Rows]:
        """Check batches, and go through scores, whether each row is positive, and weights."""
        for rows in self.rows(batches):
            if rows.weight is None or units is None:
                yield rows.score, rows.is_label(positive)
            else:
                weights = RowWeights(rows.weight, units.of(rows.weight))
                yield rows.score, rows.is_label(positive), weights
