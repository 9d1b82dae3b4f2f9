"""The default model: NUTS against importance sampling, calibration weighed, priors kept."""

import numpy as np
import pytest
from scipy.special import expit, logsumexp
from scipy.stats import beta, norm

import bayescal as bc
from bayescal.quantities.pu_ece.models.smooth_curve import Curve
from bayescal.quantities.pu_ece.priors import SmoothCurve
from bayescal.quantities.pu_ece.simulator import truth
from tests.quantities.pu_ece.made import problem

SMOOTH = SmoothCurve(lengthscales=(1.0,))


@pytest.mark.mcmc
def test_nuts_finds_what_importance_sampling_does(curve_fit) -> None:
    data = truth("less").scores((300, 2000), seed=1)
    priors = bc.pu_ece.Priors(bc.Beta(50, 50))
    quick = bc.fit(bc.pu_ece, data, priors=priors, n_bins=6, seed=4, method="direct", draws=5000)
    assert curve_fit.attrs["status"] == "ok"
    assert curve_fit["diagnostics"]["divergences"].item() == 0
    for name in ("tce", "ece", "mce", "class_prior"):
        mine, theirs = (fit["posterior"][name].to_numpy().ravel() for fit in (curve_fit, quick))
        # NUTS has 1,500 effective draws or more: 4 standard errors.
        assert mine.mean() == pytest.approx(theirs.mean(), abs=4 * theirs.std() / np.sqrt(1500))
        assert mine.std() == pytest.approx(theirs.std(), rel=0.1)
    rates = [fit["posterior"]["label_rate"].mean(("chain", "draw")) for fit in (curve_fit, quick)]
    np.testing.assert_allclose(*rates, atol=0.01)


@pytest.mark.mcmc
def test_one_compiled_model_serves_other_data_and_priors(curve_fit) -> None:
    from bayescal.workflow.sampling import _COMPILED

    before = len(_COMPILED)
    data = truth("over").scores((150, 900), seed=2)
    study = bc.pu_ece.PriorDraws(np.random.default_rng(1).beta(40, 60, 1000))
    for belief in (0.5, bc.Beta(4, 6), study):
        fit = bc.fit(bc.pu_ece, data, priors=bc.pu_ece.Priors(belief), n_bins=6, seed=1)
        assert fit["diagnostics"]["divergences"].item() == 0
    assert len(_COMPILED) == before


@pytest.mark.slow
def test_the_evidence_of_calibration_is_an_integral_over_the_class_prior() -> None:
    made = problem("calibrated", (100, 800))
    found = Curve.of(made, SMOOTH, bc.Beta(50, 50))
    # By plain Monte Carlo over the Beta prior, the mean score tied to each by a normal.
    pi = np.random.default_rng(5).beta(50, 50, 400_000)
    mean = made.weight @ made.cells.mean_score
    at = np.log(made.n_positive / made.n_unlabeled) + np.log(made.cells.mean_score)
    at = at - np.log(pi)[:, None]
    law = (made.positive * at - made.total * np.logaddexp(0, at)).sum(axis=1)
    terms = law + norm.logpdf(mean, pi, found.likelihood.spread)
    weight = np.exp(terms - terms.max())
    error = weight.std() / weight.mean() / np.sqrt(len(pi))
    expected = logsumexp(terms) - np.log(len(pi))
    assert found.log_calibrated() == pytest.approx(expected, abs=4 * error + 1e-3)


@pytest.mark.mcmc
def test_a_known_class_prior_far_from_the_mean_score_rules_calibration_out() -> None:
    data = truth("calibrated").scores((500, 5000), seed=3)
    near, far = (
        bc.fit(bc.pu_ece, data, priors=bc.pu_ece.Priors(pi), seed=1, method="direct")
        for pi in (0.5, 0.6)
    )
    assert near["model_average"]["p_calibrated"] > 0.8
    assert far["model_average"]["p_calibrated"] < 1e-6
    # The mean gap is then at least the difference of the two means.
    assert far["posterior"]["tce"].to_numpy().min() > 0.05


@pytest.mark.slow
def test_the_truth_is_found_as_rows_grow() -> None:
    made, widths = truth("over"), []
    for size in ((200, 1000), (20_000, 200_000)):
        fit = bc.fit(
            bc.pu_ece, made.scores(size, 7), priors=bc.pu_ece.Priors(0.5), seed=1, method="direct"
        )
        low, high = bc.interval(fit, "tce").to_numpy()
        widths.append(high - low)
    assert low <= made.tce <= high
    assert widths[1] < widths[0] / 5


@pytest.mark.slow
def test_prior_draws_join_the_class_prior_and_the_curve() -> None:
    # By brute force: curves from their own prior, a class prior about the mean of each, weighed by
    # the Beta density.
    found, rng = Curve.of(problem(), SMOOTH, bc.Beta(20, 30)), np.random.default_rng(6)
    likelihood = found.likelihood
    coef = rng.standard_normal((200_000, likelihood.basis.size))
    mean = expit(likelihood.offset + coef @ likelihood.design.T) @ found.problem.weight
    pi = mean + likelihood.spread * rng.standard_normal(len(mean))
    weight = beta.pdf(pi, 20, 30)
    expected = np.average(pi, weights=weight)
    spread = np.sqrt(np.average((pi - expected) ** 2, weights=weight))
    drawn = found.class_prior(found.prior_draws(8000, rng))
    # 8,000 draws resampled from 32,000 weighed ones: some 5,000 effective.
    assert drawn.mean() == pytest.approx(expected, abs=4 * spread / np.sqrt(5000))
    assert drawn.std() == pytest.approx(spread, rel=0.06)


@pytest.mark.mcmc
def test_arviz_takes_the_result(curve_fit) -> None:
    import arviz as az

    loo = az.loo(curve_fit)
    assert np.isfinite(loo.elpd)
    assert {"class_prior", "coef"} <= set(curve_fit["log_prior"].data_vars)


def test_cost_does_not_grow_with_rows() -> None:
    # Cells, not rows, reach the model: the arrays of a hundred times the rows have one shape.
    shapes = []
    for size in ((100, 1000), (10_000, 100_000)):
        made = problem("over", size)
        inputs = Curve.of(made, SMOOTH, bc.Beta(50, 50)).inputs()
        shapes.append({name: value.shape for name, value in inputs.items()})
    assert shapes[0] == shapes[1]
