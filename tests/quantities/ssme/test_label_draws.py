"""Averages over label draws against sums over all labels."""

import numpy as np
import pytest

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.quantities.ssme.label_draws import expected_metrics
from bayescal.quantities.ssme.metrics import metrics
from bayescal.quantities.ssme.panel import panel_of


@pytest.fixture
def panel():
    score = np.array([0.1, 0.3, 0.45, 0.7, 0.9])
    scores = {"a": score, "b": score[::-1] ** 2}
    return panel_of(bc.Scores.stack(scores, y_true=[0, *[None] * 4], group=list("uvuvu")))


PROB = np.array([[1, 0], [0.7, 0.3], [0.5, 0.5], [0.2, 0.8], [0.1, 0.9]])


def test_draws_average_to_the_sum_over_all_labels(panel):
    found = expected_metrics(panel, PROB, 20_000, np.random.default_rng(1))
    every = np.array(np.meshgrid(*[[0, 1]] * 5, indexing="ij")).reshape(5, -1).T
    chance = PROB[np.arange(5), every].prod(axis=1)
    cases = metrics(panel.probs, np.eye(2)[every])
    for name, value in cases._asdict().items():
        defined = np.isfinite(value[:, 0])
        weight = chance[defined] / chance[defined].sum()
        mean = weight @ value[defined]
        spread = np.sqrt(weight @ (value[defined] - mean) ** 2)
        # Five standard errors of the mean of 20000 draws.
        difference = np.abs(getattr(found, name) - mean)
        assert (difference <= 5 * spread / np.sqrt(20_000) + 1e-12).all(), name


def test_draws_in_blocks_are_the_same_draws(panel, monkeypatch):
    whole = expected_metrics(panel, PROB, 100, np.random.default_rng(2))
    monkeypatch.setattr("bayescal.quantities.ssme.label_draws._BLOCK", 70)
    parts = expected_metrics(panel, PROB, 100, np.random.default_rng(2))
    for one, two in zip(whole, parts, strict=True):
        np.testing.assert_allclose(one, two, rtol=0, atol=1e-12)


def test_without_draws_probabilities_are_labels(panel):
    found = expected_metrics(panel, PROB, None, np.random.default_rng(0))
    np.testing.assert_array_equal(found.auc, metrics(panel.probs, PROB).auc)


def test_groups(panel):
    found = expected_metrics(panel, PROB, 50, np.random.default_rng(3), by_group=True)
    assert found.accuracy.shape == (2, 2)


def test_a_metric_that_no_draw_has(panel):
    certain = np.tile([1.0, 0.0], (5, 1))
    found = expected_metrics(panel, certain, 10, np.random.default_rng(4))
    assert np.isnan(found.auc).all()
    assert np.isfinite(found.ece).all()


def test_too_few_draws(panel):
    with pytest.raises(InputError, match="n_draws must be at least 1"):
        expected_metrics(panel, PROB, 0, np.random.default_rng(0))
