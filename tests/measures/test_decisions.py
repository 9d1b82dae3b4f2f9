"""Net benefit and costs: their definitions on rows."""

import numpy as np
import pytest

from tests.measures.curves import SEEDS, curve, rows, value


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("threshold", [0.05, 0.25, 0.8])
def test_net_benefit_and_cost_of_rows(threshold, seed):
    cells = curve(seed)
    label, score, weight = rows(*cells)
    called = score >= threshold
    odds = threshold / (1 - threshold)
    hits, false = weight[called & (label == 1)].sum(), weight[called & (label == 0)].sum()
    missed, share = weight[~called & (label == 1)].sum(), weight[label == 1].sum()
    for name, expected in {
        f"net_benefit:{threshold}": hits - false * odds,
        f"net_benefit_all:{threshold}": share - (1 - share) * odds,
        f"cost:{threshold}": false + missed,
        f"cost:{threshold},2,5": 2 * false + 5 * missed,
    }.items():
        assert value(name, *cells) == pytest.approx(expected, abs=1e-12), name


def test_net_benefit_of_treating_all_is_that_of_a_threshold_below_all_scores():
    rate, score, mass = curve(3)
    low = np.full_like(score, 0.9)
    assert value("net_benefit:0.25", rate, low, mass) == pytest.approx(
        value("net_benefit_all:0.25", rate, low, mass), abs=1e-12
    )
