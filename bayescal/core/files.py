"""Files that tables are in: found in folders, opened, and known to stay as they are."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Final, NamedTuple

from bayescal.core.errors import InputError

PARQUET_MAGIC: Final = b"PAR1"
# Two changes of a file may have one time where they are nearer than the steps of the clock that
# file systems take it from.
_CLOCK_STEP_NS: Final = 20_000_000


def check_file(path: Path) -> None:
    """Check that there is a file with something in it."""
    if path.is_dir():
        raise InputError(
            f"{path} must be a CSV or Parquet file, or a directory of Parquet files; it is a "
            "directory without any. Name the file."
        )
    if not path.is_file():
        folder = path.parent
        others = sorted(p.name for p in folder.iterdir()) if folder.is_dir() else []
        near = get_close_matches(path.name, others, n=1)
        raise InputError(
            f"there is no file {path}." + (f" Did you mean {near[0]!r}?" if near else "")
        )
    if path.stat().st_size == 0:
        raise InputError(f"{path.name} must have a header and rows; it is empty (0 bytes).")


def first_bytes(path: Path) -> bytes:
    """Read the start of a file, which shows its kind."""
    with reading(path, "CSV or Parquet"), path.open("rb") as file:
        return file.read(1024)


@contextmanager
def reading(path: Path, kind: str) -> Iterator[None]:
    """Turn errors of Arrow and the system into one line that names it."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = str(error).partition("\n")[0].strip().rstrip(".")
        raise InputError(
            f"{path.name} cannot be read as {kind}: {reason}. Write the file again, or correct it."
        ) from error


class _State(NamedTuple):
    """What the system knows of a file, all of which a change of its content cannot leave alone."""

    size: int
    modified: int
    # Also set by a program that gives a file its old time of modification.
    changed: int
    inode: int

    @classmethod
    def of(cls, path: Path) -> _State | None:
        """That of a file, where there is one."""
        try:
            now = path.stat()
        except OSError:
            return None
        return cls(now.st_size, now.st_mtime_ns, now.st_ctime_ns, now.st_ino)


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file as it was when its table was opened."""

    path: Path
    state: _State | None

    @classmethod
    def all_of(cls, paths: Iterable[Path]) -> tuple[DataFile, ...]:
        """Note how files are now."""
        found = tuple(cls(path, _State.of(path)) for path in paths)
        newest = max((file.state.changed for file in found if file.state), default=0)
        age = time.time_ns() - newest
        if not 0 <= age < _CLOCK_STEP_NS:
            return found
        time.sleep((_CLOCK_STEP_NS - age) / 1e9)
        return tuple(cls(file.path, _State.of(file.path)) for file in found)

    @contextmanager
    def opened(self, kind: str) -> Iterator[Path]:
        """Read the file, and check afterwards that it stayed as it was when the table was opened.

        Whatever was read must not be used before.
        """
        try:
            with reading(self.path, kind):
                yield self.path
        except InputError:
            self.check_unchanged()
            raise
        self.check_unchanged()

    def check_unchanged(self) -> None:
        """Check that the file is as it was."""
        now = _State.of(self.path)
        if now != self.state or now is None:
            raise InputError(
                f"{self.path} must not change until its last reading; it was "
                f"{'removed' if now is None else 'written or replaced'} since it was opened. "
                "Read it anew when no program writes to it."
            )


def data_set(folder: Path) -> tuple[Path, ...]:
    """Parquet files of a directory and of those below it, by name, each once.

    Links are followed. Names that begin with . or _ are of no table, or not finished yet.
    """
    found: dict[str, Path] = {}
    folders: set[str] = set()

    def visit(path: Path) -> None:
        real = os.path.realpath(path)
        if path.is_dir():
            if real not in folders:
                folders.add(real)
                for below in _entries(path):
                    visit(below)
        elif real not in found:
            _check_parquet(path)
            found[real] = path

    visit(folder)
    return tuple(sorted(found.values()))


def _entries(folder: Path) -> list[Path]:
    """What a folder holds, by name, hidden names left out."""
    with reading(folder, "directory of Parquet files"):
        return sorted(path for path in folder.iterdir() if not path.name.startswith((".", "_")))


def _check_parquet(path: Path) -> None:
    if not path.is_file() or not first_bytes(path).startswith(PARQUET_MAGIC):
        raise InputError(
            f"{path} must be a Parquet file, as all of a directory that is read are; it is "
            f"{'not' if path.is_file() else 'a link to nothing, or no file'}. Move it elsewhere, "
            "or begin its name with _ so that it is left out."
        )
