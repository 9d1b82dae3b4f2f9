"""Simulated panels against their truth, and refits of simulated labels."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, special, stats
from scipy.special import softmax

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.quantities.ssme.data import score_matrix
from bayescal.quantities.ssme.metrics import Metrics, metrics
from bayescal.quantities.ssme.posterior import SSMECase
from bayescal.quantities.ssme.priors import TILT_SCALES, GaussianMixture, Priors, Tilt
from bayescal.quantities.ssme.simulator import TRUTHS, Distortion, PanelTruth, truth
from tests.quantities.ssme.made import grouped, many_classes, problem

ONE = {"a": Distortion(0.3, 1.4, 0.8)}


@pytest.mark.slow
@pytest.mark.parametrize("name", TRUTHS)
def test_metrics_are_the_limits_of_large_samples(name):
    simulated, n = truth(name), 200_000
    panel = score_matrix(simulated.scores(n, 0, seed=3))
    found = metrics(panel.probs, np.eye(2)[panel.y])
    # Standard errors are at most .5 / sqrt(n) = .0011 for a share, less for an AUC; precision of a
    # rare class and the log loss of a bad classifier vary two or three times as much, and the
    # largest of ten gaps comes from a tenth of the rows.
    wide = {"auprc": 0.012, "mce": 0.015, "log_loss": 0.012}
    for metric in Metrics._fields:
        expected = getattr(simulated, metric)
        atol = wide.get(metric, 0.005)
        np.testing.assert_allclose(getattr(found, metric), expected, atol=atol, err_msg=metric)


def test_metrics_agree_with_gauss_legendre_quadrature():
    simulated = PanelTruth("x", ONE, mean=-0.4, spread=1.7)
    intercept, slope, noise = ONE["a"]
    view = stats.norm(-0.4, np.hypot(1.7, noise))

    def rate(u):
        # P(Y = 1 | u) by the trapezoid rule over the log odds, which is exact for smooth tails.
        log_odds = np.linspace(-15, 15, 3001)[:, None]
        joint = stats.norm.pdf(log_odds, -0.4, 1.7) * stats.norm.pdf(u, log_odds, noise)
        return (special.expit(log_odds) * joint).sum(axis=0) / joint.sum(axis=0)

    def score(u):
        return special.expit(intercept + slope * u)

    def mean(function, low=-14.0, high=14.0):
        return integrate.fixed_quad(lambda u: function(u) * view.pdf(u), low, high, n=120)[0]

    cut = -intercept / slope
    accuracy = mean(rate, cut) + mean(lambda u: 1 - rate(u), high=cut)
    assert simulated.accuracy[0] == pytest.approx(accuracy, abs=1e-6)
    brier = mean(lambda u: rate(u) * (1 - score(u)) ** 2 + (1 - rate(u)) * score(u) ** 2)
    assert simulated.brier[0] == pytest.approx(brier, abs=1e-6)
    edges = [-14.0, *view.ppf(np.arange(1, 10) / 10), 14.0]
    gaps = [
        10 * abs(mean(lambda u: score(u) - rate(u), low, high)) for low, high in pairwise(edges)
    ]
    assert simulated.ece[0] == pytest.approx(np.mean(gaps), abs=1e-6)
    assert simulated.mce[0] == pytest.approx(max(gaps), abs=1e-6)


def test_a_classifier_that_sees_the_log_odds_is_calibrated():
    exact = PanelTruth("exact", {"a": Distortion()})
    assert exact.ece[0] == pytest.approx(0, abs=1e-9)
    assert exact.mce[0] == pytest.approx(0, abs=1e-9)


def test_noise_and_distortion_never_help():
    clear, noisy, bent = (
        PanelTruth("x", {"a": found})
        for found in (Distortion(), Distortion(noise=1.0), Distortion(0.5, 2.0))
    )
    assert clear.auc[0] > noisy.auc[0]
    assert clear.auc[0] == pytest.approx(bent.auc[0], abs=1e-9)
    for metric in ("log_loss", "brier"):
        assert getattr(clear, metric)[0] < min(getattr(noisy, metric)[0], getattr(bent, metric)[0])


def test_the_probability_given_all_scores_is_bayes_theorem():
    simulated = truth("mixed")
    scores = score_matrix(simulated.scores(5, 0, seed=2)).probs[..., 1]
    log_odds = np.linspace(-20, 20, 40_001)
    for row in range(5):
        density = stats.norm.pdf(log_odds, simulated.mean, simulated.spread)
        for prob, (intercept, slope, noise) in zip(
            scores[:, row], simulated.classifiers.values(), strict=True
        ):
            density *= stats.norm.pdf((special.logit(prob) - intercept) / slope, log_odds, noise)
        expected = np.average(special.expit(log_odds), weights=density)
        # Scores are stored in single precision where they come so; quadrature is exact to 1e-8.
        assert simulated.probability(scores)[row] == pytest.approx(expected, abs=1e-6)


def test_a_clear_view_says_all():
    simulated = PanelTruth("x", {"noisy": Distortion(noise=2.0), "clear": Distortion(1.0, 2.0)})
    log_odds = np.array([-1.0, 0.5])
    scores = np.stack([[0.2, 0.9], special.expit(1 + 2 * log_odds)])
    np.testing.assert_allclose(simulated.probability(scores), special.expit(log_odds))


def test_the_probability_is_right_where_views_say_little():
    """Against adaptive quadrature: 61 nodes of Gauss and Hermite err by .004 here."""
    panel = PanelTruth("dim", {"a": Distortion(noise=20)}, 1.0, 11.0)
    spread = 20 * 11 / np.hypot(20, 11)
    centre = 1 + (11 / np.hypot(20, 11)) ** 2 * (special.logit(0.9) - 1)
    expected = integrate.quad(
        lambda z: special.expit(centre + spread * z) * stats.norm.pdf(z), -12, 12, epsabs=1e-13
    )[0]
    assert panel.probability([[0.9]])[0] == pytest.approx(expected, abs=1e-11)


def test_labels_have_the_probability_given_the_scores():
    simulated = truth("odd")
    panel = score_matrix(simulated.scores(50_000, 0, seed=5))
    prob = simulated.probability(panel.probs[..., 1])
    cut = np.digitize(prob, np.linspace(0, 1, 11)[1:-1])
    for part in range(10):
        rows = cut == part
        error = np.sqrt(prob[rows].var() + 0.25) / np.sqrt(rows.sum())
        assert abs(panel.y[rows].mean() - prob[rows].mean()) < 4 * error


def test_labeled_rows_come_first_and_a_seed_gives_the_same():
    first, again = (truth("rare").scores(10, 20, seed=4) for _ in range(2))
    other = truth("rare").scores(10, 20, seed=5)
    assert (first.n_obs, first.n_labeled) == (30, 10)
    assert first.classifiers == ("a", "b", "c")
    assert score_matrix(first).labeled.tolist() == [True] * 10 + [False] * 20
    np.testing.assert_array_equal(first.y_prob, again.y_prob)
    np.testing.assert_array_equal(first.y_true, again.y_true)
    assert not np.array_equal(first.y_prob, other.y_prob)


def test_scores_of_other_classifiers_are_refused():
    with pytest.raises(InputError, match="those of 3 classifiers; got"):
        truth("mixed").probability(np.full((2, 4), 0.5))


def case(made, **given):
    return SSMECase.of(made, Priors(**({"power": 1.0, "discount": 0.0} | given)))


@pytest.mark.parametrize("make", [problem, many_classes, grouped])
def test_scores_and_labeled_rows_stay(make):
    old = case(make(n=60))
    new, values = old.simulate(np.random.default_rng(1))
    np.testing.assert_array_equal(new.problem.matrix.probs, old.problem.matrix.probs)
    np.testing.assert_array_equal(new.problem.matrix.labeled, old.problem.matrix.labeled)
    assert new.model.compile_key == old.model.compile_key
    assert {*Metrics._fields, "slope", "weight", "intercept", "bend"} <= set(values)
    assert np.isfinite(values["accuracy"]).all()


@pytest.mark.slow
def test_labels_have_the_probabilities_of_the_coefficients():
    """Scales so small that the coefficients are known: labels then have the pool's law."""
    tiny = dict.fromkeys(TILT_SCALES, 1e-9)
    old = case(problem(n=60), label=Tilt(**tiny, wide_weight=0.0))
    expected = softmax(old.model.features.log_pool[old.problem.rows], axis=1)[:, 1]
    drawn = np.mean(
        [old.simulate(np.random.default_rng(seed))[0].problem.labels for seed in range(200)],
        axis=0,
    )
    # Each share of 200 has a standard error below .0354; 20 of them.
    np.testing.assert_allclose(drawn, expected, atol=0.145)


@pytest.mark.parametrize(
    ("made", "given", "words"),
    [
        (lambda: problem(n=60), {"power": 0.6}, "and labeling='random'; got power=0.6"),
        (lambda: problem(n=60), {"discount": 20.0}, "discount=20"),
        (lambda: problem("one-per-class", n=60), {}, "labeling='one-per-class'"),
        (lambda: problem(n=60), {"label": GaussianMixture()}, "got GaussianMixture. Pass Tilt"),
    ],
)
def test_what_is_not_the_models_own_posterior_is_refused(made, given, words):
    with pytest.raises(bc.InputError, match=words):
        case(made(), **given).simulate(np.random.default_rng(1))
