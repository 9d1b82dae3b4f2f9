"""Figures of the rows themselves, without a model: of rows in memory, or of their counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayescal.core.counts import Counts
from bayescal.core.plausibility import area_under_roc
from bayescal.core.tasks import Task
from bayescal.quantities.agnostic.decisions import DecisionRule, actual_cost, estimated_cost
from bayescal.quantities.agnostic.estimator import Estimate, estimate, measure_of_counts
from bayescal.quantities.agnostic.intervals import IntervalMeasure
from bayescal.quantities.agnostic.roc import roc

type Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class RowFigures:
    """Figures of rows in memory."""

    task: Task
    unlabeled: NDArray[np.floating]  # scores, (unlabelled row,)

    @property
    def n(self) -> int:
        """Number of labelled rows."""
        return self.task.n

    @property
    def n_positive(self) -> int:
        """Number of positive rows."""
        return self.task.n_positive

    @property
    def n_unlabeled(self) -> int:
        """Number of rows without a label."""
        return len(self.unlabeled)

    @property
    def only_score(self) -> float | None:
        """The score of all labelled rows, where they share one."""
        score = self.task.score
        return float(score[0]) if np.ptp(score) == 0 else None

    def estimate(self) -> Estimate:
        """Calibration measure of the labelled rows."""
        return estimate(self.task)

    def auc(self) -> float:
        """Area under the ROC curve of the labelled rows; NaN without rows of both labels."""
        both = 0 < self.n_positive < self.n
        return roc(self.task.score, probability=self.task.event).auc if both else np.nan

    def cost(self, rule: DecisionRule) -> float:
        """Mean cost of a rule on the labelled rows."""
        return actual_cost(rule, self.task.score, label=self.task.event, weight=self.task.weight)

    def unlabeled_auc(self) -> float:
        """The area that the unlabelled scores imply; NaN where they imply one label."""
        certain = float(self.unlabeled.mean()) in (0.0, 1.0)
        return np.nan if certain else roc(self.unlabeled).auc

    def unlabeled_cost(self, rule: DecisionRule) -> float:
        """The mean cost that the unlabelled scores imply."""
        return estimated_cost(rule, self.unlabeled)


@dataclass(frozen=True, slots=True, eq=False)
class CountFigures:
    """Figures of counted rows, those of a narrow cell tied."""

    measure: IntervalMeasure
    score: Floats  # (score,)
    labels: NDArray[np.int64]  # labelled rows, negative and positive, (score, 2)
    unlabeled: NDArray[np.int64]  # (score,)

    @classmethod
    def of(cls, counts: Counts) -> CountFigures:
        """Take the rows of one classifier."""
        labels = np.column_stack([counts.rows - counts.positives, counts.positives])
        return cls(measure_of_counts(counts), counts.score, labels, counts.unlabeled)

    @property
    def n(self) -> int:
        """Number of labelled rows."""
        return int(self.labels.sum())

    @property
    def n_positive(self) -> int:
        """Number of positive rows."""
        return int(self.labels[:, 1].sum())

    @property
    def n_unlabeled(self) -> int:
        """Number of rows without a label."""
        return int(self.unlabeled.sum())

    @property
    def only_score(self) -> float | None:
        """The score of all labelled rows, where they share one."""
        held = self.score[self.labels.any(axis=1)]
        return float(held[0]) if len(held) == 1 else None

    def estimate(self) -> Estimate:
        """Calibration measure of the labelled rows."""
        return Estimate(*(np.float64(getattr(self.measure, name)) for name in Estimate._fields))

    def auc(self) -> float:
        """Area under the ROC curve of the labelled rows; NaN without rows of both labels."""
        return area_under_roc(self.labels)

    def cost(self, rule: DecisionRule) -> float:
        """Mean cost of a rule on the labelled rows."""
        return self._mean_cost(rule, self.labels)

    def unlabeled_auc(self) -> float:
        """The area that the unlabelled scores imply; NaN where they imply one label."""
        return area_under_roc(self._implied)

    def unlabeled_cost(self, rule: DecisionRule) -> float:
        """The mean cost that the unlabelled scores imply."""
        return self._mean_cost(rule, self._implied)

    @property
    def _implied(self) -> Floats:
        """Sums of 1 - f and of f over the unlabelled rows, (score, 2)."""
        of_label = np.column_stack([1 - self.score, self.score])
        return np.asarray(self.unlabeled[:, np.newaxis] * of_label, dtype=np.float64)

    def _mean_cost(self, rule: DecisionRule, rows: NDArray[np.int64] | Floats) -> float:
        of_label = rule.cost_table[rule.action_of(self.score)][:, ::-1]
        return float((rows * of_label).sum() / rows.sum())


type Figures = RowFigures | CountFigures
"""What a result holds of the rows beside the posterior."""
