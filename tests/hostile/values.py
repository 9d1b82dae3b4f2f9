"""Values that are wrong, or nearly right, where an array, a number or a word belongs."""

from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

# Numbers at which code breaks; all are floats, as a user's own mistake may make them.
FLOATS = (
    *(0.0, -0.0, 1.0, 0.5, 0.9, 0.25, 1e-300, 5e-324, 1e-12, 1 - 1e-16, 1 - 1e-12, 1 + 1e-15),
    *(-1.0, 2.0, 37.5, 1e6, 1e300, -1e300, float("nan"), float("inf"), float("-inf")),
)
UNIT = (0.0, 1.0, 0.5, 0.1, 0.25, 0.3, 0.7, 0.9, 1e-300, 1e-9, 1 - 1e-16, 1 - 1e-9, 5e-324)
INTS = (0, 1, 2, 3, 5, 10, 15, -1, 30, 1000)
WORDS = ("", "a", "b", "vit", "1", "NaN", "\ud800", "<b>", "\x00", "é" * 40, "tce", "ece", "log")
CHOICES = {
    "by": ("predicted", "true"),
    "closed": ("left", "right"),
    "correction": ("max", "abs"),
    "ece": (None, "bins", "debiased"),
    "labeling": ("random", "selected"),
    "loss": ("log", "brier", "logistic", "nll", "sigmoid"),
    "multiclass": ("top-label", "class-wise", "marginal"),
    "reading": ("hard", "soft", "drawn"),
    "guess": ("self", "ensemble"),
    "measure": ("e90", "slope", "brier", "net_benefit:.3", "net_benefit", "cost:.2,5", "e99"),
    "metric": ("accuracy", "ece", "auc"),
    "scale": ("logits", "probabilities"),
    "strategy": ("quantile", "uniform"),
    "var": ("ece", "tce", "accuracy", "prob", "c", "e90", "auc", "net_benefit:.3"),
}


def arrays() -> st.SearchStrategy[Any]:
    """Anything that may be handed in where an array belongs."""
    numbers = st.lists(st.sampled_from(FLOATS), max_size=6)
    return st.one_of(
        numbers,
        numbers.map(np.array),
        numbers.map(_single),
        numbers.map(lambda rows: np.array(rows)[:, None]),
        numbers.map(lambda rows: np.array([rows, rows])),
        numbers.map(lambda rows: np.array(rows)[::-1]),
        numbers.map(lambda rows: np.ma.masked_invalid(np.array(rows))),
        numbers.map(pd.Series),
        st.lists(st.sampled_from([0, 1, 2, -1, 2**62, 2**70]), max_size=6),
        st.lists(st.sampled_from([0, 1, 1, None, "1", "yes", True, float("nan")]), max_size=6),
        st.lists(st.sampled_from(WORDS), max_size=4),
        st.lists(numbers, max_size=3),
        st.lists(st.binary(max_size=2), max_size=3),
        st.lists(st.complex_numbers(max_magnitude=2), max_size=3),
        st.sampled_from(
            [None, 0.5, 1, True, "words", b"\xff", {}, {"a": [0.1]}, object(), set(), range(3)]
        ),
        st.sampled_from(
            [
                np.array(0.5),
                np.zeros((0, 2)),
                np.zeros((2, 0)),
                np.zeros((2, 2, 2)),
                np.array([0.1, 0.9], dtype=object),
                np.array([[0.1], None], dtype=object),
                np.array(["2020-01-01"], dtype="datetime64[D]"),
                np.array([(1, 2.0)], dtype=[("a", int), ("b", float)]),
                np.array([1 + 2j]),
                np.array([True, False]),
                np.array([0, 255], dtype=np.uint8),
                np.array([np.iinfo(np.int64).min, 1]),
                np.full(3, np.nan),
                np.float16([0.1, 0.9]),
                pd.Categorical(["a", "b"]),
                pd.Series([0.1, None], dtype="Float64"),
            ]
        ),
    )


def _single(rows: list[float]) -> Any:
    with np.errstate(over="ignore"):
        return np.array(rows, dtype=np.float32)


def scores(n: int) -> st.SearchStrategy[Any]:
    """Scores of n rows."""
    return st.lists(st.sampled_from(UNIT), min_size=n, max_size=n).map(np.array)


def labels(n: int, k: int = 2) -> st.SearchStrategy[Any]:
    """Labels of n rows."""
    return st.lists(st.integers(0, k - 1), min_size=n, max_size=n).map(np.array)


def tables(n: int, k: int) -> st.SearchStrategy[Any]:
    """Probabilities of k classes in n rows."""
    row = st.lists(st.integers(0, 5), min_size=k, max_size=k).map(_shares)
    return st.lists(row, min_size=n, max_size=n).map(lambda rows: np.array(rows).reshape(n, k))


def _shares(counts: list[int]) -> Any:
    whole = np.array(counts, dtype=float)
    return whole / whole.sum() if whole.sum() else np.full(len(counts), 1 / len(counts))


def maybe(draw: st.DrawFn, strategy: st.SearchStrategy[Any]) -> Any:
    """Mostly what is right, one time in ten something hostile."""
    return draw(arrays()) if draw(st.integers(0, 9)) == 0 else draw(strategy)
