"""The average of a curve's components: places kept, evidence, draws."""

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import beta

import bayescal as bc
from bayescal.curves.average import POWER, Average, in_chains
from bayescal.curves.posterior import CurvePosterior
from bayescal.quantities.credal.models.averaged import MOST, NODES, Averaged, Nodes
from bayescal.quantities.credal.priors import ROW_DESCRIPTIONS, AveragedCurve, Priors
from tests.quantities.credal.made import binary, multiclass, problem

HELD = np.array([0.1, 0.4, 0.8])


@pytest.mark.parametrize("held", [np.empty(0), HELD[:1], HELD, np.linspace(0.001, 0.999, MOST)])
def test_all_curves_have_as_many_nodes_in_order(held):
    nodes = Nodes.of(held)
    assert nodes.score.shape == (NODES,)
    line = nodes.score[: nodes.of_nonempty(0)]
    assert (np.diff(line) >= 0).all()
    assert line[[0, -1]].tolist() == [0, 1]
    np.testing.assert_array_equal(nodes.score[nodes.of_nonempty(0) :][: len(held)], held)


@pytest.mark.parametrize("slope", [1.0, 0.3, -2.0])
def test_a_line_in_logits_comes_back_at_any_score(slope):
    nodes = Nodes.of(HELD)
    rate = expit(0.5 + slope * logit(nodes.score.clip(1e-9, 1 - 1e-9)))[None]
    score = np.array([0.001, 0.05, 0.1, 0.25, 0.4, 0.9, 0.99])
    np.testing.assert_allclose(
        nodes.interpolated(rate, score)[0], expit(0.5 + slope * logit(score)), rtol=1e-6
    )


def test_between_nodes_logits_of_rates_are_linear_in_that_of_the_score():
    rng = np.random.default_rng(5)
    nodes = Nodes.of(np.sort(rng.random(7)))
    rate, score = rng.random((20, NODES)), rng.random(50)
    line, place = slice(1, NODES - MOST - 1), logit(score)
    last = np.unique(nodes.score[line]).size
    found = nodes.interpolated(rate, score)
    for drawn, one in zip(rate, found, strict=True):
        known = logit(nodes.score[line][:last]), logit(drawn[line][:last])
        inside = (place > known[0][0]) & (place < known[0][-1])
        np.testing.assert_allclose(one[inside], expit(np.interp(place, *known))[inside], atol=1e-12)


def test_between_scores_a_rate_of_0_or_1_holds_to_halfway():
    """Whichever of both sides it is on: classes that change their names change nothing else."""
    nodes = Nodes.of(np.array([0.2, 0.4, 0.8]))
    rate = np.select([nodes.score < 0.3, nodes.score < 0.6], [1.0, 0.0], 0.25)[None]
    score = np.array([0.1, 0.29, 0.31, 0.5, 0.59, 0.61, 0.9])
    expected = np.array([1.0, 1.0, 0.0, 0.0, 0.0, 0.25, 0.25])
    np.testing.assert_allclose(nodes.interpolated(rate, score)[0], expected)
    np.testing.assert_allclose(nodes.interpolated(1 - rate, score)[0], 1 - expected)


def test_scores_with_rows_and_those_of_0_and_1_have_rates_of_their_own():
    nodes = Nodes.of(HELD)
    rate = np.full((1, NODES), 0.5)
    rate[0, nodes.of_nonempty(0) : nodes.of_nonempty(3)] = [0.2, 0.3, 0.4]
    rate[0, [nodes.boundary[0.0], nodes.boundary[1.0]]] = [0.01, 0.99]
    score = np.array([0.0, 0.1, 0.11, 0.4, 0.8, 0.9, 1.0])
    found = nodes.interpolated(rate, score)[0]
    np.testing.assert_allclose(found, [0.01, 0.2, 0.5, 0.3, 0.4, 0.5, 0.99])


PRIOR = AveragedCurve()


def curve_of(data):
    return Averaged(problem(data, PRIOR), PRIOR).curves[0]


def kept_of(curve, draws=500, seed=1):
    """What a result keeps of a curve."""
    rng = np.random.default_rng(seed)
    direct = curve.average.direct_draws(draws, rng)
    return curve.posterior(in_chains(direct.draws, (1, draws)), direct.evidence, rng)


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
    found = curve.weights(curve.average.direct_draws(500, np.random.default_rng(1)).evidence)
    return dict(zip(ROW_DESCRIPTIONS, found, strict=True))


def test_the_data_choose_the_component():
    # The score's rank tells more than its logit where rates are far from it but rise: twenty times
    # as much, which has the power.
    assert weights_of(binary(10_000, truth="power"))["rising"] > 0.55
    assert weights_of(binary(1000, truth="falling"))["rising"] < 0.01
    up_and_down = few_valued([0.9, 0.1, 0.9, 0.1], rows=2000)
    assert weights_of(up_and_down)["rough"] > 0.9


def test_weights_are_prior_weights_times_a_power_of_the_evidence():
    evidence = {"smooth": -3.0, "rough": -2.0, "rising": -2.5, "steps": -4.0}
    prior = np.array([0.4, 0.3, 0.3, 0.3])
    expected = prior * np.exp(POWER * np.array([*evidence.values()]))
    np.testing.assert_allclose(
        curve_of(binary()).weights(evidence), expected / expected.sum(), rtol=1e-12
    )


def test_smooth_and_rough_are_those_of_the_other_quantities():
    average = curve_of(binary(200)).average
    found = average.direct_draws(500, np.random.default_rng(1)).evidence
    again = Average(average.score, average.rows, average.cells, PRIOR.average, 0.5)
    expected = again.direct_draws(500, np.random.default_rng(1)).evidence
    for name in ("smooth", "rough"):
        assert found[name] == pytest.approx(expected[name], abs=1e-12)


def test_draws_before_the_data_have_their_prior_weights_and_no_curve_is_calibrated():
    curve = curve_of(binary(50))
    found = curve.kept(CurvePosterior.prior(curve.average, 40, np.random.default_rng(1)))
    shares = np.bincount(found["description"].ravel()) / 40
    np.testing.assert_allclose(shares, np.array([4, 3, 3, 3]) / 13, atol=1.5 / 40)
    inside = (curve.nodes.score > 0) & (curve.nodes.score < 1)
    assert (found["node_rate"][..., inside] != curve.nodes.score[inside]).any(axis=-1).all()


def test_the_rising_component_is_the_rising_curve():
    curve = curve_of(binary(60))
    rising, score = curve.average.components["rising"], np.linspace(0.05, 0.95, 9)
    draws = rising.prior_draws(20, np.random.default_rng(1))
    found = curve.average.curve("rising", {**draws, "boundary": np.zeros((20, 1))}, score)
    own = {name: each[:, None] for name, each in draws.items()}
    expected = rising.model.with_pseudo_observations(own, rising.ranks(score)[:, None]).prob
    np.testing.assert_allclose(found, expected[..., 0], rtol=1e-9)
    at_cells = rising.deviation(draws) + rising.offset
    np.testing.assert_allclose(expit(at_cells), rising.model.cell_prob(own)[:, 0], rtol=1e-12)
    many = rising.prior_draws(50_000, np.random.default_rng(2))
    assert rising.log_prior_excess(many).mean() == pytest.approx(0, abs=0.3)


def test_scores_of_0_and_1_have_error_rates_of_their_own():
    score, label = np.repeat([0.0, 0.5, 1.0], 50), np.tile([0, 1], 75)
    label[:50] = 0
    label[:5] = 1
    data = bc.CalibrationSplit(calibration=bc.Scores(y_true=label, y_prob=score), target=[0.0])
    curve = curve_of(data)
    rates = kept_of(curve, 2000)["node_rate"]
    zero, one = (rates[..., node] for node in curve.nodes.boundary.values())
    # 5 of 50 rows err at 0; half of those at 1.
    assert zero.mean() == pytest.approx(0.1, abs=0.05)
    assert one.mean() == pytest.approx(0.5, abs=0.1)


def test_without_a_row_of_it_a_boundary_score_has_its_prior():
    curve = curve_of(binary(50))
    kept = kept_of(curve, 4000)
    zero, one = (kept["node_rate"][..., node].ravel() for node in curve.nodes.boundary.values())
    for error in (zero, 1 - one):
        np.testing.assert_allclose(np.quantile(logit(error), [0.16, 0.84]), [-6.5, -1.5], atol=0.25)
    np.testing.assert_allclose(kept["never_errs"].mean(axis=(0, 1)), 0.5, atol=0.05)


def test_steps_have_constant_rates_whatever_the_scores():
    curve = curve_of(binary(60))
    steps, score = curve.average.components["steps"], np.linspace(0.02, 0.98, 200)
    draws = {**steps.prior_draws(4000, np.random.default_rng(1)), "boundary": np.zeros((4000, 1))}
    rate = curve.average.curve("steps", draws, score)
    # One step, and 49 places for jumps of probability .06; those from 0 to 0 and 1 to 1 are not
    # seen.
    levels, seen = 1 + (np.abs(np.diff(rate)) > 1e-9).sum(axis=1), 49 * 0.06 * (1 - 2 * 0.15**2)
    assert levels.mean() == pytest.approx(1 + seen, abs=4 * np.sqrt(seen / 4000))
    first = rate[:, 0]
    for certain in (0, 1):
        assert (first == certain).mean() == pytest.approx(0.15, abs=4 * np.sqrt(0.1275 / 4000))
    own = logit(first[(first > 0) & (first < 1)])
    # The standard error of a deviation from 2800 draws is 1.4 %.
    assert own.std() == pytest.approx(2, rel=0.055)
    assert own.mean() == pytest.approx(steps.offset[0], abs=4 * 2 / np.sqrt(2800))


def test_bounds_beside_steps_are_narrower_with_steps_and_cover():
    # One row of five has the label up to .4, then three do.
    score = (np.arange(1000) + 0.5) / 1000
    label = (np.arange(1000) % 5 < np.where(score < 0.4, 1, 3)).astype(int)
    target = [0.1, 0.2, 0.3, 0.5, 0.7, 0.9]
    rate = np.array([0.2] * 3 + [0.6] * 3)
    calibration = bc.Scores(y_true=label, y_prob=score)
    data = bc.CalibrationSplit(calibration=calibration, target=target)
    found = bc.credal.bounds_for(fitted(data, method="direct"))
    assert ((found.lower < rate) & (rate < found.upper)).all()
    without = Priors(AveragedCurve(steps=0))
    other = bc.credal.bounds_for(fitted(data, priors=without, method="direct"))
    assert (found.upper - found.lower).mean() < 0.9 * (other.upper - other.lower).mean()


def test_bounds_reach_0_and_1_where_no_row_errs():
    """Forests separate most rows: rates are then 0 or 1, not near them."""
    score = (np.arange(200) + 0.5) / 200
    calibration = bc.Scores(y_true=score > 0.5, y_prob=score)
    data = bc.CalibrationSplit(calibration=calibration, target=[0.2, 0.3, 0.7, 0.8])
    found = bc.credal.bounds_for(fitted(data, method="direct"))
    assert found.lower[:2].tolist() == [0, 0]
    assert found.upper[2:].tolist() == [1, 1]
    # Twenty rows within .05 of a target, none of which errs, bound its error rate by themselves,
    # with a pseudo-row that does; the other rows of its side only narrow that.
    assert (found.upper - found.lower).max() < beta.ppf(0.95, 2, 21)


def test_without_a_score_between_0_and_1_the_curve_is_the_prior_of_a_rising_one():
    scores = bc.Scores(y_true=[0, 0, 1, 1], y_prob=[0.0, 0.0, 1.0, 1.0])
    curve = curve_of(bc.CalibrationSplit(calibration=scores, target=[0.5]))
    assert curve.average.fitted == ("rising",)
    assert curve.weights({"rising": -3.0}).tolist() == [0, 0, 1, 0]
    middle = kept_of(curve)["node_rate"][..., curve.nodes.of_nonempty(0)]
    np.testing.assert_allclose(np.quantile(middle, [0.05, 0.95]), [0.04, 0.96], atol=0.05)


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
