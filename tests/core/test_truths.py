"""The look-up of simulated truths by name."""

import pickle

import pytest

import bayescal as bc
from bayescal.core.errors import InputError


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
