"""Labelled rows and rows without a label of one score, summed up together part by part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescal.core.bins.cells import DistinctScores
from bayescal.core.bins.numbered_batches import numbered_batches
from bayescal.core.bins.score_cells import CellSums, Rows, Split
from bayescal.core.bins.score_samples import SampleRows, n_rows, split_samples, sum_samples
from bayescal.core.bins.streaming import Batched
from bayescal.core.checks import check_rows
from bayescal.core.columns import Label, factorize
from bayescal.core.errors import InputError
from bayescal.core.intake import code_binary, probabilities


class LabelSamples:
    """The labels and one score of a table: two samples, rows with a label and rows without.

    Parameters
    ----------
    table : Batched
        The table.
    label, score : str
        Its columns.
    pos_label : bool, int or str
        The positive label.
    from_logits : bool
        Whether the scores are logits.
    """

    def __init__(
        self, table: Batched, *, label: str, score: str, pos_label: Any, from_logits: bool
    ) -> None:
        self._table = table
        self._label = label
        self._score = score
        self._pos_label = pos_label
        self._from_logits = from_logits
        # Of each label; those of a first reading are by their first appearance.
        self._code: dict[Label, int] = {}

    def sum_up(self, seen: Sequence[Sequence[DistinctScores]]) -> tuple[CellSums, CellSums]:
        """Read the rows for the first time: check them, and sum both samples up by narrow cells.

        `seen` has who is shown the scores of each sample.
        """
        labeled, unlabeled = sum_samples(self._samples(), seen)
        if not n_rows(labeled):
            check_rows(n_rows(unlabeled), f"the column {self._label!r}")
            raise InputError(
                f"{self._label} must hold at least one label; all {n_rows(unlabeled)} rows are "
                "missing. Label some rows: calibration cannot be measured without."
            )
        # Which label is the positive one is known when all have been seen.
        negative, positive = self.classes
        if self._code.get(positive) == 0:
            labeled.swap()
        self._code = {negative: 0, positive: 1}
        return labeled, unlabeled

    def split(self, sums: Sequence[CellSums], wanted: NDArray[np.bool_]) -> list[Split]:
        """Read the rows again, and gather those of the cells that are wanted, (cell,)."""
        return split_samples(self._samples(), sums, wanted)

    def labeled(self) -> Iterator[Rows]:
        """Read the labelled rows again."""
        for labeled, _ in self._samples():
            yield labeled

    @property
    def classes(self) -> tuple[Label, Label]:
        """The negative and the positive label of the rows that were read."""
        return self._two_labels()

    def _two_labels(self) -> tuple[Label, Label]:
        """Both labels so far; more than two are refused."""
        labels = np.array(sorted(self._code, key=str), dtype=object)
        return code_binary(labels, self._pos_label, None, self._label)[1]

    def _samples(self) -> Iterator[SampleRows]:
        for batch in numbered_batches(self._table, [self._label, self._score]):
            labels, values = factorize(batch.columns[self._label], self._label + batch.place)
            for value in values:
                self._code.setdefault(value, len(self._code))
            if len(self._code) > 2:
                self._two_labels()
            score = probabilities(batch.column(self._score), self._from_logits)
            known = labels >= 0
            event = np.array([self._code[value] for value in values], np.uint8)[labels[known]]
            rest = score[~known]
            yield (score[known], event), (rest, np.zeros(len(rest), np.uint8))
