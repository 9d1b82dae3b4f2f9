"""c_2 of three classes against random half-planes and against two classes."""

import numpy as np
import pytest

from bayescal.core.errors import InputError
from bayescal.quantities.agnostic.intervals import interval_measure
from bayescal.quantities.agnostic.theory import half_plane_measure


def drawn(seed, n=12, decimals=None):
    rng = np.random.default_rng(seed)
    prob = rng.dirichlet([1, 1, 1], n)
    if decimals is not None:
        prob = rng.integers(0, 3, (n, 3)) + 1e-9
        prob = prob / prob.sum(axis=1, keepdims=True)
    return prob, rng.integers(3, size=n)


def over_directions(prob, label, directions):
    """Half-planes of many directions, each with every place for its border."""
    surplus = prob - np.eye(3)[label]
    most = 0.0
    for angle in np.linspace(0, 2 * np.pi, directions, endpoint=False):
        along = prob[:, :2] @ [np.cos(angle), np.sin(angle)]
        for end in along:
            for inside in (along >= end - 1e-12, along > end + 1e-12):
                most = max(most, np.abs(surplus[inside].sum(axis=0)).max())
    return most / len(prob)


@pytest.mark.slow
@pytest.mark.parametrize("decimals", [None, 1])
@pytest.mark.parametrize("seed", range(3))
def test_many_directions(seed, decimals):
    prob, label = drawn(seed, decimals=decimals)
    found = half_plane_measure(prob, label=label)
    searched = over_directions(prob, label, 720)
    # The search may miss a narrow angle, and never finds more than there is.
    assert found >= searched - 1e-12
    assert found == pytest.approx(searched, abs=0.02)


def test_one_class_that_never_occurs_leaves_prefixes():
    rng = np.random.default_rng(7)
    score = rng.random(30).round(1)
    label = (rng.random(30) < score).astype(int)
    prob = np.column_stack([1 - score, score, np.zeros(30)])
    prefixes = interval_measure(score, label=label).ks
    suffixes = interval_measure(1 - score, label=1 - label).ks
    assert half_plane_measure(prob, label=label) == pytest.approx(max(prefixes, suffixes))


def test_one_place_only():
    assert half_plane_measure([[0.5, 0.25, 0.25]] * 2, label=[0, 0]) == 0.5


@pytest.mark.parametrize(
    ("prob", "label", "message"),
    [
        ([[0.5, 0.5]], [0], "shape"),
        ([[0.5, 0.2, 0.2]], [0], "sum to 1"),
        ([[1.5, -0.25, -0.25]], [0], "lie in"),
        ([[0.5, 0.25, 0.25]], [3], "label must be 0, 1 or 2"),
        ([[0.5, 0.25, 0.25]], [0, 1], "same length"),
    ],
)
def test_bad_input(prob, label, message):
    with pytest.raises(InputError, match=message):
        half_plane_measure(prob, label=label)
