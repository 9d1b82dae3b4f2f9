"""Binary problems cut out of scores, of which a multi-class one becomes several."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bayescal.core.errors import InputError
from bayescal.core.rounding import round_scores

MULTICLASS: Final = ("top-label", "class-wise", "marginal")


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """One binary problem on labelled rows, of which a multi-class one becomes several."""

    coords: Mapping[str, str]
    score: NDArray[np.floating]  # (obs,)
    event: NDArray[np.uint8]  # (obs,)
    group: NDArray[np.int32] | None = None  # (obs,)
    groups: tuple[str, ...] = ()
    weight: NDArray[np.float64] | None = None  # (obs,), above 0

    def __post_init__(self) -> None:
        lengths = {"score": self.score.shape, "event": self.event.shape}
        optional = {"group": self.group, "weight": self.weight}
        lengths |= {name: value.shape for name, value in optional.items() if value is not None}
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
    """Whether the predicted class is right, with its probability."""
    if y_prob.ndim == 1:
        predicted = (y_prob >= 0.5).astype(np.int32)
        score = round_scores(np.maximum(y_prob, 1 - y_prob))
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
