"""What draws imply, against rows written out one by one."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from bayescal.core import functionals
from bayescal.quantities.agnostic.decisions import DecisionRule, actual_cost
from bayescal.quantities.agnostic.functionals import PrefixSums, cost_draws, draw_labels, roc_draws
from bayescal.quantities.agnostic.intervals import interval_measure
from bayescal.quantities.agnostic.roc import roc
from bayescal.results.bands import tpr_at

RULE = DecisionRule(
    {"keep": (5, 0), "review": (1, 1.5), "remove": (0, 3)},
    {"keep": (0, 0.25), "review": (0.25, 0.6), "remove": (0.6, 1)},
)


def cells(seed, n_cells=7, draws=5):
    """Whole numbers of positives and negatives in each cell, of several draws."""
    rng = np.random.default_rng(seed)
    score = np.sort(rng.random(n_cells))
    positive, negative = rng.integers(0, 6, (2, draws, n_cells)).astype(float)
    positive[:, 0] += 1
    negative[:, -1] += 1
    return score, positive, negative


def as_rows(score, positive, negative):
    """The rows that one draw's counts stand for."""
    times = np.concatenate([positive, negative]).astype(int)
    label = np.repeat([1, 0], len(score))
    return np.repeat(np.tile(score, 2), times), np.repeat(label, times)


@pytest.mark.parametrize("seed", range(20))
def test_every_functional_is_that_of_the_rows(seed):
    score, positive, negative = cells(seed)
    total = positive + negative
    size = total.sum(axis=-1)
    held = np.maximum(total, 1)
    mass, rate = total / size[:, None], positive / held
    c = functionals.interval_measure(mass, rate, score)
    both = PrefixSums.of(mass * (score - rate)).measures
    assert (both["c"] == c).all()
    cost = cost_draws(RULE, score, positive, negative)
    curves = roc_draws(positive, negative)
    for draw in range(len(positive)):
        rows, label = as_rows(score, positive[draw], negative[draw])
        expected = interval_measure(rows, label=label)
        assert (c[draw], both["ks"][draw]) == pytest.approx((expected.c, expected.ks), abs=1e-12)
        paid = actual_cost(RULE, rows, label=label)
        assert cost[draw] / size[draw] == pytest.approx(paid, abs=1e-12)
        assert curves.auc[draw] == pytest.approx(roc_auc_score(label, rows), abs=1e-12)
        points = roc(rows, probability=label)
        at = np.linspace(0, 1, 11)
        found = tpr_at(curves.fpr[[draw]], curves.tpr[[draw]], at)[0]
        np.testing.assert_allclose(found, np.interp(at, points.fpr, points.tpr), atol=1e-12)


@pytest.mark.parametrize("inner", [0, 1, 6])
def test_measures_with_two_more_cells_are_those_of_every_run_of_cells(inner):
    rng = np.random.default_rng(inner)
    summands = rng.normal(size=(3, 50, inner))
    before, after = rng.normal(size=(2, 3, 50))
    found = PrefixSums.of(summands).between(before, after).measures
    whole = np.concatenate([before[..., None], summands, after[..., None]], axis=-1)
    ends = range(inner + 3)
    runs = [np.abs(whole[..., a:b].sum(axis=-1)) for a in ends for b in ends[a:]]
    prefixes = [np.abs(whole[..., :b].sum(axis=-1)) for b in ends]
    np.testing.assert_allclose(found["c"], np.max(runs, axis=0), atol=1e-12)
    np.testing.assert_allclose(found["ks"], np.max(prefixes, axis=0), atol=1e-12)


def test_leading_axes_broadcast():
    _, positive, negative = cells(1, draws=6)
    shaped = roc_draws(positive.reshape(2, 3, -1), negative.reshape(2, 3, -1))
    assert shaped.auc.shape == (2, 3)
    flat = roc_draws(positive, negative)
    assert (shaped.tpr.reshape(flat.tpr.shape) == flat.tpr).all()


def test_no_row_of_one_label_leaves_no_curve():
    found = roc_draws(np.zeros((1, 3)), np.ones((1, 3)))
    assert np.isnan(found.auc).all()


def test_drawn_labels_have_the_rate():
    rng = np.random.default_rng(2)
    count, rate = np.array([0, 10, 1000]), np.array([0.5, 0.2, 0.7])
    positive, negative = draw_labels(count, np.broadcast_to(rate, (4000, 3)), rng)
    assert (positive + negative == count).all()
    error = 4 * np.sqrt(count * rate * (1 - rate) / 4000)
    assert (np.abs(positive.mean(axis=0) - count * rate) <= error).all()
