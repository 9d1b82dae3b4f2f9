import numpy as np
import pytest

from bayescal.core.errors import InputError
from bayescal.quantities.ssme.data import panel_of
from bayescal.quantities.ssme.imputed_labels import check_labels, imputed_metrics
from bayescal.quantities.ssme.metrics import metrics
from tests.quantities.ssme.baselines.made import simulated, stacked, unlabeled


@pytest.fixture
def panel():
    return panel_of(simulated(n_classes=3)[0])


def uniform(panel):
    return np.full((panel.n_obs, panel.n_classes), 1 / panel.n_classes)


def test_with_all_labels_known_every_reading_is_their_metrics():
    scores, y = simulated(n_obs=60, n_labeled=60)
    panel = panel_of(scores)
    expected = metrics(panel.probs, np.eye(2)[y])
    for reading in ("hard", "soft", "drawn"):
        found = imputed_metrics(panel, uniform(panel), reading, n_draws=3)
        for ours, theirs in zip(found, expected, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_drawn_metrics_are_the_expectation_over_all_labelings():
    # Two labelled rows and four others: 16 labelings, each with its probability.
    score = np.array([0.1, 0.9, 0.3, 0.6, 0.7, 0.2])
    chance = np.array([0.2, 0.5, 0.9, 0.1])
    panel = panel_of(stacked([np.stack([1 - score, score], axis=1)], [0, 1, *[None] * 4]))
    prob = np.zeros((6, 2))
    prob[2:, 1], prob[2:, 0] = chance, 1 - chance
    expected = np.zeros(7)
    for number in range(16):
        label = (number >> np.arange(4)) & 1
        weight = np.prod(np.where(label == 1, chance, 1 - chance))
        one = metrics(panel.probs, np.eye(2)[[0, 1, *label]])
        expected += weight * np.concatenate(one)
    found = imputed_metrics(panel, prob, "drawn", n_draws=40_000, seed=3)
    # Metrics lie within [0, 3] and vary by some .2 between draws: .005 is five standard errors.
    np.testing.assert_allclose(np.concatenate(found), expected, atol=0.005)


def test_the_same_seed_gives_the_same_draws(panel):
    first, again = (imputed_metrics(panel, uniform(panel), "drawn", seed=4) for _ in range(2))
    for one, two in zip(first, again, strict=True):
        np.testing.assert_array_equal(one, two)


def test_labels_of_one_class_have_no_auc():
    score = np.full((1, 20, 2), 0.5)
    panel = panel_of(stacked(score, [1, *[None] * 19]))
    found = imputed_metrics(panel, np.tile([0.1, 0.9], (20, 1)), "hard")
    assert np.isnan(found.auc).all()
    assert np.isfinite(found.accuracy).all()
    # By chance some draws hold a label of the other class, and these are averaged.
    assert np.isfinite(imputed_metrics(panel, np.tile([0.1, 0.9], (20, 1)), "drawn").auc).all()


def test_options_outside_their_range_are_refused(panel):
    with pytest.raises(InputError, match="reading must be one of 'hard', 'soft', 'drawn'"):
        imputed_metrics(panel, uniform(panel), "mean")
    with pytest.raises(InputError, match="n_draws must be a whole number >= 1; got 0"):
        imputed_metrics(panel, uniform(panel), "drawn", n_draws=0)


def test_too_few_labels_are_refused():
    probs = np.full((1, 4, 2), 0.5)
    nothing = unlabeled(stacked(probs, [1, 1, None, None]))
    with pytest.raises(InputError, match=r"Vote needs a labelled row; none of 4 rows is labelled"):
        check_labels(nothing, "Vote")
    one = panel_of(stacked(probs, [1, 1, None, None]))
    check_labels(one, "Vote")
    with pytest.raises(InputError, match=r"Vote needs .* 2 classes or more; all 2 labels are 1"):
        check_labels(one, "Vote", classes=2)
