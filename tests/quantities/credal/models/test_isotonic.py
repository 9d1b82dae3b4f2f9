"""Rising steps: the model's density, the prior, and NUTS against independent draws."""

import numpy as np
from scipy.stats import dirichlet

from bayescal.quantities.credal.models.isotonic import Isotonic
from bayescal.quantities.credal.priors import IncrementIsotonic
from tests.quantities.credal.made import binary, problem

PRIOR = IncrementIsotonic(bins=4, concentration=0.7)


def rates_of(n=60):
    return Isotonic(problem(binary(n), PRIOR), PRIOR)


def test_prior_density_is_dirichlet():
    rates = rates_of()
    draws = rates.prior_draws(6, np.random.default_rng(1))
    expected = [dirichlet.logpdf(one, np.full(5, 0.7)) for one in draws["increment"][:, 0]]
    np.testing.assert_allclose(rates.log_prior(draws)["increment"], expected)


def test_bounds_are_of_the_ranks_bin():
    rates = rates_of()
    draws = rates.direct_draws(500, np.random.default_rng(1)).draws
    found = rates.with_pseudo_observations(draws, np.array([[0.0], [0.24], [0.26], [1.0]]))
    np.testing.assert_array_equal(found.prob[:, 0], found.prob[:, 1])
    np.testing.assert_array_equal(found.prob[..., 0], rates.cell_prob(draws)[:, 0, [0, 0, 1, 3]])
    assert (found.prob_lower <= found.prob).all()
    assert (found.prob <= found.prob_upper).all()


def test_the_model_counts_the_labels_given_the_steps():
    import pymc as pm
    from scipy.stats import binom

    rates = rates_of()
    with pm.Model(coords={"curve": ["1"]}) as model:
        rates.add_to_model()
    mass = np.array([[0.4, 1.1, 0.3, 2.0, 0.7]])
    density = model.compile_logp(vars=model.observed_RVs, mode="FAST_COMPILE")
    at = density({"mass_log__": np.log(mass)})
    rate = (mass / mass.sum()).cumsum(axis=1)[:, :-1]
    expected = binom.logpmf(rates.problem.positives, rates.problem.count, rate).sum()
    np.testing.assert_allclose(at, expected, rtol=1e-10)
