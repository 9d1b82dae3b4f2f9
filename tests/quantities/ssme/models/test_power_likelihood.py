"""Labels whose likelihood has a power."""

import numpy as np
import pymc as pm
import pytest
from scipy.special import log_softmax, softmax

from bayescal.quantities.ssme.labels import _draw_classes, power_categorical
from tests.quantities.ssme.problems import PLAIN

ETA = np.random.default_rng(1).normal(size=(6, 3))


def log_density(power, observed):
    with pm.Model() as model:
        data = pm.Data("power", np.asarray(power, float))
        labels = pm.Data("labels", np.asarray(observed))
        power_categorical("label", pm.Data("eta", ETA), data, labels)
    return float(model.compile_logp(mode=PLAIN)({}))


def test_the_density_is_the_categorical_to_the_power():
    observed, power = np.array([0, 2, 1, 1, 0, 2]), np.array([1, 0.5, 0.3, 0, 0, 0.9])
    expected = (power * log_softmax(ETA, axis=1)[np.arange(6), observed]).sum()
    assert log_density(power, observed) == pytest.approx(expected)


def test_a_power_of_one_is_pymc_s_categorical():
    observed = np.array([0, 2, 1, 1, 0, 2])
    with pm.Model() as model:
        pm.Categorical("label", logit_p=ETA, observed=observed)
    expected = float(model.compile_logp(mode=PLAIN)({}))
    assert log_density(np.ones(6), observed) == pytest.approx(expected)


def test_labels_are_drawn_as_they_come_whatever_the_power():
    drawn = _draw_classes(np.tile(ETA, (20_000, 1, 1)), np.full(6, 0.1), np.random.default_rng(2))
    shares = np.stack([(drawn == k).mean(axis=0) for k in range(3)], axis=1)
    # A share of 20,000 has a standard error below .0036.
    np.testing.assert_allclose(shares, softmax(ETA, axis=1), atol=0.015)
