"""Cases of data and which rows are held; bad input."""

import numpy as np
import pytest

import bayescal as bc
from bayescal.quantities.credal.data import FEWEST, MOST, held_rows
from tests.quantities.credal.made import binary, multiclass


def test_one_case_a_classifier():
    score = np.linspace(0.05, 0.95, 20)
    calibration = bc.Scores.stack({"a": score, "b": score**2}, y_true=np.arange(20) % 2)
    target = bc.Scores.stack({"a": [0.2, 0.4], "b": [0.3, 0.9]}, y_true=[0, 1])
    data = bc.CalibrationSplit(calibration=calibration, target=target)
    found = bc.credal.plan(data, bc.credal.Priors()).cases
    assert [case.coords["classifier"] for case in found] == ["a", "b"]
    assert found[0].model.compile_key == found[1].model.compile_key


def test_all_of_few_rows_are_held():
    assert held_rows(binary(target=MOST)).tolist() == list(range(MOST))


@pytest.mark.parametrize(
    ("data", "number"),
    [
        (binary(target=5000), MOST),
        (multiclass(target=900), MOST // 3),
    ],
)
def test_of_many_rows_evenly_spaced_ones_are_held(data, number):
    rows = held_rows(data)
    score = data.target.y_prob[0]
    score = score if score.ndim == 1 else score[:, -1]
    assert len(rows) == number >= FEWEST
    assert (np.diff(rows) > 0).all()
    assert {score.argmin(), score.argmax()} <= set(rows.tolist())


def test_results_say_what_was_fitted():
    priors = bc.credal.Priors()
    attrs = bc.credal.plan(multiclass(), priors).attrs
    assert attrs["n_labeled"] == 90
    assert attrs["n_target"] == attrs["n_held"] == 6
    assert attrs["multiclass"] == "one-vs-rest"
    assert bc.credal.plan(binary(), priors).attrs["multiclass"] == "binary"


def test_other_data_are_refused():
    with pytest.raises(bc.InputError, match="takes CalibrationSplit; got Scores"):
        bc.credal.plan(binary().calibration, bc.credal.Priors())
