import numpy as np
import pytest
from scipy.optimize import linprog

from bayescal.quantities.credal.sets.intervals import is_proper
from tests.quantities.credal.made import random_bounds


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["proper", "above", "below"])
def test_a_set_is_proper_where_a_linear_programme_finds_a_member(kind):
    lower, upper = random_bounds(60, 4, 0, kind)
    found = is_proper(lower, upper)
    for row in range(len(lower)):
        bounds = np.stack([lower[row], upper[row]], axis=1)
        member = linprog(np.zeros(4), A_eq=np.ones((1, 4)), b_eq=[1], bounds=bounds)
        assert found[row] == member.success


def test_a_sum_of_exactly_one_leaves_one_member():
    assert is_proper([0, 0, 1], [0.2, 0.3, 1])
    assert is_proper([0.1, 0.2, 0.3], [0.25, 0.25, 0.5])
    assert is_proper([0.25, 0.75], [0.25, 0.75])


def test_rounding_of_a_sum_is_no_impropriety():
    # 0.1 seven times, 0.15 twice: sums to 1 but for the last place.
    lower = np.array([0.1] * 7 + [0.15] * 2)
    assert is_proper(np.nextafter(lower, 1), np.ones(9))
    assert not is_proper(lower + 1e-11, np.ones(9))


def test_all_bounds_from_zero_to_one_are_proper():
    assert is_proper(np.zeros((2, 5)), np.ones((2, 5))).all()
