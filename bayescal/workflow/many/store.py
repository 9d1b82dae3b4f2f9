"""A directory of finished fits: one file each, written whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from bayescal.core.errors import InputError, OutputError
from bayescal.results.io import replacing
from bayescal.workflow.many import record
from bayescal.workflow.many.keys import Key, file_stem
from bayescal.workflow.many.lock import locked

_ABOUT: Final = "store.json"
_FITS: Final = "fits"
_FAILURES: Final = "failures"
_ASIDE: Final = "set_aside"
# Names that promise a format which the directory does not have.
_FORMATS: Final = (".zarr", ".nc", ".npz", ".parquet")


class Failure(NamedTuple):
    """Why there is no result for a key.

    Parameters
    ----------
    error : str
        Name of the exception, such as ``"InputError"``.
    message : str
        What it said.
    """

    error: str
    message: str


class Store:
    """A directory of fits.

    Parameters
    ----------
    path : path
        The directory.

    Raises
    ------
    InputError
        If its name ends as that of another format, such as ``.zarr``.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        if self.path.suffix in _FORMATS:
            raise InputError(
                f"store must be a directory, of archives of NumPy arrays; got {self.path.name}, "
                f"the name of another format. Pass {self.path.with_suffix('').name!r}; "
                ".draws().to_zarr() and .to_netcdf() write the draws of all fits."
            )

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Make the directory, be its only writer, and clear what a killed writer left."""
        if self.path.is_dir() and any(self.path.iterdir()):
            self.check()
        try:
            for folder in (_FITS, _FAILURES):
                (self.path / folder).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._unwritable(error) from error
        with locked(self.path / "lock"):
            for unfinished in self.path.rglob(".*.part"):
                unfinished.unlink()
            yield

    def check(self) -> None:
        """Check that the directory is a store."""
        if not (self.path / _FITS).is_dir():
            raise InputError(
                f"a store must be a directory that bayescal.fit_many made; {self.path} is none. "
                "Check the path, or pass that of a new directory."
            )

    def seed(self, wanted: int | None, new: int) -> int:
        """The seed of the store where none is wanted; what is returned is the seed from now on."""
        path = self.path / _ABOUT
        if wanted is None and path.is_file():
            try:
                return int(json.loads(path.read_text())["seed"])
            except (ValueError, KeyError, TypeError) as error:
                raise InputError(
                    f"{path} must hold the seed of the store; it is damaged. Pass seed=."
                ) from error
        self._write(path, json.dumps({"seed": new}).encode())
        return new

    def read(self, key: Key) -> dict[str, Any] | None:
        """What is stored under a key, checked to the last byte; None where nothing is.

        Raises
        ------
        DamagedError
            If the file is damaged.
        """
        path = self.file(key)
        return record.verified(path) if path.is_file() else None

    def set_aside(self, key: Key) -> Path:
        """Move a damaged file out of the way, where it can be looked at."""
        path = self.file(key)
        target = self.path / _ASIDE / path.name
        target.parent.mkdir(exist_ok=True)
        return path.replace(target)

    def keep(self, key: Key, content: bytes) -> None:
        """Store a fit; a failure under its key is over."""
        self._write(self.file(key), content)
        self._failure_file(key).unlink(missing_ok=True)

    def keep_failure(self, key: Key, failure: Failure) -> None:
        """Store why there is no fit."""
        content = json.dumps({"key": key, **failure._asdict()})
        self._write(self._failure_file(key), content.encode())

    def file(self, key: Key) -> Path:
        """Where the fit of a key is, or would be."""
        return self.path / _FITS / f"{file_stem(key)}.npz"

    def fits(self) -> list[Path]:
        """Files of all fits."""
        return sorted((self.path / _FITS).glob("*.npz"))

    def failures(self) -> list[dict[str, Any]]:
        """All failures: their key, error and message."""
        found = sorted((self.path / _FAILURES).glob("*.json"))
        return [json.loads(path.read_text()) for path in found]

    def _failure_file(self, key: Key) -> Path:
        return self.path / _FAILURES / f"{file_stem(key)}.json"

    def _write(self, path: Path, content: bytes) -> None:
        with replacing(path) as draft:
            draft.write_bytes(content)

    def _unwritable(self, error: OSError) -> OutputError:
        return OutputError(
            f"{self.path} cannot be written: {error.strerror}. Choose another directory."
        )
