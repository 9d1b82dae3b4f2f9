"""How numbers and names are written, in tables, sentences and figures alike."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath
from typing import Any, Final

MISSING: Final = "–"
"""Shown where a number does not exist (an empty bin, a fit that was not made)."""
UNRELIABLE: Final = "Unreliable: a fit did not converge. "


def capital(text: str) -> str:
    """Begin with a capital, leaving the rest as it is."""
    return f"{text[0].upper()}{text[1:]}"


def decimals(low: float, high: float, *, least: int = 3, most: int = 6) -> int:
    """How many decimals show two significant digits of an interval's width."""
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


def ends(
    low: float | None,
    high: float | None,
    digits: int = 3,
    write: Callable[[float | None, int], str] = fixed,
) -> str:
    """Write an interval, by `error` one of an error."""
    if low is None or math.isnan(low):
        return MISSING
    return f"{write(low, digits)} to {write(high, digits)}"


def with_ends(mean: float, low: float, high: float, digits: int = 3) -> str:
    """Write a number with its interval."""
    return MISSING if math.isnan(mean) else f"{fixed(mean, digits)} ({ends(low, high, digits)})"


def error(value: float | None, digits: int = 3) -> str:
    """Write a calibration error, so that only one that is exactly 0 reads as 0."""
    if value is None or math.isnan(value):
        return MISSING
    if value == 0.0:
        return "0"
    text = fixed(value, digits)
    return f"< {fixed(10.0**-digits, digits)}" if float(text) == 0.0 else text


def probability(value: float | None) -> str:
    """Write a probability; one that would round to 0 or 1 is written as a bound."""
    if value is None or math.isnan(value):
        return MISSING
    if value < 0.001:
        return "< 0.001"
    if value > 0.999:
        return "> 0.999"
    return f"{value:.3f}" if value < 0.01 or value > 0.99 else f"{value:.2f}"


def relation(value: float) -> str:
    """Write a relation to a probability: "= 0.12", "< 0.001"."""
    text = probability(value)
    return text if text[0] in "<>" else f"= {text}"


def number(value: float) -> str:
    """Write an error in [0, 1] to the digits that matter."""
    if value == 0:
        return "0"
    if abs(value) < 0.00005:
        return "< 0.0001"
    return f"{value:.4f}" if abs(value) < 0.00995 else f"{value:.3f}"


def signed(value: float) -> str:
    """Write a difference of errors as `number` does, with its sign."""
    sign = "+" if value > 0 else "\N{MINUS SIGN}" if value < 0 else ""
    return sign + number(abs(value))


def in_words(number: str) -> str:
    """Put words for the signs of a number that is written as a bound."""
    return number.replace("< ", "below ").replace("> ", "above ")


def count(value: float | None) -> str:
    """Write a whole number with commas between thousands."""
    if value is None or not math.isfinite(value):
        return MISSING
    return f"{round(value):,}"


def counted(number: float, noun: str) -> str:
    """Write a number of things: "1 row", "2 rows"."""
    return f"{count(number)} {noun}" + ("" if number == 1 else "s")


def percent(value: float) -> str:
    """Write a share as a percentage, without decimals it does not need."""
    return f"{100 * value:.6g}%"


def several(names: Sequence[str]) -> str:
    """Join names with commas and a final "and"."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def plain(value: Any) -> Any:
    """Python's own values as JSON has them: paths as text, None for what is no number."""
    if isinstance(value, Mapping):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, PurePath):
        return str(value)
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def plain_records(frame: Any) -> list[dict[str, Any]]:
    """Rows of a data frame, its index first, as plain values."""
    return [plain(row) for row in frame.reset_index().to_dict("records")]


def row_count(n: float | None, effective_n: float | None = None) -> str:
    """Write a number of rows, with the effective number where they have weights."""
    return count(n) if effective_n is None else f"{count(n)} ({count(effective_n)})"


def labelled_rows(attrs: Mapping[Any, Any]) -> str:
    """Say how many rows have labels, and how many have none, are targets or known positives."""
    if "n_positive" in attrs:
        unlabelled = counted(int(attrs["n_unlabeled"]), "unlabelled row")
        return f"{counted(int(attrs['n_positive']), 'positive')}, {unlabelled}"
    labelled = int(attrs.get("n_labeled", attrs.get("n_obs", 0)))
    if "n_target" in attrs:
        targets = counted(int(attrs["n_target"]), "target row")
        return f"{counted(labelled, 'labelled row')}, {targets}"
    without = int(attrs.get("n_obs", labelled)) - labelled
    effective = attrs.get("effective_n")
    rest = "" if effective is None else f" (effective number {count(effective)})"
    rest += f", {count(without)} without" if without > 0 else ""
    return counted(labelled, "labelled row") + rest
