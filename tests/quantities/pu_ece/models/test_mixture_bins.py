"""The paper's bins as models: NUTS against data augmentation, and the factor of independence."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import beta, dirichlet

import bayescal as bc
from bayescal.core.binning import Binning
from bayescal.quantities.pu_ece.data import problems
from bayescal.quantities.pu_ece.models.mixture_bins import Bins
from bayescal.quantities.pu_ece.simulator import truth
from tests.interpreted import PLAIN
from tests.quantities.pu_ece.gibbs import gibbs
from tests.quantities.pu_ece.test_posterior import check_replicated

DATA = truth("less").scores((300, 2000), seed=1)


def problem(priors):
    return problems(DATA, priors, Binning(4))[0]


def compare(fit, drawn, made) -> None:
    pi, r, t = drawn
    q = pi[:, None] * r + (1 - pi[:, None]) * t
    ece = np.abs(pi[:, None] * r - q * made.cells.mean_score).sum(axis=1)
    posterior = fit["posterior"]
    for name, theirs in (("class_prior", pi), ("ece", ece)):
        found = posterior[name].to_numpy().ravel()
        # Both have at least 400 effective draws: 4 standard errors of the difference of means.
        spread = theirs.std()
        assert found.mean() == pytest.approx(theirs.mean(), abs=4 * spread * np.sqrt(2 / 400))
        assert found.std() == pytest.approx(spread, rel=0.15)
    rate = posterior["label_rate"].to_numpy().reshape(-1, 4)
    theirs = pi[:, None] * r / q
    np.testing.assert_allclose(rate.mean(axis=0), theirs.mean(axis=0), atol=0.02)


@pytest.fixture(scope="module")
def mixture_fit():
    data = truth("less").scores((300, 2000), seed=1)
    priors = bc.pu_ece.Priors(bc.Beta(50, 50), bc.pu_ece.MixtureBins())
    return bc.fit(bc.pu_ece, data, priors=priors, n_bins=4, seed=20)


@pytest.mark.mcmc
def test_the_mixture_is_that_of_data_augmentation(mixture_fit) -> None:
    made = problem(bc.pu_ece.Priors(0.5, bc.pu_ece.MixtureBins()))
    rng = np.random.default_rng(3)
    compare(mixture_fit, gibbs(made.positive, made.cells.count, 50, 50, rng), made)
    assert mixture_fit.attrs["status"] == "ok"
    assert mixture_fit["diagnostics"]["divergences"].item() == 0
    assert np.isnan(mixture_fit["model_average"]["p_calibrated"].item())


@pytest.mark.mcmc
def test_replicated_positives_are_as_many_as_were_sampled(mixture_fit) -> None:
    check_replicated(mixture_fit)
    assert (mixture_fit["posterior_predictive"]["events"].sum("cell") == 300).all()


@pytest.mark.mcmc
def test_independent_bins_are_that_with_their_factor() -> None:
    priors = bc.pu_ece.Priors(bc.Beta(50, 50), bc.pu_ece.IndependentBins())
    fit = bc.fit(bc.pu_ece, DATA, priors=priors, n_bins=4, seed=20)
    made, rng = problem(priors), np.random.default_rng(3)
    compare(fit, gibbs(made.positive, made.cells.count, 50, 50, rng, stretch=3), made)


def test_the_factor_is_the_truncation_of_two_dirichlets() -> None:
    # Draw r and q flat and independent and pi from its prior, keep what satisfies pi r <= q: the
    # class prior left is the Beta prior times (1 - pi)^(bins - 1), cut down and not renormalised.
    rng, bins = np.random.default_rng(4), 3
    number = 400_000
    pi = rng.beta(2, 3, number)
    r, q = dirichlet.rvs(np.ones(bins), number, rng), dirichlet.rvs(np.ones(bins), number, rng)
    kept = pi[(pi[:, None] * r <= q).all(axis=1)]
    theirs = beta(2, 3 + bins - 1)
    assert kept.mean() == pytest.approx(theirs.mean(), abs=4 * theirs.std() / np.sqrt(len(kept)))
    found = Bins.of(
        problem(bc.pu_ece.Priors(0.5, bc.pu_ece.MixtureBins())),
        bc.pu_ece.IndependentBins(),
        bc.Beta(2, 3),
    )
    before = found.class_prior(found.prior_draws(20_000, rng))
    theirs = beta(2, 3 + 4 - 1)
    assert before.mean() == pytest.approx(theirs.mean(), abs=0.005)
    # A simulation takes one draw at a time.
    many = replace(found, stretch=14.0)
    single = [many.class_prior(many.prior_draws(1, rng)).item() for _ in range(300)]
    theirs = beta(2, 3 + 14)
    assert np.mean(single) == pytest.approx(theirs.mean(), abs=4 * theirs.std() / 300**0.5)


@pytest.mark.parametrize("kind", [bc.pu_ece.MixtureBins, bc.pu_ece.IndependentBins])
def test_prior_and_likelihood_are_the_models_density(kind) -> None:
    """Up to a constant, at one class prior."""
    import pymc as pm

    own = Bins.of(problem(bc.pu_ece.Priors(0.5, kind())), kind(concentration=0.4), 0.5)
    with pm.Model(coords={"cell": range(4)}) as model:
        own.add_to_model()
    log_density, found = model.compile_logp(jacobian=False, mode=PLAIN), []
    draws = own.prior_draws(3, np.random.default_rng(5)) | {"class_prior_normal": np.zeros(3)}
    for i in range(3):
        at = {"class_prior_normal": 0.0}
        for name in ("positive_mass", "negative_mass"):
            logs = np.log(draws[name][i])
            # PyMC's simplex: logarithms of all but the last, their mean over all taken off.
            at[f"{name}_simplex__"] = (logs - logs.mean())[:-1]
        found.append(log_density(at))
    expected = own.log_likelihood(draws).sum(axis=1) + own.log_prior(draws)["bins"]
    np.testing.assert_allclose(np.diff(found), np.diff(expected), rtol=1e-8)


def test_without_nuts_there_is_no_posterior() -> None:
    priors = bc.pu_ece.Priors(0.5, bc.pu_ece.MixtureBins())
    with pytest.raises(bc.InputError, match="no posterior without NUTS"):
        bc.fit(bc.pu_ece, DATA, priors=priors, n_bins=4, seed=20, method="direct")


@pytest.mark.mcmc
def test_rates_never_exceed_one(mixture_fit) -> None:
    rate = mixture_fit["posterior"]["label_rate"].to_numpy()
    assert (rate >= 0).all()
    assert (rate <= 1).all()
