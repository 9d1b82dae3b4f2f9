"""Random numbers by name, by the distribution functions of a table, and truths by name."""

import pickle

import numpy as np
import pytest

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.core.streams import count_not_above


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 57])
def test_counts_are_those_of_a_search_in_each_column(size):
    rng = np.random.default_rng(size)
    # Of few values, so that many are equal.
    table = np.sort(rng.integers(0, 9, (size, 5)).astype(float), axis=0)
    column, value = rng.integers(0, 5, (40, 3)), rng.integers(-1, 10, (40, 3)).astype(float)
    expected = [
        np.searchsorted(table[:, k], v, side="right")
        for k, v in zip(column.ravel(), value.ravel(), strict=True)
    ]
    assert count_not_above(table, column, value).ravel().tolist() == expected


@pytest.mark.parametrize("quantity", bc.datasets.__all__)
def test_a_truth_is_found_by_its_name_and_another_name_is_refused(quantity):
    simulator = getattr(bc.datasets, quantity)
    for name, truth in simulator.TRUTHS.items():
        assert simulator.truth(name) is truth
        assert truth.name == name
    with pytest.raises(InputError, match=f"{quantity}.simulator has no truth 'over-sure'"):
        simulator.truth("over-sure")


def test_the_look_up_is_a_function_of_the_simulator():
    truth = bc.datasets.ece.truth
    assert truth.__module__ == "bayescal.quantities.ece.simulator"
    assert pickle.loads(pickle.dumps(truth)) is truth
