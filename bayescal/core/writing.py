"""Files that are written whole or not at all."""

from __future__ import annotations

import errno
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Final

from bayescal.core.errors import InputError, OutputError

_ELSEWHERE: Final = "Choose another directory."
_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NUMBER: Final = count()
# Names may have 255 bytes, of which a character takes up to four.
_SHOWN: Final = 40
# Seconds after which a draft that nobody writes to is of a process that was killed.
_STALE: Final = 3600


def checked_path(path: str | os.PathLike[str], name: str = "path") -> Path:
    """Check that the system can look a path up: not empty, no NUL, no name beyond its limit."""
    try:
        if not os.fspath(path):
            raise ValueError("it is empty")
        found = Path(path)
        os.stat(found)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        pass
    except (OSError, ValueError, TypeError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or error
        raise InputError(
            f"{name} must be a path that the system can hold; got {str(path)[:80]!r}: {why}. Pass "
            "another one."
        ) from error
    return found


def in_utf8(path: Path) -> Path:
    """Check that a path is text, as which alone Arrow takes it; the system holds any bytes."""
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"a file that is read must have a path in UTF-8; got {str(path)!a}. Rename it."
        ) from error
    return path


def check_writable(path: str | os.PathLike[str]) -> Path:
    """Check that a file can be written, before the work that is to fill it."""
    target = checked_path(path)
    with writing_to(target):
        _check_replaceable(target)
        file = _behind(target)
        if not file.parent.is_dir():
            raise OutputError(
                f"{target} cannot be written: there is no directory {file.parent}. Make it first."
            )
        # Permission bits do not tell of read-only mounts; making a file does.
        with tempfile.TemporaryFile(dir=file.parent):
            pass
        _clear_drafts(file)
    if target.exists() and not os.access(target, os.W_OK):
        raise OutputError(f"{target} cannot be written: it is write-protected. {_ELSEWHERE}")
    return target


def _behind(target: Path) -> Path:
    """The file that a link leads to, which is written in its place."""
    return Path(os.path.realpath(target)) if target.is_symlink() else target


def _check_replaceable(target: Path) -> None:
    """Check that what a file would take the place of is none but a file: /dev/null must stay."""
    if target.exists() and not target.is_file():
        what = "a directory. Add" if target.is_dir() else "a device or a pipe. Choose"
        raise OutputError(f"{target} cannot be written: it is {what} a file name.")


def _clear_drafts(target: Path) -> None:
    """Remove what killed processes left unfinished of a file."""
    own = re.compile(re.escape(f".{target.name[:_SHOWN]}.") + r"\d+-\d+\.part")
    for path in target.parent.glob(".*.part"):
        with suppress(OSError):  # another process may be first
            if own.fullmatch(path.name) and time.time() - path.stat().st_mtime > _STALE:
                path.unlink()


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Where to write a file that takes its place, and that of an older one, once it is complete."""
    former = _behind(target)
    draft = former.with_name(f".{former.name[:_SHOWN]}.{os.getpid()}-{next(_NUMBER)}.part")
    with writing_to(target):
        _check_replaceable(target)
        try:
            yield draft
            with draft.open("r+b") as file:
                # Otherwise a loss of power could leave the name with nothing behind it.
                os.fsync(file.fileno())
            if former.exists():
                # Who may read the older one may read this one, and nobody else.
                shutil.copymode(former, draft)
            draft.replace(former)
        finally:
            draft.unlink(missing_ok=True)


def write_bytes(target: Path, *parts: bytes) -> None:
    """Write a file."""
    with replacing(target) as draft, draft.open("wb") as file:
        file.writelines(parts)


def write_text(target: Path, text: str) -> None:
    """Write a file of text; halves of characters, which UTF-8 lacks, are spelled out."""
    write_bytes(target, text.encode(errors="backslashreplace"))


@contextmanager
def writing_to(target: Path) -> Iterator[None]:
    """Let errors of the system name the file and the remedy."""
    try:
        yield
    except OutputError:
        raise
    except OSError as error:
        remedy = f"Free some space, or choose {_ELSEWHERE[7:]}"
        raise OutputError(
            f"{target} cannot be written: {error.strerror or error}. "
            f"{remedy if error.errno in _FULL else _ELSEWHERE}"
        ) from error
