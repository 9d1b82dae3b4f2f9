import numpy as np
import pytest
from scipy.special import expit

from bayescal.core.errors import InputError
from bayescal.inference.sampler import compile_model
from bayescal.quantities.ssme.data import panel_of
from bayescal.quantities.ssme.imputed_labels import (
    bayesian_calibration,
    build_model,
    calibrated,
)
from tests.quantities.ssme.baselines.made import simulated, stacked

pytestmark = pytest.mark.mcmc


@pytest.fixture(scope="module")
def scores():
    return simulated(n_obs=220, n_labeled=20, n_classifiers=2)[0]


@pytest.fixture(scope="module")
def compiled(scores):
    return compile_model(build_model(scores))


def by_importance(score, known, n_draws=200_000):
    """Posterior means of calibrated probabilities, by draws from the prior."""
    rng = np.random.default_rng(9)
    a, b = rng.normal(0, np.sqrt(0.4**2 + 0.15**2), size=(2, n_draws, 1))
    c = rng.normal(0, np.sqrt(2**2 + 0.75**2), size=(n_draws, 1))
    coefficients = np.concatenate([c, np.exp(a), -np.exp(b)], axis=1)
    score = np.clip(score, 0.01, 0.99)
    terms = np.stack([np.ones_like(score), np.log(score), np.log1p(-score)])
    n = len(known)
    positive = expit(coefficients @ terms[:, :n])
    weight = np.prod(np.where(known == 1, positive, 1 - positive), axis=1)
    weight /= weight.sum()
    assert 1 / np.sum(weight**2) > 2000  # effective draws: errors below 1 / 90 of a posterior sd
    # Draws of together less than 1e-4 of the weight take most of the time.
    heavy = weight > 1e-4 / n_draws
    return weight[heavy] @ expit(coefficients[heavy] @ terms[:, n:])


@pytest.mark.mcmc
def test_accuracy_is_that_of_importance_sampling(scores, compiled):
    found = bayesian_calibration(scores, cut=0.01, n_draws=2000, seed=1, compiled=compiled)
    known = scores.y_true[:20]
    for m, score in enumerate(scores.y_prob):
        p = by_importance(score, known)
        says = score > 0.5
        right = np.concatenate([(says[:20] == known), np.where(says[20:], p, 1 - p)])
        # The posterior sd of accuracy is some .04, of 2000 draws that are nearly independent.
        assert found.point.accuracy[m] == pytest.approx(right.mean(), abs=0.005)


def test_the_prior_is_centred_at_no_change():
    scores, _ = simulated()
    panel = panel_of(scores)
    nothing = np.zeros((1, panel.n_classifiers))
    found = calibrated(panel, nothing, nothing, nothing)
    np.testing.assert_allclose(found[0], np.clip(scores.y_prob, 1e-4, 1 - 1e-4), rtol=1e-9)
    wide = calibrated(panel, nothing, nothing, nothing, cut=1e-9)
    np.testing.assert_allclose(wide[0], scores.y_prob, rtol=1e-9)


@pytest.mark.mcmc
def test_draws_hold_known_labels_and_shapes(scores, compiled):
    found = bayesian_calibration(scores, n_draws=6, seed=2, compiled=compiled)
    assert found.draws.accuracy.shape == (8, 2)  # two draws of each of four chains
    assert found.point.auc.shape == (2,)
    again = bayesian_calibration(scores, n_draws=6, seed=2, compiled=compiled)
    np.testing.assert_array_equal(found.draws.ece, again.draws.ece)


def test_several_classes_are_refused():
    with pytest.raises(InputError, match="Bayesian-Calibration needs two classes; got 3"):
        bayesian_calibration(simulated(n_classes=3)[0])


@pytest.mark.mcmc
def test_scores_of_exactly_zero_and_one_are_cut(compiled):
    scores, _ = simulated(n_obs=220, n_labeled=20, n_classifiers=2)
    positive = scores.y_prob.round()
    known = [*map(int, scores.y_true[:20]), *[None] * 200]
    rounded = stacked(np.stack([1 - positive, positive], axis=2), known)
    found = bayesian_calibration(rounded, n_draws=40, compiled=compiled)
    assert np.isfinite(found.point.accuracy).all()


@pytest.mark.mcmc
def test_a_model_compiled_for_other_shapes_is_refused(compiled):
    with pytest.raises(InputError, match="compiled for data of shapes"):
        bayesian_calibration(simulated(n_labeled=30)[0], compiled=compiled)


@pytest.mark.mcmc
@pytest.mark.parametrize("cut", [0.0, 0.5])
def test_a_cut_outside_its_range_is_refused(scores, compiled, cut):
    with pytest.raises(InputError, match="cut must be a number in"):
        bayesian_calibration(scores, cut=cut, compiled=compiled)
