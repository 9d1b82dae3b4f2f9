"""Positive and unlabelled scores: what is taken, what is refused, and in which words."""

import numpy as np
import pandas as pd
import pytest

import bayescal as bc
from bayescal.quantities.pu_ece.data import problems
from bayescal.quantities.pu_ece.priors import Priors

GOOD = [0.2, 0.8]


def test_columns_of_any_kind_become_read_only_arrays() -> None:
    pu = bc.PUScores(positive=pd.Series([0.7, 0.9]), unlabeled=np.array([0.1, 0.5], np.float32))
    assert (pu.n_positive, pu.n_unlabeled, pu.classifiers) == (2, 2, ("classifier",))
    assert pu.unlabeled[0].dtype == np.float32
    with pytest.raises(ValueError, match="read-only"):
        pu.positive[0][0] = 0


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
        (GOOD, [0.1, -2.5], r"unlabeled must lie in \[0, 1\]; got -2.5 at row 1"),
        ([[0.2, 0.3, 0.5]], GOOD, "positive must hold one score a row"),
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


@pytest.mark.parametrize("closed", ["right", "left"])
def test_distinct_scores_of_both_samples_are_a_cell_each(closed) -> None:
    unlabeled, positive = np.array([0.0, 0.1, 0.1, 0.3, 0.6] * 3), np.array([0.3, 0.7, 0.7, 1.0])
    pu = bc.PUScores(positive=positive, unlabeled=unlabeled)
    (found,) = problems(pu, Priors(class_prior=0.3), bc.Binning(n_bins=3, closed=closed))
    held = found.total > 0
    assert found.cells.mean_score[held].tolist() == [0.0, 0.1, 0.3, 0.6, 0.7, 1.0]
    assert found.cells.count[held].tolist() == [3, 6, 3, 3, 0, 0]
    assert found.positive[held].tolist() == [0, 0, 1, 0, 2, 1]
    assert found.unlabeled.bins.n == len(unlabeled)


@pytest.mark.parametrize("closed", ["right", "left"])
def test_ends_of_either_sample_stand_alone_among_many_scores(closed) -> None:
    rng = np.random.default_rng(1)
    unlabeled, positive = np.append(rng.random(500), 0.0), np.append(rng.random(50), [1.0, 1.0])
    pu = bc.PUScores(positive=positive, unlabeled=unlabeled)
    (found,) = problems(pu, Priors(class_prior=0.3), bc.Binning(closed=closed))
    held = found.total > 0
    for end, positives, total in ((0, 0, 1), (-1, 2, 2)):
        assert found.cells.mean_score[held][end] == (0.0 if end == 0 else 1.0)
        assert (found.positive[held][end], found.total[held][end]) == (positives, total)
