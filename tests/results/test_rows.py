"""Rows of a result: bounds, what they decide, and what stays open."""

import numpy as np
import pytest
import xarray as xr

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.results import access
from bayescal.results.rows import read_rows
from tests.synthetic_credal import make_credal_result


@pytest.fixture(scope="module")
def binary() -> xr.DataTree:
    return make_credal_result()


@pytest.fixture(scope="module")
def three() -> xr.DataTree:
    return make_credal_result(classes=("cat", "dog", "eel"))


def test_bounds_are_the_quantiles_of_credible_sets(binary: xr.DataTree, three: xr.DataTree) -> None:
    for tree in (binary, three):
        rows = read_rows(tree, access.cases(tree)[0], 0.8)
        found = bc.credal.credible_sets(tree, 0.8)
        # Of two classes a row is of the positive one.
        classes = slice(None) if tree is three else 1
        # The same quantiles of the same draws, up to the order of summation.
        assert rows.lower.squeeze() == pytest.approx(found.lower[..., classes], abs=1e-12)
        assert rows.upper.squeeze() == pytest.approx(found.upper[..., classes], abs=1e-12)


def test_decisions_are_those_of_credible_sets(binary: xr.DataTree, three: xr.DataTree) -> None:
    for tree in (binary, three):
        for prob in (0.5, 0.9, 0.99):
            rows = read_rows(tree, access.cases(tree)[0], prob)
            found = bc.credal.credible_sets(tree, prob)
            assert np.array_equal(rows.is_open, found.admissible)
            assert np.array_equal(rows.decision, found.decision)


def test_a_higher_probability_leaves_more_open(three: xr.DataTree) -> None:
    case = access.cases(three)[0]
    narrow, wide = (read_rows(three, case, prob) for prob in (0.5, 0.95))
    assert (wide.width >= narrow.width).all()
    assert (wide.is_open | ~narrow.is_open).all()
    assert (wide.n_open >= 1).all()


def test_one_class_stays_in_every_row_and_the_decision_is_among_those(three: xr.DataTree) -> None:
    rows = read_rows(three, access.cases(three)[0])
    assert rows.is_open[np.arange(len(rows.row)), rows.decision].all()
    assert rows.p_decision.sum(axis=1) == pytest.approx(1)
    assert (rows.p_admissible.sum(axis=1) >= 1 - 1e-12).all()


def test_shapes_of_both_kinds(binary: xr.DataTree, three: xr.DataTree) -> None:
    two, many = (read_rows(tree, access.cases(tree)[0]) for tree in (binary, three))
    assert (two.curves, two.classes) == (("yes",), ("no", "yes"))
    assert many.curves == many.classes == ("cat", "dog", "eel")
    assert two.median.shape == (30, 1)
    assert many.median.shape == (len(many.row), 3)
    assert two.p_improper.max() == 0
    point = binary["point_estimate"]
    assert np.array_equal(two.p0[:, 0], point["p0"].values)
    assert np.array_equal(two.merged[:, 0], point["prob"].values)


def test_a_probability_outside_the_unit_interval_is_refused(binary: xr.DataTree) -> None:
    with pytest.raises(InputError, match="prob must be a number in"):
        read_rows(binary, access.cases(binary)[0], 1.0)
