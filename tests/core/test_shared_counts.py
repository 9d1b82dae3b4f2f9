"""Rows counted together add up in any parts, and stand for the rows that they are of."""

import numpy as np
import pytest

import bayescal as bc
from bayescal.core.sums import ZERO, SharedCounts, cell_of

NAMES = ("a", "b", "c", "d")


def rows(n, k=2, seed=0, spread=2.0, decimals=15):
    rng = np.random.default_rng(seed)
    z = rng.normal(0, spread, n)
    logit = z + rng.normal(0, 0.3, (k, n))
    score = (1 / (1 + np.exp(-logit))).round(decimals)
    return dict(zip(NAMES, score, strict=False)), rng.random(n) < 1 / (1 + np.exp(-z))


def same(one, other):
    assert (one.classifiers, one.shift) == (other.classifiers, other.shift)
    np.testing.assert_array_equal(one.key, other.key)
    np.testing.assert_array_equal(one.rows, other.rows)


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("n", [1000, 150_000])
def test_parts_in_any_order_are_the_whole(n, k):
    score, positive = rows(n, k)
    whole = SharedCounts.of_rows(score, positive)
    place = np.random.default_rng(1).integers(3, size=n)
    parts = []
    for part in (place == i for i in range(3)):
        own = {name: values[part] for name, values in score.items()}
        parts.append(SharedCounts.of_rows(own, positive[part]))
    same(parts[2].plus(parts[0]).plus(parts[1]), whole)
    same(parts[1].plus(parts[2].plus(parts[0])), whole)
    assert len(whole.key) <= 1 << 16
    assert whole.rows.sum() == n


def test_few_combinations_are_kept_as_they_are():
    score, positive = rows(3000, decimals=1)
    found = SharedCounts.of_rows(score, positive)
    cells = np.stack([cell_of(own) - ZERO for own in score.values()])
    expected, count = np.unique(np.vstack([cells, positive]), axis=1, return_counts=True)
    assert found.shift == 0
    order = np.lexsort([found.label, *found.place[::-1]])
    np.testing.assert_array_equal(np.vstack([found.place, found.label])[:, order], expected)
    np.testing.assert_array_equal(found.rows[order], count)


def test_rows_that_stand_for_all_have_their_scores_and_labels():
    score, positive = rows(20_000)
    scores = bc.Scores.stack(score, y_true=positive.astype(int))
    table = bc.Counts.from_scores(scores, pairs=True)
    for own, task in zip(score.values(), table.shared_tasks(), strict=True):
        assert task.n_positive == positive.sum()
        # Each row lies in its combination's cell, which is narrow.
        assert abs(np.sort(task.score) - np.sort(own)).max() < 0.02
    drawn = np.corrcoef(*(task.score for task in table.shared_tasks()))[0, 1]
    assert drawn == pytest.approx(np.corrcoef(*score.values())[0, 1], abs=1e-3)
    assert bc.CountTable(dict(table)).shared_tasks() == []


def test_parts_of_other_classifiers_are_refused():
    score, positive = rows(10)
    turned = SharedCounts.of_rows(dict(reversed(score.items())), positive)
    with pytest.raises(bc.InputError, match="must be of the same classifiers"):
        SharedCounts.of_rows(score, positive).plus(turned)
