"""How the report writes numbers: as many digits as the interval deserves, never a rounded lie."""

from __future__ import annotations

import math

MISSING = "–"
"""Shown where a number does not exist (an empty bin, a fit that was not made)."""


def decimals(low: float, high: float, *, least: int = 3, most: int = 6) -> int:
    """Return how many decimals show two significant digits of an interval's width."""
    width = abs(high - low)
    if not math.isfinite(width) or width == 0.0:
        return least
    return min(max(1 - math.floor(math.log10(width)), least), most)


def fixed(value: float | None, digits: int = 3) -> str:
    """Write a number with a fixed number of decimals and a true minus sign."""
    if value is None or math.isnan(value):
        return MISSING
    if math.isinf(value):
        return "∞" if value > 0 else "\u2212∞"
    text = f"{value:.{digits}f}"
    if float(text) == 0.0:
        text = text.removeprefix("-")
    return text.replace("-", "\u2212")


def error(value: float | None, digits: int = 3) -> str:
    """Write a calibration error, so that only one that is exactly 0 reads as 0."""
    if value is None or math.isnan(value):
        return MISSING
    if value == 0.0:
        return "0"
    text = fixed(value, digits)
    return f"< {fixed(10.0**-digits, digits)}" if float(text) == 0.0 else text


def in_words(number: str) -> str:
    """Put words for the signs of a number that is written as a bound."""
    return number.replace("< ", "below ").replace("> ", "above ")


def probability(value: float | None) -> str:
    """Write a probability; one that would round to 0 or 1 is written as a bound."""
    if value is None or math.isnan(value):
        return MISSING
    if value < 0.001:
        return "< 0.001"
    if value > 0.999:
        return "> 0.999"
    return f"{value:.3f}" if value < 0.01 or value > 0.99 else f"{value:.2f}"


def count(value: float | None) -> str:
    """Write a whole number with commas between thousands."""
    if value is None or not math.isfinite(value):
        return MISSING
    return f"{round(value):,}"


def percent(value: float) -> str:
    """Write a share as a percentage, without decimals it does not need."""
    return f"{100 * value:.6g}%"


def several(names: list[str]) -> str:
    """Join names with commas and a final "and"."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"
