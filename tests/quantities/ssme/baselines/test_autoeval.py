import numpy as np
import pytest

from bayescal.core.errors import InputError
from bayescal.quantities.ssme.baselines import autoeval, labeled
from bayescal.quantities.ssme.data import panel_of
from tests.conftest import oracle
from tests.quantities.ssme.baselines.made import simulated, stacked


def test_estimate_and_interval_are_the_formulas_by_hand():
    scores, y = simulated(n_obs=90, n_labeled=30)
    found = autoeval(scores, prob=0.95)
    for m, score in enumerate(scores.y_prob):
        confidence = np.maximum(score, 1 - score)
        right = ((score > 0.5) == y).astype(float)[:30]
        g, rest = confidence[:30], confidence[30:]
        covariance = np.mean((right - right.mean()) * (g - g.mean()))
        weight = covariance / ((1 + 30 / 60) * np.var(confidence, ddof=1))
        weight = min(max(weight, 0), 1)
        estimate = np.mean(right - weight * g) + weight * np.mean(rest)
        error = np.sqrt(np.var(right - weight * g) / 30 + weight**2 * np.var(rest) / 60)
        assert found.tuning[m] == pytest.approx(weight, rel=1e-12)
        assert found.estimate[m] == pytest.approx(estimate, rel=1e-12)
        assert found.lower[m] == pytest.approx(estimate - 1.959963984540054 * error, rel=1e-12)
        assert found.upper[m] == pytest.approx(estimate + 1.959963984540054 * error, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["accuracy", "log_loss", "brier"])
def test_estimate_and_interval_are_those_of_ppi_py(metric):
    ppi = oracle("ppi_py")
    from bayescal.quantities.ssme.baselines import guessed_values, observed_values

    scores, _ = simulated(n_obs=400, n_labeled=100)
    panel = panel_of(scores)
    found = autoeval(scores, metric)
    f, g = observed_values(panel, metric), guessed_values(panel, metric, "self")
    for m in range(3):
        arrays = f[m], g[m, :100], g[m, 100:]
        point = ppi.ppi_mean_pointestimate(*arrays)
        lower, upper = ppi.ppi_mean_ci(*arrays, alpha=0.1)
        assert found.estimate[m] == pytest.approx(np.squeeze(point), rel=1e-9)
        assert found.lower[m] == pytest.approx(np.squeeze(lower), rel=1e-9)
        assert found.upper[m] == pytest.approx(np.squeeze(upper), rel=1e-9)


@pytest.mark.slow
def test_it_is_unbiased_and_nearer_than_the_labelled_rows():
    # Confidence says much of being right: lambda's share of the variance is saved.
    found = [(autoeval(s).estimate, labeled(s).accuracy) for s in _samples(300)]
    ours, theirs = np.array(found).transpose(1, 0, 2)
    truth = _truth()
    # Mean of 300 samples with a standard deviation of .05: 3 standard errors are .009.
    np.testing.assert_allclose(ours.mean(axis=0), truth, atol=0.01)
    assert (ours.var(axis=0) < theirs.var(axis=0)).all()


def _samples(number):
    for seed in range(number):
        yield simulated(n_obs=1000, n_labeled=60, seed=seed)[0]


def _truth():
    scores, y = simulated(n_obs=200_000, n_labeled=2, seed=1)
    return ((scores.y_prob > 0.5) == y).mean(axis=1)


def test_scores_that_expect_a_constant_leave_the_labelled_rows_alone():
    score = np.array([0.2, 0.8, 0.8, 0.2, 0.8])
    scores = stacked([np.stack([1 - score, score], axis=1)], [0, 1, 0, None, None])
    found = autoeval(scores)
    assert found.tuning[0] == 0
    assert found.estimate[0] == pytest.approx(2 / 3)


@pytest.mark.parametrize("y_true", [[0, None, None], [0, 1, 1]])
def test_too_few_rows_are_refused(y_true):
    with pytest.raises(InputError, match="AutoEval needs two labelled rows and one unlabelled"):
        autoeval(stacked(np.full((1, 3, 2), 0.5), y_true))


def test_metrics_that_are_no_means_are_refused():
    with pytest.raises(InputError, match="'auc'"):
        autoeval(simulated()[0], "auc")
