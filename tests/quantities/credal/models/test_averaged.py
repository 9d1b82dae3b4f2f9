"""The average of a curve's components: places kept, evidence, draws."""

import numpy as np
import pytest
from scipy.special import expit, logit

import bayescal as bc
from bayescal.curves.average import Average
from bayescal.quantities.credal.models.averaged import MOST, NODES, Averaged, Nodes
from bayescal.quantities.credal.priors import ROW_DESCRIPTIONS, AveragedCurve, Priors
from tests.quantities.credal.made import binary, multiclass, problem

HELD = np.array([0.1, 0.4, 0.8])


@pytest.mark.parametrize("held", [np.empty(0), HELD[:1], HELD, np.linspace(0.001, 0.999, MOST)])
def test_all_curves_have_as_many_nodes_in_order(held):
    nodes = Nodes.of(held)
    assert nodes.score.shape == (NODES,)
    line = nodes.score[: nodes.of_held(0)]
    assert (np.diff(line) >= 0).all()
    assert line[[0, -1]].tolist() == [0, 1]
    np.testing.assert_array_equal(nodes.score[nodes.of_held(0) :][: len(held)], held)


@pytest.mark.parametrize("slope", [1.0, 0.3, -2.0])
def test_a_line_in_logits_comes_back_at_any_score(slope):
    nodes = Nodes.of(HELD)
    rate = expit(0.5 + slope * logit(nodes.score.clip(1e-9, 1 - 1e-9)))[None]
    score = np.array([0.001, 0.05, 0.1, 0.25, 0.4, 0.9, 0.99])
    np.testing.assert_allclose(
        nodes.interpolated(rate, score)[0], expit(0.5 + slope * logit(score)), rtol=1e-6
    )


def test_scores_with_rows_and_those_of_0_and_1_have_rates_of_their_own():
    nodes = Nodes.of(HELD)
    rate = np.full((1, NODES), 0.5)
    rate[0, nodes.of_held(0) : nodes.of_held(3)] = [0.2, 0.3, 0.4]
    rate[0, [nodes.ends[0.0], nodes.ends[1.0]]] = [0.01, 0.99]
    score = np.array([0.0, 0.1, 0.11, 0.4, 0.8, 0.9, 1.0])
    found = nodes.interpolated(rate, score)[0]
    np.testing.assert_allclose(found, [0.01, 0.2, 0.5, 0.3, 0.4, 0.5, 0.99])


PRIOR = AveragedCurve()


def curve_of(data):
    return Averaged(problem(data, PRIOR), PRIOR).curves[0]


def few_valued(rate, rows=400, target=(0.2,), seed=1):
    """Four scores whose label rates are given."""
    rng = np.random.default_rng(seed)
    place = rng.integers(4, size=rows)
    label = rng.random(rows) < np.array(rate)[place]
    score = np.array([0.2, 0.4, 0.6, 0.8])[place]
    calibration = bc.Scores(y_true=label.astype(int), y_prob=score)
    return bc.CalibrationSplit(calibration=calibration, target=list(target))


def weights_of(data):
    curve = curve_of(data)
    found = curve.weights(curve.direct_draws(500, np.random.default_rng(1)).evidence)
    return dict(zip(ROW_DESCRIPTIONS, found, strict=True))


def test_the_data_choose_the_description():
    # The score's rank tells more than its logit where rates are far from it but rise.
    assert weights_of(binary(10_000, truth="power"))["rising"] > 0.9
    assert weights_of(binary(1000, truth="falling"))["rising"] < 1e-6
    up_and_down = few_valued([0.9, 0.1, 0.9, 0.1], rows=2000)
    assert weights_of(up_and_down)["rough"] > 0.9


def test_smooth_and_rough_are_those_of_the_other_quantities():
    curve, rng = curve_of(binary(200)), np.random.default_rng(1)
    direct = curve.direct_draws(500, rng)
    average = curve.average
    prior = AveragedCurve().average
    again = Average(average.score, average.rows, average.cells, prior, 0.5)
    expected = again.direct_draws(500, np.random.default_rng(1)).evidence
    for name in ("smooth", "rough"):
        assert direct.evidence[name] == pytest.approx(expected[name], abs=1e-12)
    draws = {name: values[:5] for name, values in direct.draws.items()}
    held = curve.nodes.of_held(np.arange(3))
    for name in ("smooth", "rough"):
        cells = curve.average.rates(name, draws, np.zeros((5, 0), bool))
        np.testing.assert_allclose(curve.rates(name, draws)[:, held], cells[:, :3], rtol=1e-7)


def test_rates_of_a_draw_are_those_of_its_description():
    curve, rng = curve_of(binary(50)), np.random.default_rng(1)
    draws = curve.prior_draws(40, rng)
    found = curve.averaged(draws, curve.prior_weights(), rng)
    assert set(found["description"].tolist()) == {0, 1, 2}
    for number, name in enumerate(ROW_DESCRIPTIONS):
        own = found["description"] == number
        np.testing.assert_array_equal(found["node_rate"][own], curve.rates(name, draws)[own])
    shares = np.bincount(found["description"]) / 40
    np.testing.assert_allclose(shares, [0.4, 0.3, 0.3], atol=1 / 40)


def test_scores_of_0_and_1_have_error_rates_of_their_own():
    score, label = np.repeat([0.0, 0.5, 1.0], 50), np.tile([0, 1], 75)
    label[:50] = 0
    label[:5] = 1
    data = bc.CalibrationSplit(calibration=bc.Scores(y_true=label, y_prob=score), target=[0.0])
    curve = curve_of(data)
    draws = curve.direct_draws(2000, np.random.default_rng(1)).draws
    zero, one = (curve.rates("smooth", draws)[:, node] for node in curve.nodes.ends.values())
    # 5 of 50 rows err at 0; half of those at 1.
    assert zero.mean() == pytest.approx(0.1, abs=0.05)
    assert one.mean() == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize("score", [0.0, 1.0])
def test_without_a_row_of_it_an_end_score_has_its_prior(score):
    curve = curve_of(binary(50))
    draws = curve.direct_draws(500, np.random.default_rng(1)).draws
    node = curve.nodes.ends[score]
    expected = np.abs(score - expit(draws["unseen"][:, int(score)]))
    np.testing.assert_array_equal(curve.rates("rising", draws)[:, node], expected)


def test_without_a_score_between_0_and_1_the_curve_is_the_prior_of_a_rising_one():
    scores = bc.Scores(y_true=[0, 0, 1, 1], y_prob=[0.0, 0.0, 1.0, 1.0])
    curve = curve_of(bc.CalibrationSplit(calibration=scores, target=[0.5]))
    assert curve.fitted == ("rising",)
    assert curve.weights({"rising": -3.0}).tolist() == [0, 0, 1]
    draws = curve.direct_draws(500, np.random.default_rng(1)).draws
    middle = curve.rates("rising", draws)[:, curve.nodes.of_held(0)]
    np.testing.assert_allclose(np.quantile(middle, [0.05, 0.95]), [0.04, 0.96], atol=0.05)


AVERAGED = AveragedCurve()


def fitted(data, draws=250, **settings):
    return bc.fit(bc.credal, data, seed=20, draws=draws, **settings)


def test_members_are_named_by_curve():
    one = Averaged(problem(binary(), AVERAGED), AVERAGED)
    several = Averaged(problem(multiclass(), AVERAGED), AVERAGED)
    assert list(one.members) == ["smooth", "rough"]
    assert list(several.members)[:3] == ["smooth 0", "rough 0", "smooth 1"]
    keys = {model.compile_key for model in several.members.values()}
    # Classes share their compiled models.
    assert len(keys) == 2


def test_evidence_is_needed():
    rates = Averaged(problem(binary(), AVERAGED), AVERAGED)
    with pytest.raises(TypeError, match="needs direct draws"):
        rates.completed({}, None, np.random.default_rng(1))


@pytest.mark.parametrize("make", [binary, multiclass])
def test_cells_are_nodes(make):
    rates = Averaged(problem(make(), AVERAGED), AVERAGED)
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
