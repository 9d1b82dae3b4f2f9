"""Finished fits as files: keys, what a fit was computed from, and archives with both inside.

An archive is a zip file of NumPy arrays with a description in JSON. netCDF takes a quarter of a
second to write a result of sixty variables, as long as the fit itself; this takes some
milliseconds. `numpy.load` opens it. Every member has a checksum, by which damage is found.
"""

from __future__ import annotations

import hashlib
import io
import json
import pickle
import sys
import zipfile
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, fields, is_dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescal._version import __version__
from bayescal.core.checks import plain
from bayescal.core.errors import InputError
from bayescal.core.quantity import CaseArrays, Quantity
from bayescal.core.text import plain_records, printable
from bayescal.results import access, schema
from bayescal.results.io import upgrade
from bayescal.results.summary import summary as summarise
from bayescal.workflow.sampling import Settings

type Part = str | int
type Key = Part | tuple[Part, ...]
type Arrays = Mapping[str, NDArray[Any]]

_PACKAGE: Final = __name__.partition(".")[0]
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
# JSON readers elsewhere hold whole numbers up to 2**53 exactly.
_SEED_BITS: Final = 53
_MOST_NAMED: Final = 5
_PLAIN = (str, int, float, type(None))
# What of a case's arrays is words.
_WORDS: Final = ("coords", "bounds_attrs", "warnings", "sampler")


class DamagedError(Exception):
    """A file is not a complete archive."""


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


def listed(words: list[str], between: str) -> str:
    """Join the first few, and say how many more there are."""
    more = f"{between}and {len(words) - _MOST_NAMED} more" if len(words) > _MOST_NAMED else ""
    return between.join(words[:_MOST_NAMED]) + more


def seed_of(seed: int, key: Key) -> int:
    """Derive the seed of one fit: a function of seed and key alone."""
    # As JSON 1 and "1" differ.
    digest = hashlib.sha256(f"{seed}|{json.dumps(key)}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> (64 - _SEED_BITS)


def file_stem(key: Key) -> str:
    """Name a key's file, whatever characters the key has."""
    return hashlib.sha256(json.dumps(key).encode()).hexdigest()[:32]


def fingerprint(value: Any) -> str:
    """Hash arrays, numbers, words, and what is made of them; the same on every machine.

    Rows in another order are other data, because classifiers are compared row by row.
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
    elif hasattr(value, "_content_"):
        # Items of a table of counts tell neither groups nor pairs.
        _name(digest, type(value).__qualname__)
        _add(digest, value._content_())
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
            # What follows from the others may be computed already, or not yet.
            _add(digest, getattr(value, field.name) if field.compare else None)
    else:
        _name(digest, type(value).__qualname__)
        try:
            digest.update(pickle.dumps(value, protocol=5))
        except Exception as error:  # pickle raises whatever the object's own methods raise
            raise InputError(
                f"data must be made of arrays, numbers and words; got a {type(value).__name__}, "
                f"which cannot be pickled: {error}. Pass what the quantity takes."
            ) from error


def _name(digest: Any, text: str) -> None:
    # The length keeps neighbours apart: "ab", "c" is not "a", "bc".
    content = text.encode(errors="surrogatepass")
    digest.update(f"{len(content)}:".encode() + content)


def recipe_of(
    quantity: Quantity, data: str, priors: Any, settings: Settings, **others: Any
) -> dict[str, Any]:
    """What a fit depends on, as JSON holds it; `data` is their hash."""
    return {
        "version": __version__,
        "quantity": quantity.NAME,
        **_release(quantity),
        "data": data,
        "priors": json.loads(priors.to_json()),
        **others,
        **asdict(settings),
    }


def _release(quantity: Quantity) -> dict[str, str]:
    """Version of the package that a quantity from outside is of; `version` is of this one."""
    package = getattr(quantity, "__name__", "").partition(".")[0]
    found = getattr(sys.modules.get(package), "__version__", None)
    return {} if found is None or package == _PACKAGE else {"quantity_version": str(found)}


def plain_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options as they are, where a reader can see what one is; its hash otherwise."""
    return {
        name: one if isinstance(one := plain(value), _PLAIN) else fingerprint(value)
        for name, value in sorted(options.items())
    }


def difference(stored: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """Say in which respects a stored fit is another one; "" where it is the one wanted."""
    both = ((name, stored.get(name), wanted.get(name)) for name in {**wanted, **stored})
    # A NaN is not equal to itself; as JSON it is.
    names = [name for name, one, two in both if one != two and json.dumps(one) != json.dumps(two)]
    return ", ".join(
        f"other {name}"
        if name in ("data", "priors", "options")
        else f"{name} {stored.get(name)!r} instead of {wanted.get(name)!r}"
        for name in names
    )


def pack(tree: xr.DataTree, keep: str, about: Mapping[str, Any]) -> bytes:
    """Write a result, or what is to be kept of it, with its summary."""
    summary = plain_records(summarise(tree, float(tree.attrs["prob"])))
    kept = {str(name): child.to_dataset() for name, child in tree.children.items()}
    if keep != "draws":
        kept = _scalars(kept) if keep == "scalars" else {}
    arrays = {
        f"{group}/{name}": np.asarray(values.values)
        for group, part in kept.items()
        for name, values in part.variables.items()
    }
    head = {
        **about,
        "keep": keep,
        "summary": summary,
        "converged": access.is_converged(tree),
        "attrs": tree.attrs,
        "groups": {name: _describe(part) for name, part in kept.items()},
    }
    # Draws of many bins are too many to compress in the time of a fit.
    return _archive(head, arrays, zipfile.ZIP_STORED if keep == "draws" else zipfile.ZIP_DEFLATED)


def _scalars(groups: Mapping[str, xr.Dataset]) -> dict[str, xr.Dataset]:
    """Variables with one value a case, as float32, and all that is no draw but shared rows."""
    found = {}
    for name, group in groups.items():
        if name in (schema.POSTERIOR, schema.GIVEN_MISCALIBRATION):
            one = group[[var for var in group.data_vars if access.is_scalar(group[var])]]
            wide = [var for var in one if one[var].dtype == np.float64]
            found[name] = one.assign({var: one[var].astype(np.float32) for var in wide})
        elif name in {*schema.PLAIN_GROUPS, schema.ERROR_CORRELATION} - {schema.SHARED_ROWS}:
            found[name] = group
    return found


def _describe(group: xr.Dataset) -> dict[str, Any]:
    return {
        str(name): {"dims": values.dims, "attrs": values.attrs, "coord": name in group.coords}
        for name, values in group.variables.items()
    }


def pack_case(case: CaseArrays) -> bytes:
    """Write what was found of one case."""
    words = {name: getattr(case, name) for name in _WORDS}
    arrays = {
        f"{group}/{name}": np.asarray(values)
        for group in _groups()
        for name, values in getattr(case, group).items()
    }
    return _archive({"case": words}, arrays, zipfile.ZIP_STORED)


def unpack_case(content: Path) -> CaseArrays:
    """Read what was found of one case."""
    found: dict[str, Any] = {group: {} for group in _groups()}
    with _reading(content) as archive:
        for member in archive.namelist():
            group, _, name = member.removesuffix(".npy").partition("/")
            if name:
                found[group][name] = _values(archive, member)
        return CaseArrays(**_json(archive)["case"], **found)


def _groups() -> list[str]:
    return [field.name for field in fields(CaseArrays) if field.name not in _WORDS]


def _archive(head: Mapping[str, Any], arrays: Arrays, method: int) -> bytes:
    buffer = io.BytesIO()
    described = json.dumps({"format": FORMAT, **head}, default=np.generic.item)
    with zipfile.ZipFile(buffer, "w", method, compresslevel=1) as archive:
        archive.writestr(_member(_ABOUT, method), described)
        for name, values in arrays.items():
            # Words as text of fixed width: objects would be pickled.
            plain = values.astype(np.str_) if values.dtype.kind in "OT" else values
            with archive.open(_member(f"{name}.npy", method), "w", force_zip64=True) as file:
                np.lib.format.write_array(file, plain, allow_pickle=False)
    return buffer.getvalue()


def _member(name: str, method: int) -> zipfile.ZipInfo:
    """A member without the time of writing, so that equal results give equal bytes."""
    info = zipfile.ZipInfo(name)
    info.compress_type = method
    return info


def about(content: bytes | Path) -> dict[str, Any]:
    """Read the description of a result alone."""
    with _reading(content) as archive:
        return _head(archive)


def verified(content: bytes | Path, key: Key) -> dict[str, Any]:
    """Read the description of this key's fit, after checking every member's checksum."""
    with _reading(content) as archive:
        if (bad := archive.testzip()) is not None:
            raise DamagedError(f"{bad} has another checksum")
        return _head_of(archive, key)


def unpack(content: bytes | Path, key: Key, summary: object) -> xr.DataTree:
    """Read the result of this key, which has had this summary when it was found."""
    with _reading(content) as archive:
        head = _head_of(archive, key)
        groups = {name: _group(archive, name, held) for name, held in head["groups"].items()}
        tree = xr.DataTree.from_dict(groups)
    if json.dumps(head["summary"]) != json.dumps(summary):
        raise InputError(
            f"the store must still have the fit of {label(key)} that was found there; it has "
            "another one since. Call bayescal.load_many, or fit other data into another store."
        )
    if head["keep"] == "summary":
        raise InputError(
            "only the summary of this fit was kept. Read .summary(), or fit with keep='scalars'."
        )
    tree.attrs = head["attrs"]
    tree = upgrade(tree)
    if head["keep"] == "scalars" and not access.answers(tree):
        raise InputError(
            "no variable of this fit has one value a case, so that keep='scalars' kept none. Read "
            ".summary(), or fit with keep='draws'."
        )
    return tree


def _group(archive: zipfile.ZipFile, name: str, held: Mapping[str, Any]) -> xr.Dataset:
    variables: dict[Hashable, xr.Variable] = {
        var: xr.Variable(what["dims"], _values(archive, f"{name}/{var}.npy"), what["attrs"])
        for var, what in held.items()
    }
    return xr.Dataset(variables).set_coords([var for var, what in held.items() if what["coord"]])


def _values(archive: zipfile.ZipFile, member: str) -> NDArray[Any]:
    with archive.open(member) as file:
        values: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    return values


def _json(archive: zipfile.ZipFile) -> dict[str, Any]:
    head: dict[str, Any] = json.loads(archive.read(_ABOUT))
    if head["format"] != FORMAT:
        raise DamagedError(f"it has format {head['format']}, not {FORMAT}")
    return head


def _head(archive: zipfile.ZipFile) -> dict[str, Any]:
    head = _json(archive)
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
