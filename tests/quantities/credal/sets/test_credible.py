"""Credal sets at a level, read from a result."""

import numpy as np
import pytest

import bayescal as bc
from bayescal.core.probability_intervals import decide
from bayescal.quantities.credal.sets.credible import credible_sets
from tests.quantities.credal.made import binary, multiclass

DRAWS = ("chain", "draw")
PRIORS = bc.credal.Priors(bc.credal.ImpreciseDirichlet())


def fit(data):
    return bc.fit(bc.credal, data, priors=PRIORS, seed=20, method="direct", draws=400)


def test_of_two_classes_bounds_are_quantiles_and_their_complements():
    result = fit(binary())
    found = credible_sets(result, 0.8)
    quantile = {name: result["posterior"][name].quantile for name in ("prob_lower", "prob_upper")}
    lower, upper = quantile["prob_lower"](0.1, DRAWS), quantile["prob_upper"](0.9, DRAWS)
    np.testing.assert_allclose(found.lower, np.stack([1 - upper, lower], axis=-1))
    np.testing.assert_allclose(found.upper, np.stack([1 - lower, upper], axis=-1))
    for part, expected in zip(found[2:], decide(found.lower, found.upper), strict=True):
        np.testing.assert_array_equal(part, expected)
    # What is kept for the costs of errors is what the set calls admissible.
    kept = bc.credal.e_admissible(bc.credal.zero_one(2), found.lower, found.upper)
    np.testing.assert_array_equal(kept, found.admissible)


def test_of_several_classes_bounds_are_quantiles_and_decide():
    result = fit(multiclass())
    found = credible_sets(result, 0.8)
    for bound, name, level in ((found.lower, "prob_lower", 0.1), (found.upper, "prob_upper", 0.9)):
        told = result["posterior"][name].transpose(*DRAWS, ...)
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
        bc.ece, bc.Scores(y_true=[0, 1] * 20, y_prob=np.linspace(0, 1, 40)), seed=1, method="direct"
    )
    with pytest.raises(bc.InputError, match="got one of ece"):
        credible_sets(other)
