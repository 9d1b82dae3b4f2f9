"""Streams bin exactly as the whole does, within a memory that does not grow with the rows."""

import tracemalloc

import numpy as np
import pytest

from bayescal.core.bins.binning import bin_scores, fine_counts
from bayescal.core.bins.streaming import stream_counts
from bayescal.core.errors import InputError
from bayescal.core.scores import Scores


class Rows:
    """A table in memory."""

    def __init__(self, **columns):
        self._columns = {name: np.asarray(values) for name, values in columns.items()}

    def batches(self, columns, batch_rows):
        n = len(next(iter(self._columns.values())))
        for start in range(0, n, batch_rows):
            yield {name: self._columns[name][start : start + batch_rows] for name in columns}


def data(n=1000, decimals=None, seed=0, dtype=float):
    rng = np.random.default_rng(seed)
    score = rng.beta(0.5, 0.7, n).astype(dtype)
    event = rng.random(n) < score
    return (score if decimals is None else score.round(decimals)), event


def same(a, b):
    assert (a.closed, a.strategy) == (b.closed, b.strategy)
    np.testing.assert_array_equal(a.edges, b.edges)
    np.testing.assert_array_equal(a.count, b.count)
    np.testing.assert_array_equal(a.positives, b.positives)
    np.testing.assert_allclose(a.mean_score, b.mean_score, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["uniform", "quantile", [0, 0.1, 0.1, 1]], ids=str)
@pytest.mark.parametrize("closed", ["right", "left"])
@pytest.mark.parametrize("decimals", [None, 1])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_equals_the_whole(strategy, closed, decimals, dtype):
    score, event = data(decimals=decimals, dtype=dtype)
    options = {"n_bins": 15, "strategy": strategy, "closed": closed}
    whole = bin_scores(Scores(y_true=event, y_prob=score, pos_label=True), **options)
    table = Rows(y=event, p=score)
    for batch_rows in (7, 1000, 5000):
        found = stream_counts(
            table, label="y", score="p", pos_label=True, batch_rows=batch_rows, **options
        )
        same(found.bins, whole)
        assert found.cells is None


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize("decimals", [None, 1])
@pytest.mark.parametrize("closed", ["right", "left"])
def test_cells_equal_those_of_the_whole(strategy, decimals, closed):
    score, event = data(decimals=decimals)
    scores = Scores(y_true=event, y_prob=score, pos_label=True)
    bins = bin_scores(scores, strategy=strategy, closed=closed)
    found = stream_counts(
        Rows(y=event, p=score),
        label="y",
        score="p",
        pos_label=True,
        strategy=strategy,
        closed=closed,
        n_cells=100,
        batch_rows=64,
    )
    same(found.bins, bins)
    same(found.cells, fine_counts(scores.tasks()[0], bins.edges, closed=closed))


@pytest.mark.parametrize("n_cells", [None, 100])
@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_rows_are_read_twice(strategy, n_cells):
    score, event = data()
    table = Rows(y=event, p=score)
    readings = []
    batches = table.batches
    table.batches = lambda *args: readings.append(args) or batches(*args)
    stream_counts(table, label="y", score="p", pos_label=True, strategy=strategy, n_cells=n_cells)
    assert len(readings) == 2


def test_rows_that_change_between_the_readings_are_refused():
    score, event = data()

    class Written(Rows):
        def batches(self, columns, batch_rows):
            yield from super().batches(columns, batch_rows)
            self._columns["p"] = self._columns["p"][::-1] ** 2

    with pytest.raises(InputError, match=r"'y', 'p' must not change while they are read twice"):
        stream_counts(Written(y=event, p=score), label="y", score="p", pos_label=True)


def test_weighted_rows_that_change_after_the_first_reading_are_refused():
    score, event = data()

    class Written(Rows):
        def batches(self, columns, batch_rows):
            yield from super().batches(columns, batch_rows)
            self._columns["y"] = np.where(score > 0.5, np.nan, event)

    rows = Written(y=event.astype(float), p=score, w=np.ones(len(score)))
    with pytest.raises(InputError, match="must not change while they are read twice"):
        stream_counts(rows, label="y", score="p", weight="w")


def test_labels_seen_late_and_missing_ones():
    label = np.array(["no", "no", None, None, "no", "yes"], object)
    table = Rows(y=label, p=[0.1, 0.2, 0.3, 0.4, 0.6, 0.9])
    found = stream_counts(
        table, label="y", score="p", pos_label="yes", n_bins=2, strategy="uniform", batch_rows=2
    )
    assert found.classes == ("no", "yes")
    assert found.n_obs == 6
    assert found.bins.count.tolist() == [2, 2]
    assert found.bins.positives.tolist() == [0, 1]


def test_logits():
    table = Rows(y=[0, 1], p=[-2.0, 3.0])
    found = stream_counts(table, label="y", score="p", from_logits=True, strategy="uniform")
    assert found.bins.mean_score[found.bins.count > 0] == pytest.approx([0.1192029, 0.9525741])


@pytest.mark.parametrize(
    ("label", "score", "message"),
    [
        ([0, 1, 1, 0], [0.1, 0.2, 0.3, 1.2], r"p \(rows counted from row 2\) must lie in \[0, 1\]"),
        ([0, 1, 1, 0], [0.1, 1.2, 0.3, 0.2], r"^p must lie in \[0, 1\]; got 1.2 at row 1"),
        ([0, 1, 2, 0], [0.1, 0.2, 0.3, 0.2], "y must hold two labels"),
        ([np.nan] * 4, [0.1, 0.2, 0.3, 0.2], "y must hold at least one label; all 4 rows"),
        ([], [], "at least one row"),
    ],
)
def test_bad_input(label, score, message):
    with pytest.raises(InputError, match=message):
        stream_counts(Rows(y=label, p=score), label="y", score="p", batch_rows=2)


def test_a_parquet_file(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    from bayescal.core.tables import open_table

    score, event = data(20_000, dtype=np.float32)
    path = tmp_path / "rows.parquet"
    parquet.write_table(
        pa.table({"y": event.astype(np.uint8), "p": score}), path, row_group_size=3000
    )
    found = stream_counts(open_table(path), label="y", score="p", batch_rows=4096)
    same(
        found.bins,
        bin_scores(Scores(y_true=event.astype(int), y_prob=score), strategy="quantile"),
    )


class Endless:
    """Rows made when they are asked for, the same at every reading."""

    def __init__(self, n_batches):
        self._n_batches = n_batches

    def batches(self, columns, batch_rows):
        for seed in range(self._n_batches):
            rng = np.random.default_rng(seed)
            score = rng.random(batch_rows)
            yield {"y": (rng.random(batch_rows) < score).astype(np.uint8), "p": score}


@pytest.mark.mcmc
def test_memory_does_not_grow_with_the_rows():
    def peak(n_batches):
        tracemalloc.start()
        found = stream_counts(
            Endless(n_batches), label="y", score="p", n_cells=100, batch_rows=1 << 17
        )
        _, highest = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert found.bins.n == n_batches << 17
        return highest

    # Both are above what is collected and sorted at once.
    few, many = peak(17), peak(34)
    assert many < 1.1 * few + 1e6
    assert many < 100e6
