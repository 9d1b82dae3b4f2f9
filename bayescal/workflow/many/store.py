"""A directory of finished fits: one file each, written whole or not at all."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from bayescal.core.checks import check_seed
from bayescal.core.errors import InputError
from bayescal.core.writing import checked_path, write_bytes, writing_to
from bayescal.workflow.many import record
from bayescal.workflow.many.keys import Key, file_stem, from_json, label, order
from bayescal.workflow.many.lock import locked

_ABOUT: Final = "store.json"
_FITS: Final = "fits"
_FAILURES: Final = "failures"
_ASIDE: Final = "set_aside"
# Names of unfinished files, see `core.writing.replacing`.
_DRAFT: Final = re.compile(r"\.([0-9a-f]{32}\.(npz|json)|store\.json)\.\d+(-\d+)?\.part")
# What reading and taking apart damaged JSON raises.
_UNREADABLE: Final = (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError)
# Names that promise a format which the directory does not have.
_FORMATS: Final = (".zarr", ".nc", ".npz", ".parquet")


class Failure(NamedTuple):
    """Why there is no result for a key."""

    error: str
    message: str


class Store:
    """A directory of fits."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = checked_path(path, "store")
        if self.path.suffix in _FORMATS:
            raise InputError(
                f"store must be a directory, of archives of NumPy arrays; got {self.path.name}, "
                f"the name of another format. Pass {self.path.with_suffix('').name!r}; "
                ".draws().to_zarr() and .to_netcdf() write the draws of all fits."
            )

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Make the directory, be its only writer, and clear what a killed writer left."""
        with writing_to(self.path):
            if self.path.is_dir() and any(self.path.iterdir()):
                self.check()
            for folder in (_FITS, _FAILURES):
                (self.path / folder).mkdir(parents=True, exist_ok=True)
        with locked(self.path / "lock"):
            self._clear_drafts()
            yield

    def _clear_drafts(self) -> None:
        """Remove unfinished files of the store, and nobody else's."""
        for folder in (self.path, self.path / _FITS, self.path / _FAILURES):
            for path in folder.glob(".*.part"):
                if _DRAFT.fullmatch(path.name):
                    with writing_to(path):
                        path.unlink()

    def check(self) -> None:
        """Check that the directory is a store."""
        if not (self.path / _FITS).is_dir():
            raise InputError(
                f"a store must be a directory that bayescal.fit_many made; {self.path} is none. "
                "Check the path, or pass that of a new directory."
            )

    def seed(self, quantity: str, wanted: int | None, new: int) -> int:
        """The seed of the store where none is wanted; what is returned is the seed from now on."""
        stored = self._about(damaged_too=wanted is not None)
        other = stored.get("quantity", quantity)
        if other != quantity:
            raise InputError(
                f"a store holds fits of one quantity; {self.path} has those of {other}, not "
                f"{quantity}. Pass another store."
            )
        seed = stored.get("seed", new) if wanted is None else new
        about = {"seed": seed, "quantity": quantity}
        if about != stored:
            write_bytes(self.path / _ABOUT, json.dumps(about).encode())
        return int(seed)

    def _about(self, *, damaged_too: bool) -> dict[str, Any]:
        """What the store says of itself; nothing where it is new, or damaged and not needed."""
        path = self.path / _ABOUT
        if not path.is_file():
            return {}
        try:
            about = json.loads(path.read_bytes())
            return {**about, "seed": check_seed(about["seed"])}
        except _UNREADABLE as error:
            if damaged_too:
                return {}
            raise InputError(
                f"{path} must hold the seed of the store; it is damaged. Pass seed=."
            ) from error

    def read(self, key: Key) -> dict[str, Any] | None:
        """What is stored under a key, checked to the last byte; None where nothing is."""
        path = self.file(key)
        return record.verified(path, key) if path.is_file() else None

    def set_aside(self, key: Key) -> Path:
        """Move a damaged file out of the way, where it can be looked at."""
        path = self.file(key)
        target = self.path / _ASIDE / path.name
        with writing_to(target):
            target.parent.mkdir(exist_ok=True)
            return path.replace(target)

    def keep(self, key: Key, content: bytes) -> None:
        """Store a fit; a failure under its key is over."""
        write_bytes(self.file(key), content)
        self.end_failure(key)

    def keep_failure(self, key: Key, failure: Failure) -> None:
        """Store why there is no fit; an older one of other data stays, and counts no more."""
        content = json.dumps({"key": key, **failure._asdict()})
        write_bytes(self._failure_file(key), content.encode())

    def end_failure(self, key: Key) -> None:
        """Remove a failure, so that the fit of its key counts."""
        path = self._failure_file(key)
        with writing_to(path):
            path.unlink(missing_ok=True)

    def file(self, key: Key) -> Path:
        """Where the fit of a key is, or would be."""
        return self.path / _FITS / f"{file_stem(key)}.npz"

    def heads(self) -> dict[Key, dict[str, Any]]:
        """Descriptions of all fits, in the order of their keys."""
        found = {}
        for path in (self.path / _FITS).glob("*.npz"):
            try:
                head = record.about(path)
                if path != self.file(head["key"]):
                    raise record.DamagedError(f"it is a copy of the fit of {label(head['key'])}")
            except record.DamagedError as error:
                raise InputError(
                    f"{path} must hold a result; it is damaged: {error}. Call fit_many again, "
                    "which fits it anew, or remove the file."
                ) from error
            found[head["key"]] = head
        return {key: found[key] for key in sorted(found, key=order)}

    def failures(self) -> dict[Key, Failure]:
        """All failures."""
        found = {}
        for path in sorted((self.path / _FAILURES).glob("*.json")):
            try:
                held = json.loads(path.read_bytes())
                key = from_json(held["key"])
                if path != self._failure_file(key):
                    raise ValueError(f"it is a copy of the failure of {label(key)}")
                found[key] = Failure(str(held["error"]), str(held["message"]))
            except _UNREADABLE as error:
                raise InputError(
                    f"{path} must hold why a fit failed; it is damaged. Call fit_many again, or "
                    "remove the file."
                ) from error
        return found

    def _failure_file(self, key: Key) -> Path:
        return self.path / _FAILURES / f"{file_stem(key)}.json"
