"""Rows of Dask's columns and of Parquet data sets are those of one table in memory."""

import os
import threading
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bayescal.core.errors import InputError
from bayescal.core.many_rows import rows_of
from bayescal.core.partial_sums import batches_of, summed

SCORE = np.linspace(0, 1, 23)
LABEL = (SCORE > 0.4).astype(np.int8)


@pytest.fixture
def dask_array():
    return pytest.importorskip("dask.array")


@pytest.fixture
def frame():
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    return dd.from_pandas(pd.DataFrame({"y": LABEL, "p": SCORE, "other": "x"}), npartitions=4)


@dataclass
class Seen:
    """Labels in the order in which they were joined, and who summed them up."""

    labels: list
    where: set

    @classmethod
    def of(cls, batches):
        labels = [value for batch in batches for value in np.asarray(batch.columns["y"])]
        return cls(labels, {(os.getpid(), threading.get_ident())})

    def plus(self, other):
        return Seen(self.labels + other.labels, self.where | other.where)


def joined(rows, columns=("y", "p"), batch_rows=3):
    parts = [batch.columns for batch in batches_of(rows, columns, batch_rows)]
    assert all(len(part[columns[0]]) <= batch_rows for part in parts)
    return {name: np.concatenate([np.asarray(part[name]) for part in parts]) for name in columns}


def assert_all_rows(rows):
    for _ in range(2):
        found = joined(rows)
        np.testing.assert_array_equal(found["y"], LABEL)
        np.testing.assert_array_equal(found["p"], SCORE)


def test_a_dataframe(frame):
    assert_all_rows(rows_of(frame))


def test_arrays(dask_array):
    score, label = (dask_array.from_array(values, chunks=5) for values in (SCORE, LABEL))
    assert_all_rows(rows_of({"p": score, "y": label}))
    # Of a mask's rows Dask does not know the number.
    some = rows_of({"p": score[score > 0.2], "y": label[score > 0.2]})
    np.testing.assert_array_equal(joined(some)["y"], LABEL[SCORE > 0.2])


def test_a_data_set(tmp_path):
    for place, part in enumerate(np.array_split(np.arange(23), 3)):
        folder = tmp_path / f"month={place}"
        folder.mkdir()
        pq.write_table(pa.table({"y": LABEL[part], "p": SCORE[part]}), folder / "part.parquet")
    (tmp_path / "_temporary").mkdir()
    (tmp_path / "_temporary" / "half.parquet").write_bytes(b"PAR1")
    rows = rows_of(tmp_path)
    assert_all_rows(rows)
    assert rows.n_rows == 23
    np.testing.assert_array_equal(rows.read(["p"])["p"], SCORE)


def test_files_of_other_columns_are_refused(tmp_path):
    pq.write_table(pa.table({"y": LABEL, "p": SCORE}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"y": LABEL}), tmp_path / "b.parquet")
    with pytest.raises(InputError, match=r"b.parquet has 'y', and a.parquet 'y', 'p'"):
        rows_of(tmp_path)


@pytest.mark.parametrize("data", [None, [1, 2], {}, {"p": SCORE}])
def test_what_holds_no_rows_is_refused(data):
    with pytest.raises(InputError, match="must be the path"):
        rows_of(data)


def test_arrays_that_are_cut_otherwise_are_refused(dask_array):
    score, label = dask_array.from_array(SCORE, chunks=5), dask_array.from_array(LABEL, chunks=7)
    with pytest.raises(InputError, match=r"Pass y.rechunk\(p.chunks\)"):
        rows_of({"p": score, "y": label})
    moved = dask_array.from_array(LABEL, chunks=(4, 6, 5, 5, 3))
    with pytest.raises(InputError, match="block 0 has"):
        joined(rows_of({"p": score, "y": moved}))


def test_columns_that_are_not_there_are_refused(frame, dask_array):
    for rows in (rows_of(frame), rows_of({"p": dask_array.from_array(SCORE)})):
        with pytest.raises(InputError, match="q"):
            joined(rows, columns=("q",))


def test_partitions_are_summed_up_by_threads_in_their_order(frame, dask_array):
    score, label = (dask_array.from_array(values, chunks=5) for values in (SCORE, LABEL))
    for data in (frame, {"p": score, "y": label}):
        found = summed(rows_of(data), ["y"], Seen.of, batch_rows=3)
        assert found.labels == LABEL.tolist()
        assert (os.getpid(), threading.get_ident()) not in found.where


def test_partitions_are_cut_by_place_whatever_their_index():
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    table = pd.DataFrame({"y": LABEL, "p": SCORE}, index=np.linspace(0, 1, 23))
    assert_all_rows(rows_of(dd.from_pandas(table, npartitions=4)))


def test_a_data_set_has_every_parquet_file_whatever_its_name(tmp_path):
    whole, others = tmp_path / "whole", tmp_path / "others"
    (whole / "day.parquet").mkdir(parents=True)
    others.mkdir()
    places = [
        whole / "a.PARQUET",
        whole / "b.pq",
        whole / "c",
        whole / "day.parquet" / "d.parquet",
        others / "e.snappy",
    ]
    for place, part in zip(places, np.array_split(np.arange(23), 5), strict=True):
        pq.write_table(pa.table({"y": LABEL[part], "p": SCORE[part]}), place)
    (whole / "linked").symlink_to(others)
    for name in ("_SUCCESS", "_metadata", ".part.crc"):
        (whole / name).write_bytes(b"no rows")
    assert_all_rows(rows_of(whole))


def test_what_links_lead_to_several_times_is_read_once(tmp_path):
    (tmp_path / "a").mkdir()
    pq.write_table(pa.table({"y": LABEL, "p": SCORE}), tmp_path / "a" / "rows.parquet")
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    (tmp_path / "latest").symlink_to(tmp_path / "a")
    (tmp_path / "rows.parquet").symlink_to(tmp_path / "a" / "rows.parquet")
    assert_all_rows(rows_of(tmp_path))


@pytest.mark.parametrize("name", ["readme.txt", "more.csv", "empty.parquet"])
def test_other_files_of_a_data_set_are_refused_by_name(tmp_path, name):
    pq.write_table(pa.table({"y": LABEL, "p": SCORE}), tmp_path / "rows.parquet")
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / name).write_text("y,p\n1,0.5\n" * (name != "empty.parquet"))
    with pytest.raises(InputError, match=rf"below/{name} must be a Parquet file.* Move it"):
        rows_of(tmp_path)


def test_links_to_nothing_and_pipes_are_refused(tmp_path):
    pq.write_table(pa.table({"y": LABEL, "p": SCORE}), tmp_path / "rows.parquet")
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    with pytest.raises(InputError, match="gone must be a Parquet file"):
        rows_of(tmp_path)
    (tmp_path / "gone").unlink()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="pipe must be a Parquet file"):
        rows_of(tmp_path)
