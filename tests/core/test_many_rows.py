"""Counts of files, data sets and Dask's columns are those of rows in memory, and can be fitted."""

import os
import re
import threading
import tracemalloc
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.core.many_rows import rows_of
from bayescal.core.sums import batches_of, numbered, summed
from tests.row_sources import ODD_CUTS, SOURCES, dask_arrays, dask_frame, data_set

SCORES = bc.datasets.ece.truth("over").scores(2000, seed=1)
TASK = SCORES.tasks()[0]
COLUMNS = {"y": TASK.event, "p": TASK.score}


def csv_file(folder, columns, _):
    rows = zip(*(np.asarray(values).tolist() for values in columns.values()), strict=True)
    lines = [",".join(columns), *(",".join(map(str, row)) for row in rows)]
    (folder / "rows.csv").write_text("\n".join(lines))
    return folder / "rows.csv"


class Rows:
    """A table in memory, in batches."""

    def __init__(self, size=1000, **columns):
        self._size = size
        self._columns = {name: np.asarray(values) for name, values in columns.items()}
        self.readings = 0

    def parts(self, columns, batch_rows):
        self.readings += 1
        return [numbered(self._batches(columns))]

    def _batches(self, columns):
        for start in range(0, len(next(iter(self._columns.values()))), self._size):
            part = slice(start, start + self._size)
            yield {name: self._columns[name][part] for name in columns}


def assert_same(found, expected):
    np.testing.assert_array_equal(found.cell, expected.cell)
    for name in ("rows", "positives", "unlabeled", "score"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), name)
    for name in ("edges", "count", "positives", "mean_score"):
        np.testing.assert_array_equal(
            getattr(found.cells, name), getattr(expected.cells, name), name
        )


@pytest.mark.parametrize("source", [*SOURCES, csv_file])
def test_counts_of_every_source_are_those_of_arrays_bit_for_bit(source, tmp_path):
    data = source(tmp_path, COLUMNS, ODD_CUTS)
    found = bc.count_rows(data, label="y", score="p")["p"]
    assert_same(found, bc.Counts.from_arrays(TASK.event, TASK.score))
    bins = bc.bin_scores(SCORES)
    # Scores of one narrow cell count as tied, some rows of 2,000 change their bins.
    assert abs(found.bins.count - bins.count).max() <= 2
    np.testing.assert_allclose(found.bins.mean_score, bins.mean_score, atol=2e-3)
    measure = bc.agnostic.interval_measure_of_rows(data, label="y", score="p")
    whole = bc.agnostic.interval_measure(TASK.score, label=TASK.event)
    assert measure.c == pytest.approx(whole.c, abs=2e-3)


def test_several_scores_are_counted_in_one_reading():
    names = [f"p{number}" for number in range(8)]
    table = Rows(y=TASK.event, **{name: TASK.score**k for k, name in enumerate(names, 1)})
    found = bc.count_rows(table, label="y", score=names, n_cells=None)
    assert table.readings == 1
    assert list(found) == names
    for k, name in enumerate(names, 1):
        expected = bc.Counts.from_arrays(TASK.event, TASK.score**k)
        np.testing.assert_array_equal(found[name].positives, expected.positives)
    assert found["p0"].cells is None


def test_a_fit_of_counts_is_that_of_the_rows(tmp_path):
    score = TASK.score.round(2)
    counts = bc.count_rows(
        data_set(tmp_path, {"y": TASK.event, "p": score}, (700,)), label="y", score=["p"]
    )
    # Random numbers belong to the name.
    rows = bc.Scores(y_true=TASK.event, y_prob=score, classifier="p")
    of_counts, of_rows = (
        bc.fit(bc.ece, data, method="direct", draws=250, seed=1) for data in (counts, rows)
    )
    # Mean scores are sums in another order.
    np.testing.assert_allclose(
        of_counts["posterior"]["ece"].values.ravel(),
        of_rows["posterior"]["ece"].values.ravel(),
        rtol=1e-6,
    )


def test_weighted_rows_of_every_source_are_those_of_arrays(tmp_path):
    weight = np.random.default_rng(3).exponential(size=2000)
    weight[::7] = 0
    label = TASK.event.astype(float)
    label[::5] = np.nan
    expected = bc.Counts.from_arrays(label, TASK.score, sample_weight=weight)
    assert expected.n_obs == np.count_nonzero(weight)
    for source in SOURCES:
        data = source(tmp_path, {"y": label, "p": TASK.score, "w": weight}, ODD_CUTS)
        found = bc.count_rows(data, label="y", score="p", weight="w")["p"].bins
        np.testing.assert_array_equal(found.rows, expected.bins.rows)
        for name in ("edges", "count", "positives", "mean_score", "mass"):
            np.testing.assert_allclose(
                getattr(found, name), getattr(expected.bins, name), rtol=1e-12
            )


def test_labels_seen_late_and_missing_ones():
    label = np.array(["no", "no", None, None, "no", "yes"], object)
    table = Rows(2, y=label, p=[0.1, 0.2, 0.3, 0.4, 0.6, 0.9])
    options = {"pos_label": "yes", "n_bins": 2, "strategy": "uniform"}
    found = bc.count_rows(table, label="y", score="p", **options)["p"]
    assert found.classes == ("no", "yes")
    assert (found.n_obs, found.n_labeled) == (6, 4)
    assert found.bins.count.tolist() == [2, 2]
    assert found.bins.positives.tolist() == [0, 1]


def test_logits_and_the_optimal_number_of_bins():
    table = Rows(y=[0, 1], p=[-2.0, 3.0])
    found = bc.count_rows(table, label="y", score="p", from_logits=True, strategy="uniform")["p"]
    assert found.bins.mean_score[found.bins.count > 0] == pytest.approx([0.1192029, 0.9525741])
    found = bc.count_rows(Rows(**COLUMNS), label="y", score="p", n_bins="optimal")["p"]
    assert found.bins.n_bins == 13  # 12^3 < 2000 < 13^3


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"p": [0.1, 0.2, 0.3, 1.2]},
            r"^column 'p' \(rows counted from row 2\) must lie in",
        ),
        ({"p": [0.1, 1.2, 0.3, 0.2]}, r"^column 'p' must lie in \[0, 1\]; got 1.2 at row 1"),
        ({"y": [0, 1, 2, 0]}, "^column 'y' must hold two labels"),
        ({"y": [np.nan] * 4}, "^column 'y' must hold at least one label; got none in 4 rows"),
        ({"y": [], "p": [], "w": []}, "at least one row"),
        (
            {"w": [1, 1, -2, 1]},
            r"^column 'w' \(rows counted from row 2\) must be 0 or .* -2 at row 0",
        ),
        ({"w": [0, 0, 0, 0]}, "^column 'w' must be above 0 in at least one row; all 4 are zero"),
    ],
)
def test_rows_that_cannot_be_counted_are_named(columns, message):
    given = {"y": [0, 1, 1, 0], "p": [0.1, 0.2, 0.3, 0.4], "w": [1, 2, 3, 4]} | columns
    weight = "w" if "w" in columns else None
    with pytest.raises(InputError, match=message):
        bc.count_rows(Rows(2, **given), label="y", score="p", weight=weight)


BAD = r"column 'p' of partition 2 must lie in \[0, 1\]; got 1.5 at row 598"


def test_a_bad_row_of_the_last_partition_is_named(tmp_path):
    score = TASK.score.copy()
    score[-2] = 1.5
    data = dask_arrays(tmp_path, {"y": TASK.event, "p": score}, (700, 1400))
    with pytest.raises(InputError, match=BAD):
        bc.count_rows(data, label="y", score="p")


@pytest.mark.slow
def test_a_cluster_counts_as_threads_do(tmp_path):
    distributed = pytest.importorskip("distributed")
    frame = dask_frame(tmp_path, COLUMNS, (700, 1400))
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as here,
        distributed.Client(here),
    ):
        found = bc.count_rows(frame, label="y", score="p")["p"]
        assert_same(found, bc.Counts.from_arrays(TASK.event, TASK.score))
        score = np.append(TASK.score[:-2], [1.5, 0.5])
        bad = dask_arrays(tmp_path, {"y": TASK.event, "p": score}, (700, 1400))
        with pytest.raises(InputError, match=BAD):
            bc.count_rows(bad, label="y", score="p")


class Endless:
    """Rows made when they are asked for."""

    def __init__(self, n_batches):
        self._n_batches = n_batches

    def parts(self, columns, batch_rows):
        return [numbered(self._batches())]

    def _batches(self):
        for seed in range(self._n_batches):
            rng = np.random.default_rng(seed)
            score = rng.random(1 << 17)
            yield {"y": (rng.random(1 << 17) < score).astype(np.uint8), "p": score}


@pytest.mark.mcmc
def test_memory_does_not_grow_with_the_rows():
    def peak(n_batches):
        tracemalloc.start()
        found = bc.count_rows(Endless(n_batches), label="y", score="p")["p"]
        _, highest = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert found.n_obs == n_batches << 17
        return highest

    few, many = peak(8), peak(24)
    assert many < 1.1 * few + 1e6
    assert many < 100e6


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


def test_files_whose_dictionaries_differ_are_one_table(tmp_path):
    words = pa.array(np.where(LABEL == 1, "yes", "no"))
    for name, column in {"a": words, "b": words.dictionary_encode()}.items():
        pq.write_table(pa.table({"y": column, "p": SCORE}), tmp_path / f"{name}.parquet")
    found = rows_of(tmp_path).read(["y"])["y"]
    assert found.tolist() == 2 * words.to_pylist()


@pytest.mark.parametrize("kind", [np.float16, np.float32])
def test_files_of_two_precisions_are_a_table_of_the_decimals(tmp_path, kind):
    score, label = np.arange(101) / 100, np.arange(101) % 2.0
    label[7] = np.nan
    for name, kinds in (("a", (kind, float)), ("b", (float, np.float32)), ("c", (float, float))):
        p, y = (values.astype(own) for values, own in zip((score, label), kinds, strict=True))
        pq.write_table(pa.table({"p": p, "y": pa.array(y, from_pandas=True)}), tmp_path / name)
    found = bc.read_scores(tmp_path, label="y", score="p")
    np.testing.assert_array_equal(found.y_prob[0], np.tile(score, 3))
    assert found.n_labeled == 300
    counts = bc.count_rows(tmp_path, label="y", score="p", n_bins=10, strategy="uniform")["p"]
    expected = bc.bin_scores(found, n_bins=10, strategy="uniform")
    np.testing.assert_array_equal(counts.bins.count, expected.count)


def test_files_of_types_that_have_none_in_common_are_refused(tmp_path):
    for name, column in {"a": LABEL, "b": list(map(str, LABEL))}.items():
        pq.write_table(pa.table({"y": column, "p": SCORE}), tmp_path / f"{name}.parquet")
    with pytest.raises(InputError, match=r"Field y has incompatible types: .* vs string"):
        rows_of(tmp_path).read(["y", "p"])


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


def test_a_column_of_scores_named_twice_is_refused(tmp_path):
    # The second one shifted the header of CSV: "got 'p' at row 2".
    path = tmp_path / "rows.csv"
    path.write_text("y,s,p,q\n0,1,0.1,0.9\n1,0,0.9,0.1\n")
    for count, given in (
        (bc.count_rows, {"label": "y", "score": ["p", "p"]}),
        (bc.pu_ece.count_rows, {"positive_column": "s", "score": ["p", "p"]}),
        (bc.temperature.count_rows, {"label": "y", "score": ["p", "q", "p"]}),
        (bc.ssme.count_rows, {"label": "y", "score": {"a": ["p", "q", "p"]}}),
    ):
        with pytest.raises(InputError, match="must name each column once; got 'p' twice"):
            count(path, **given)


@pytest.mark.parametrize(
    ("names", "said"),
    [([0, 1], "must be named by words; got 0, 1"), (["p", "p"], "column names must differ; got")],
)
def test_columns_of_a_frame_that_have_no_names_of_their_own_are_refused(dask_array, names, said):
    dd, pd = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")
    rows = dd.from_pandas(pd.DataFrame([[0, 0.5]], columns=names), npartitions=1)
    with pytest.raises(InputError, match=said):
        joined(rows_of(rows), columns=("p",))


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


def test_messages_name_the_file_and_the_row_in_it(tmp_path, monkeypatch):
    monkeypatch.setattr("bayescal.core.tables._CSV_BLOCK_BYTES", 1 << 12)
    bad = {"y": TASK.event, "p": np.where(np.arange(2000) == 1234, 1.5, TASK.score)}
    where = r"^column 'p' of rows\.csv \(.* from row (\d+)\) must .* got 1\.5 at row (\d+)\."
    with pytest.raises(InputError, match=where) as refused:
        bc.count_rows(csv_file(tmp_path, bad, ()), label="y", score="p")
    assert sum(map(int, re.match(where, str(refused.value)).groups())) == 1234
    year = tmp_path / "2026"
    year.mkdir()
    data_set(year, bad, (1000,))
    (tmp_path / "rows.csv").unlink()
    where = r"^column 'p' of 2026/1\.parquet must .* got 1\.5 at row 234\."
    with pytest.raises(InputError, match=where):
        bc.count_rows(tmp_path, label="y", score="p")
    unlabeled = data_set(year, COLUMNS | {"y": np.full(2000, np.nan)}, (1000,))
    with pytest.raises(InputError, match=r"^column 'y' of 2026 must hold at least one label"):
        bc.count_rows(unlabeled, label="y", score="p")
