"""Fingerprints: equal for equal data, different for any difference."""

from itertools import combinations

import numpy as np
import pytest

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.workflow.many.fingerprint import fingerprint

DIFFERENT = [
    None,
    0,
    0.0,
    False,
    "0",
    b"0",
    [],
    [0],
    (0,),
    ["a", "bc"],
    ["ab", "c"],
    {"a": 0},
    {"a": [0]},
    np.array([0]),
    np.array([0.0]),
    np.array([[0]]),
    np.array([0], dtype=np.int32),
    np.array([0, 0]),
    np.array(["a"]),
    np.array(["a", None], dtype=object),
    bc.Scores(y_true=[0, 1], y_prob=[0.1, 0.9]),
    bc.Scores(y_true=[1, 0], y_prob=[0.1, 0.9]),
    bc.Scores(y_true=[1, 0], y_prob=[0.9, 0.1]),
    bc.Scores(y_true=[0, 1], y_prob=[0.1, 0.9], classifier="b"),
    bc.Scores(y_true=[0, 1], y_prob=[0.1, 0.9], group=[0, 1]),
    bc.PUScores(positive=[0.1], unlabeled=[0.9]),
    bc.PUScores(positive=[0.9], unlabeled=[0.1]),
]


def test_every_difference_shows() -> None:
    prints = [fingerprint(value) for value in DIFFERENT]
    for (one, mine), (other, theirs) in combinations(zip(DIFFERENT, prints, strict=True), 2):
        assert mine != theirs, (one, other)


def test_memory_layout_does_not() -> None:
    values = np.arange(6.0).reshape(2, 3)
    assert fingerprint(values) == fingerprint(np.asfortranarray(values))
    assert fingerprint(values[:, ::2]) == fingerprint(values[:, ::2].copy())


def test_what_cannot_be_pickled_is_refused() -> None:
    with pytest.raises(InputError, match="data must be made of arrays, numbers and words"):
        fingerprint({"a": lambda: 0})
