"""From a user's columns to the checked arrays that `Scores` holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.checks import (
    check_no_nan,
    check_row_sums,
    check_rows,
    check_same_length,
    clean_probabilities,
)
from bayescal.core.columns import to_floats
from bayescal.core.errors import InputError
from bayescal.core.factorize import Label
from bayescal.core.labels import code_binary, code_classes, code_groups, same_label

type Probabilities = NDArray[np.floating]


class Column(NamedTuple):
    """Values, and what a message calls them.

    Parameters
    ----------
    name : str
        Name of an argument, or of a column of a file.
    values : array-like, Series or DataFrame
        What it holds.
    """

    name: str
    values: Any


class Parts(NamedTuple):
    """The checked fields of a `Scores`, by the same names.

    Parameters
    ----------
    y_prob : ndarray of shape (classifier, obs) or (classifier, obs, class)
        Scores in [0, 1].
    y_true : ndarray of shape (obs,), int32
        Index into `classes`; -1 where the label is missing.
    classifiers : tuple of str
        Names of the classifiers.
    classes : tuple
        The labels.
    group : ndarray of shape (obs,), int32, or None
        Index into `groups`.
    groups : tuple of str
        Names of the groups.
    """

    y_prob: Probabilities
    y_true: NDArray[np.int32]
    classifiers: tuple[str, ...]
    classes: tuple[Label, ...]
    group: NDArray[np.int32] | None
    groups: tuple[str, ...]


def collect(
    scores: Mapping[str, Column],
    label: Column,
    *,
    group: Column | None,
    pos_label: Any,
    from_logits: bool,
    classes: Sequence[Any] | None,
) -> Parts:
    """Check the columns of one or several classifiers and put them together."""
    if not scores:
        raise InputError("there must be at least one classifier; got none. Pass {name: y_prob}.")
    positive = _positive_column(pos_label, classes)
    arrays = [probabilities(column, from_logits, positive) for column in scores.values()]
    first = next(iter(scores.values()))
    for column, array in zip(scores.values(), arrays, strict=True):
        check_same_length(len(array), column.name, len(arrays[0]), first.name)
        if array.shape != arrays[0].shape:
            raise InputError(
                f"all classifiers must score the same classes; got {column.name} of shape "
                f"{array.shape} and {first.name} of shape {arrays[0].shape}. Stack them apart."
            )
    y_true, labels = _labels(arrays[0], label, pos_label, classes)
    check_same_length(
        len(arrays[0]),
        first.name,
        len(y_true),
        label.name,
        "Pass one label for each row, None or NaN where it is not known.",
    )
    codes, groups = (
        (None, ())
        if group is None
        else code_groups(group.values, group.name, len(y_true), label.name)
    )
    y_prob = arrays[0][np.newaxis] if len(arrays) == 1 else np.stack(arrays)
    return Parts(y_prob, y_true, tuple(scores), labels, codes, groups)


def _positive_column(pos_label: Any, classes: Sequence[Any] | None) -> int:
    """Tell which of two columns of y_prob is that of the positive class."""
    if classes is not None and len(classes) == 2 and same_label(classes[0], pos_label):
        return 0
    return 1


def _labels(
    y_prob: Probabilities, label: Column, pos_label: Any, classes: Sequence[Any] | None
) -> tuple[NDArray[np.int32], tuple[Label, ...]]:
    if y_prob.ndim == 1:
        return code_binary(label.values, pos_label, classes, label.name)
    return code_classes(label.values, y_prob.shape[1], classes, label.name)


def probabilities(column: Column, from_logits: bool = False, positive: int = 1) -> Probabilities:
    """Turn one classifier's column or table of scores into checked probabilities, (obs,)."""
    values = to_floats(column.values, column.name)
    if values.ndim > 2 or (values.ndim == 2 and values.shape[1] == 0):
        raise InputError(
            f"{column.name} must have shape (obs,) or (obs, class); got {values.shape}. "
            "Pass one classifier at a time, or several to Scores.stack."
        )
    check_rows(len(values), column.name)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if from_logits:
        values = _from_logits(values, column.name)
    values = clean_probabilities(values, column.name)
    if values.ndim == 1:
        return values
    check_row_sums(values, column.name)
    return values[:, positive] if values.shape[1] == 2 else values


def _from_logits(values: Probabilities, name: str) -> Probabilities:
    # SciPy's special functions take longer to import than a million rows take to bin.
    from scipy.special import expit, softmax

    check_no_nan(values, name)
    if values.ndim == 1:
        return np.asarray(expit(values))
    if not np.isfinite(values.max(axis=1)).all():
        row = int((~np.isfinite(values.max(axis=1))).argmax())
        raise InputError(
            f"the largest logit of each row of {name} must be finite; got "
            f"{values[row].max():.6g} at row {row}. Pass finite logits, or probabilities."
        )
    return np.asarray(softmax(values, axis=1))
