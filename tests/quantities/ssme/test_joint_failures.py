"""Rows on which every classifier is wrong."""

import numpy as np
import pytest

import bayescal as bc
from bayescal.quantities.ssme.next_rows import all_wrong, label_draws
from tests.quantities.ssme.made import binary
from tests.quantities.ssme.results import result_of


def test_by_loops():
    tree, made = result_of(n=60)
    found = all_wrong(tree, binary(n=60)[0])
    draws = label_draws(tree)
    for row in range(60):
        predicted = {int(p.argmax()) for p in made.panel.probs[:, row]}
        wrong = 1 - draws[:, row, list(predicted)].sum(axis=1)
        assert found.prob[row] == pytest.approx(wrong.mean(), abs=1e-6)
    assert found.rate.mean() == pytest.approx(found.prob.mean())
    known = made.rows
    expected = (made.panel.probs[:, known].argmax(axis=2) != made.labels).all(axis=0)
    np.testing.assert_array_equal(found.prob[known], expected)


def test_other_scores_are_refused():
    with pytest.raises(bc.InputError, match="those that were fitted: 60 rows of 2 classes"):
        all_wrong(result_of(n=60)[0], binary(n=50)[0])
