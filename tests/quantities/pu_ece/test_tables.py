"""Positive and unlabelled rows from files: what is understood and what is refused."""

import numpy as np
import pandas as pd
import pytest

import bayescal as bc
from bayescal.quantities.pu_ece.data import read_pu_scores


def written(folder, text):
    path = folder / "pu.csv"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    "selected", ["1,0,0", "true,false,False", "yes,no,", "P,u,unlabelled", "1.0,0.0,0.0"]
)
def test_ways_to_say_positive(tmp_path, selected) -> None:
    one, two, three = selected.split(",")
    path = written(tmp_path, f"s,vit\n{one},0.75\n{two},0.5\n{three},0.25\n")
    pu = read_pu_scores(path, positive_column="s")
    assert pu.positive[0].tolist() == [0.75]
    assert pu.unlabeled[0].tolist() == [0.5, 0.25]


def test_several_classifiers_from_parquet(tmp_path) -> None:
    path = tmp_path / "pu.parquet"
    pd.DataFrame({"s": [True, False], "a": [0.9, 0.1], "b": [0.8, 0.3]}).to_parquet(path)
    pu = read_pu_scores(path, positive_column="s", score=["a", "b"])
    assert pu.classifiers == ("a", "b")
    assert pu.unlabeled[1].tolist() == [0.3]


@pytest.mark.parametrize(
    ("text", "given", "words"),
    [
        ("s,vit\n1,0.5\n2,0.5\n", {}, "column 's' of pu.csv must hold 1.*got.*2.*at row 1"),
        ("s,vit\n0,0.5\n0,0.4\n", {}, "positive"),
        ("s,vit\n1,0.5\n1,0.4\n", {}, "unlabeled"),
        ("s,vit,gbm\n1,0.5,0.5\n0,0.4,0.4\n", {}, "must be named where there are several"),
        ("s,vit\n1,0.5\n0,1.4\n", {}, "unlabeled of 'vit' must lie in"),
        ("s,vit\n1,0.5\n0,0.4\n", {"score": "gbm"}, "gbm"),
        ("s,vit\n0.2,1\n0.7,0\n0.4,0\n", {}, "it holds scores, and column 'vit' holds 0 and 1"),
        ("s\n1\n0\n", {}, "no other column"),
    ],
)
def test_bad_files_are_refused(tmp_path, text, given, words) -> None:
    with pytest.raises(bc.InputError, match=words):
        read_pu_scores(written(tmp_path, text), positive_column="s", **given)


def test_an_unreadable_file_and_a_wrong_column(tmp_path) -> None:
    with pytest.raises(bc.InputError, match=r"none\.csv"):
        read_pu_scores(tmp_path / "none.csv", positive_column="s")
    with pytest.raises(bc.InputError, match="selected"):
        read_pu_scores(written(tmp_path, "s,vit\n1,0.5\n0,0.2\n"), positive_column="selected")


def test_rows_keep_their_order(tmp_path) -> None:
    score = np.round(np.random.default_rng(1).random(50), 6)
    text = "s,vit\n" + "".join(f"{i % 3 == 0:d},{v}\n" for i, v in enumerate(score))
    pu = read_pu_scores(written(tmp_path, text), positive_column="s")
    np.testing.assert_array_equal(pu.positive[0], score[::3])
