"""Files are written whole or not at all, and what cannot be written is said with its remedy."""

import os
import signal
import time
from pathlib import Path

import pytest

from bayescal.core import writing
from bayescal.core.errors import InputError, OutputError


def test_a_missing_directory_is_found_before_the_work(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"there is no directory .*Make it first"):
        writing.check_writable(tmp_path / "nowhere" / "result.nc")


@pytest.mark.parametrize("write", [writing.check_writable, writing.write_bytes])
def test_nothing_but_a_file_is_replaced(tmp_path: Path, write) -> None:
    os.mkfifo(pipe := tmp_path / "pipe")
    with pytest.raises(OutputError, match=r"pipe cannot be written: it is a device or a pipe\. "):
        write(pipe)
    assert pipe.is_fifo()


def test_a_directory_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"it is a directory\. Add a file name"):
        writing.check_writable(tmp_path)


def test_a_place_where_nobody_can_write() -> None:
    with pytest.raises(OutputError, match="cannot be written"):
        writing.check_writable("/proc/result.nc")


def test_checking_leaves_an_existing_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "result.nc"
    path.write_text("precious")
    writing.check_writable(path)
    assert path.read_text() == "precious"
    assert [path.name for path in tmp_path.iterdir()] == ["result.nc"]


def test_drafts_that_a_killed_process_left_are_cleared_and_no_others(tmp_path: Path) -> None:
    stale, kept = ".result.nc.4711-0.part", [".result.nc.4712-0.part", ".other.nc.1-0.part"]
    for name in (stale, *kept):
        (tmp_path / name).write_text("half")
    for name in (stale, ".other.nc.1-0.part"):
        os.utime(tmp_path / name, (0, time.time() - 7200))
    writing.check_writable(tmp_path / "result.nc")
    assert {path.name for path in tmp_path.iterdir()} == set(kept)


@pytest.mark.parametrize("name", ["a\0b", "a" * 300, "\ud800"])
def test_a_path_that_the_system_cannot_hold(name: str, tmp_path: Path) -> None:
    for check in (writing.check_writable, writing.checked_path):
        with pytest.raises(InputError, match="path must be a path that the system can hold"):
            check(tmp_path / name)


def test_an_empty_path_is_not_the_working_directory() -> None:
    with pytest.raises(InputError, match=r"store must be a path .*: it is empty"):
        writing.checked_path("", "store")


def test_a_path_is_named_as_its_argument_is() -> None:
    with pytest.raises(InputError, match="store must be a path"):
        writing.checked_path(3.5, "store")  # type: ignore[arg-type]  # what a user may pass


def test_a_path_in_a_place_that_is_not_there_can_be_held(tmp_path: Path) -> None:
    assert writing.checked_path(tmp_path / "no" / "where") == tmp_path / "no" / "where"


def test_a_file_is_replaced_once_the_new_one_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with writing.replacing(path) as draft:
        draft.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    with pytest.raises(ZeroDivisionError), writing.replacing(path) as draft:
        draft.write_text("half")
        raise ZeroDivisionError
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_stays_and_what_it_leads_to_is_written(tmp_path: Path, exists: bool) -> None:
    (served := tmp_path / "served").mkdir()
    if exists:
        (served / "page.html").write_text("old")
    (link := tmp_path / "link.html").symlink_to(Path("served", "page.html"))
    writing.write_text(writing.check_writable(link), "new")
    assert link.is_symlink()
    assert (served / "page.html").read_text() == "new"
    assert [path.name for path in served.iterdir()] == ["page.html"]


def test_a_link_into_a_directory_that_is_not_there(tmp_path: Path) -> None:
    (link := tmp_path / "link.html").symlink_to(Path("nowhere", "page.html"))
    with pytest.raises(OutputError, match=r"link\.html cannot be .* no directory .*nowhere\. Make"):
        writing.check_writable(link)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444])
def test_a_file_that_is_replaced_keeps_its_readers(tmp_path: Path, mode: int) -> None:
    (path := tmp_path / "a").write_text("old")
    path.chmod(mode)
    writing.write_bytes(path, b"new")
    assert path.stat().st_mode & 0o777 == mode


@pytest.mark.parametrize("name", ["n" * 240 + ".csv", "\u6570" * 80 + ".csv"])
def test_long_names_have_drafts(name: str, tmp_path: Path) -> None:
    writing.write_bytes(tmp_path / name, b"a")
    assert (tmp_path / name).read_bytes() == b"a"


def test_two_writers_of_one_process_have_drafts_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with writing.replacing(path) as first, writing.replacing(path) as second:
        assert first != second
        first.write_text("first")
        second.write_text("second")
    assert path.read_text() == "first"


def test_halves_of_characters_are_spelled_out(tmp_path: Path) -> None:
    writing.write_text(tmp_path / "a", "\xe9\ud800\n")
    assert (tmp_path / "a").read_bytes() == b"\xc3\xa9\\ud800\n"


def test_what_may_not_grow_is_an_error_with_its_remedy(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    former = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, former[1]))
    try:
        with pytest.raises(OutputError, match=r"File too large\. Free some space, or choose"):
            writing.write_bytes(tmp_path / "a", bytes(1000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, former)
        signal.signal(signal.SIGXFSZ, ignored)
    assert not list(tmp_path.iterdir())


def test_a_full_device_names_the_file_and_the_remedy() -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full here")
    said = r"a\.csv cannot be written: No space left on device\. Free some space"
    with (
        pytest.raises(OutputError, match=said),
        writing.writing_to(Path("a.csv")),
        open("/dev/full", "wb") as file,
    ):
        file.write(b"a")
