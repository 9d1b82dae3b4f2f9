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
    """Take the numbers of bounds."""
    return {name: bound.value for name, bound in bounds.items()}


def words_of(bounds: Mapping[str, Bound]) -> dict[str, dict[str, str]]:
    """Take the words of bounds."""
    return {
        name: {"kind": bound.kind, "assumption": bound.assumption} for name, bound in bounds.items()
    }
