import numpy as np
import pytest

from bayescal.quantities.credal.sets.imprecision import imprecision
from tests.quantities.credal.made import random_bounds


def test_nothing_known_and_everything_known():
    vacuous = imprecision(np.zeros(4), np.ones(4))
    assert vacuous.mean_width == vacuous.max_width == 1
    assert vacuous.upper_entropy == pytest.approx(np.log(4), rel=1e-14)
    single = imprecision([0.5, 0.25, 0.25], [0.5, 0.25, 0.25])
    assert single.mean_width == single.max_width == 0
    assert single.upper_entropy == pytest.approx(1.5 * np.log(2), rel=1e-14)


def test_widths_are_those_that_members_reach():
    # The first class cannot exceed 1 - .4.
    found = imprecision([0.2, 0.4], [1.0, 0.7])
    assert found.max_width == pytest.approx(0.3, abs=1e-15)


def test_no_member_has_a_larger_entropy():
    rng = np.random.default_rng(0)
    lower, upper = random_bounds(20, 3, 1)
    found = imprecision(lower, upper)
    members = rng.dirichlet(np.ones(3), 20_000)
    entropy = -(members * np.log(members)).sum(axis=1)
    for row in range(20):
        inside = ((members >= lower[row]) & (members <= upper[row])).all(axis=1)
        if inside.any():
            assert entropy[inside].max() <= found.upper_entropy[row] + 1e-12


def test_wider_bounds_are_more_imprecise():
    lower, upper = random_bounds(200, 4, 2)
    narrow = imprecision(lower, upper)
    wide = imprecision(lower / 2, (1 + upper) / 2)
    for one, two in zip(narrow, wide, strict=True):
        assert (one <= two + 1e-14).all()
