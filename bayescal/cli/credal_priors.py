"""``--prior`` in words to the Priors of ``credal``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayescal.core.errors import InputError

if TYPE_CHECKING:
    from bayescal.quantities.credal.priors import Priors

_WEIGHT = "s="


def credal_priors_from_text(text: str, s: float = 1.0) -> Priors:
    """Read a prior of the probability of the label given the score."""
    from bayescal.quantities.credal.priors import (
        ImpreciseDirichlet,
        IncrementIsotonic,
        MonotoneCurve,
        Priors,
    )

    head, comma, weight = (part.strip() for part in text.casefold().partition(","))
    word, colon, bins = (part.strip() for part in head.partition(":"))
    if comma and not weight.startswith(_WEIGHT):
        raise _refusal(text)
    try:
        number = float(weight.removeprefix(_WEIGHT)) if comma else s
        size = {"bins": int(bins)} if colon else {}
    except ValueError:
        raise _refusal(text) from None
    if word == "curve" and not colon:
        return Priors(MonotoneCurve(s=number))
    if word == "steps":
        return Priors(IncrementIsotonic(s=number, **size))
    if word == "bins":
        return Priors(ImpreciseDirichlet(s=number, **size))
    raise _refusal(text)


def _refusal(text: str) -> InputError:
    return InputError(
        "--prior must be curve, steps, steps:BINS, bins or bins:BINS, each with or without "
        f",s=NUMBER; got {text!r}."
    )
