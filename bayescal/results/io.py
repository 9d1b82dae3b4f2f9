"""Keep a result in a netCDF file and get it back."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import h5py
import numpy as np
import xarray as xr

from bayescal.core.errors import InputError
from bayescal.core.variables import METRIC
from bayescal.core.writing import check_writable, checked_path, write_bytes
from bayescal.results import access, schema
from bayescal.results.legacy import upgrade
from bayescal.results.schema import check_result

# Behind the HDF5 data, where its readers do not look: the checksum of all that comes before.
_MARK: Final = b"\nbayescal sha256 "
_CHECKSUM_LENGTH: Final = len(_MARK) + 64


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

    Notes
    -----
    The file ends with a checksum, which `load` compares, so that damage is found. Other programs
    read the file as any netCDF file.
    """
    check_result(tree)
    target = check_writable(path)
    # HDF5 ends the interpreter where it cannot write, so that it writes to memory.
    buffer = io.BytesIO()
    tree.to_netcdf(buffer, engine="h5netcdf")
    content = buffer.getvalue()
    write_bytes(target, content, _checksum(hashlib.sha256(content).hexdigest()))
    return target


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
        If there is no such file, it was changed, or it holds no result that this version reads.
    """
    source = checked_path(path)
    if not source.is_file():
        raise InputError(f"a result must be a file; there is none at {source}. Check the path.")
    try:
        _check_unchanged(source)
        _check_layout(source)
        with xr.open_datatree(source, engine="h5netcdf") as opened:
            tree = upgrade(opened.load())
    except Exception as error:  # HDF5 and xarray raise nearly anything on what others wrote
        why = (str(error) or type(error).__name__).splitlines()[0]
        raise InputError(
            f"{source} must be a netCDF file written by bayescal.save; reading it fails with "
            f"{why!r}. Save the result again."
        ) from error
    try:
        check_result(tree)
        check_draws(tree)
    except InputError as error:
        raise InputError(f"{source} holds no result: {error}") from error
    # netCDF hands numbers back as NumPy scalars, which JSON and `is` tests do not take.
    tree.attrs = {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in tree.attrs.items()
    }
    return tree


def _checksum(digest: str) -> bytes:
    return _MARK + digest.encode()


def _check_unchanged(path: Path) -> None:
    """Compare the checksum; files of earlier versions, or that HDF5 changed since, have none."""
    with path.open("rb") as file:
        length = file.seek(0, os.SEEK_END) - _CHECKSUM_LENGTH
        file.seek(max(length, 0))
        stored = file.read()
        if not stored.startswith(_MARK):
            return
        file.seek(0)
        digest = hashlib.sha256()
        while length > 0:
            part = file.read(min(length, 1 << 20))
            digest.update(part)
            length -= len(part)
    if stored != _checksum(digest.hexdigest()):
        raise ValueError("its checksum is another one: the file was damaged")


def _check_layout(path: Path) -> None:
    """Check that groups hold variables alone: a group within may lead round in a circle."""
    with h5py.File(path, "r") as file:
        for name, child in _members(file):
            inner = _members(child) if isinstance(child, h5py.Group) else ()
            if any(isinstance(one, h5py.Group) for _, one in inner):
                raise ValueError(f"its group {name!r} holds another group")


def _members(group: Any) -> Iterator[tuple[str, Any]]:
    """What a group holds itself; what it only links to may be in another file."""
    for name in group:
        if not isinstance(group.get(name, getlink=True), h5py.HardLink):
            raise ValueError(f"{name!r} is a link")
        yield name, group[name]


_NUMBERS: Final = "biuf"


def check_draws(tree: xr.DataTree) -> None:
    """Check the draws of a posterior, which come from a file."""
    # A metric may be undefined, as an AUC is in draws of labels that are all of one class.
    undefined = {one.name for one in access.of_role(tree, METRIC)}
    for name, draws in tree[schema.POSTERIOR].dataset.data_vars.items():
        if draws.dtype.kind not in _NUMBERS:
            raise InputError(
                f"posterior/{name} must hold numbers; it has the type {draws.dtype}. Fit again."
            )
        if name not in undefined and _lacks(draws):
            raise InputError(
                f"posterior/{name} must hold numbers; {int(draws.isnull().sum())} of its "
                f"{draws.size} are NaN. Fit again."
            )


def _lacks(draws: xr.DataArray) -> bool:
    """Whether a number is missing other than in all draws of some classes, bins or descriptions."""
    missing = draws.isnull()
    if not missing.any():
        return False
    of_draws = [dim for dim in schema.DRAW_DIMS if dim in draws.dims]
    never = missing.all(of_draws)
    own = set(draws.dims) - {*schema.DRAW_DIMS, *schema.CASE_DIMS}
    return bool((missing.any(of_draws) & ~never).any()) or not own or bool(never.all())
