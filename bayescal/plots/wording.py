"""Numbers as the figures write them."""

from __future__ import annotations


def number(value: float) -> str:
    """Write an error or a probability in [0, 1] to the digits that matter."""
    if value == 0:
        return "0"
    if abs(value) < 0.00005:
        return "< 0.0001"
    return f"{value:.4f}" if abs(value) < 0.00995 else f"{value:.3f}"


def signed(value: float) -> str:
    """Write a difference of errors as `number` does, with its sign."""
    sign = "+" if value > 0 else "\N{MINUS SIGN}" if value < 0 else ""
    return sign + number(abs(value))


def probability(value: float) -> str:
    """Write a relation to a probability, never rounding it to certainty."""
    if value < 0.001:
        return "< 0.001"
    if value > 0.999:
        return "> 0.999"
    return f"= {value:.3f}" if value < 0.01 or value > 0.99 else f"= {value:.2f}"
