"""How to sample: checked once."""

import dataclasses
import json

import numpy as np
import pytest

from bayescal.core.errors import InputError
from bayescal.workflow.sampling import Settings

GOOD = {
    "draws": 1000,
    "tune": 300,
    "chains": 4,
    "target_accept": None,
    "seed": 1,
    "method": "nuts",
    "prob": 0.9,
}


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("draws", 3, "draws must be a whole number >= 4; got 3"),
        ("draws", 100.0, "draws must be a whole number >= 4; got 100.0"),
        ("tune", 0, "tune must be a whole number >= 1; got 0"),
        ("chains", 0, "chains must be a whole number >= 1; got 0"),
        ("seed", -5, "seed must be a whole number >= 0; got -5"),
        ("seed", "7", "seed must be a whole number >= 0; got '7'"),
        ("target_accept", 1.0, r"target_accept must be a number in \(0, 1\); got 1.0. Pass 0.8"),
        ("target_accept", float("nan"), r"target_accept must be a number in \(0, 1\); got nan"),
        ("prob", 90, r"prob must be a number in \(0, 1\); got 90"),
        ("prob", 0.0, r"prob must be a number in \(0, 1\); got 0.0"),
    ],
)
def test_what_cannot_be_sampled_is_refused(name, value, message):
    with pytest.raises(InputError, match=message):
        Settings(**{**GOOD, name: value})


def test_the_least_of_everything_serves():
    Settings(**{**GOOD, "draws": 4, "tune": 1, "chains": 1, "seed": 0, "target_accept": 0.5})


def test_numpys_whole_numbers_are_whole_numbers():
    made = Settings(**{**GOOD, "draws": np.int64(500), "seed": np.uint32(7)})
    assert made == Settings(**{**GOOD, "draws": 500, "seed": 7})
    assert json.loads(json.dumps(dataclasses.asdict(made)))["seed"] == 7


def test_a_seed_given_is_kept_and_one_not_given_is_drawn():
    assert Settings(seed=0).seed == 0
    drawn = {Settings().seed for _ in range(5)}
    assert len(drawn) == 5
    assert all(0 <= seed < 2**31 for seed in drawn)


def test_an_unknown_method_is_refused():
    with pytest.raises(InputError, match="method must be one of 'nuts', 'direct'; got 'vi'"):
        Settings(method="vi")
