"""How the report writes numbers: as many digits as the interval deserves, never a rounded lie."""

from __future__ import annotations

import math

MISSING = "–"
"""Shown where a number does not exist (an empty bin, a fit that was not made)."""


def decimals(low: float, high: float, *, least: int = 3, most: int = 6) -> int:
    """Return how many decimals show two significant digits of an interval's width.

    Parameters
    ----------
    low, high : float
        The ends of the interval.
    least, most : int
        The answer is kept between these.

    Returns
    -------
    int
        Number of digits after the decimal point.

    Examples
    --------
    >>> decimals(0.018, 0.047)
    3
    >>> decimals(0.00081, 0.00093)
    5
    """
    width = abs(high - low)
    if not math.isfinite(width) or width == 0.0:
        return least
    return min(max(1 - math.floor(math.log10(width)), least), most)


def fixed(value: float | None, digits: int = 3) -> str:
    """Write a number with a fixed number of decimals and a true minus sign.

    Parameters
    ----------
    value : float or None
        The number; ``None`` and NaN are written as a dash.
    digits : int
        Number of decimals.

    Returns
    -------
    str
        The number in words fit for running text.

    Examples
    --------
    >>> fixed(0.03142), fixed(None)
    ('0.031', '–')
    """
    if value is None or math.isnan(value):
        return MISSING
    if math.isinf(value):
        return "∞" if value > 0 else "\u2212∞"
    text = f"{value:.{digits}f}"
    if float(text) == 0.0:
        text = text.removeprefix("-")
    return text.replace("-", "\u2212")


def error(value: float | None, digits: int = 3) -> str:
    """Write a calibration error, so that only one that is exactly 0 reads as 0.

    Parameters
    ----------
    value : float or None
        The error, at least 0.
    digits : int
        Number of decimals.

    Returns
    -------
    str
        A small error is written as a bound.

    Examples
    --------
    >>> error(0.0), error(0.00004), error(0.0312)
    ('0', '< 0.001', '0.031')
    """
    if value is None or math.isnan(value):
        return MISSING
    if value == 0.0:
        return "0"
    text = fixed(value, digits)
    return f"< {fixed(10.0**-digits, digits)}" if float(text) == 0.0 else text


def in_words(number: str) -> str:
    """Put words for the signs of a number that is written as a bound.

    Parameters
    ----------
    number : str
        What `error` or `probability` wrote.

    Returns
    -------
    str
        The same for running text.

    Examples
    --------
    >>> in_words("< 0.001")
    'below 0.001'
    """
    return number.replace("< ", "below ").replace("> ", "above ")


def probability(value: float | None) -> str:
    """Write a probability; one that would round to 0 or 1 is written as a bound.

    Parameters
    ----------
    value : float or None
        The probability, in [0, 1].

    Returns
    -------
    str
        Two decimals in the middle, three near the ends.

    Examples
    --------
    >>> probability(0.4242), probability(0.9999), probability(1e-9)
    ('0.42', '> 0.999', '< 0.001')
    """
    if value is None or math.isnan(value):
        return MISSING
    if value < 0.001:
        return "< 0.001"
    if value > 0.999:
        return "> 0.999"
    return f"{value:.3f}" if value < 0.01 or value > 0.99 else f"{value:.2f}"


def count(value: float | None) -> str:
    """Write a whole number with commas between thousands.

    Parameters
    ----------
    value : float or None
        The number; it is rounded to a whole one.

    Returns
    -------
    str
        The number.

    Examples
    --------
    >>> count(1234567)
    '1,234,567'
    """
    if value is None or not math.isfinite(value):
        return MISSING
    return f"{round(value):,}"


def percent(value: float) -> str:
    """Write a share as a percentage, without decimals it does not need.

    Parameters
    ----------
    value : float
        The share, in [0, 1].

    Returns
    -------
    str
        The percentage.

    Examples
    --------
    >>> percent(0.9), percent(0.975)
    ('90%', '97.5%')
    """
    return f"{100 * value:.6g}%"


def several(names: list[str]) -> str:
    """Join names with commas and a final "and".

    Parameters
    ----------
    names : list of str
        What to join.

    Returns
    -------
    str
        The list in words.

    Examples
    --------
    >>> several(["a", "b", "c"])
    'a, b and c'
    """
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"
