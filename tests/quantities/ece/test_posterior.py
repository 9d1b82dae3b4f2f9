"""One fit's case: what distinguishes it from others, and what its reader must know."""

import numpy as np
import pytest

import bayescal as bc
from bayescal.core.quantity import Case
from bayescal.quantities.ece.data import data_warnings
from bayescal.quantities.ece.posterior import EceCase
from bayescal.quantities.ece.priors import HierarchicalBins, IndependentBins, Priors
from tests.quantities.ece.made import of_counts, problem

PRIORS = {
    "curve": Priors(),
    "independent": Priors(IndependentBins()),
    "hierarchical": Priors(HierarchicalBins()),
}


def case(name="curve", **options):
    return EceCase.of(problem(fine=name == "curve", **options), PRIORS[name])


@pytest.mark.parametrize("name", PRIORS)
def test_a_case_is_that_of_the_contract(name):
    made = case(name)
    for member in (member for member in vars(Case) if not member.startswith("_")):
        assert hasattr(made, member), member
    assert made.coords == {"classifier": "over"}
    assert made.axes == {}
    assert made.warnings == []
    free = {variable.name for variable in made.build_model().free_RVs}
    assert set(made.model.variables) <= free
    data = made.build_model().named_vars
    for input_, values in made.model.inputs().items():
        np.testing.assert_allclose(data[input_].get_value(), values)


@pytest.mark.parametrize("name", PRIORS)
def test_equal_compile_keys_have_inputs_of_equal_shapes(name):
    first, second = case(name, n=50, n_bins=3), case(name, n=5000, n_bins=12, seed=2)
    assert first.model.compile_key == second.model.compile_key
    shapes = [
        {key: value.shape for key, value in made.model.inputs().items()} for made in (first, second)
    ]
    assert shapes[0] == shapes[1]


def test_priors_have_compile_keys_of_their_own():
    assert len({case(name).model.compile_key for name in PRIORS}) == 3


def test_the_fingerprint_is_that_of_counts_and_bins():
    same = case(), case()
    assert same[0].fingerprint() == same[1].fingerprint()
    others = [case(), case(seed=2), case(n=301), case(n_bins=6), case(name="independent")]
    assert len({made.fingerprint() for made in others}) == 5


def test_one_label_more_is_another_fingerprint():
    first = EceCase.of(of_counts([5, 6], [1, 2], [0.2, 0.7]), Priors())
    second = EceCase.of(of_counts([5, 6], [1, 3], [0.2, 0.7]), Priors())
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


def test_two_classes_need_no_warning():
    assert data_warnings(of_counts([5, 6], [0, 1], [0.2, 0.7])) == []


def test_earlier_warnings_come_first():
    made = EceCase.of(of_counts([5, 6], [0, 0], [0.2, 0.7]), Priors(), ["something else."])
    assert made.warnings[0] == "something else."
    assert len(made.warnings) == 2
