"""Counts of files, data sets and Dask's columns are those of rows in memory, and can be fitted."""

import tracemalloc

import numpy as np
import pytest

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.core.partial_sums import numbered
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
        ({"p": [0.1, 0.2, 0.3, 1.2]}, r"^p \(rows counted from row 2\) must lie in \[0, 1\]"),
        ({"p": [0.1, 1.2, 0.3, 0.2]}, r"^p must lie in \[0, 1\]; got 1.2 at row 1"),
        ({"y": [0, 1, 2, 0]}, "^y must hold two labels"),
        ({"y": [np.nan] * 4}, "^y must hold at least one label; all 4 rows"),
        ({"y": [], "p": [], "w": []}, "at least one row"),
        ({"w": [1, 1, -2, 1]}, r"^w \(rows counted from row 2\) must be 0 or .* got -2 at row 0"),
        ({"w": [0, 0, 0, 0]}, "^w must be above 0 in at least one row; all 4 are zero"),
    ],
)
def test_rows_that_cannot_be_counted_are_named(columns, message):
    given = {"y": [0, 1, 1, 0], "p": [0.1, 0.2, 0.3, 0.4], "w": [1, 2, 3, 4]} | columns
    weight = "w" if "w" in columns else None
    with pytest.raises(InputError, match=message):
        bc.count_rows(Rows(2, **given), label="y", score="p", weight=weight)


BAD = r"p \(rows counted from row 0 of partition 2\) must lie in \[0, 1\]; got 1.5 at row 598"


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
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as here,
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
