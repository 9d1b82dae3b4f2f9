import numpy as np
import pytest

from bayescal.core.errors import InputError
from bayescal.quantities.ssme.data import panel_of
from bayescal.quantities.ssme.imputed_labels import majority_vote, vote_shares
from tests.quantities.ssme.baselines.made import simulated, stacked


def test_shares_are_those_counted_by_hand():
    scores, y = simulated(n_classes=3, n_classifiers=4)
    panel = panel_of(scores)
    weight = [sum(panel.probs[m, i].argmax() == y[i] for i in range(40)) / 40 for m in range(4)]
    found = vote_shares(panel)
    for i in range(panel.n_obs):
        expected = np.zeros(3)
        for m in range(4):
            expected[panel.probs[m, i].argmax()] += weight[m] / sum(weight)
        np.testing.assert_allclose(found[i], expected, rtol=1e-12, atol=1e-15)


def binary(score):
    score = np.asarray(score)
    return np.stack([1 - score, score], axis=-1)


def test_a_classifier_that_is_never_right_has_no_vote():
    probs = binary([[0.1, 0.9, 0.9], [0.9, 0.1, 0.1]])
    found = majority_vote(stacked(probs, [0, 1, None]))
    np.testing.assert_array_equal(found.accuracy, [1, 0])


def test_readings_differ_where_votes_are_split():
    # Right on two, one and one of two labels: half of the votes for the fourth row are the first's.
    probs = binary([[0.1, 0.9, 0.1], [0.1, 0.1, 0.9], [0.9, 0.9, 0.1]])
    scores = stacked(probs, [0, 1, None])
    # The third row: 0 has 3/4 of the votes.
    np.testing.assert_allclose(majority_vote(scores).accuracy, [1, 1 / 3, 2 / 3])
    soft = majority_vote(scores, reading="soft")
    np.testing.assert_allclose(soft.accuracy, [2.75 / 3, 1.25 / 3, 1.75 / 3])
    drawn = majority_vote(scores, reading="drawn", n_draws=20_000)
    np.testing.assert_allclose(drawn.accuracy, soft.accuracy, atol=0.006)  # standard error .001


def test_votes_by_threshold_are_for_every_class_above_its_share():
    probs = np.array([[[0.5, 0.4, 0.1], [0.8, 0.1, 0.1]], [[0.2, 0.3, 0.5], [1 / 3, 1 / 3, 1 / 3]]])
    panel = panel_of(stacked(probs, [0, None]))
    # Only the first classifier is right; equal probabilities leave the most probable class.
    found = vote_shares(panel, "threshold")
    np.testing.assert_allclose(found, [[0.5, 0.5, 0], [1, 0, 0]])
    two = panel_of(simulated(n_classes=2)[0])
    np.testing.assert_allclose(vote_shares(two, "threshold"), vote_shares(two), rtol=1e-12)
    with pytest.raises(InputError, match="votes must be one of"):
        majority_vote(stacked(probs, [0, None]), votes="all")


def test_weights_that_are_all_zero_are_refused():
    with pytest.raises(InputError, match="got 0 for all 2 on 2 rows"):
        majority_vote(stacked(binary([[0.9, 0.1, 0.5]] * 2), [0, 1, None]))
