"""One fit's case: what distinguishes it from others, and what its reader must know."""

import numpy as np
import pytest

import bayescal as bc
from bayescal.core.quantity import Case, members
from bayescal.quantities.ece.data import data_warnings
from bayescal.quantities.ece.posterior import case_of
from bayescal.quantities.ece.priors import HierarchicalBins, IndependentBins, Priors, SmoothCurve
from tests.quantities.ece.made import of_counts, problem

PRIORS = {
    "average": Priors(),
    "curve": Priors(SmoothCurve()),
    "independent": Priors(IndependentBins()),
    "hierarchical": Priors(HierarchicalBins()),
}


def case(name="curve", **options):
    return case_of(problem(fine=name in ("average", "curve"), **options), PRIORS[name])


@pytest.mark.parametrize("name", PRIORS)
def test_a_case_is_that_of_the_contract(name):
    made = case(name)
    for member in (member for member in vars(Case) if not member.startswith("_")):
        assert hasattr(made, member), member
    assert made.coords == {"classifier": "over"}
    assert set(made.axes) == ({"description", "boundary"} if name == "average" else set())
    assert made.warnings == []
    for member, model in members(made.model).items():
        built = made.build_model(member) if member else made.build_model()
        assert set(model.variables) <= {variable.name for variable in built.free_RVs}
        for input_, values in model.inputs().items():
            np.testing.assert_allclose(built.named_vars[input_].get_value(), values)


@pytest.mark.parametrize("name", PRIORS)
def test_equal_compile_keys_have_inputs_of_equal_shapes(name):
    cases = case(name, n=60, n_bins=3), case(name, n=5000, n_bins=12, seed=2)
    for first, second in zip(*(members(made.model).values() for made in cases), strict=True):
        if first.compile_key == second.compile_key:
            shapes = [
                {key: value.shape for key, value in model.inputs().items()}
                for model in (first, second)
            ]
            assert shapes[0] == shapes[1]
        else:
            assert (name, first.compile_key[0]) == ("average", "rough")


def test_priors_have_compile_keys_of_their_own():
    assert len({case(name).model.compile_key for name in PRIORS}) == len(PRIORS)


def test_the_fingerprint_is_that_of_counts_and_bins():
    same = case(), case()
    assert same[0].fingerprint() == same[1].fingerprint()
    others = [case(), case(seed=2), case(n=301), case(n_bins=6), case(name="independent")]
    assert len({made.fingerprint() for made in others}) == 5


def test_one_label_more_is_another_fingerprint():
    first = case_of(of_counts([5, 6], [1, 2], [0.2, 0.7]), Priors())
    second = case_of(of_counts([5, 6], [1, 3], [0.2, 0.7]), Priors())
    assert first.fingerprint() != second.fingerprint()


def test_a_row_in_another_part_of_its_cell_is_another_fingerprint():
    """Two rows move towards each other by one step, so that their cell and its mean score stay."""
    score, label = np.repeat(np.arange(1, 1024) / 1024, 4), np.tile([0, 0, 0, 1], 1023)
    made = []
    for step in (0, 1 / 1024):
        moved = score.copy()
        moved[4 * 421], moved[4 * 429] = 422 / 1024 + step, 430 / 1024 - step
        made += bc.ece.plan(bc.Scores(y_true=label, y_prob=moved), Priors()).cases
    first, second = made
    for name in ("edges", "count", "positives", "mean_score"):
        one, other = (getattr(each.problem.cells, name) for each in made)
        np.testing.assert_array_equal(one, other)
    assert (first.problem.parts.mean_score != second.problem.parts.mean_score).any()
    assert first.fingerprint() != second.fingerprint()


def test_bins_chosen_otherwise_have_other_bounds_and_another_fingerprint():
    scores = bc.datasets.ece.truth("over").scores(200, seed=1)
    quantile = bc.bin_scores(scores, n_bins=5, strategy="quantile")
    given = bc.bin_scores(scores, strategy=quantile.edges)
    found = [bc.ece.plan(bins, Priors()).cases[0].fingerprint() for bins in (quantile, given)]
    assert found[0] != found[1]


@pytest.mark.parametrize(("positives", "word"), [([5, 6], "positive"), ([0, 0], "negative")])
def test_one_class_only_gives_a_warning(positives, word):
    (sentence,) = data_warnings(of_counts([5, 6], positives, [0.2, 0.7]))
    assert sentence.startswith(f"all 11 labels are {word}.")
    assert "check the labels" in sentence


def test_earlier_warnings_come_first():
    made = case_of(of_counts([5, 6], [0, 0], [0.2, 0.7]), Priors(), ["something else."])
    assert made.warnings[0] == "something else."
    assert len(made.warnings) == 2
