"""Keep a result in a netCDF file and get it back."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import xarray as xr

from bayescal.core.errors import InputError, OutputError
from bayescal.results.legacy import upgrade
from bayescal.results.schema import check_result

_ELSEWHERE = "Choose another directory."


def save(tree: xr.DataTree, path: str | os.PathLike[str]) -> Path:
    """Write a result to a netCDF file.

    Parameters
    ----------
    tree : xarray.DataTree
        A result.
    path : path
        The file; an existing one is replaced, once the new one is complete.

    Returns
    -------
    pathlib.Path
        Where the result is.

    Raises
    ------
    InputError
        If the tree is not a result.
    OutputError
        If the file cannot be written.
    """
    check_result(tree)
    target = Path(path)
    check_writable(target)
    with replacing(target) as draft:
        tree.to_netcdf(draft, engine="h5netcdf")
    return target


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Where to write a file that takes its place, and that of an older one, once it is complete."""
    draft = target.with_name(f".{target.name[:100]}.{os.getpid()}.part")
    try:
        yield draft
        draft.replace(target)
    except OSError as error:
        why = error.strerror or error
        raise OutputError(f"{target} cannot be written: {why}. {_ELSEWHERE}") from error
    finally:
        draft.unlink(missing_ok=True)


def load(path: str | os.PathLike[str]) -> xr.DataTree:
    """Read a result from a netCDF file, into memory.

    Parameters
    ----------
    path : path
        A file that `save` wrote, of this version or an earlier one.

    Returns
    -------
    xarray.DataTree
        The result; the file is closed.

    Raises
    ------
    InputError
        If there is no such file, it cannot be read, or it holds no result that this version reads.
    """
    source = Path(path)
    if not source.is_file():
        raise InputError(f"a result must be a file; there is none at {source}. Check the path.")
    try:
        with xr.open_datatree(source, engine="h5netcdf") as opened:
            tree = upgrade(opened.load())
    except (OSError, ValueError, KeyError) as error:
        why = (str(error) or type(error).__name__).splitlines()[0]
        raise InputError(
            f"{source} must be a netCDF file written by bayescal.save; reading it fails with "
            f"{why!r}. Save the result again."
        ) from error
    try:
        check_result(tree)
    except InputError as error:
        raise InputError(f"{source} holds no result: {error}") from error
    # netCDF hands numbers back as NumPy scalars, which JSON and `is` tests do not take.
    tree.attrs = {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in tree.attrs.items()
    }
    return tree


def check_writable(path: str | os.PathLike[str]) -> None:
    """Check that a file can be written, before the work that is to fill it."""
    target = Path(path)
    if target.is_dir():
        raise OutputError(f"{target} cannot be written: it is a directory. Add a file name.")
    if not target.parent.is_dir():
        raise OutputError(
            f"{target} cannot be written: there is no directory {target.parent}. Make it first."
        )
    try:
        # Permission bits do not tell of read-only mounts; making a file does.
        with tempfile.TemporaryFile(dir=target.parent):
            pass
    except OSError as error:
        raise OutputError(f"{target} cannot be written: {error.strerror}. {_ELSEWHERE}") from error
    if target.exists() and not os.access(target, os.W_OK):
        raise OutputError(f"{target} cannot be written: it is write-protected. {_ELSEWHERE}")
