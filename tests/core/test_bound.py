"""Numbers and words of bounds keep their names and their order."""

import math

from bayescal.core.bound import Bound, values_of, words_of

BOUNDS = {
    "deviation": Bound(0.2, "of the error", "rows are independent"),
    "bias": Bound(math.inf, "of the mean", "scores have a density"),
}


def test_numbers_and_words_go_by_the_same_names() -> None:
    assert values_of(BOUNDS) == {"deviation": 0.2, "bias": math.inf}
    assert words_of(BOUNDS)["bias"] == {
        "kind": "of the mean",
        "assumption": "scores have a density",
    }
    assert list(values_of(BOUNDS)) == list(words_of(BOUNDS)) == list(BOUNDS)


def test_without_bounds_there_is_nothing() -> None:
    assert values_of({}) == words_of({}) == {}
