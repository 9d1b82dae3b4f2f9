"""From scores to binary problems."""

import numpy as np
import pytest

import bayescal as bc
from bayescal.core.binning import Binning
from bayescal.core.errors import InputError
from bayescal.quantities.ece.data import CELLS, problems
from bayescal.quantities.ece.priors import HierarchicalBins, IndependentBins, Priors
from tests.quantities.ece.made import problem

FINE, COARSE = Priors(), Priors(IndependentBins())
RNG = np.random.default_rng(6)
SCORE = RNG.random(500).round(3)
LABEL = (RNG.random(500) < SCORE).astype(int)
SCORES = bc.Scores(y_true=LABEL, y_prob=SCORE, classifier="one")


def cut(data, priors=FINE, n_bins=15, strategy="quantile", closed="right", multiclass="top-label"):
    return problems(data, priors, Binning(n_bins, strategy, closed), multiclass)


@pytest.mark.parametrize("closed", ["right", "left"])
@pytest.mark.parametrize("strategy", ["uniform", "quantile", [0, 0.1, 0.5, 0.50001, 1]])
@pytest.mark.parametrize("priors", [FINE, COARSE])
def test_bins_are_those_of_bin_scores(strategy, closed, priors):
    (made,) = cut(SCORES, priors, 7, strategy, closed)
    expected = bc.bin_scores(SCORES, n_bins=7, strategy=strategy, closed=closed)
    for name in ("edges", "count", "positives"):
        np.testing.assert_array_equal(getattr(made.bins, name), getattr(expected, name))
    np.testing.assert_allclose(made.bins.mean_score, expected.mean_score, rtol=1e-12)
    assert made.bins.strategy == expected.strategy
    assert made.bins.closed == closed


def test_a_curve_has_fine_cells_and_bins_have_themselves():
    (fine,), (coarse,) = cut(SCORES), cut(SCORES, COARSE)
    assert coarse.cells is coarse.bins
    assert CELLS <= fine.cells.n_bins <= CELLS + 15
    assert cut(SCORES, Priors(HierarchicalBins()))[0].cells.n_bins == 15


def test_cells_are_as_many_as_the_rows_at_most():
    made = problem(n=12, n_bins=3)
    assert 12 <= made.cells.n_bins <= 14
    assert made.cells.count.max() <= 1


def test_cells_hold_equal_numbers_of_rows():
    made = problem(n=10_000, n_bins=10)
    # Ten times ten quantile cells: every bin edge is the edge of a cell, so that none is cut.
    np.testing.assert_array_equal(made.cells.count, 100)


def test_counts_are_taken_as_they_are():
    bins = bc.bin_scores(SCORES, n_bins=4)
    (made,) = cut(bins)
    assert made.cells is bins
    assert made.bins is bins


def test_one_problem_a_classifier():
    stacked = bc.Scores.stack({"a": SCORE, "b": SCORE**2}, y_true=LABEL)
    made = cut(stacked)
    assert [part.coords for part in made] == [{"classifier": "a"}, {"classifier": "b"}]
    for part, name in zip(made, "ab", strict=True):
        (alone,) = cut(stacked.select(name))
        np.testing.assert_array_equal(part.cells.positives, alone.cells.positives)


@pytest.mark.parametrize(("multiclass", "parts"), [("top-label", 1), ("class-wise", 3)])
def test_one_problem_a_class(multiclass, parts):
    probability = RNG.dirichlet([1, 2, 3], 60)
    scores = bc.Scores(y_true=RNG.integers(0, 3, 60), y_prob=probability)
    made = cut(scores, multiclass=multiclass)
    assert len(made) == parts
    if multiclass == "class-wise":
        assert [part.coords["class"] for part in made] == ["0", "1", "2"]
        assert sum(part.bins.positives.sum() for part in made) == 60
    else:
        right = probability.argmax(axis=1) == scores.y_true
        assert made[0].bins.positives.sum() == right.sum()


def test_no_rows_at_all_are_refused():
    with pytest.raises(InputError, match="the counts"):
        cut(bc.BinCounts([0, 0.5, 1], [0, 0], [0, 0], [0.2, 0.7]))
