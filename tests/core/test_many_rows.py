"""Counts from Dask and data sets are those of rows in memory, and can be fitted."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bayescal as bc

SCORES = bc.datasets.ece.truth("over").scores(2000, seed=1)
TASK = SCORES.tasks()[0]


def data_set(folder):
    for place, part in enumerate(np.array_split(np.arange(2000), 4)):
        table = pa.table({"y": TASK.event[part], "p": TASK.score[part]})
        pq.write_table(table, folder / f"{place}.parquet")
    return folder


def dask_frame(_):
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    return dd.from_pandas(pd.DataFrame({"y": TASK.event, "p": TASK.score}), npartitions=3)


def dask_arrays(_):
    da = pytest.importorskip("dask.array")
    return {"y": da.from_array(TASK.event, chunks=700), "p": da.from_array(TASK.score, chunks=700)}


def assert_that_of_rows_in_memory(data):
    found = bc.count_rows(data, label="y", score="p", n_bins=12)["p"].bins
    expected = bc.bin_scores(SCORES, n_bins=12)
    np.testing.assert_array_equal(found.edges, expected.edges)
    np.testing.assert_array_equal(found.count, expected.count)
    np.testing.assert_array_equal(found.positives, expected.positives)
    np.testing.assert_allclose(found.mean_score, expected.mean_score, rtol=1e-12)
    measure = bc.agnostic.interval_measure_of_rows(data, label="y", score="p")
    whole = bc.agnostic.interval_measure(TASK.score, label=TASK.event)
    assert measure.c == pytest.approx(whole.c, rel=1e-12)
    assert (measure.lower, measure.upper) == (whole.lower, whole.upper)
    return found.mean_score


@pytest.mark.parametrize("made", [data_set, dask_frame, dask_arrays])
def test_bins_and_the_measure_are_those_of_rows_in_memory(made, tmp_path):
    assert_that_of_rows_in_memory(made(tmp_path))


def test_a_fit_of_counts_is_that_of_the_rows(tmp_path):
    counts = bc.count_rows(data_set(tmp_path), label="y", score=["p"])
    # Random numbers belong to the name.
    rows = bc.Scores(y_true=TASK.event, y_prob=TASK.score, classifier="p")
    of_counts, of_rows = (
        bc.fit(bc.ece, data, method="direct", draws=250, seed=1) for data in (counts, rows)
    )
    # Mean scores are sums in another order.
    np.testing.assert_allclose(
        of_counts["posterior"]["ece"].values.ravel(),
        of_rows["posterior"]["ece"].values.ravel(),
        rtol=1e-6,
    )


BAD = r"p \(rows counted from row 0 of partition 2\) must lie in \[0, 1\]; got 1.5 at row 598"


def with_a_bad_row():
    da = pytest.importorskip("dask.array")
    score = TASK.score.copy()
    score[-2] = 1.5
    return {"y": da.from_array(TASK.event, chunks=700), "p": da.from_array(score, chunks=700)}


def test_a_bad_row_of_the_last_partition_is_named():
    with pytest.raises(bc.InputError, match=BAD):
        bc.count_rows(with_a_bad_row(), label="y", score="p")
    with pytest.raises(bc.InputError, match=BAD):
        bc.agnostic.interval_measure_of_rows(with_a_bad_row(), label="y", score="p")


def test_weighted_rows_on_dask_are_those_in_memory():
    da = pytest.importorskip("dask.array")
    weight = np.random.default_rng(3).exponential(size=2000)
    data = dask_arrays(None) | {"w": da.from_array(weight, chunks=700)}
    found = bc.count_rows(data, label="y", score="p", weight="w")["p"].bins
    expected = bc.bin_scores(bc.Scores(y_true=TASK.event, y_prob=TASK.score, sample_weight=weight))
    np.testing.assert_array_equal(found.edges, expected.edges)
    np.testing.assert_array_equal(found.rows, expected.rows)
    for name in ("count", "positives", "mean_score", "mass"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-12)


@pytest.mark.slow
def test_a_cluster_sums_up_what_threads_do():
    distributed = pytest.importorskip("distributed")
    of_threads = assert_that_of_rows_in_memory(dask_frame(None))
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as here,
        distributed.Client(here),
    ):
        of_workers = assert_that_of_rows_in_memory(dask_frame(None))
        # Bit for bit, as the order of sums is that of the partitions.
        np.testing.assert_array_equal(of_workers, of_threads)
        with pytest.raises(bc.InputError, match=BAD):
            bc.count_rows(with_a_bad_row(), label="y", score="p")
