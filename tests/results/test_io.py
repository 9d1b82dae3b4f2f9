from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import xarray as xr

from bayescal.core.errors import InputError, OutputError
from bayescal.results import io
from tests.synthetic import make_result


@pytest.mark.mcmc
@pytest.mark.parametrize(
    "options",
    [
        {"classifiers": ("vit",)},
        {"classes": ("cat", "chien é $"), "converged": False},
        {"groups": ("women", "men"), "prior": True},
    ],
    ids=["one", "classes", "groups"],
)
def test_a_result_comes_back_as_it_was(options: dict[str, Any], tmp_path: Path) -> None:
    tree = make_result(**options)
    back = io.load(io.save(tree, tmp_path / "result.nc"))
    xr.testing.assert_identical(tree, back)
    assert {name: type(value) for name, value in back.attrs.items()} == {
        name: type(value) for name, value in tree.attrs.items()
    }
    assert back["diagnostics"]["converged"].dtype == bool


@pytest.mark.mcmc
def test_a_loaded_file_is_closed_and_can_be_replaced(tmp_path: Path) -> None:
    path = io.save(make_result(("vit",)), tmp_path / "result.nc")
    first = io.load(path)
    io.save(make_result(("gbm",), seed=1), path)
    assert io.load(path).attrs["classifiers"] == '["gbm"]'
    assert np.isfinite(first["posterior"]["ece"].values).all()


@pytest.mark.slow
def test_nothing_but_the_result_is_left(tmp_path: Path) -> None:
    io.save(make_result(("vit",)), tmp_path / "result.nc")
    assert [path.name for path in tmp_path.iterdir()] == ["result.nc"]


@pytest.mark.slow
def test_a_failed_save_keeps_the_old_file(tmp_path: Path) -> None:
    path = io.save(make_result(("vit",)), tmp_path / "result.nc")
    broken = make_result(("vit",))
    broken.attrs["note"] = {"a": "dict"}
    with pytest.raises(TypeError):
        io.save(broken, path)
    assert io.load(path).attrs["status"] == "ok"
    assert [path.name for path in tmp_path.iterdir()] == ["result.nc"]


def test_only_results_are_saved(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a result must hold"):
        io.save(xr.DataTree(), tmp_path / "result.nc")
    assert not list(tmp_path.iterdir())


def test_a_missing_directory_is_found_before_the_work(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"there is no directory .*Make it first"):
        io.check_writable(tmp_path / "nowhere" / "result.nc")


def test_a_directory_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"it is a directory\. Add a file name"):
        io.check_writable(tmp_path)


def test_a_place_where_nobody_can_write() -> None:
    with pytest.raises(OutputError, match="cannot be written"):
        io.check_writable("/proc/result.nc")


def test_checking_leaves_an_existing_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "result.nc"
    path.write_text("precious")
    io.check_writable(path)
    assert path.read_text() == "precious"
    assert [path.name for path in tmp_path.iterdir()] == ["result.nc"]


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is none at .*nothing\.nc"):
        io.load(tmp_path / "nothing.nc")


def test_a_file_that_is_not_netcdf(tmp_path: Path) -> None:
    path = tmp_path / "result.nc"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="must be a netCDF file written by") as info:
        io.load(path)
    assert "\n" not in str(info.value)


@pytest.mark.slow
def test_a_file_that_was_cut_short(tmp_path: Path) -> None:
    path = io.save(make_result(("vit",)), tmp_path / "result.nc")
    path.write_bytes(path.read_bytes()[:4000])
    with pytest.raises(InputError, match="Save the result again"):
        io.load(path)


def test_a_netcdf_file_of_something_else(tmp_path: Path) -> None:
    path = tmp_path / "other.nc"
    xr.Dataset({"rain": ("day", [1.0, 2.0])}).to_netcdf(path, engine="h5netcdf")
    with pytest.raises(InputError, match=r"other\.nc holds no result: .*group 'posterior'"):
        io.load(path)


@pytest.mark.slow
def test_a_result_of_another_version(tmp_path: Path) -> None:
    path = io.save(make_result(("vit",)), tmp_path / "result.nc")
    with h5py.File(path, "a") as file:
        file.attrs["schema_version"] = 99
    with pytest.raises(InputError, match="schema_version must be 2; got 99"):
        io.load(path)
