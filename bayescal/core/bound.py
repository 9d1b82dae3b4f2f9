"""A number that theory gives, with its kind and its assumption in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Bound(NamedTuple):
    """A number that theory gives, with what it is and what it takes for granted.

    Parameters
    ----------
    value : float
        The number; infinite where the theory says nothing.
    kind : str
        What it bounds, in words.
    assumption : str
        What has to hold, in words.
    """

    value: float
    kind: str
    assumption: str


def values_of(bounds: Mapping[str, Bound]) -> dict[str, float]:
    """Take the numbers of bounds.

    Parameters
    ----------
    bounds : mapping of str to Bound
        Bounds by name.

    Returns
    -------
    dict of str to float
        The group ``bounds`` of a result.

    Examples
    --------
    >>> values_of({"deviation": Bound(0.2, "of the error", "rows are independent")})
    {'deviation': 0.2}
    """
    return {name: bound.value for name, bound in bounds.items()}


def words_of(bounds: Mapping[str, Bound]) -> dict[str, dict[str, str]]:
    """Take the words of bounds.

    Parameters
    ----------
    bounds : mapping of str to Bound
        Bounds by name.

    Returns
    -------
    dict of str to dict
        Attributes of the variables: ``kind`` and ``assumption``.

    Examples
    --------
    >>> words_of({"deviation": Bound(0.2, "of the error", "rows are independent")})
    {'deviation': {'kind': 'of the error', 'assumption': 'rows are independent'}}
    """
    return {
        name: {"kind": bound.kind, "assumption": bound.assumption} for name, bound in bounds.items()
    }
