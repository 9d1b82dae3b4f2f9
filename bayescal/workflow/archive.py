"""One finished fit as a file, under its key: a zip archive of NumPy arrays with a description.

netCDF takes a quarter of a second to write a result of sixty variables, as long as the fit itself;
this takes some milliseconds. `numpy.load` opens it. Every member has a checksum, so that damage is
found when it is read.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescal.core.errors import InputError
from bayescal.core.text import printable
from bayescal.results import access, schema
from bayescal.results.kind import kind_of
from bayescal.results.text import plain_records

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


KEEP: Final = ("draws", "scalars", "summary")
FORMAT: Final = 1
_ABOUT: Final = "about.json"
_HELD: Final = {
    "key": str | int | list,
    "recipe": dict,
    "keep": str,
    "summary": list,
    "converged": bool,
    "attrs": dict,
    "groups": dict,
}


class DamagedError(Exception):
    """A file is not a complete record."""


def pack(tree: xr.DataTree, keep: str, about: Mapping[str, Any]) -> bytes:
    """Write a result, or what is to be kept of it, with its summary."""
    summary = plain_records(kind_of(tree).summary(tree, float(tree.attrs["prob"])))
    kept = {"draws": _whole, "scalars": _scalars, "summary": _nothing}[keep](tree)
    arrays: dict[str, NDArray[Any]] = {}
    groups = {name: _describe(name, part, arrays) for name, part in kept.items()}
    head = {
        **about,
        "format": FORMAT,
        "keep": keep,
        "summary": summary,
        "converged": access.is_converged(tree),
        "attrs": tree.attrs,
        "groups": groups,
    }
    # Draws of many bins are too many to compress in the time of a fit.
    method = zipfile.ZIP_STORED if keep == "draws" else zipfile.ZIP_DEFLATED
    return _archive(head, arrays, method)


def _whole(tree: xr.DataTree) -> dict[str, xr.Dataset]:
    return {str(name): child.to_dataset() for name, child in tree.children.items()}


def _scalars(tree: xr.DataTree) -> dict[str, xr.Dataset]:
    """Draws of the variables with one value a case, as float32, and all that is no draw."""
    found = {}
    for name in (*schema.PLAIN_GROUPS, schema.ERROR_CORRELATION):
        if name in tree.children:
            found[name] = tree[name].to_dataset()
    for name in (schema.POSTERIOR, schema.DESCRIPTIONS):
        if name in tree.children:
            group = tree[name].to_dataset()
            alone = [var for var in group.data_vars if access.is_scalar(group[var])]
            found[name] = _narrow(group[alone])
    return found


def _narrow(group: xr.Dataset) -> xr.Dataset:
    wide = {name: values.astype(np.float32) for name, values in group.items() if _is_wide(values)}
    return group.assign(wide)


def _is_wide(values: xr.DataArray) -> bool:
    return bool(values.dtype == np.float64)


def _nothing(tree: xr.DataTree) -> dict[str, xr.Dataset]:
    return {}


def _describe(name: str, group: xr.Dataset, arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """Dims and attributes of a group's variables; their values go into `arrays`."""
    found = {}
    for var, values in group.variables.items():
        array = np.asarray(values.values)
        # Words as text of fixed width: objects would be pickled.
        arrays[f"{name}/{var}"] = array.astype(np.str_) if array.dtype.kind in "OT" else array
        found[str(var)] = {"dims": values.dims, "attrs": values.attrs, "coord": var in group.coords}
    return found


def _archive(head: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], method: int) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method, compresslevel=1) as archive:
        archive.writestr(_member(_ABOUT, method), json.dumps(head, default=_number))
        for name, values in arrays.items():
            with archive.open(_member(f"{name}.npy", method), "w", force_zip64=True) as file:
                np.lib.format.write_array(file, values, allow_pickle=False)
    return buffer.getvalue()


def _number(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} is no JSON value")


def _member(name: str, method: int) -> zipfile.ZipInfo:
    """A member without the time of writing, so that equal results give equal bytes."""
    info = zipfile.ZipInfo(name)
    info.compress_type = method
    return info


def about(content: bytes | Path) -> dict[str, Any]:
    """Read the description alone."""
    with _reading(content) as archive:
        return _head(archive)


def verified(content: bytes | Path, key: Key) -> dict[str, Any]:
    """Read the description of this key's fit, after checking every member's checksum."""
    with _reading(content) as archive:
        if (bad := archive.testzip()) is not None:
            raise DamagedError(f"{bad} has another checksum")
        return _head_of(archive, key)


def unpack(content: bytes | Path, key: Key) -> xr.DataTree:
    """Read the result of this key."""
    with _reading(content) as archive:
        head = _head_of(archive, key)
        groups = {name: _group(archive, name, held) for name, held in head["groups"].items()}
        tree = xr.DataTree.from_dict(groups)
    if head["keep"] == "summary":
        raise InputError(
            "only the summary of this fit was kept. Read .summary(), or fit with keep='scalars'."
        )
    tree.attrs = head["attrs"]
    return tree


def _group(archive: zipfile.ZipFile, name: str, held: Mapping[str, Any]) -> xr.Dataset:
    variables: dict[Hashable, xr.Variable] = {}
    for var, what in held.items():
        with archive.open(f"{name}/{var}.npy") as file:
            values = np.lib.format.read_array(file, allow_pickle=False)
        variables[var] = xr.Variable(what["dims"], values, what["attrs"])
    coords = [var for var, what in held.items() if what["coord"]]
    return xr.Dataset(variables).set_coords(coords)


def _head(archive: zipfile.ZipFile) -> dict[str, Any]:
    head: dict[str, Any] = json.loads(archive.read(_ABOUT))
    if head["format"] != FORMAT:
        raise DamagedError(f"it has format {head['format']}, not {FORMAT}")
    lost = [name for name, kind in _HELD.items() if not isinstance(head[name], kind)]
    if lost or "quantity" not in head["recipe"]:
        raise DamagedError(f"its description lacks {', '.join(lost) or 'the quantity'}")
    return head | {"key": from_json(head["key"])}


def _head_of(archive: zipfile.ZipFile, key: Key) -> dict[str, Any]:
    """The description, of no other key: files may have been renamed."""
    head = _head(archive)
    if head["key"] != key:
        raise DamagedError(f"it holds the fit of {label(head['key'])}")
    return head


@contextmanager
def _reading(content: bytes | Path) -> Iterator[zipfile.ZipFile]:
    """Open an archive; whatever a damaged one raises becomes a `DamagedError`."""
    source = io.BytesIO(content) if isinstance(content, bytes) else content
    try:
        with zipfile.ZipFile(source) as archive:
            yield archive
    except DamagedError:
        raise
    except Exception as error:  # flipped bits make zipfile, NumPy and JSON raise nearly anything
        raise DamagedError(str(error) or type(error).__name__) from error
