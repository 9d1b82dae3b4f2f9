"""A directory of finished fits: one file each, written whole or not at all.

`bayescal.fit_many` keeps results there under their keys, the `checkpoint` of `bayescal.fit` cases
under what they were computed from.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

from bayescal.core.checks import check_seed
from bayescal.core.errors import InputError, ManyFitsWarning, OutputError, warn_caller
from bayescal.core.quantity import Case, CaseArrays, Quantity
from bayescal.core.writing import checked_path, write_bytes, writing_to
from bayescal.workflow import archive
from bayescal.workflow.archive import Key, file_stem, from_json, label, order, recipe_of
from bayescal.workflow.sampling import Settings

_ABOUT: Final = "store.json"
_KEYS: Final = "keys"
_LOCK: Final = "lock"
_FITS: Final = "fits"
_CASES: Final = "cases"
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
        # Paths that are relative would move with the directory of the process.
        self.path = checked_path(path, "store").absolute()
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
            # What has the cases of a checkpoint alone may become a store too.
            if self.path.is_dir() and {one.name for one in self.path.iterdir()} - {_CASES}:
                self.check()
            for folder in (_FITS, _FAILURES):
                (self.path / folder).mkdir(parents=True, exist_ok=True)
        with _locked(self.path / _LOCK):
            # Unfinished files of the store, and nobody else's.
            for name in ("", _FITS, _FAILURES):
                for path in (self.path / name).glob(".*.part"):
                    if _DRAFT.fullmatch(path.name):
                        with writing_to(path):
                            path.unlink()
            yield

    def check(self) -> None:
        """Check that the directory is a store."""
        if not (self.path / _FITS).is_dir():
            raise InputError(
                f"a store must be a directory that bayescal.fit_many made; {self.path} is none. "
                "Check the path, or pass that of a new directory."
            )

    @property
    def quantity(self) -> str:
        """The quantity of its fits, "" in a new one."""
        return str((self._said() or self._of_last_fit()).get("quantity", ""))

    def seed(self, quantity: str, wanted: int | None, new: int) -> int:
        """The seed of the store where none is wanted; what is returned is the seed from now on."""
        said = self._said()
        stored = said or self._of_last_fit()
        other = stored.get("quantity", quantity)
        if other != quantity:
            raise InputError(
                f"a store holds fits of one quantity; {self.path} has those of {other}, not "
                f"{quantity}. Pass another store."
            )
        about = {"seed": stored.get("seed", new) if wanted is None else new, "quantity": quantity}
        self._say({_KEYS: said.get(_KEYS, []), **about})
        return int(about["seed"])

    def keep_order(self, keys: Iterable[Key]) -> None:
        """Keep the order of the keys of a call; one of a part of them leaves the others' as it is.

        Windows of time are compared with the first.
        """
        said = self._said()
        former, new = said.get(_KEYS, []), list(keys)
        if not set(former) <= set(new):
            new = list(dict.fromkeys([*former, *new]))
        self._say({**said, _KEYS: new})

    def _say(self, about: dict[str, Any]) -> None:
        if about != self._said():
            write_bytes(self.path / _ABOUT, json.dumps(about).encode())

    def _said(self) -> dict[str, Any]:
        """What the store says of itself; nothing where it is new, or that is lost or damaged."""
        with suppress(*_UNREADABLE):
            held = json.loads((self.path / _ABOUT).read_bytes())
            # Stores of earlier versions do not say the order.
            keys = [from_json(key) for key in held.get(_KEYS, [])]
            return {**_seed_and_quantity(held), _KEYS: keys}
        return {}

    def _of_last_fit(self) -> dict[str, Any]:
        """The same as the fit made last has it; nothing where there is none."""
        files = (self.path / _FITS).glob("*.npz")
        for path in sorted(files, key=lambda file: file.stat().st_mtime, reverse=True):
            with suppress(archive.DamagedError, *_UNREADABLE):
                return _seed_and_quantity(archive.about(path)["recipe"])
        return {}

    def read(self, key: Key) -> dict[str, Any] | None:
        """What is stored under a key, checked to the last byte; None where nothing is."""
        path = self.file(key)
        return archive.verified(path, key) if path.is_file() else None

    def set_aside(self, key: Key) -> Path:
        """Move a damaged file out of the way, where it can be looked at."""
        path = self.file(key)
        target = self.path / _ASIDE / path.name
        with writing_to(target):
            target.parent.mkdir(exist_ok=True)
            return path.replace(target)

    def keep(self, key: Key, content: bytes) -> Path:
        """Store a fit, and say where; a failure under its key is over."""
        write_bytes(path := self.file(key), content)
        self.end_failure(key)
        return path

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
        """Descriptions of all fits, in the order kept of their keys; others follow, sorted."""
        found = {}
        for path in (self.path / _FITS).glob("*.npz"):
            try:
                head = archive.about(path)
                if path != self.file(head["key"]):
                    raise archive.DamagedError(f"it is a copy of the fit of {label(head['key'])}")
            except archive.DamagedError as error:
                raise InputError(
                    f"{path} must hold a result; it is damaged: {error}. Call fit_many again, "
                    "which fits it anew, or remove the file."
                ) from error
            found[head["key"]] = head
        keys = dict.fromkeys([*self._said().get(_KEYS, []), *sorted(found, key=order)])
        return {key: found[key] for key in keys if key in found}

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


def _seed_and_quantity(held: dict[str, Any]) -> dict[str, Any]:
    return {"seed": check_seed(held["seed"]), "quantity": held["quantity"]}


class Checkpoint:
    """Finished cases of one call of `bayescal.fit`, each under what it was computed from."""

    def __init__(
        self, directory: str | os.PathLike[str], quantity: Quantity, priors: Any, settings: Settings
    ) -> None:
        self._directory = checked_path(directory, "checkpoint").absolute()
        self._common = (quantity, priors, settings)
        self._make()
        old = list(self._directory.glob(f"{quantity.NAME}-*.npz"))
        if old:
            warn_caller(
                f"{self._directory} has cases as an earlier version of bayescal kept them, "
                f"{len(old)} in all, which are fitted again. Remove its files *.npz.",
                ManyFitsWarning,
            )

    def find(self, case: Case) -> CaseArrays | None:
        """Look up a finished case; one that is damaged is to be computed again."""
        try:
            found = archive.unpack_case(self._path(case))
        except archive.DamagedError:
            return None
        self._clear_drafts(case)
        return found

    def keep(self, case: Case, found: CaseArrays) -> None:
        """Write a finished case; another run that shares the directory may have been first."""
        self._make()
        try:
            write_bytes(self._path(case), archive.pack_case(found))
        except OutputError:
            if self.find(case) is None:
                raise
        self._clear_drafts(case)

    def _clear_drafts(self, case: Case) -> None:
        """Remove what killed runs left unfinished of a case that is complete."""
        for path in self._path(case).parent.glob(f".{self._path(case).name}.*.part"):
            with suppress(OSError):  # another run may be first
                path.unlink()

    def _make(self) -> None:
        """Make the directory, which another run that shares it removes when it ends."""
        with writing_to(self._directory):
            (self._directory / _CASES).mkdir(parents=True, exist_ok=True)

    def _path(self, case: Case) -> Path:
        quantity, priors, settings = self._common
        coords = dict(sorted(case.coords.items()))
        recipe = recipe_of(quantity, case.fingerprint(), priors, settings, coords=coords)
        return self._directory / _CASES / f"{file_stem(json.dumps(recipe, sort_keys=True))}.npz"


def checkpoint_seed(directory: str | os.PathLike[str], new: int) -> int:
    """The seed of calls that are given none, so that the same call finds its cases again."""
    path = checked_path(directory, "checkpoint") / _CASES / "seed"
    with suppress(OSError, ValueError):  # there is none yet, or it is damaged
        return check_seed(int(path.read_bytes()))
    with writing_to(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, str(new).encode())
    return new


def finished(directory: Path) -> int:
    """Count what a run has left in the directory of a store or checkpoint."""
    return sum(1 for folder in (_FITS, _CASES) for _ in directory.glob(f"{folder}/*.npz"))


def remove(directory: Path) -> None:
    """Remove a store or checkpoint, and its directory unless that holds something else."""
    for folder in (_FITS, _CASES, _FAILURES, _ASIDE):
        shutil.rmtree(directory / folder, ignore_errors=True)
    for name in (_ABOUT, _LOCK):
        (directory / name).unlink(missing_ok=True)
    if directory.is_dir() and not any(directory.iterdir()):
        directory.rmdir()


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock file, which names its holder, or refuse; one of a killed run locks nothing."""
    try:
        with writing_to(path):
            # Without a buffer, which a full disk would fail to take once more where it is closed.
            opened = path.open("a+b", buffering=0)
    except OutputError as error:
        said = f"{error} bayescal.load_many reads a store without writing to it."
        raise OutputError(said) from error
    with opened as file:
        if not _take(file):
            file.seek(0)
            holder = file.read(200).decode(errors="replace") or "another process"
            raise OutputError(
                f"{path.parent} is being written to by {holder}. Wait for it to end, or pass "
                "another store."
            )
        with writing_to(path):
            file.truncate(0)
            file.write(f"process {os.getpid()} on {socket.gethostname()}".encode())
        yield


if sys.platform == "win32":
    import msvcrt

    # Beyond the text, which others must be able to read.
    _PLACE = 1 << 20

    def _take(file: IO[bytes]) -> bool:
        file.seek(_PLACE)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _take(file: IO[bytes]) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
