"""The model as PyMC users get it."""

import pytest

import bayescal as bc
from tests.quantities.credal.made import binary, multiclass


@pytest.mark.parametrize(
    ("rate", "free"),
    [
        (bc.credal.AveragedCurve(), ["z", "roughness"]),
        (bc.credal.AveragedCurve(rough=0), ["coef"]),
        (bc.credal.MonotoneCurve(), ["unit"]),
        (bc.credal.IncrementIsotonic(), ["mass"]),
        (bc.credal.ImpreciseDirichlet(), ["rate"]),
    ],
)
def test_names(rate, free):
    model = bc.credal.build_model(binary(), bc.credal.Priors(rate))
    assert {v.name for v in model.free_RVs} == set(free)
    assert [v.name for v in model.observed_RVs] == ["events"]


def test_curves_are_named_after_their_labels():
    priors = bc.credal.Priors(bc.credal.ImpreciseDirichlet())
    assert bc.credal.build_model(binary(), priors).coords["curve"] == ("1",)
    assert bc.credal.build_model(multiclass(), priors).coords["curve"] == ("0", "1", "2")


def test_several_classifiers_are_refused():
    both = bc.Scores.stack({"a": [0.1, 0.4], "b": [0.2, 0.3]}, y_true=[0, 1])
    with pytest.raises(bc.InputError, match="takes one classifier; got 2"):
        bc.credal.build_model(bc.CalibrationSplit(calibration=both, target=both))
