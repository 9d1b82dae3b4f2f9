"""Importance sampling of the rising curve against weighted draws of its prior."""

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import binom

from bayescal.quantities.credal.models.monotone import Monotone
from bayescal.quantities.credal.models.rising_draws import sample_rising
from bayescal.quantities.credal.priors import MonotoneCurve
from tests.quantities.credal.made import binary, problem

PRIOR = MonotoneCurve(intercept=1.5, spread=3.0)


@pytest.mark.parametrize("truth", ["logistic", "wave"])
def test_evidence_and_means_are_those_of_the_weighted_prior(truth):
    rates = Monotone.of(problem(binary(12, truth=truth), PRIOR), PRIOR)
    count, positives = rates.problem.count[0], rates.problem.positives[0]
    prior = rates.prior_draws(100_000, np.random.default_rng(1))
    rate = rates.cell_prob(prior)[:, 0]
    held = count > 0
    one_row = binom.logpmf(positives[held], count[held], rate[:, held])
    logs = one_row.sum(axis=1)
    found = rates.direct_draws(4000, np.random.default_rng(2))
    # Without binomial coefficients, which are those of cells with several rows.
    coefficient = binom.logpmf(positives, count, 0.5).sum() + count.sum() * np.log(2)
    expected = logsumexp(logs) - np.log(len(logs)) - coefficient
    # Some 1,000 effective draws of the prior: two standard errors of the evidence are .06.
    assert found.log_evidence == pytest.approx(expected, abs=0.1)
    assert found.ess > 1000
    weight = np.exp(logs - logsumexp(logs))
    mean = weight @ rate[:, held]
    spread = np.sqrt(weight @ (rate[:, held] - mean) ** 2)
    gap = rates.cell_prob(found.draws)[:, 0, held].mean(axis=0) - mean
    assert (np.abs(gap) < 0.2 * spread).all()


def test_proposals_adapt_where_the_first_do_not_serve():
    rates = Monotone.of(problem(binary(20, truth="wave"), PRIOR), PRIOR)
    assert sample_rising(rates, 0, 1000, np.random.default_rng(1)).ess > 400
