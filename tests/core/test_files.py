"""Files are found, named in errors, and refused where they change."""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.core.files import check_file, first_bytes, reading
from bayescal.core.tables import open_table


def test_a_missing_file_suggests_the_nearest(tmp_path):
    (tmp_path / "scores.csv").write_text("y,p\n")
    with pytest.raises(InputError, match=r"there is no file .*score\.csv\. Did you mean 'scores"):
        check_file(tmp_path / "score.csv")
    with pytest.raises(InputError, match=r"there is no file .*other.bin\.$"):
        check_file(tmp_path / "nowhere" / "other.bin")


def test_a_directory_and_an_empty_file(tmp_path):
    with pytest.raises(InputError, match="it is a directory"):
        check_file(tmp_path)
    (tmp_path / "empty.csv").touch()
    with pytest.raises(InputError, match=r"empty\.csv must have a header and rows; it is empty"):
        check_file(tmp_path / "empty.csv")


def test_first_bytes(tmp_path):
    path = tmp_path / "long.bin"
    path.write_bytes(b"x" * 5000)
    check_file(path)
    assert first_bytes(path) == b"x" * 1024


def test_what_cannot_be_opened(tmp_path):
    with pytest.raises(InputError, match=f"{tmp_path.name} cannot be read as CSV or Parquet: "):
        first_bytes(tmp_path)


def test_an_error_of_the_system_becomes_one_line(tmp_path):
    path = tmp_path / "scores.csv"
    message = r"^scores\.csv cannot be read as CSV: disk on fire\. Write the file again"
    with pytest.raises(InputError, match=message) as caught, reading(path, "CSV"):
        raise OSError("disk on fire.\nand more")
    assert "\n" not in str(caught.value)


def test_other_errors_pass(tmp_path):
    with pytest.raises(ZeroDivisionError), reading(tmp_path, "CSV"):
        raise ZeroDivisionError


ROWS = 3000
SCORE = np.random.default_rng(1).random(ROWS).round(6)
LABEL = (np.random.default_rng(2).random(ROWS) < SCORE).astype(np.int64)


def write_rows(path: Path, label, score=SCORE) -> Path:
    table = pa.table({"y": label, "p": score[: len(label)]})
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=1000, compression="none", use_dictionary=False)
    else:
        rows = zip(table["y"].to_pylist(), table["p"].to_pylist(), strict=True)
        path.write_text("y,p\n" + "".join(f"{y},{p:.6f}\n" for y, p in rows))
    return path


def replaced(path: Path) -> None:
    os.replace(write_rows(path.with_stem("new"), 1 - LABEL), path)


def rewritten(path: Path) -> None:
    """Write flipped labels into the same file, with its old size and times."""
    before = path.stat()
    content = write_rows(path.with_stem("new"), 1 - LABEL).read_bytes()
    with path.open("r+b") as file:
        file.write(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = path.stat()
    assert (after.st_size, after.st_mtime_ns, after.st_ino) == (
        before.st_size,
        before.st_mtime_ns,
        before.st_ino,
    )


def truncated(path: Path) -> None:
    os.truncate(path, path.stat().st_size * 2 // 3)


def appended(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"1,0.500000\n" * 100)


def flipped(path: Path) -> None:
    write_rows(path, 1 - LABEL)


def removed(path: Path) -> None:
    path.unlink()


CHANGES = [replaced, rewritten, truncated, appended, flipped, removed]


class Disturbed:
    """A file that is changed after so many batches."""

    def __init__(self, path, change, after):
        self._table, self._path, self._change, self._left = open_table(path), path, change, after

    def batches(self, columns, batch_rows):
        for batch in self._table.batches(columns, 1000):
            if self._left == 0:
                self._change(self._path)
            self._left -= 1
            yield batch


@pytest.mark.parametrize("after", [0, 1, 2])
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", ["rows.parquet", "rows.csv"])
def test_a_file_that_changes_while_rows_are_counted_is_named(tmp_path, name, change, after):
    # There are three batches of a thousand rows.
    path = write_rows(tmp_path / name, LABEL)
    rows = Disturbed(path, change, after)
    happened = "removed" if change is removed else "written or replaced"
    with pytest.raises(InputError, match=rf"{name} must not change .* it was {happened} since"):
        bc.count_rows(rows, label="y", score="p")


@pytest.mark.parametrize("change", CHANGES)
def test_counting_gives_the_old_rows_or_none_when_a_file_is_changed_meanwhile(tmp_path, change):
    path = write_rows(tmp_path / "rows.parquet", LABEL)
    expected = bc.count_rows(path, label="y", score="p")["p"].bins
    for delay in (0, 0.004, 0.008, 0.012):
        table = open_table(write_rows(path, LABEL))
        with ThreadPoolExecutor(1) as pool, suppress(InputError):
            pool.submit(after, delay, change, path)
            found = bc.count_rows(table, label="y", score="p")["p"].bins
            np.testing.assert_array_equal(found.positives, expected.positives)
            np.testing.assert_array_equal(found.edges, expected.edges)


def after(delay, change, path):
    time.sleep(delay)
    change(path)


def test_rows_that_are_read_again_by_a_fit_are_the_same(tmp_path):
    path = write_rows(tmp_path / "rows.parquet", LABEL)
    rows = bc.temperature.count_rows(path, label="y", score="p")
    replaced(path)
    with pytest.raises(InputError, match="must not change until its last reading"):
        bc.fit(bc.temperature, rows, method="direct", draws=50)


def test_any_file_of_a_data_set_counts(tmp_path):
    for name in "abc":
        write_rows(tmp_path / f"{name}.parquet", LABEL)
    table = open_table(tmp_path)
    flipped(tmp_path / "b.parquet")
    for read in (table.read, lambda names: list(table.batches(names))):
        with pytest.raises(InputError, match=r"b\.parquet must not change"):
            read(["p"])


def test_a_file_just_written_is_known_from_one_written_right_after(tmp_path):
    path = tmp_path / "rows.csv"
    for _ in range(20):
        write_rows(path, LABEL)
        table = open_table(path)
        rewritten(path)
        with pytest.raises(InputError, match="must not change"):
            table.read(["y"])
