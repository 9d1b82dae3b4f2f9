"""Several classifiers' class probabilities of the same rows, some of them labeled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescal.core.checks import check_rows
from bayescal.core.errors import InputError
from bayescal.core.factorize import MISSING, Label
from bayescal.core.scores import Scores


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """Class probabilities by classifier, and the labels that are known.

    Parameters
    ----------
    probs : ndarray of shape (classifier, obs, class), float64, in [0, 1]
        Probabilities; the classes of a row sum to 1. A binary score s becomes (1 - s, s).
    y : ndarray of shape (obs,), int32
        Index into `classes`; -1 where the label is not known.
    classifiers : tuple of str
        Names of the classifiers.
    classes : tuple
        The labels; of a binary task the negative one, then the positive one.
    group : ndarray of shape (obs,), int32, or None
        Index into `groups`.
    groups : tuple of str
        Names of the groups; empty without groups.

    Examples
    --------
    >>> import bayescal as bc
    >>> from bayescal.quantities.ssme.panel import panel_of
    >>> scores = bc.Scores.stack({"a": [0.2, 0.9], "b": [0.4, 0.7]}, y_true=[0, None])
    >>> panel = panel_of(scores)
    >>> panel.probs.shape, panel.y.tolist(), panel.n_labeled
    ((2, 2, 2), [0, -1], 1)
    """

    probs: NDArray[np.float64]
    y: NDArray[np.int32]
    classifiers: tuple[str, ...]
    classes: tuple[Label, ...]
    group: NDArray[np.int32] | None = None
    groups: tuple[str, ...] = ()

    @property
    def labeled(self) -> NDArray[np.bool_]:
        """Whether the label of each row is known, shape (obs,)."""
        known: NDArray[np.bool_] = self.y != MISSING
        return known

    @property
    def n_obs(self) -> int:
        """Number of rows."""
        return len(self.y)

    @property
    def n_labeled(self) -> int:
        """Number of rows whose label is known."""
        return int(np.count_nonzero(self.labeled))

    @property
    def n_classifiers(self) -> int:
        """Number of classifiers."""
        return len(self.classifiers)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @property
    def is_binary(self) -> bool:
        """Whether there are two classes."""
        return self.n_classes == 2

    def take(self, rows: NDArray[Any]) -> Panel:
        """Take some rows."""
        group = None if self.group is None else self.group[rows]
        probs = self.probs[:, rows]
        return Panel(probs, self.y[rows], self.classifiers, self.classes, group, self.groups)

    def select(self, classifier: int) -> Panel:
        """Take one classifier."""
        name = (self.classifiers[classifier],)
        probs = self.probs[[classifier]]
        return Panel(probs, self.y, name, self.classes, self.group, self.groups)


def panel_of(scores: Scores) -> Panel:
    """Bring scores into the one shape that the room computes with."""
    if not isinstance(scores, Scores):
        raise InputError(
            f"scores must be a bayescal.Scores; got {type(scores).__name__}. "
            "Make one with bc.Scores.stack({name: probabilities}, y_true=labels)."
        )
    check_rows(scores.n_obs, "the scores")
    prob = scores.y_prob.astype(np.float64)
    if scores.is_binary:
        probs = np.stack([1.0 - prob, prob], axis=-1)
    else:
        probs = prob / prob.sum(axis=-1, keepdims=True)
    return Panel(
        probs, scores.y_true, scores.classifiers, scores.classes, scores.group, scores.groups
    )
