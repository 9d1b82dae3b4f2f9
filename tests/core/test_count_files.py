"""Counts come back from their files as they were; a file that has changed is refused."""

from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pyarrow.parquet as pq
import pytest

import bayescal as bc
from bayescal.core import count_table

RNG = np.random.default_rng(0)
SCORE, OTHER = RNG.random((2, 300)).round(2)
LABEL = np.where(RNG.random(300) < 0.1, None, np.where(RNG.random(300) < SCORE, "yes", "no"))
SCORES = bc.Scores.stack(
    {"a": SCORE, "b": OTHER}, y_true=LABEL, pos_label="yes", group=RNG.choice(["x", "y"], 300)
)
ALONE = bc.Counts.from_arrays(LABEL, SCORE, pos_label="yes")
WEIGHTED = bc.Counts.from_arrays(LABEL, SCORE, pos_label="yes", sample_weight=RNG.random(300))
TABLE = bc.Counts.from_scores(SCORES, pairs=True)
EDGES = bc.Binning(strategy=[0, 0.3, 1], closed="left")


def same(one, other):
    assert type(one) is type(other)
    if isinstance(one, bc.Counts):
        for name in ("cell", "sums", "weights"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)
        for name in ("labels", "pos_label", "n_read", "binning", "n_cells"):
            assert getattr(one, name) == getattr(other, name)
        return
    assert list(one) == list(other)
    assert one.groups == other.groups
    for name in one:
        for group, counts in one.groups_of(name).items():
            same(counts, other.groups_of(name)[group])
    assert (one.pairs.classifiers, one.pairs.shift) == (other.pairs.classifiers, other.pairs.shift)
    np.testing.assert_array_equal(one.pairs.key, other.pairs.key)
    np.testing.assert_array_equal(one.pairs.rows, other.pairs.rows)


@pytest.mark.parametrize("counts", [ALONE, WEIGHTED, TABLE], ids=["alone", "weighted", "table"])
def test_counts_come_back(counts, tmp_path):
    path = counts.save(tmp_path / "day.counts")
    same(bc.Counts.load(path), counts)
    # Other programs read the file too.
    assert pq.read_table(path).num_rows >= 50


def test_bins_come_back(tmp_path):
    found = bc.CountTable({"a": ALONE}).each(
        lambda counts: replace(counts, binning=EDGES, n_cells=None)
    )
    assert bc.Counts.load(found.save(tmp_path / "a.counts"))["a"].binning == EDGES


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    return TABLE.save(tmp_path_factory.mktemp("counts") / "a.counts").read_bytes()


@pytest.mark.parametrize("kind", ["cut", "flipped", "replaced"])
def test_a_damaged_file_is_refused(kind, content, tmp_path):
    rng, path = np.random.default_rng(1), tmp_path / "a.counts"
    for place in rng.integers(0, len(content), 100):
        damaged = bytearray(content)
        if kind == "cut":
            del damaged[place:]
        elif kind == "flipped":
            damaged[place] ^= 1 << int(rng.integers(8))
        else:
            damaged[place : place + 50] = rng.bytes(len(damaged[place : place + 50]))
        path.write_bytes(damaged)
        with pytest.raises(bc.InputError, match=r"as it was written|whole; it is none"):
            bc.Counts.load(path)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("VERSION", 2, r"must hold counts of the version 1; got 2"),
        ("_GRID", {"per_logit": 4096}, r"counts of the grid .*8192.*; got \{'per_logit': 4096\}"),
    ],
)
def test_files_of_other_versions_and_cells_are_refused(name, value, message, tmp_path, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(count_table, name, value)
        path = ALONE.save(tmp_path / "a.counts")
    with pytest.raises(bc.InputError, match=message):
        bc.Counts.load(path)


def test_only_files_of_counts_are_read(tmp_path):
    with pytest.raises(bc.InputError, match="counts must be a file; there is none"):
        bc.Counts.load(tmp_path / "none.counts")
    (tmp_path / "a.csv").write_text("y,p\n1,0.5\n")
    with pytest.raises(bc.InputError, match="must be a file that save of counts wrote"):
        bc.Counts.load(tmp_path / "a.csv")
    with pytest.raises(bc.OutputError, match="there is no directory"):
        ALONE.save(tmp_path / "none" / "a.counts")


def test_a_failure_leaves_the_older_file(tmp_path, monkeypatch):
    path = ALONE.save(tmp_path / "a.counts")
    before = path.read_bytes()
    monkeypatch.setattr("os.fsync", Mock(side_effect=OSError(28, "No space left")))
    with pytest.raises(bc.OutputError, match="No space left"):
        WEIGHTED.save(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["a.counts"]
