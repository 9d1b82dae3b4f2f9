"""One binary problem: a score, and whether its event happened; several classes cut into such."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescal.core.errors import InputError


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """One binary problem on labelled rows, cut out of a `Scores`.

    A multi-class problem becomes several of them (class-wise) or one about being right
    (top-label), so that whatever handles a Task handles every kind of calibration.

    Parameters
    ----------
    coords : mapping of str to str
        Where the task stands in a result: ``{"classifier": "vit"}``, and for class-wise tasks also
        ``"class"``.
    score : ndarray of shape (obs,), float32 or float64, in [0, 1]
        Probability that the classifier gave to the event.
    event : ndarray of shape (obs,), uint8
        1 where the event happened, 0 where it did not.
    group : ndarray of shape (obs,), int32, optional
        Code of each row's group, an index into `groups`.
    groups : tuple of str, default ()
        Names of the groups.

    Raises
    ------
    InputError
        If the arrays differ in length.

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal.core.tasks import Task
    >>> task = Task({"classifier": "vit"}, np.array([0.2, 0.9]), np.array([0, 1], np.uint8))
    >>> task.n, task.n_positive
    (2, 1)
    """

    coords: Mapping[str, str]
    score: NDArray[np.floating]
    event: NDArray[np.uint8]
    group: NDArray[np.int32] | None = None
    groups: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        lengths = {"score": self.score.shape, "event": self.event.shape}
        if self.group is not None:
            lengths["group"] = self.group.shape
        if len(set(lengths.values())) > 1:
            found = ", ".join(f"{name} {shape}" for name, shape in lengths.items())
            raise InputError(f"the arrays of a Task must have one shape (obs,); got {found}.")

    @property
    def n(self) -> int:
        """Number of rows, all labelled."""
        return len(self.score)

    @property
    def n_positive(self) -> int:
        """Number of rows where the event happened."""
        return int(np.count_nonzero(self.event))


def top_label(
    y_prob: NDArray[np.floating], y_true: NDArray[np.int32]
) -> tuple[NDArray[np.floating], NDArray[np.int32]]:
    """Ask whether the class predicted is the right one."""
    if y_prob.ndim == 1:
        predicted = (y_prob > 0.5).astype(np.int32)
        score = np.maximum(y_prob, 1 - y_prob)
    else:
        predicted = y_prob.argmax(axis=1).astype(np.int32)
        score = y_prob.max(axis=1)
    return score, np.where(y_true < 0, -1, predicted == y_true).astype(np.int32)


def binary_problems(
    y_prob: NDArray[np.floating],
    y_true: NDArray[np.int32],
    classes: Sequence[object],
    multiclass: str,
) -> Iterator[tuple[dict[str, str], NDArray[np.floating], NDArray[Any]]]:
    """Cut one classifier's scores into binary problems."""
    if y_prob.ndim == 1:
        yield {}, y_prob, y_true
    elif multiclass == "top-label":
        yield {}, *top_label(y_prob, y_true)
    else:
        for code, label in enumerate(classes):
            yield {"class": str(label)}, y_prob[:, code], y_true == code
