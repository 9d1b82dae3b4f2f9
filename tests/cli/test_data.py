"""From FILE and options to scores and counts."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bayescal as bc
from bayescal.cli import data as data_
from bayescal.cli.options import Bins, Data

BINS = Bins(n_bins=7, strategy="quantile", closed="right")


def options(file: Path, *scores: str, **changes: object) -> Data:
    given = {"label": "y", "group": None, "pos_label": "1", "from_logits": False}
    return Data(file=file, scores=scores, **{"multiclass": None, **given, **changes})


@pytest.fixture
def parquet(tmp_path: Path) -> Path:
    rng = np.random.default_rng(5)
    p = rng.random(400).round(2)
    columns = {"y": (rng.random(400) < p).astype(int), "p": p, "q": rng.random(400)}
    pq.write_table(pa.table(columns), tmp_path / "scores.parquet")
    return tmp_path / "scores.parquet"


def test_each_score_column_is_a_classifier(parquet: Path) -> None:
    scores = data_.read(options(parquet, "p", "q"))
    assert scores.classifiers == ("p", "q")
    assert scores.classes == (0, 1)


@pytest.mark.parametrize(
    ("column", "pos_label", "classes"),
    [
        (["no", "yes"], "yes", ("no", "yes")),
        ([True, False], "true", (False, True)),
        ([2, 1], "2", (1, 2)),
    ],
)
def test_the_positive_label_is_found_by_its_word(tmp_path, column, pos_label, classes) -> None:
    pq.write_table(pa.table({"y": column, "p": [0.2, 0.7]}), tmp_path / "a.parquet")
    scores = data_.read(options(tmp_path / "a.parquet", "p", pos_label=pos_label))
    assert scores.classes == classes


@pytest.mark.parametrize("labels", [["cat", "owl", "dog"], [0, 2, 1]])
def test_with_multiclass_the_columns_are_classes(tmp_path: Path, labels: list[object]) -> None:
    table = {"y": labels, "cat": [0.8, 0.1, 0.2], "dog": [0.1, 0.1, 0.7], "owl": [0.1, 0.8, 0.1]}
    pq.write_table(pa.table(table), tmp_path / "pets.parquet")
    scores = data_.read(
        options(tmp_path / "pets.parquet", "cat", "dog", "owl", multiclass="class-wise")
    )
    assert scores.classifiers == ("pets",)
    assert scores.classes == ("cat", "dog", "owl")
    assert scores.y_true.tolist() == [0, 2, 1]


def test_two_columns_are_not_several_classes(parquet: Path) -> None:
    import click

    with pytest.raises(click.UsageError, match="three classes or more; got 2"):
        data_.read(options(parquet, "p", "q", multiclass="marginal"))


@pytest.mark.parametrize("multiclass", [None, "class-wise"])
def test_a_column_given_twice_is_refused(parquet: Path, multiclass: str | None) -> None:
    with pytest.raises(bc.InputError, match="'p' twice"):
        data_.read(options(parquet, "p", "q", "p", multiclass=multiclass))
    with pytest.raises(bc.InputError, match="'p' twice"):
        data_.stream(options(parquet, "p", "p"), BINS)


def test_streaming_counts_what_reading_counts(parquet: Path) -> None:
    data = options(parquet, "p", "q")
    scores = data_.read(data)
    for name, found in data_.stream(data, BINS).items():
        whole = bc.bin_scores(scores.select(name), n_bins=7, strategy="quantile")
        np.testing.assert_array_equal(found.bins.edges, whole.edges)
        np.testing.assert_array_equal(found.bins.count, whole.count)
        np.testing.assert_array_equal(found.bins.positives, whole.positives)


def test_only_large_files_of_plain_columns_are_streamed(parquet, monkeypatch) -> None:
    assert not data_.streams(options(parquet, "p"))
    monkeypatch.setattr(data_, "_MOST_VALUES", 500)
    assert data_.streams(options(parquet, "p"))
    assert not data_.streams(options(parquet, "p", group="q"))
    assert not data_.streams(options(parquet, "p", multiclass="marginal"))


def test_a_large_csv_is_known_by_its_size(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "a.csv").write_text("y,p\n1,0.5\n0,0.5\n")
    assert not data_.streams(options(tmp_path / "a.csv", "p"))
    monkeypatch.setattr(data_, "_MOST_BYTES", 10)
    assert data_.streams(options(tmp_path / "a.csv", "p"))
