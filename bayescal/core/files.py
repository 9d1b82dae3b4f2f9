"""Files that a user names: there, not empty, readable; or one line that says what is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path

from bayescal.core.errors import InputError


def check_file(path: Path) -> None:
    """Check that there is a file with something in it."""
    if path.is_dir():
        raise InputError(f"{path} must be a CSV or Parquet file; it is a directory.")
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
    """Read what tells the kind of a file."""
    with reading(path, "CSV or Parquet"), path.open("rb") as file:
        return file.read(1024)


@contextmanager
def reading(path: Path, kind: str) -> Iterator[None]:
    """Turn what Arrow and the system say of a file into one line that names it."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = str(error).partition("\n")[0].strip().rstrip(".")
        raise InputError(
            f"{path.name} cannot be read as {kind}: {reason}. Write the file again, or mend it."
        ) from error
