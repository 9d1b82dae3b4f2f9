"""Draws of the average: each of one description, with the scores 0 and 1 apart."""

import numpy as np
import pytest

import bayescal as bc
from bayescal.curves.priors import COMPONENTS
from bayescal.quantities.agnostic.average_draws import AverageDraws
from bayescal.quantities.agnostic.plan import plan


def rng_of_test():
    return np.random.default_rng(7)


PRIORS = bc.agnostic.Priors()


@pytest.fixture(scope="module")
def described():
    rng = np.random.default_rng(20)
    score = np.concatenate([rng.random(80).round(1), np.zeros(10), np.ones(10)])
    scores = bc.Scores(y_true=(rng.random(100) < score).astype(int), y_prob=score)
    return plan(scores, PRIORS).cases[0].model


@pytest.fixture
def drawn(described):
    return AverageDraws.prior(described, 4000, np.random.default_rng(1))


def test_draws_are_smooth_or_rough_by_their_prior_weights(drawn):
    shares = np.bincount(drawn.chosen.ravel(), minlength=4) / 4000
    weights = PRIORS.label_rate.weights
    total = weights["smooth"] + weights["rough"]
    expected = [0.0, weights["smooth"] / total, weights["rough"] / total, 0.0]
    assert shares == pytest.approx(expected, abs=1e-3)


def test_segments_are_drawn_where_there_is_no_other():
    alone = bc.agnostic.Priors(bc.agnostic.CurveAverage(smooth=0, rough=0))
    scores = bc.Scores(y_true=[0, 1] * 20, y_prob=[0.2, 0.8] * 20)
    described = plan(scores, alone).cases[0].model
    found = AverageDraws.prior(described, 50, np.random.default_rng(1))
    assert (found.chosen == COMPONENTS.index("segments")).all()


def test_each_draw_is_that_of_its_description(drawn):
    score = np.linspace(0, 1, 11)
    found = drawn.curve(score)
    for number, name in enumerate(COMPONENTS):
        own = drawn.chosen == number
        interior = drawn.curve_of(name, score, rng_of_test())[own][:, 1:-1]
        assert found[own][:, 1:-1] == pytest.approx(interior)
    calibrated = drawn.curve_of("calibrated", score, rng_of_test())[0]
    assert calibrated[:, 1:-1] == pytest.approx(np.broadcast_to(score[1:-1], (4000, 9)))


def test_scores_of_0_and_1_alone_have_the_calibrated_description():
    scores = bc.Scores(y_true=[0, 0, 1, 1], y_prob=[0.0, 0.0, 1.0, 1.0])
    described = plan(scores, PRIORS).cases[0].model
    found = AverageDraws.prior(described, 50, np.random.default_rng(1))
    assert (found.chosen == 0).all()


def test_the_scores_0_and_1_err_in_every_draw_but_not_in_every_description(drawn):
    ends = np.array([0.0, 1.0])
    assert (drawn.curve(ends) != ends).all()
    smooth = drawn.curve_of("smooth", ends, rng_of_test())
    # Ten rows of each, all right.
    expected = drawn.described.boundary_right
    np.testing.assert_allclose((smooth[0] == ends).mean(axis=0), expected, atol=0.03)
    # Both are calibrated more often where the rest is.
    right = (drawn.curve_of("calibrated", ends, rng_of_test()) == ends).all(axis=-1)
    assert right.mean() == pytest.approx(drawn.described.no_error, abs=0.03)
    assert drawn.described.no_error > expected.prod() + 0.1


def test_cells_of_labelled_rows_agree_with_the_curve_at_their_scores(drawn, described):
    held = described.rows > 0
    rates = drawn.cell_rates()[..., held]
    np.testing.assert_allclose(rates, drawn.curve(described.score[held]), atol=1e-6)


def test_scores_of_0_and_1_without_labels_have_their_prior():
    scores = bc.Scores(y_true=[0, 1] * 20, y_prob=[0.2, 0.8] * 20)
    case = plan(scores, PRIORS, unlabeled=[0.0, 1.0, 0.5]).cases[0]
    rng = np.random.default_rng(1)
    found = case.model.direct_draws(4000, rng)
    draws = {name: values[None] for name, values in found.draws.items()}
    drawn = AverageDraws.posterior(case.model, draws, found.evidence, rng)
    # In every draw at logits of the error about -5; where the rest is not calibrated, half of them
    # never err, and all where it is.
    for rates, never in (
        (drawn.curve(np.array([0.0, 1.0]))[0], 0.0),
        (drawn.curve_of("smooth", np.array([0.0, 1.0]), rng)[0], 0.5),
        (drawn.curve_of("calibrated", np.array([0.0, 1.0]), rng)[0], 1.0),
    ):
        error = np.abs(rates - [0, 1])
        assert (error == 0).mean() == pytest.approx(never, abs=0.03)
        above = (error > 1 / (1 + np.exp(5))).mean()
        assert above == pytest.approx((1 - never) / 2, abs=0.03)
