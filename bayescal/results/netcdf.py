"""A tree of data sets as netCDF, with every HDF5 object opened once."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import xarray as xr


class _File(h5py.File):  # type: ignore[misc]  # h5py has no types
    """Keeps what it opens: h5netcdf asks for an object by its path some fifty times."""

    def __init__(self, *args: Any, **named: Any) -> None:
        self._kept: dict[str, Any] = {}
        super().__init__(*args, **named)

    def __getitem__(self, name: Any) -> Any:
        if not isinstance(name, str):
            return super().__getitem__(name)
        if name not in self._kept:
            self._kept[name] = super().__getitem__(name)
        return self._kept[name]


class _NewFile(_File):
    def __getitem__(self, name: Any) -> Any:
        # h5netcdf puts a coordinate in the place of a dimension: the older object has no link then.
        if name in self._kept and not h5py.h5o.get_info(self._kept[name].id).rc:
            del self._kept[name]
        return super().__getitem__(name)


def to_bytes(tree: xr.DataTree) -> bytes:
    """The file of a tree. HDF5 ends the interpreter where it cannot write: it writes to memory."""
    buffer = io.BytesIO()
    # The netCDF library adds to files only where the order is tracked.
    with _NewFile(buffer, "w", track_order=True) as file:
        tree.to_netcdf(file, engine="h5netcdf")
    return buffer.getvalue()


def read(path: Path) -> xr.DataTree:
    """Read a tree of groups that hold variables alone into memory."""
    with _File(path, "r") as file:
        _check_layout(file)
        groups = xr.open_groups(file, engine="h5netcdf")
        # DataTree.load leaves out variables that have the name of a group.
        return xr.DataTree.from_dict({name: group.load() for name, group in groups.items()})


def _check_layout(file: h5py.File) -> None:
    """Check that groups hold variables alone: a group within may lead round in a circle."""
    for name, child in _members(file):
        inner = _members(child) if isinstance(child, h5py.Group) else ()
        if any(isinstance(one, h5py.Group) for _, one in inner):
            raise ValueError(f"its group {name!r} holds another group")


def _members(group: h5py.Group) -> Iterator[tuple[str, Any]]:
    """What a group holds itself; what it only links to may be in another file."""
    for name in group:
        if not isinstance(group.get(name, getlink=True), h5py.HardLink):
            raise ValueError(f"{name!r} is a link")
        yield name, group[name]
