"""Logits of rows, from what a user passes in."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bayescal.core.checks import check_choice, check_rows
from bayescal.core.columns import to_floats
from bayescal.core.errors import InputError
from bayescal.core.intake import Column, probabilities
from bayescal.core.quantity import Floats

INPUTS: Final = ("logits", "probabilities")
_ROUNDING: Final = 1e-6
_LEAST: Final = float(np.log(np.finfo(np.float64).tiny))


def as_logits(values: Any, scale: str, name: str = "X") -> Floats:
    """Check logits, or take the logarithm of probabilities, (obs, class).

    One column, or one dimension, is the logit or probability of the second of two classes.
    """
    check_choice(scale, INPUTS, "scale")
    return _checked(values, name) if scale == "logits" else _of_probabilities(values, name)


def column_names(values: Any) -> list[str] | None:
    """Names of the columns of a table that has any: a dataframe's, pandas' or another's."""
    import narwhals as nw

    if not nw.dependencies.is_into_dataframe(values):
        return None
    return [str(name) for name in nw.from_native(values, eager_only=True).columns]


def places_of(names: Sequence[str], wanted: Iterable[object]) -> list[int] | None:
    """Where among the names the wanted ones are, in their order; None if they are not the same."""
    order = [str(name) for name in wanted]
    if sorted(names) != sorted(order):
        return None
    return [names.index(name) for name in order]


def _checked(values: Any, name: str) -> Floats:
    found = np.asarray(to_floats(values, name), np.float64)
    if found.ndim > 2 or (found.ndim == 2 and found.shape[1] == 0):
        raise InputError(
            f"{name} must have shape (obs,) or (obs, class); got {found.shape}. "
            "Pass a logit for each class."
        )
    check_rows(len(found), name)
    bad = ~np.isfinite(found)
    if bad.any():
        row = int(bad.reshape(len(bad), -1).any(axis=1).argmax())
        value = np.atleast_1d(found[row])[np.atleast_1d(bad[row])][0]
        raise InputError(
            f"{name} must hold finite logits; got {value} at row {row}. Drop the row, or replace "
            "infinite logits by the largest finite ones of the classifier."
        )
    if found.ndim == 2 and found.shape[1] > 1:
        _warn_of_probabilities(found, name)
        return found
    column = found.reshape(-1)
    return np.column_stack([np.zeros_like(column), column])


def _warn_of_probabilities(found: Floats, name: str) -> None:
    """Say so where rows lie in [0, 1] and sum to 1."""
    if found.min() >= 0 and np.abs(found.sum(axis=1) - 1).max() < _ROUNDING:
        warnings.warn(
            f"{name} look like probabilities, as each row sums to 1, but are taken as logits. "
            "Pass scale='probabilities' if they are.",
            UserWarning,
            stacklevel=4,
        )


def _of_probabilities(values: Any, name: str) -> Floats:
    try:
        found = probabilities(Column(name, values))
    except InputError as error:
        said = str(error).replace("set from_logits=True", "pass their softmax")
        raise InputError(said) from error
    if found.ndim == 1:
        found = np.column_stack([1 - found, found])
    return log_probabilities(found)


def predicted_class(scores: NDArray[np.floating]) -> NDArray[np.intp]:
    """The class of the largest logit or probability; of equal ones the first, (obs,).

    Of two equal classes it is the second, as in the paper: f(X) >= 0.5 is class 1.
    """
    if scores.ndim == 1:
        return (scores >= 0.5).astype(np.intp)
    if scores.shape[1] == 2:
        return (scores[:, 1] >= scores[:, 0]).astype(np.intp)
    return scores.argmax(axis=1)


def class_columns(logits: Floats) -> Floats:
    """Logits of the second of two classes as those of both; of more classes as they are."""
    if logits.ndim == 2:
        return logits
    # One of both is 0, so that an infinite one stands beside it.
    return np.column_stack([np.minimum(-logits, 0), np.minimum(logits, 0)])


def finite_logits(logits: Floats) -> Floats:
    """Logits with the logarithm of the least number in place of -inf, (obs, class)."""
    least = logits.max(axis=1, keepdims=True) + _LEAST
    return np.where(logits == -np.inf, least, logits)


def log_probabilities(prob: NDArray[np.floating]) -> Floats:
    """Logarithms, with the smallest number of the type in place of 0, (...)."""
    return np.asarray(np.log(np.maximum(prob, np.finfo(prob.dtype).tiny), dtype=np.float64))
