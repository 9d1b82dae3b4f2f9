"""One writer a directory: a lock that ends with the process that holds it."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from bayescal.core.errors import OutputError
from bayescal.core.writing import writing_to


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock file while the block runs, or refuse.

    Notes
    -----
    The system releases the lock when its process ends, however it ends: a file that a killed run
    left behind locks nothing. Its content names the holder.
    """
    with writing_to(path):
        opened = path.open("a+b")
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
            file.flush()
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
