"""Numbers as the figures write them."""

from __future__ import annotations


def number(value: float) -> str:
    """Write an error or a probability in [0, 1] to the digits that matter.

    Parameters
    ----------
    value : float
        What to write.

    Returns
    -------
    str
        Three decimals, four below 0.01.

    Examples
    --------
    >>> number(0.0812), number(0.00571), number(0.0)
    ('0.081', '0.0057', '0')
    """
    if value == 0:
        return "0"
    return f"{value:.4f}" if abs(value) < 0.00995 else f"{value:.3f}"


def signed(value: float) -> str:
    """Write a difference of errors as `number` does, with its sign.

    Parameters
    ----------
    value : float
        What to write.

    Returns
    -------
    str
        With a plus or a true minus; 0 has neither.

    Examples
    --------
    >>> signed(0.0812), signed(-0.00571), signed(0.0)
    ('+0.081', '−0.0057', '0')
    """
    sign = "+" if value > 0 else "\N{MINUS SIGN}" if value < 0 else ""
    return sign + number(abs(value))


def probability(value: float) -> str:
    """Write a relation to a probability, never rounding it to certainty.

    Parameters
    ----------
    value : float
        In [0, 1].

    Returns
    -------
    str
        With its sign of relation: "= 0.60", "< 0.001", "> 0.999".

    Examples
    --------
    >>> probability(0.6), probability(1e-9), probability(0.9999)
    ('= 0.60', '< 0.001', '> 0.999')
    """
    if value < 0.001:
        return "< 0.001"
    if value > 0.999:
        return "> 0.999"
    return f"= {value:.3f}" if value < 0.01 or value > 0.99 else f"= {value:.2f}"
