"""Numbers in words: no digit that means nothing, no rounding to certainty."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescal.core.text import (
    count,
    decimals,
    error,
    fixed,
    number,
    percent,
    probability,
    relation,
    several,
    signed,
)


@given(st.floats(0, 1), st.floats(1e-5, 1))
def test_decimals_show_two_digits_of_the_width(low: float, width: float) -> None:
    digits = decimals(low, low + width)
    assert 3 <= digits <= 6
    assert round(low + width - low, digits) >= 10 * 10.0**-digits or digits == 6
    assert digits == 3 or (low + width - low) < 100 * 10.0**-digits


@pytest.mark.parametrize("ends", [(0.5, 0.5), (math.nan, 1.0), (0.0, math.inf)])
def test_decimals_of_no_width(ends: tuple[float, float]) -> None:
    assert decimals(*ends) == 3


@given(st.floats(0, 1))
def test_only_certainty_reads_as_certainty(value: float) -> None:
    text = probability(value)
    if text[0] == "<":
        assert value < 0.001
    elif text[0] == ">":
        assert value > 0.999
    else:
        assert float(text) == pytest.approx(value, abs=0.005 + 1e-9)
        assert 0 < float(text) < 1


@given(st.floats(0, 1))
def test_only_no_error_reads_as_none(value: float) -> None:
    text = error(value, 3)
    assert (text == "0") == (value == 0)
    if not text.startswith("<"):
        assert float(text) == pytest.approx(value, abs=0.0005 + 1e-9)


@pytest.mark.parametrize(
    ("value", "text"),
    [(-0.0123, "−0.012"), (-1e-9, "0.000"), (None, "–"), (math.nan, "–"), (math.inf, "∞")],
)
def test_fixed(value: float | None, text: str) -> None:
    assert fixed(value) == text


def test_missing_numbers_are_a_dash() -> None:
    assert {count(None), count(math.nan), error(None), probability(None)} == {"–"}


def test_percent_needs_no_decimals() -> None:
    assert [percent(p) for p in (0.9, 0.95, 0.975, 0.999)] == ["90%", "95%", "97.5%", "99.9%"]


@pytest.mark.parametrize(
    ("names", "text"),
    [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")],
)
def test_several(names: list[str], text: str) -> None:
    assert several(names) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.00571, "0.0057"), (0.00994, "0.0099"), (0.00996, "0.010"), (0.4567, "0.457")],
)
def test_number(value: float, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.05, "+0.050"),
        (-0.002, "\N{MINUS SIGN}0.0020"),
        (-3.7e-5, "\N{MINUS SIGN}4e-05"),
        (0.0, "0"),
    ],
)
def test_signed(value: float, text: str) -> None:
    assert signed(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "< 0.001"),
        (0.0042, "= 0.004"),
        (0.35, "= 0.35"),
        (0.9942, "= 0.994"),
        (1.0, "> 0.999"),
    ],
)
def test_relation_is_never_rounded_to_certainty(value: float, text: str) -> None:
    assert relation(value) == text
