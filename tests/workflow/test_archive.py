"""Keys: seeds and file names that follow from them."""

import json

import numpy as np
import pytest

from bayescal.core.scores import Scores
from bayescal.workflow.archive import (
    check_key,
    difference,
    file_stem,
    fingerprint,
    from_json,
    order,
    plain_options,
    seed_of,
)
from bayescal.workflow.sampling import Settings


def test_an_option_that_is_no_number_is_the_same_again() -> None:
    one, other = ({"options": {"a": float("nan"), "b": b}} for b in (1, 1))
    assert difference(one, json.loads(json.dumps(other))) == ""
    assert difference(one, {"options": {"a": 0.5, "b": 1}}) == "other options"


def test_settings_and_options_of_numpy_are_those_of_python() -> None:
    assert plain_options({"n_bins": np.int64(5)}) == {"n_bins": 5}
    # Single precision's 0.9 is another number, which NumPy calls equal to Python's.
    settings = Settings(prob=np.float32(0.9), target_accept=np.float32(0.9))
    assert settings.prob == settings.target_accept == 0.8999999761581421 != 0.9


def test_numpy_keys_are_those_of_python() -> None:
    key = check_key((np.str_("a"), np.int64(3)))
    assert key == ("a", 3)
    assert [type(part) for part in key] == [str, int]


@pytest.mark.parametrize("key", ["a", 3, ("a", 3), ("a",), "\ud800", "a/b", ""])
def test_keys_come_back_from_json(key) -> None:
    assert from_json(json.loads(json.dumps(key))) == key


def test_different_keys_have_different_seeds_and_files() -> None:
    keys = ["1", 1, ("1",), (1,), "a", ("a", 1), ("a", "1"), "a/1", "é"]
    assert len({seed_of(0, key) for key in keys}) == len(keys)
    assert len({file_stem(key) for key in keys}) == len(keys)
    assert seed_of(1, "a") != seed_of(0, "a")


def test_a_seed_is_the_same_everywhere() -> None:
    # Written down once: another value would change the draws of every store.
    assert seed_of(20, ("north", 3)) == seed_of(20, ("north", 3)) < 2**53
    assert seed_of(0, "a") == 946_428_979_742_329


def test_order_is_that_of_numbers_and_words() -> None:
    assert sorted([10, 9, "b", "a", ("a", 10), ("a", 9)], key=order) == [
        9,
        10,
        "a",
        ("a", 9),
        ("a", 10),
        "b",
    ]


def test_logits_have_one_fingerprint_whether_their_probabilities_were_read_or_not():
    scores = Scores([0, 1, 2], np.eye(3), from_logits=True)
    before = fingerprint(scores)
    assert scores.y_prob.shape == (1, 3, 3)
    assert fingerprint(scores) == before
