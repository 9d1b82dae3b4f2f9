"""Which model serves which priors, and what all promise alike."""

import numpy as np
import pytest

from bayescal.quantities.ssme.model import MixtureModel, label_model, model_of
from bayescal.quantities.ssme.priors import GaussianMixture, Priors, StudentTMixture, Tilt
from tests.quantities.ssme.problems import in_chains, many_classes, problem

LABELS = {"tilt": Tilt(), "normal": GaussianMixture(), "student": StudentTMixture()}


@pytest.mark.slow
@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("make", [problem, many_classes])
def test_every_model_keeps_its_promises(kind, make):
    made = make(n=60)
    own = label_model(made, Priors(label=LABELS[kind], power=0.5))
    flat = own.prior_draws(4, np.random.default_rng(1))
    draws = in_chains(flat)
    assert set(own.shown) <= set(own.variables) == set(flat)
    prob = own.label_probs(flat)
    assert prob.shape == (4, 60, made.panel.n_classes)
    np.testing.assert_allclose(prob.sum(axis=-1), 1)
    assert own.log_likelihood(draws).shape == (2, 2, 20)
    log_prior = own.log_prior(draws)
    assert set(log_prior) == set(own.shown)
    assert {values.shape for values in log_prior.values()} == {(2, 2)}
    assert isinstance(hash(own.compile_key), int)
    assert 0 < own.target_accept < 1
    data = model_of(made, own).data_vars
    assert {v.name for v in data} == set(own.inputs())


def test_mixtures_and_tilts_differ():
    made = problem(n=60)
    kinds = {label_model(made, Priors(label=label)).compile_key for label in LABELS.values()}
    assert len(kinds) == 3
    assert isinstance(label_model(made, Priors(label=GaussianMixture())), MixtureModel)
