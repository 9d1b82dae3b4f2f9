"""Cells of labelled and of all rows, and what is refused."""

import numpy as np
import pytest

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.quantities.agnostic.data import checked_unlabeled, data_warnings, problems, rows_of
from tests.quantities.agnostic.made import RULE, rows


def test_cells_hold_all_rows_and_no_threshold_divides_one():
    scores = rows()
    found = problems(scores, None, "top-label", [RULE])[0]
    assert found.cells.n == 300
    assert found.labeled.cells.n == 200
    assert found.labeled.cells.positives.sum() == (scores.y_true == 1).sum()
    for threshold in RULE.thresholds:
        assert threshold in found.cells.edges
    every = scores.y_prob[0]
    below = found.cells.edges[1:] <= RULE.thresholds[0]
    assert found.cells.count[below].sum() == (every <= RULE.thresholds[0]).sum()
    assert found.unlabeled_count.sum() == 100
    assert (found.unlabeled_count <= found.cells.count).all()


def test_few_distinct_scores_are_a_cell_each():
    score = np.tile([0.1, 0.25, 0.7], 40)
    scores = bc.Scores(y_true=[0, 1, 1] * 40, y_prob=score)
    cells = problems(scores, None, "top-label", [RULE])[0].cells
    assert cells.mean_score[cells.count > 0] == pytest.approx([0.1, 0.25, 0.7])


def test_unlabelled_rows_from_both_places_count():
    scores = rows(n_unlabeled=10)
    more = checked_unlabeled(np.linspace(0, 1, 7), scores)
    found = problems(scores, more, "top-label", [])[0]
    assert found.figures.n_unlabeled == 17
    assert found.cells.n == 217


def test_classes_one_by_one():
    rng = np.random.default_rng(1)
    prob = rng.dirichlet([1, 1, 1], 30)
    label = [*rng.integers(3, size=20).tolist(), *[None] * 10]
    scores = bc.Scores(y_true=label, y_prob=prob)
    found = rows_of(scores, None, "class-wise", [])
    assert [one.task.coords["class"] for one in found] == ["0", "1", "2"]
    for place, one in enumerate(found):
        assert one.unlabeled == pytest.approx(scores.y_prob[0][20:, place])


@pytest.mark.parametrize(
    ("unlabeled", "message"),
    [
        ([], "unlabeled must have at least one row"),
        ([1.5], r"lie in \[0, 1\]"),
        (0.5, "unlabeled must be a column of values; got one float"),
        (bc.Scores(y_true=[None], y_prob=[0.5], classifier="other", classes=[0, 1]), "classifiers"),
    ],
)
def test_bad_unlabelled_rows(unlabeled, message):
    with pytest.raises(InputError, match=message):
        checked_unlabeled(unlabeled, rows())


def test_several_classifiers_need_their_names():
    panel = bc.Scores.stack({"a": [0.2, 0.7], "b": [0.3, 0.6]}, y_true=[0, 1])
    with pytest.raises(InputError, match="must be Scores where there are several"):
        checked_unlabeled([0.5], panel)
    more = bc.Scores.stack({"a": [0.5], "b": [0.6]}, y_true=[None], classes=[0, 1])
    found = rows_of(panel, checked_unlabeled(more, panel), "top-label", [])
    assert [one.unlabeled.tolist() for one in found] == [[0.5], [0.6]]


@pytest.mark.parametrize(
    ("score", "label", "sentence"),
    [
        ([0.2, 0.8], [1, 1], "all 2 labels are positive"),
        ([0.2, 0.8], [0, 0], "all 2 labels are negative"),
        ([0.4, 0.4], [0, 1], "all labelled rows have the score 0.4"),
    ],
)
def test_warnings(score, label, sentence):
    found = problems(bc.Scores(y_true=label, y_prob=score, classes=[0, 1]), None, "top-label", [])
    assert sentence in " ".join(data_warnings(found[0]))
