"""Positive and unlabelled scores: what is taken, what is refused, and in which words."""

import numpy as np
import pandas as pd
import pytest

import bayescal as bc

GOOD = [0.2, 0.8]


def test_columns_of_any_kind_become_read_only_arrays() -> None:
    pu = bc.PUScores(positive=pd.Series([0.7, 0.9]), unlabeled=np.array([0.1, 0.5], np.float32))
    assert (pu.n_positive, pu.n_unlabeled, pu.classifiers) == (2, 2, ("classifier",))
    assert pu.unlabeled[0].dtype == np.float32
    with pytest.raises(ValueError, match="read-only"):
        pu.positive[0][0] = 0


def test_a_table_of_two_columns_gives_the_positive_one() -> None:
    pu = bc.PUScores(positive=[[0.3, 0.7]], unlabeled=[[0.75, 0.25]])
    assert pu.positive[0].tolist() == [0.7]
    assert pu.unlabeled[0].tolist() == [0.25]


def test_stacked_classifiers_are_found_by_name() -> None:
    pu = bc.PUScores.stack({"a": ([0.7], [0.1, 0.4]), "b": ([0.8], [0.2, 0.3])})
    assert pu.select("b").unlabeled[0].tolist() == [0.2, 0.3]
    assert repr(pu) == "<PUScores: classifiers 'a', 'b'; n_positive 1, n_unlabeled 2>"
    with pytest.raises(bc.InputError, match="'c'"):
        pu.select("c")


@pytest.mark.parametrize(
    ("positive", "unlabeled", "words"),
    [
        ([], GOOD, "positive must have at least one row"),
        (GOOD, [], "unlabeled must have at least one row"),
        (GOOD, [0.1, np.nan], "unlabeled must.*NaN.*row 1"),
        ([0.2, 1.03], GOOD, r"positive must lie in \[0, 1\]; got 1.03 at row 1"),
        (GOOD, [0.1, -2.5], r"unlabeled must lie in \[0, 1\]; got -2.5 at row 1"),
        (GOOD, [0.1, np.inf], "unlabeled must be finite"),
        ([[0.2, 0.3, 0.5]], GOOD, "positive must hold one score a row"),
        (["high"], GOOD, "positive"),
    ],
)
def test_bad_scores_are_refused(positive, unlabeled, words) -> None:
    with pytest.raises(bc.InputError, match=words):
        bc.PUScores(positive=positive, unlabeled=unlabeled)


def test_classifiers_must_score_the_same_rows() -> None:
    with pytest.raises(bc.InputError, match="unlabeled of 'b'"):
        bc.PUScores.stack({"a": ([0.7], [0.1, 0.4]), "b": ([0.8], [0.2])})
    with pytest.raises(bc.InputError, match="at least one classifier"):
        bc.PUScores.stack({})
