import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescal.quantities.credal.venn_abers.steps import venn_abers_steps


def pooled(count, positive):
    """Isotonic regression by pooling adjacent violators, in whole numbers; rounded once."""
    blocks = []
    for rows, labels in zip(count, positive, strict=True):
        blocks.append([int(rows), int(labels), 1])
        while len(blocks) > 1 and blocks[-2][1] * blocks[-1][0] >= blocks[-1][1] * blocks[-2][0]:
            right, left = blocks.pop(), blocks.pop()
            blocks.append([a + b for a, b in zip(left, right, strict=True)])
    return [labels / rows for rows, labels, scores in blocks for _ in range(scores)]


def with_one_more(count, positive):
    """p0 and p1 at each score, by two isotonic fits each."""
    found = []
    for place in range(len(count)):
        added = np.arange(len(count)) == place
        zero, one = (pooled(count + added, positive + y * added)[place] for y in (0, 1))
        found.append((zero, one))
    return np.array(found).T


def spread(steps, scores):
    return steps.value[np.searchsorted(steps.start, np.arange(scores), side="right") - 1]


@pytest.mark.slow
@given(
    st.lists(
        st.integers(1, 12).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))),
        min_size=1,
        max_size=25,
    )
)
def test_the_steps_are_two_isotonic_fits_to_the_last_bit(cells):
    count, positive = np.array(cells).T
    expected = with_one_more(count, positive)
    found = [spread(steps, len(count)) for steps in venn_abers_steps(count, positive)]
    assert np.array_equal(found, expected)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["perfect", "reversed", "convex", "smooth"])
def test_shapes_that_make_many_steps_or_few(kind):
    rng = np.random.default_rng(0)
    n = 300
    score = np.sort(rng.random(n))
    count = np.ones(n, int)
    positive = {
        "perfect": score > 0.5,
        "reversed": score < 0.5,
        "convex": np.arange(n),
        "smooth": rng.random(n) < score,
    }[kind].astype(int)
    if kind == "convex":
        count = np.full(n, n)
    expected = with_one_more(count, positive)
    p0, p1 = venn_abers_steps(count, positive)
    assert np.array_equal([spread(p0, n), spread(p1, n)], expected)
    for steps in (p0, p1):
        assert steps.start[0] == 0
        assert (np.diff(steps.start) > 0).all()
        assert (np.diff(steps.value) > 0).all()


def test_rates_that_barely_differ_are_told_apart():
    # One row more in 2**26: products of cumulated sums that differ in their last bits of 52.
    n = 1 << 26
    count, positive = np.array([n, n - 1]), np.array([n // 2, n // 2])
    expected = with_one_more(count, positive)
    found = [spread(steps, 2) for steps in venn_abers_steps(count, positive)]
    assert np.array_equal(found, expected)
