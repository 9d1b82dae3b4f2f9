"""Credal sets at a level, read from a result."""

import numpy as np
import pytest

import bayescal as bc
from bayescal.quantities.credal.credible import credible_sets
from bayescal.quantities.credal.joint import joint, joint_binary
from tests.quantities.credal.made import binary, multiclass

PRIORS = bc.credal.Priors(bc.credal.ImpreciseDirichlet())


def fit(data):
    return bc.fit(bc.credal, data, priors=PRIORS, seed=20, quick=True, draws=400)


@pytest.mark.parametrize(("data", "decide"), [(binary(), joint_binary), (multiclass(), joint)])
def test_bounds_are_quantiles_and_decide(data, decide):
    result = fit(data)
    found = credible_sets(result, 0.8)
    draws = ("chain", "draw")
    for bound, name, level in ((found.lower, "prob_lower", 0.1), (found.upper, "prob_upper", 0.9)):
        told = result["posterior"][name].transpose(*draws, ...)
        np.testing.assert_allclose(bound, np.quantile(told, level, axis=(0, 1)))
    for part, expected in zip(found[2:], decide(found.lower, found.upper), strict=True):
        np.testing.assert_array_equal(part, expected)


def test_higher_levels_have_wider_sets():
    result = fit(binary())
    narrow, wide = credible_sets(result, 0.5), credible_sets(result, 0.95)
    assert (wide.lower <= narrow.lower).all()
    assert (wide.upper >= narrow.upper).all()


def test_levels_and_results_are_checked():
    with pytest.raises(bc.InputError, match="prob"):
        credible_sets(fit(binary()), 1.0)
    other = bc.fit(
        bc.ece, bc.Scores(y_true=[0, 1] * 20, y_prob=np.linspace(0, 1, 40)), seed=1, quick=True
    )
    with pytest.raises(bc.InputError, match="got one of ece"):
        credible_sets(other)
