"""A problem joined with its descriptions: which are sampled, and what is done with their draws."""

import numpy as np
import pytest

from bayescal.core.errors import InputError
from bayescal.curves.average import Average, member_model
from bayescal.curves.priors import CurveAverage
from bayescal.curves.smooth import BASIS
from tests.quantities.ece.made import of_counts

COUNTS = ([9, 20, 30, 10], [0, 3, 18, 9], [0.0, 0.2, 0.5, 0.7])


def made(**prior):
    return Average.of(of_counts(*COUNTS, [0, 0, 0.3, 0.6, 1]), CurveAverage(**prior), 0.5)


@pytest.mark.parametrize(
    ("prior", "names"),
    [
        ({}, ["smooth", "rough"]),
        ({"smooth": 0}, ["rough"]),
        ({"rough": 0}, ["smooth"]),
        ({"smooth": 0, "rough": 0}, []),
    ],
)
def test_nuts_samples_what_has_parameters(prior, names):
    assert list(made(**prior).members) == names


def test_members_hold_the_cells_between_0_and_1():
    for model in made().members.values():
        inputs = model.inputs()
        assert inputs["count"].sum() == 60
        assert inputs["positives"].sum() == 30


def test_draws_of_nuts_are_completed_with_what_is_drawn_exactly():
    average, rng = made(), np.random.default_rng(1)
    padded = {
        "coef": rng.standard_normal((2, 50, BASIS)),
        "z": rng.standard_normal((2, 50, 25)),
        "roughness": rng.random((2, 50)),
    }
    found = average.completed(padded, rng)
    size = average.basis.size
    np.testing.assert_array_equal(found["coef"], padded["coef"][..., :size])
    np.testing.assert_array_equal(found["z"], padded["z"][..., :3])
    assert found["shift"].shape == (2, 50, 3)
    assert found["boundary"].shape == (2, 50, 1)
    # Draws that are complete stay as they are.
    again = average.completed(found, rng)
    assert {
        name: id(values) for name, values in again.items() if name in ("boundary", "shift")
    } == {name: id(found[name]) for name in ("boundary", "shift")}


def test_direct_draws_have_what_completed_ones_have():
    average, rng = made(), np.random.default_rng(1)
    direct = average.direct_draws(100, rng).draws
    nuts = {
        "coef": np.zeros((1, 100, BASIS)),
        "z": np.zeros((1, 100, 25)),
        "roughness": np.ones((1, 100)),
    }
    completed = average.completed(nuts, rng)
    assert {name: values.shape for name, values in direct.items()} == {
        name: values.shape[1:] for name, values in completed.items()
    }


def test_without_a_description_to_sample_there_is_no_model():
    with pytest.raises(InputError, match=r"there is none\. Give one a weight"):
        member_model(made(smooth=0, rough=0).members)
