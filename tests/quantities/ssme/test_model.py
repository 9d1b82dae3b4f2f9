"""The model as PyMC users get it."""

import pytest

import bayescal as bc
from tests.quantities.ssme.made import binary, multiclass


def names(variables):
    return {v.name for v in variables}


def test_names_and_dims():
    scores, _ = binary(n=60, group=["x", "y", "z"] * 20)
    model = bc.ssme.build_model(scores)
    assert names(model.observed_RVs) == {"label"}
    shown = {"intercept", "log_slope", "slope", "weight", "bend", "own_bend"}
    shown |= {"group_intercept", "group_slope"}
    assert names(model.deterministics) == shown
    assert model.coords["classifier"] == ("c0", "c1", "c2")
    assert model.coords["class"] == ("0", "1")
    assert model.coords["group"] == ("x", "y", "z")
    assert model.named_vars_to_dims["group_intercept"] == ("group", "class")
    assert model.named_vars_to_dims["weight"] == ("classifier",)


def test_forced_labels_add_their_potential():
    scores, _ = multiclass(n=60)
    assert names(bc.ssme.build_model(scores).potentials) == set()
    model = bc.ssme.build_model(scores, labeling="one-per-class")
    assert names(model.potentials) == {"one_per_class"}


@pytest.mark.parametrize("label", [bc.ssme.GaussianMixture(), bc.ssme.StudentTMixture()])
def test_mixtures_have_shares_and_components(label):
    scores, _ = binary(n=60)
    model = bc.ssme.build_model(scores, bc.ssme.Priors(label=label))
    assert names(model.free_RVs) == {"class_share", "location", "log_width"}


def test_options_are_checked():
    scores, _ = binary(n=60)
    with pytest.raises(bc.InputError, match="labeling must be"):
        bc.ssme.build_model(scores, labeling="all")
    with pytest.raises(bc.InputError, match=r"must be a bayescal\.Scores"):
        bc.ssme.build_model([0.1, 0.2])
