"""Networks of each class against the rest."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.special import xlogy

import bayescal as bc
from bayescal.quantities.credal.self_learning.one_vs_all import OneVsAllNetworks, SgdSettings


def networks(**settings):
    return OneVsAllNetworks(3, 2, SgdSettings(hidden=4, **settings), np.random.default_rng(1))


def test_a_step_goes_down_the_gradient_of_the_loss():
    rng = np.random.default_rng(2)
    x, label = rng.normal(size=(5, 3)), rng.random((5, 2))
    found = networks(learning_rate=1e-3, batch_size=5, epochs=1)
    before = [weights.copy() for weights in found._weights]

    def loss(flat):
        sizes = np.cumsum([weights.size for weights in before])[:-1]
        found._weights = [
            part.reshape(weights.shape)
            for part, weights in zip(np.split(flat, sizes), before, strict=True)
        ]
        p = found.scores(x)
        entropy = xlogy(label, label) + xlogy(1 - label, 1 - label)
        return (entropy - xlogy(label, p) - xlogy(1 - label, 1 - p)).sum() / len(x)

    start = np.concatenate([weights.ravel() for weights in before])
    slope = approx_fprime(start, loss, 1e-6)
    found._weights = [weights.copy() for weights in before]
    after = np.concatenate([weights.ravel() for weights in found.fit(x, label)._weights])
    np.testing.assert_allclose(start - after, 1e-3 * slope, atol=1e-8)


def test_networks_of_other_classes_change_nothing():
    rng = np.random.default_rng(2)
    x, label = rng.normal(size=(20, 3)), rng.random((20, 2))
    other = label.copy()
    other[:, 1] = 0
    first, second = (networks().fit(x, given).scores(x) for given in (label, other))
    np.testing.assert_allclose(first[:, 0], second[:, 0], rtol=1e-12)
    assert not np.allclose(first[:, 1], second[:, 1])


def test_separable_classes_are_learned_and_probabilities_sum_to_one():
    x = np.random.default_rng(2).normal(size=(60, 3))
    right = x[:, 0] > 0
    found = networks(epochs=100).fit(x, np.stack([~right, right], axis=1).astype(float))
    prob = found.predict_proba(x)
    np.testing.assert_allclose(prob.sum(axis=1), 1)
    assert (prob.argmax(axis=1) == right).mean() > 0.95


@pytest.mark.parametrize(
    "wrong", [{"hidden": 0}, {"epochs": 1.5}, {"batch_size": True}, {"learning_rate": 0.0}]
)
def test_settings_are_checked(wrong):
    with pytest.raises(bc.InputError, match=next(iter(wrong))):
        SgdSettings(**wrong)
