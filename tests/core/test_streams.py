"""Places of draws in an average whose members have fewer draws than it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescal.core.streams import MOST_REPEATED, places


@given(
    blocks=st.integers(1, 60),
    repeats=st.sampled_from([1, 2, 4]),
    start=st.floats(0, 1),
    share=st.floats(0, 1),
    seed=st.integers(0, 99),
)
def test_no_draw_of_a_member_is_used_twice(blocks, repeats, start, share, seed):
    """Consecutive draws share one; a member of weight 1/r takes one of r, wherever it begins."""
    found = places(3, MOST_REPEATED * blocks, np.random.default_rng(seed))
    end = min(start + share / repeats, 1)
    taken = ((found >= start) & (found < end - 1e-12)).reshape(3, -1, repeats)
    assert taken.sum(axis=-1).max() <= 1


@pytest.mark.parametrize("draws", [1, 6, 15, 100, 1000])
def test_every_chain_has_as_many_as_the_weight_gives(draws):
    found = places(4, draws, np.random.default_rng(2))
    assert found.shape == (4, draws)
    for weight in (0.02, 0.3, 0.77):
        np.testing.assert_allclose((found < weight).sum(axis=1), weight * draws, atol=1)


def test_where_a_member_stands_says_nothing_of_when():
    """Means over parts of the chain are those of uniform places."""
    found = np.concatenate([places(4, 1000, np.random.default_rng(s)) for s in range(50)])
    for part in (found[:, :250], found[:, 750:], found[:, ::4], found[:, 3::4]):
        error = np.sqrt(1 / 12 / part.size)
        assert part.mean() == pytest.approx(0.5, abs=4 * error)
