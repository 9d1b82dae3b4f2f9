"""The binomial law of the models, against SciPy's and PyMC's."""

import numpy as np
import pymc as pm
from scipy.special import expit
from scipy.stats import binom

from bayescal.core.functionals import log_binomial_coefficient
from bayescal.inference.graph import logit_binomial
from tests.interpreted import PLAIN

COUNT = np.array([0, 1, 1, 7, 30, 30, 1000, 10**8, 10**8])
POSITIVES = np.array([0, 0, 1, 3, 0, 30, 999, 10**7, 5])
# Compiling would take longer than all else here.
LOGIT = np.array([0.3, -2.0, 5.0, 0.0, -4.0, 3.0, 6.5, -2.2, -16.0])


def model(law):
    with pm.Model(coords={"cell": np.arange(len(COUNT))}) as built:
        logit = pm.Normal("logit", 0, 1, dims="cell")
        if law == "ours":
            logit_binomial(
                "events",
                pm.Data("count", COUNT),
                logit,
                pm.Data("log_coefficient", log_binomial_coefficient(COUNT, POSITIVES)),
                observed=pm.Data("positives", POSITIVES),
                dims="cell",
            )
        else:
            pm.Binomial("events", n=COUNT, logit_p=logit, observed=POSITIVES, dims="cell")
    return built


def log_density(built):
    density = built.compile_logp(vars=built.observed_RVs, sum=False, mode=PLAIN)
    return density({"logit": LOGIT})[0]


def test_density_is_scipys():
    expected = binom.logpmf(POSITIVES, COUNT, expit(LOGIT))
    # At 1e8 rows logarithms of 1e9 cancel to a handful.
    np.testing.assert_allclose(log_density(model("ours")), expected, rtol=1e-9, atol=1e-5)


def test_density_is_pymcs():
    ours, theirs = log_density(model("ours")), log_density(model("pymc"))
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-5)


def test_gradient_is_events_less_expected():
    gradient = model("ours").compile_dlogp(mode=PLAIN)({"logit": LOGIT})
    prior = -LOGIT
    expected = POSITIVES - COUNT * expit(LOGIT) + prior
    np.testing.assert_allclose(gradient, expected, rtol=1e-9, atol=1e-6)


def test_draws_have_the_binomial_mean_and_variance():
    with pm.Model():
        events = logit_binomial(
            "events",
            pm.Data("count", np.array([40, 0, 1000])),
            pm.Data("logit", np.array([0.5, 2.0, -3.0])),
            pm.Data("log_coefficient", np.zeros(3)),
            observed=None,
            dims=None,
        )
        draws = pm.draw(events, 4000, random_seed=1, mode=PLAIN)
    law = binom([40, 0, 1000], expit([0.5, 2.0, -3.0]))
    assert np.issubdtype(draws.dtype, np.integer)
    np.testing.assert_allclose(draws.mean(axis=0), law.mean(), atol=4 * law.std().max() / 63)
    np.testing.assert_allclose(draws.var(axis=0), law.var(), rtol=0.1)
