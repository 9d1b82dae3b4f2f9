"""The default model: an average of every curve over its descriptions."""

import numpy as np
import pytest

import bayescal as bc
from bayescal.quantities.credal.models.averaged import Averaged
from bayescal.quantities.credal.priors import AveragedCurve, Priors
from tests.quantities.credal.made import binary, multiclass, problem

PRIOR = AveragedCurve()


def fitted(data, draws=250, **settings):
    return bc.fit(bc.credal, data, seed=20, draws=draws, **settings)


def test_members_are_named_by_curve():
    one = Averaged(problem(binary(), PRIOR), PRIOR)
    several = Averaged(problem(multiclass(), PRIOR), PRIOR)
    assert list(one.members) == ["smooth", "rough"]
    assert list(several.members)[:3] == ["smooth 0", "rough 0", "smooth 1"]
    keys = {model.compile_key for model in several.members.values()}
    # Classes share their compiled models.
    assert len(keys) == 2


def test_evidence_is_needed():
    rates = Averaged(problem(binary(), PRIOR), PRIOR)
    with pytest.raises(TypeError, match="needs direct draws"):
        rates.completed({}, None, np.random.default_rng(1))


@pytest.mark.parametrize("make", [binary, multiclass])
def test_cells_are_nodes(make):
    rates = Averaged(problem(make(), PRIOR), PRIOR)
    draws = rates.prior_draws(30, np.random.default_rng(1))
    at = rates.with_pseudo_observations(draws, rates.problem.place.T).prob
    held = rates.problem.count.T > 0
    cells = np.swapaxes(rates.cell_prob(draws), 1, 2)
    np.testing.assert_allclose(at[:, held], cells[:, held], rtol=1e-9)


def test_bounds_cover_leaves_that_do_not_rise():
    # Four leaves of 500 rows each; their rates fall and rise.
    rate = np.array([0.05, 0.5, 0.2, 0.9])
    score = np.repeat([0.1, 0.3, 0.6, 0.9], 500)
    label = (np.tile(np.arange(500), 4) < 500 * np.repeat(rate, 500)).astype(int)
    calibration = bc.Scores(y_true=label, y_prob=score)
    data = bc.CalibrationSplit(calibration=calibration, target=[0.1, 0.3, 0.6, 0.9])
    found = bc.credal.bounds_for(fitted(data, method="direct"))
    assert ((found.lower < rate) & (rate < found.upper)).all()
    # Within a third of the width of Clopper and Pearson's intervals, .03 to .08.
    assert ((found.upper - found.lower) < [0.05, 0.1, 0.08, 0.06]).all()
    rising = Priors(bc.credal.MonotoneCurve())
    other = bc.credal.bounds_for(fitted(data, priors=rising, method="direct"))
    assert not ((other.lower < rate) & (rate < other.upper)).all()


@pytest.mark.mcmc
def test_nuts_agrees_with_importance_sampling():
    data = multiclass(150)
    nuts, direct = fitted(data, draws=500), fitted(data, draws=500, method="direct")
    assert nuts.attrs["status"] == direct.attrs["status"] == "ok"
    assert nuts.attrs["sampler"] == "nutpie NUTS"
    mean, other = (tree["posterior"]["prob"].mean(("chain", "draw")) for tree in (nuts, direct))
    spread = direct["posterior"]["prob"].std(("chain", "draw"))
    # Some 1,000 effective draws on either side, and weights off by a few hundredths.
    assert (np.abs(mean - other) / spread).max() < 0.3
    weights = nuts["model_average"]["weight"]
    np.testing.assert_allclose(weights.sum("description"), 1)
    np.testing.assert_allclose(weights, direct["model_average"]["weight"], atol=0.1)


def test_scores_of_0_and_1_may_never_err():
    score, label = np.repeat([0.0, 0.5, 1.0], 100), np.tile([0, 1], 150)
    label[:100], label[200:] = 0, 1
    label[299] = 0
    calibration = bc.Scores(y_true=label, y_prob=score)
    data = bc.CalibrationSplit(calibration=calibration, target=[0.0, 0.5, 1.0])
    result = fitted(data, method="direct")
    found = bc.credal.bounds_for(result)
    # No error in 100 rows; Clopper and Pearson's upper bound is 1 - .05^(1 / 100) = .03.
    assert found.lower[0] == 0
    assert 0.005 < found.upper[0] < 0.05
    # One row errs at 1, so that it is known to err.
    assert 0.9 < found.lower[2] < found.upper[2] < 1
    never = result["posterior"]["never_errs"].mean(("chain", "draw")).to_numpy()
    assert never[0] > 0.5
    assert never[1] < 0.01
    rates = result["posterior_predictive"]["events"]
    assert (rates.isel(cell=0) == 0).mean() > 0.5
