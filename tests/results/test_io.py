import subprocess
import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import xarray as xr

from bayescal.core.errors import InputError
from bayescal.results import io
from tests.synthetic import make_result


@pytest.mark.parametrize(
    "options",
    [
        {"classes": ("cat", "chien é $"), "converged": False},
        {"groups": ("women", "men"), "prior": True},
    ],
    ids=["classes", "groups"],
)
def test_a_result_comes_back_as_it_was(options: dict[str, Any], tmp_path: Path) -> None:
    tree = make_result(**options)
    back = io.load(io.save(tree, tmp_path / "result.nc"))
    xr.testing.assert_identical(tree, back)
    assert {name: type(value) for name, value in back.attrs.items()} == {
        name: type(value) for name, value in tree.attrs.items()
    }
    assert back["diagnostics"]["converged"].dtype == bool


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("saved")
    path = io.save(make_result(("vit",), draws=20), folder / "result.nc")
    assert list(folder.iterdir()) == [path]
    return path.read_bytes()


@pytest.fixture
def saved(written: bytes, tmp_path: Path) -> Path:
    path = tmp_path / "result.nc"
    path.write_bytes(written)
    return path


def test_a_loaded_file_is_closed_and_can_be_replaced(tmp_path: Path) -> None:
    # Of the name of a group, as in the results of fits.
    first = make_result(("vit",), draws=20).assign(
        {"log_prior": xr.DataTree(xr.Dataset({"curve": ("classifier", [1.0])}))}
    )
    back = io.load(io.save(first, tmp_path / "result.nc"))
    io.save(make_result(("gbm",), draws=20), tmp_path / "result.nc")
    assert io.load(tmp_path / "result.nc").attrs["classifiers"] == '["gbm"]'
    xr.testing.assert_identical(back, first)


def test_a_failed_save_keeps_the_old_file(saved: Path, written: bytes) -> None:
    broken = make_result(("vit",), draws=20)
    broken.attrs["note"] = {"a": "dict"}
    with pytest.raises(TypeError):
        io.save(broken, saved)
    assert saved.read_bytes() == written
    assert list(saved.parent.iterdir()) == [saved]


def test_only_results_are_saved(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a result must hold"):
        io.save(xr.DataTree(), tmp_path / "result.nc")
    assert not list(tmp_path.iterdir())


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is none at .*nothing\.nc"):
        io.load(tmp_path / "nothing.nc")


def test_a_file_that_is_not_netcdf(tmp_path: Path) -> None:
    path = tmp_path / "result.nc"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="must be a netCDF file written by") as info:
        io.load(path)
    assert "\n" not in str(info.value)


def test_a_file_that_was_cut_short(saved: Path, written: bytes) -> None:
    saved.write_bytes(written[:4000])
    with pytest.raises(InputError, match="Save the result again"):
        io.load(saved)


def test_a_netcdf_file_of_something_else(tmp_path: Path) -> None:
    path = tmp_path / "other.nc"
    xr.Dataset({"rain": ("day", [1.0, 2.0])}).to_netcdf(path, engine="h5netcdf")
    with pytest.raises(InputError, match=r"other\.nc holds no result: .*group 'posterior'"):
        io.load(path)


@pytest.mark.slow
def test_a_result_of_another_version(saved: Path) -> None:
    with h5py.File(saved, "a") as file:
        file.attrs["schema_version"] = 99
    with pytest.raises(InputError, match="schema_version must be 2; got 99"):
        io.load(saved)


FULL = """
import resource, signal, sys
import bayescal as bc
tree = bc.load(sys.argv[1])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))
try:
    bc.save(tree, sys.argv[2])
except bc.OutputError as error:
    print(error)
"""


@pytest.mark.slow
def test_a_disk_that_is_full_is_an_error_and_ends_no_interpreter(saved: Path) -> None:
    """By a limit on the size of files; HDF5 itself ends with a segmentation fault."""
    pytest.importorskip("resource")
    run = subprocess.run(
        [sys.executable, "-c", FULL, saved, saved.with_name("new.nc")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert "new.nc cannot be written: File too large. Free some space" in run.stdout
    assert list(saved.parent.iterdir()) == [saved]


@pytest.mark.slow
def test_no_flipped_bit_gives_other_numbers(saved: Path) -> None:
    whole = io.load(saved)
    content = saved.read_bytes()
    rng = np.random.default_rng(20)
    # All over the file, and in the doubles of the draws, which are most of its payload.
    draws = content.index(whole["posterior"]["tce"].values.tobytes())
    places = [*rng.integers(len(content), size=30), *(draws + rng.integers(300, size=20))]
    refused = 0
    for place in places:
        damaged = bytearray(content)
        damaged[place] ^= 1 << int(rng.integers(8))
        saved.write_bytes(damaged)
        try:
            xr.testing.assert_identical(io.load(saved), whole)
        except InputError as error:
            refused += "its checksum is another one: the file was damaged" in str(error)
    # Only the words that say where the checksum begins are not covered by it.
    assert refused >= 49


def test_a_file_without_checksum_is_read_as_it_is(saved: Path) -> None:
    whole = io.load(saved)
    saved.write_bytes(saved.read_bytes()[: -io._CHECKSUM_LENGTH])
    xr.testing.assert_identical(io.load(saved), whole)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda file: file["posterior"].update({"again": file["posterior"]}), "another group"),
        (lambda file: file.update({"again": file}), "another group"),
        (lambda file: file.update({"b": h5py.SoftLink("/posterior")}), "'b' is a link"),
        (lambda file: file.update({"b": h5py.ExternalLink("other.nc", "/")}), "'b' is a link"),
    ],
    ids=["circle", "root", "soft", "external"],
)
def test_groups_that_lead_in_a_circle_or_elsewhere_are_refused(saved, change, said) -> None:
    with h5py.File(saved, "a") as file:
        change(file)
    with pytest.raises(InputError, match=said):
        io.load(saved)


def _as_words(held: h5py.Dataset) -> None:
    group, values = held.parent, held[()].astype("S")
    scales = [dim[0] for dim in held.dims]
    del group["tce"]
    for dim, scale in zip(group.create_dataset("tce", data=values).dims, scales, strict=True):
        dim.attach_scale(scale)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda held: held.write_direct(np.full(held.shape, np.nan)), "NaN. Fit again"),
        (lambda held: held.__setitem__((slice(None), 3), np.nan), "4 of its 80 are NaN"),
        (_as_words, "must hold numbers; it has the type"),
    ],
    ids=["nan", "one", "words"],
)
def test_draws_that_are_no_numbers_are_refused(saved: Path, change, said: str) -> None:
    with h5py.File(saved, "a") as file:
        change(file["posterior/tce"])
    with pytest.raises(InputError, match=f"holds no result: posterior/tce.*{said}"):
        io.load(saved)


@pytest.mark.parametrize("name", ["a\0b", "a" * 300])
def test_a_name_that_no_file_can_have(name: str, tmp_path: Path) -> None:
    for call in (io.load, lambda path: io.save(make_result(("a",), draws=20), path)):
        with pytest.raises(InputError, match="path must be a path that the system can hold"):
            call(tmp_path / name)
