"""From FILE and options to scores and counts."""

import gzip
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bayescal as bc
from bayescal.core.command import read_labeled
from bayescal.quantities.ece import command as reading


def options(file: Path, *scores: str, **changes: object) -> dict[str, object]:
    given = {"label": "y", "group": None, "pos_label": "1", "from_logits": False}
    given |= {"n_bins": 7, "strategy": "quantile", "closed": "right", "estimate_only": False}
    return {"file": file, "score": scores, "classifier": (), "multiclass": None} | given | changes


def write(path: Path, **columns: object) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


@pytest.fixture
def parquet(tmp_path: Path) -> Path:
    rng = np.random.default_rng(5)
    p = rng.random(400).round(2)
    label = (rng.random(400) < p).astype(int)
    more = {"q": rng.random(400), "g": label}
    return write(tmp_path / "scores.parquet", y=label, p=p, **more)


def test_each_score_column_is_a_classifier(parquet: Path) -> None:
    scores = read_labeled(options(parquet, "p", "q"))
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
    file = write(tmp_path / "a.parquet", y=column, p=[0.2, 0.7])
    assert read_labeled(options(file, "p", pos_label=pos_label)).classes == classes


def test_a_pattern_takes_columns_in_the_order_of_the_file(tmp_path: Path) -> None:
    file = write(tmp_path / "a.parquet", p_b=[0.1, 0.2], y=[0, 1], p_a=[0.3, 0.4], q=[0, 1])
    assert read_labeled(options(file, "p_*")).classifiers == ("p_b", "p_a")
    assert read_labeled(options(file, "q", "p_?")).classifiers == ("q", "p_b", "p_a")
    # The label and the group are no scores.
    assert read_labeled(options(file, "*", group="q")).classifiers == ("p_b", "p_a")


def test_a_pattern_without_a_match_names_the_nearest(tmp_path: Path) -> None:
    file = write(tmp_path / "a.parquet", y=[0, 1], prob_1=[0.3, 0.4], x=[0.5, 0.6])
    with pytest.raises(bc.InputError, match=r"no column that matches 'prop_\*'.*'prob_1'"):
        read_labeled(options(file, "prop_*"))
    file = write(tmp_path / "b.parquet", y=[0, 1])
    with pytest.raises(bc.InputError, match=r"no column that matches 'p\*'; it has no other\."):
        read_labeled(options(file, "p*"))


PETS = {"cat": [0.8, 0.1, 0.2], "dog": [0.1, 0.1, 0.7], "owl": [0.1, 0.8, 0.1]}


@pytest.mark.parametrize("labels", [["cat", "owl", "dog"], [0, 2, 1]])
@pytest.mark.parametrize("pattern", [False, True])
def test_with_multiclass_the_columns_are_classes(tmp_path: Path, labels, pattern) -> None:
    columns = {f"p_{name}" if pattern else name: values for name, values in PETS.items()}
    file = write(tmp_path / "pets.parquet", y=labels, **columns)
    names = ["p_*"] if pattern else list(PETS)
    scores = read_labeled(options(file, *names, multiclass="class-wise"))
    assert scores.classifiers == ("pets",)
    assert scores.classes == ("cat", "dog", "owl")
    assert scores.y_true.tolist() == [0, 2, 1]


def test_several_classifiers_with_several_classes(tmp_path: Path) -> None:
    vit = {f"vit_{name}": values for name, values in PETS.items()}
    gbm = {f"gbm_{name}": PETS[name] for name in ("owl", "cat", "dog")}
    file = write(tmp_path / "pets.parquet", y=["cat", "owl", "dog"], **gbm, **vit)
    scores = read_labeled(options(file, classifier=("vit=vit_*", "gbm=gbm_*")))
    assert scores.classifiers == ("vit", "gbm")
    assert scores.classes == ("cat", "dog", "owl")
    np.testing.assert_array_equal(scores.y_prob[0], scores.y_prob[1])


@pytest.mark.parametrize(
    ("classifier", "words"),
    [
        (("vit",), "must be NAME=PATTERN; got 'vit'"),
        (("a=p_*", "a=p_*"), "'a' twice"),
        (("a=p_*", "b=q_*"), "the same three classes or more; got cat for b. Mend its pattern"),
        (("a=r_*",), "no column that matches 'r_"),
    ],
)
def test_classifiers_that_do_not_fit_are_refused(tmp_path: Path, classifier, words) -> None:
    columns = {f"p_{name}": values for name, values in PETS.items()} | {"q_cat": [0.1, 0.2, 0.3]}
    file = write(tmp_path / "pets.parquet", y=["cat", "owl", "dog"], **columns)
    with pytest.raises(bc.InputError, match=words):
        read_labeled(options(file, classifier=classifier))


def test_two_columns_are_not_several_classes(parquet: Path) -> None:
    with pytest.raises(bc.InputError, match="three classes or more; got 2"):
        read_labeled(options(parquet, "p", "q", multiclass="marginal"))


@pytest.mark.parametrize("how", ["multiclass", "classifier"])
def test_several_classes_have_no_positive_label(tmp_path: Path, how: str) -> None:
    columns = {f"p_{name}": values for name, values in PETS.items()}
    file = write(tmp_path / "pets.parquet", y=["cat", "owl", "dog"], **columns)
    if how == "multiclass":
        given = options(file, "p_*", multiclass="class-wise", pos_label="cat")
    else:
        given = options(file, classifier=("vit=p_*",), pos_label="cat")
    with pytest.raises(bc.InputError, match="--pos-label is of scores of two classes; got 'cat'"):
        read_labeled(given)


@pytest.mark.parametrize("multiclass", [None, "class-wise"])
@pytest.mark.parametrize("again", ["p", "[p]"])
def test_a_column_given_twice_is_refused(parquet: Path, multiclass: str | None, again: str) -> None:
    said = "--score must name each column once; got 'p' twice. Leave one out."
    with pytest.raises(bc.InputError, match=said):
        reading.read(options(parquet, "p", "q", again, multiclass=multiclass))


def test_streaming_counts_what_reading_counts(parquet: Path, monkeypatch) -> None:
    scores = reading.read(options(parquet, "p", "q"))
    monkeypatch.setattr(reading, "MOST_PAIRED", 500)
    counts = reading.read(options(parquet, "p", "q"))
    assert list(counts) == ["p", "q"]
    for name, found in counts.items():
        whole = bc.bin_scores(scores.select(name), n_bins=7, strategy="quantile")
        np.testing.assert_array_equal(found.bins.edges, whole.edges)
        np.testing.assert_array_equal(found.bins.count, whole.count)
        np.testing.assert_array_equal(found.bins.positives, whole.positives)


def test_only_large_files_of_plain_columns_are_streamed(parquet, monkeypatch) -> None:
    assert isinstance(reading.read(options(parquet, "p")), bc.Scores)
    monkeypatch.setattr(reading, "MOST_VALUES", 500)
    assert isinstance(reading.read(options(parquet, "p")), bc.CountTable)
    assert isinstance(reading.read(options(parquet, "p", group="g")), bc.Scores)


def test_a_packed_csv_is_large_by_its_rows(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(reading, "MOST_VALUES", 100_000)
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"y,p\n" + b"1,0.5\n0,0.5\n" * 100_000, 1))
    assert path.stat().st_size < 20_000
    (found,) = reading.read(options(path, "p")).values()
    assert found.bins.count.sum() == 200_000


def test_a_csv_of_few_rows_is_read_at_once(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "a.csv").write_text("y,p\n1,0.5\n0,0.5\n")
    monkeypatch.setattr(reading, "MOST_VALUES", 4)
    assert isinstance(reading.read(options(tmp_path / "a.csv", "p")), bc.Scores)
    monkeypatch.setattr(reading, "MOST_VALUES", 3)
    assert isinstance(reading.read(options(tmp_path / "a.csv", "p")), bc.CountTable)


def test_temperatures_without_labels_are_refused_also_without_a_posterior() -> None:
    from bayescal.quantities.temperature.command import COMMAND

    scores = bc.Scores(y_true=[np.nan, np.nan], y_prob=[0.2, 0.7])
    with pytest.raises(bc.InputError, match="at least one label; got none in 2 rows"):
        COMMAND.estimates(scores, {})
