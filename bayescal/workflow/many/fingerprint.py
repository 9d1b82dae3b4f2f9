"""A hash of any data: equal contents give equal hashes, in every process and on every machine."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from bayescal.core.errors import InputError


def fingerprint(value: Any) -> str:
    """Hash arrays, numbers, words, and what is made of them.

    Notes
    -----
    It is of the data as they are handed in, not of what a model makes of them (the attribute
    `data_hash` of a result): rows in another order are other data, because classifiers are compared
    row by row.
    """
    digest = hashlib.sha256()
    _add(digest, value)
    return digest.hexdigest()[:32]


def _add(digest: Any, value: Any) -> None:
    if isinstance(value, np.ndarray) and value.dtype.kind != "O":
        _name(digest, f"array {value.dtype.str} {value.shape}")
        digest.update(np.ascontiguousarray(value).data if value.size else b"")
    elif value is None or isinstance(value, bool | int | float | str | bytes | np.generic):
        _name(digest, f"{type(value).__name__} {value!r}")
    elif isinstance(value, Mapping):
        _name(digest, f"mapping {len(value)}")
        for name, one in value.items():
            _add(digest, name)
            _add(digest, one)
    elif isinstance(value, list | tuple | np.ndarray):
        _name(digest, f"{type(value).__name__} {len(value)}")
        for one in value:
            _add(digest, one)
    elif is_dataclass(value) and not isinstance(value, type):
        _name(digest, type(value).__qualname__)
        for field in fields(value):
            _add(digest, field.name)
            _add(digest, getattr(value, field.name))
    else:
        _name(digest, type(value).__qualname__)
        digest.update(_pickled(value))


def _name(digest: Any, text: str) -> None:
    # The length keeps neighbours apart: "ab", "c" is not "a", "bc".
    content = text.encode(errors="surrogatepass")
    digest.update(f"{len(content)}:".encode() + content)


def _pickled(value: Any) -> bytes:
    try:
        return pickle.dumps(value, protocol=5)
    except Exception as error:  # pickle raises whatever the object's own methods raise
        raise InputError(
            f"data must be made of arrays, numbers and words; got a {type(value).__name__}, "
            f"which cannot be pickled: {error}. Pass what the quantity takes."
        ) from error
