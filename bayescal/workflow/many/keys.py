"""Keys of fits: what may be one, and the seed and the file name that follow from it."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Final

import numpy as np

from bayescal.core.errors import InputError
from bayescal.core.text import printable

type Part = str | int
type Key = Part | tuple[Part, ...]

# JSON readers elsewhere hold whole numbers up to 2**53 exactly.
_SEED_BITS: Final = 53
_MOST_NAMED: Final = 5


def check_key(key: Any) -> Key:
    """Check a key, and turn NumPy's words and numbers into Python's."""
    if isinstance(key, tuple) and key:
        return tuple(_part(one, key) for one in key)
    return _part(key, key)


def _part(part: Any, key: Any) -> Part:
    if isinstance(part, str):
        return str(part)
    if isinstance(part, int | np.integer) and not isinstance(part, bool):
        return int(part)
    raise InputError(
        f"a key must be a word, a whole number or a tuple of them; got {key!r}. "
        "Pass str(key), such as a date written as '2025-01'."
    )


def as_text(key: Key) -> str:
    """Write a key as JSON, so that 1 and "1" differ."""
    return json.dumps(key)


def from_json(value: Any) -> Key:
    """Turn what JSON made of a key back into it."""
    return check_key(tuple(value) if isinstance(value, list) else value)


def order(key: Key) -> tuple[tuple[bool, Part], ...]:
    """Sort keys part by part, numbers before words."""
    return tuple((isinstance(one, str), one) for one in (key if isinstance(key, tuple) else (key,)))


def joined(key: Key) -> str:
    """Write a key as one word."""
    return " / ".join(map(str, key)) if isinstance(key, tuple) else str(key)


def label(key: Key) -> str:
    """Name a key in a sentence."""
    return printable(joined(key))


def seed_of(seed: int, key: Key) -> int:
    """Derive the seed of one fit: a function of seed and key alone."""
    digest = hashlib.sha256(f"{seed}|{as_text(key)}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> (64 - _SEED_BITS)


def file_stem(key: Key) -> str:
    """Name a key's file, whatever characters the key has."""
    return hashlib.sha256(as_text(key).encode()).hexdigest()[:32]


def listed(words: list[str], between: str) -> str:
    """Join the first few, and say how many more there are."""
    more = f"{between}and {len(words) - _MOST_NAMED} more" if len(words) > _MOST_NAMED else ""
    return between.join(words[:_MOST_NAMED]) + more
