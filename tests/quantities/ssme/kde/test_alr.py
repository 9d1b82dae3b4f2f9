"""Log ratios against scipy, and at probabilities of exactly 0 and 1."""

import numpy as np
from scipy.special import logit, softmax

from bayescal.quantities.ssme.kde.alr import alr


def test_binary_is_the_log_odds():
    s = np.random.default_rng(1).uniform(0.01, 0.99, (3, 20))
    np.testing.assert_allclose(alr(np.stack([1 - s, s], axis=-1)), logit(s).T, atol=1e-12)


def test_softmax_takes_it_back():
    probs = np.random.default_rng(2).dirichlet(np.ones(4), (2, 10))
    ratios = alr(probs).reshape(10, 2, 3)
    logits = np.concatenate([np.zeros((10, 2, 1)), ratios], axis=2)
    np.testing.assert_allclose(softmax(logits, axis=2).transpose(1, 0, 2), probs, atol=1e-12)


def test_exact_0_and_1_are_clipped_and_keep_their_order():
    s = np.array([0.0, 1e-7, 1e-5, 0.5, 1 - 1e-5, 1.0])
    z = alr(np.stack([1 - s, s], axis=-1)[np.newaxis], epsilon=1e-6)[:, 0]
    edge = logit(1e-6)
    np.testing.assert_allclose(z, [edge, edge, logit(1e-5), 0, -logit(1e-5), -edge], atol=1e-9)
