"""Nodes of a curve, and the curve between them."""

import numpy as np
import pytest
from scipy.special import expit, logit

from bayescal.quantities.credal.models.nodes import MOST, NODES, Nodes

HELD = np.array([0.1, 0.4, 0.8])


@pytest.mark.parametrize("held", [np.empty(0), HELD[:1], HELD, np.linspace(0.001, 0.999, MOST)])
def test_all_curves_have_as_many_nodes_in_order(held):
    nodes = Nodes.of(held)
    assert nodes.score.shape == (NODES,)
    line = nodes.score[: nodes.of_held(0)]
    assert (np.diff(line) >= 0).all()
    assert line[[0, -1]].tolist() == [0, 1]
    np.testing.assert_array_equal(nodes.score[nodes.of_held(0) :][: len(held)], held)


@pytest.mark.parametrize("slope", [1.0, 0.3, -2.0])
def test_a_line_in_logits_comes_back_at_any_score(slope):
    nodes = Nodes.of(HELD)
    rate = expit(0.5 + slope * logit(nodes.score.clip(1e-9, 1 - 1e-9)))[None]
    score = np.array([0.001, 0.05, 0.1, 0.25, 0.4, 0.9, 0.99])
    np.testing.assert_allclose(
        nodes.interpolated(rate, score)[0], expit(0.5 + slope * logit(score)), rtol=1e-6
    )


def test_scores_with_rows_and_those_of_0_and_1_have_rates_of_their_own():
    nodes = Nodes.of(HELD)
    rate = np.full((1, NODES), 0.5)
    rate[0, nodes.of_held(0) : nodes.of_held(3)] = [0.2, 0.3, 0.4]
    rate[0, [nodes.ends[0.0], nodes.ends[1.0]]] = [0.01, 0.99]
    score = np.array([0.0, 0.1, 0.11, 0.4, 0.8, 0.9, 1.0])
    found = nodes.interpolated(rate, score)[0]
    np.testing.assert_allclose(found, [0.01, 0.2, 0.5, 0.3, 0.4, 0.5, 0.99])
