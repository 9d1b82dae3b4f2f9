from __future__ import annotations

import pytest

from bayescal.plots.style import shorten
from bayescal.plots.wording import number, probability, signed


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.00571, "0.0057"), (0.00994, "0.0099"), (0.00996, "0.010"), (0.4567, "0.457")],
)
def test_number(value: float, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.05, "+0.050"), (-0.002, "\N{MINUS SIGN}0.0020"), (0.0, "0")]
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
def test_probability_is_never_rounded_to_certainty(value: float, text: str) -> None:
    assert probability(value) == text


def test_shorten_keeps_both_ends_and_one_line() -> None:
    name = "resnet50 augmented\nlabel-smoothing seed 17"
    assert shorten(name, 40) == "resnet50 augmented label-smoothing seed 17"[:19] + (
        "..." + "resnet50 augmented label-smoothing seed 17"[-18:]
    )
    assert len(shorten(name, 21)) == 21
    assert shorten("vit") == "vit"
