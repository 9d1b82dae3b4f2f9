"""From scores to what the model sees: logits, labels and predicted classes of one classifier."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from bayescal.core.columns import MISSING
from bayescal.core.errors import InputError
from bayescal.core.quantity import Floats
from bayescal.core.scores import Scores
from bayescal.quantities.temperature.logits import log_probabilities
from bayescal.quantities.temperature.loss import Integers, LabeledRows, labeled_rows

# The largest score of a classifier is at least this in some row.
_SURE: Final = 0.95


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """All rows of one classifier, with and without labels; made by `Problem.of`."""

    classifier: str
    classes: tuple[str, ...]
    logits: Floats  # (obs, class)
    label: Integers  # (obs,); -1 where it is missing
    predicted: Integers  # (obs,)

    @classmethod
    def of(cls, data: Scores, classifier: str) -> Problem:
        """Take one classifier's scores as logits."""
        prob = data.y_prob[data.classifiers.index(classifier)]
        if prob.ndim == 1:
            prob = np.column_stack([1 - prob, prob])
        label = data.y_true
        rows = np.flatnonzero(label != MISSING)
        impossible = rows[prob[rows, label[rows]] <= 0]
        if impossible.size:
            raise InputError(
                f"the label of a row must have a score above 0; it is 0 for {classifier} at row "
                f"{impossible[0]} ({impossible.size} such rows). No temperature changes a "
                "probability of 0: pass logits with from_logits=True, or scores clipped from below."
            )
        logits = log_probabilities(prob)
        names = tuple(str(name) for name in data.classes)
        return cls(classifier, names, logits, label, logits.argmax(axis=1))

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @property
    def known(self) -> Integers:
        """Places of the labelled rows."""
        return np.flatnonzero(self.label != MISSING)

    def labeled(self) -> LabeledRows:
        """The labelled rows, in slices by predicted class."""
        rows = self.known
        return labeled_rows(
            self.logits[rows], self.label[rows], self.predicted[rows], self.n_classes
        )

    def fingerprint(self) -> str:
        """Hash of names, logits and labels."""
        digest = hashlib.sha256(repr((self.classifier, self.classes)).encode())
        for array in (self.logits, self.label):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()


def data_warnings(problem: Problem) -> list[str]:
    """What a reader must know of the labelled rows."""
    rows = problem.known
    label, predicted = problem.label[rows], problem.predicted[rows]
    count = np.bincount(predicted, minlength=problem.n_classes)
    right = np.bincount(predicted[label == predicted], minlength=problem.n_classes)
    found = []
    if len(rows) < problem.n_classes:
        found.append(
            f"{len(rows)} labelled rows are fewer than the {problem.n_classes} classes. Most "
            "temperatures are those of the prior; label more rows."
        )
    if len(np.unique(label)) == 1:
        found.append(
            f"all labels are {problem.classes[label[0]]}. Check the column of labels: rows of one "
            "class say nothing of the others."
        )
    if _look_like_probabilities(problem.logits):
        found.append(
            "the logits look like probabilities, as each row's lie between 0 and 1 and sum to 1 "
            "after a shift. If they are, leave from_logits out."
        )
    found += _about(problem, np.flatnonzero(count == 0), "never predicted in a labelled row")
    always = np.flatnonzero((count > 0) & (right == count))
    found += _about(problem, always, "right in every labelled row")
    return found


def _look_like_probabilities(logits: Floats) -> bool:
    """Whether logits are probabilities up to a constant a row, some of them sure."""
    shifted = logits + (1 - logits.sum(axis=1, keepdims=True)) / logits.shape[1]
    return bool(shifted.min() >= 0 and shifted.max() > _SURE)


def _about(problem: Problem, places: Integers, what: str) -> list[str]:
    """Say which classes draw their temperature from the others."""
    if not len(places):
        return []
    names: Sequence[str] = [problem.classes[k] for k in places[:4]]
    more = f" and {len(places) - 4} more" if len(places) > 4 else ""
    return [
        f"predicted classes {', '.join(names)}{more}: {what}. How far their temperatures may lie "
        "from the shared one rests on the other classes and the prior."
    ]
