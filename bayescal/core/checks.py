"""The rules that input has to keep, one function a rule, each with the message that mends it.

Rows are counted from 0 throughout, as NumPy and pandas count them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

import numpy as np
from numpy.typing import NDArray

from bayescal.core.errors import InputError

ROW_SUM_TOLERANCE = 1e-3
_SHOWN = 6


def listing(values: Iterable[object]) -> str:
    """Name the first few values in words, for a message.

    Parameters
    ----------
    values : iterable
        What to list.

    Returns
    -------
    str
        Their ``repr`` joined by commas, cut off after six.

    Examples
    --------
    >>> from bayescal.core.checks import listing
    >>> listing(["a", "b"])
    "'a', 'b'"
    """
    items = [repr(value) for value in values]
    rest = len(items) - _SHOWN
    return ", ".join(items[:_SHOWN]) + (f" and {rest} more" if rest > 0 else "")


def check_rows(n: int, name: str) -> None:
    """Check that there is at least one row.

    Parameters
    ----------
    n : int
        Number of rows.
    name : str
        What the message calls the column.

    Raises
    ------
    InputError
        If `n` is 0.
    """
    if n == 0:
        raise InputError(f"{name} must have at least one row; got none. Pass scores and labels.")


def check_same_length(
    n: int,
    name: str,
    n_other: int,
    name_other: str,
    remedy: str = "Pass one value for each row.",
) -> None:
    """Check that two columns speak of the same rows.

    Parameters
    ----------
    n : int
        Number of rows of one column.
    name : str
        What the message calls it.
    n_other : int
        Number of rows of the other column.
    name_other : str
        What the message calls that.
    remedy : str
        What the message advises.

    Raises
    ------
    InputError
        If the lengths differ.
    """
    if n != n_other:
        rows = f"{n} and {n_other} rows"
        raise InputError(f"{name} and {name_other} must have the same length; got {rows}. {remedy}")


def _place(bad: NDArray[np.bool_]) -> tuple[tuple[int, ...], str]:
    """Find the first True, and say where it is and how many rows share its fault."""
    first = tuple(int(i) for i in np.unravel_index(int(bad.argmax()), bad.shape))
    rows = int(bad.reshape(len(bad), -1).any(axis=1).sum())
    where = f"row {first[0]}" + (f", column {first[1]}" if len(first) > 1 else "")
    return first, where + (f" ({rows} such rows)" if rows > 1 else "")


def check_no_nan(values: NDArray[np.floating], name: str) -> None:
    """Check that no score is missing.

    Parameters
    ----------
    values : ndarray of shape (obs,) or (obs, class)
        Scores or logits.
    name : str
        What the message calls them.

    Raises
    ------
    InputError
        If a value is NaN.
    """
    bad = np.isnan(values)
    if bad.any():
        raise InputError(
            f"{name} must not be missing; got NaN at {_place(bad)[1]}. "
            "Drop those rows: only labels may be missing."
        )


def clean_probabilities(values: NDArray[np.floating], name: str) -> NDArray[np.floating]:
    """Check that scores are probabilities, and mend what is only rounding.

    A softmax in float32 may overshoot 1 by a few units in the last place: up to ten are clipped.
    Negative zero becomes zero, so that equal scores have equal bits.

    Parameters
    ----------
    values : ndarray of shape (obs,) or (obs, class), float32 or float64
        Scores.
    name : str
        What the message calls them.

    Returns
    -------
    ndarray
        The same array, or a mended copy of it.

    Raises
    ------
    InputError
        If a value is NaN, infinite, below 0 or above 1.

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal.core.checks import clean_probabilities
    >>> clean_probabilities(np.array([0.25, 1.03]), "y_prob")
    Traceback (most recent call last):
    ...
    bayescal.core.errors.InputError: y_prob must lie in [0, 1]; got 1.03 at row 1. \
Pass probabilities; if these are logits, say from_logits=True.
    """
    low, high = float(values.min()), float(values.max())
    if low > 0.0 and high <= 1.0:
        return values
    slack = 10 * float(np.finfo(values.dtype).eps)
    # A NaN makes every comparison false, so it lands in the refusal.
    if -slack <= low and high <= 1.0 + slack:
        if low < 0.0 or high > 1.0 or np.signbit(values).any():
            mended: NDArray[np.floating] = np.clip(values, 0.0, 1.0) + values.dtype.type(0.0)
            return mended
        return values
    raise _refusal(values, name)


def _refusal(values: NDArray[np.floating], name: str) -> InputError:
    """Say which of the rules of a probability is broken, the coarsest first."""
    check_no_nan(values, name)
    infinite = np.isinf(values)
    bad = infinite if infinite.any() else (values < 0) | (values > 1)
    first, where = _place(bad)
    rule = "be finite" if infinite.any() else "lie in [0, 1]"
    return InputError(
        f"{name} must {rule}; got {values[first]:.6g} at {where}. "
        "Pass probabilities; if these are logits, say from_logits=True."
    )


def check_row_sums(values: NDArray[np.floating], name: str) -> None:
    """Check that the probabilities of a row's classes sum to 1, within 0.001.

    Parameters
    ----------
    values : ndarray of shape (obs, class)
        Probabilities.
    name : str
        What the message calls them.

    Raises
    ------
    InputError
        If a row sums to something else.
    """
    sums = values.sum(axis=1)
    bad = np.abs(sums - 1.0) > ROW_SUM_TOLERANCE
    if bad.any():
        first, where = _place(bad)
        raise InputError(
            f"each row of {name} must sum to 1; got {sums[first]:.6g} at {where}. "
            "Pass the probabilities of all classes (logits: from_logits=True; "
            "several classifiers: Scores.stack)."
        )


def check_unique(names: Sequence[str], what: str) -> None:
    """Check that no name is given twice.

    Parameters
    ----------
    names : sequence of str
        The names.
    what : str
        What they name, as in ``"classifier"``.

    Raises
    ------
    InputError
        If a name repeats.
    """
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InputError(f"{what} names must differ; got {name!r} twice. Rename one of them.")
        seen.add(name)


def check_known(name: str, known: Sequence[str], what: str, where: str) -> None:
    """Check that a name is one of those that exist, and suggest the nearest when it is not.

    Parameters
    ----------
    name : str
        What was asked for.
    known : sequence of str
        What there is.
    what, where : str
        What the name names and where it was looked for: ``"column"``, ``"scores.csv"``.

    Raises
    ------
    InputError
        If `name` is not in `known`.

    Examples
    --------
    >>> from bayescal.core.checks import check_known
    >>> check_known("lable", ["label", "score"], "column", "scores.csv")
    Traceback (most recent call last):
    ...
    bayescal.core.errors.InputError: scores.csv has no column 'lable'; did you mean 'label'? \
It has: 'label', 'score'.
    """
    if name in known:
        return
    folded = {other.strip().casefold(): other for other in reversed(known)}
    near = get_close_matches(name.strip().casefold(), folded, n=1, cutoff=0.5)
    hint = f"; did you mean {folded[near[0]]!r}?" if near else "."
    raise InputError(f"{where} has no {what} {name!r}{hint} It has: {listing(known)}.")


def check_choice(value: object, choices: Sequence[str], name: str) -> None:
    """Check that an option is one of the words it may be.

    Parameters
    ----------
    value : object
        What was given.
    choices : sequence of str
        The words allowed.
    name : str
        The option.

    Raises
    ------
    InputError
        If `value` is none of them.

    Examples
    --------
    >>> from bayescal.core.checks import check_choice
    >>> check_choice("rigth", ["right", "left"], "closed")
    Traceback (most recent call last):
    ...
    bayescal.core.errors.InputError: closed must be one of 'right', 'left'; got 'rigth'.
    """
    if not isinstance(value, str) or value not in choices:
        raise InputError(f"{name} must be one of {listing(choices)}; got {value!r}.")
