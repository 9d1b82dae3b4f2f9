"""Numbers and words of bounds keep their names and their order."""

import math

from bayescal.core.quantity import Bound, bound_values, bound_words

BOUNDS = {
    "deviation": Bound(0.2, "of the error", "rows are independent"),
    "bias": Bound(math.inf, "of the mean", "scores have a density"),
}


def test_numbers_and_words_go_by_the_same_names() -> None:
    assert bound_values(BOUNDS) == {"deviation": 0.2, "bias": math.inf}
    assert bound_words(BOUNDS)["bias"] == {
        "kind": "of the mean",
        "assumption": "scores have a density",
    }
    assert list(bound_values(BOUNDS)) == list(bound_words(BOUNDS)) == list(BOUNDS)


def test_without_bounds_there_is_nothing() -> None:
    assert bound_values({}) == bound_words({}) == {}
