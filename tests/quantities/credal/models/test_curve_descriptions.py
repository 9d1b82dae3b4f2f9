"""One curve under each of its descriptions."""

import numpy as np
import pytest
from scipy.special import expit

import bayescal as bc
from bayescal.inference.descriptions.curve_average import average_of
from bayescal.quantities.credal.models.averaged import Averaged
from bayescal.quantities.credal.priors import ROW_DESCRIPTIONS, AveragedCurve
from tests.quantities.credal.made import binary, problem

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
    again = average_of(curve.average.problem, AveragedCurve().average, 0.5)
    expected = again.direct_draws(500, np.random.default_rng(1)).evidence
    for name in ("smooth", "rough"):
        assert direct.evidence[name] == pytest.approx(expected[name], abs=1e-12)
    draws = {name: values[:5] for name, values in direct.draws.items()}
    held = curve.nodes.of_held(np.arange(3))
    for name in ("smooth", "rough"):
        cells = curve.described.rates(name, draws, np.zeros((5, 0), bool))
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
