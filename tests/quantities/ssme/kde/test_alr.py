"""Log ratios against scipy, and at probabilities of exactly 0 and 1."""

import numpy as np
import pytest
from scipy.special import logit, softmax

from bayescal.quantities.ssme.kde import alr


def test_binary_is_the_log_odds():
    s = np.random.default_rng(1).uniform(0.01, 0.99, (3, 20))
    np.testing.assert_allclose(alr(np.stack([1 - s, s], axis=-1)), logit(s).T, atol=1e-12)


@pytest.mark.parametrize(("reference", "place"), [("first", 0), ("last", 3)])
def test_softmax_takes_it_back(reference, place):
    probs = np.random.default_rng(2).dirichlet(np.ones(4), (2, 10))
    ratios = alr(probs, reference).reshape(10, 2, 3)
    logits = np.insert(ratios, place, 0, axis=2)
    np.testing.assert_allclose(softmax(logits, axis=2).transpose(1, 0, 2), probs, atol=1e-12)


def test_exact_0_and_1_are_clipped_and_keep_their_order():
    s = np.array([0.0, 1e-7, 1e-5, 0.5, 1 - 1e-5, 1.0])
    z = alr(np.stack([1 - s, s], axis=-1)[np.newaxis], epsilon=1e-6)[:, 0]
    edge = logit(1e-6)
    np.testing.assert_allclose(z, [edge, edge, logit(1e-5), 0, -logit(1e-5), -edge], atol=1e-9)


def test_the_reference_turns_signs_of_two_classes_and_distances_of_more():
    rng = np.random.default_rng(3)
    two, three = rng.dirichlet(np.ones(2), (1, 5)), rng.dirichlet(np.ones(3), (1, 5))
    np.testing.assert_array_equal(alr(two, "last"), -alr(two, "first"))
    first, last = (alr(three, name) for name in ("first", "last"))
    # log p1/p3 = -log p3/p1, and log p2/p3 = log p2/p1 - log p3/p1.
    np.testing.assert_allclose(last, np.stack([-first[:, 1], first[:, 0] - first[:, 1]], axis=1))
    assert not np.isclose(np.linalg.norm(first[0] - first[1]), np.linalg.norm(last[0] - last[1]))
