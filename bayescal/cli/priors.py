"""``--prior`` in words to the quantity's Priors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayescal.core.errors import InputError

if TYPE_CHECKING:
    from bayescal.quantities.ece import Priors


def priors_from_text(text: str) -> Priors:
    """Read a prior of the label rates."""
    from bayescal.core.priors import Beta, prior_from_string
    from bayescal.quantities.ece import HierarchicalBins, IndependentBins, Priors, SmoothCurve

    word = text.strip().casefold()
    if word == "curve":
        return Priors()
    if word.startswith("curve:") and (scale := _number(word.removeprefix("curve:"))) is not None:
        return Priors(label_rate=SmoothCurve(scale=scale))
    if word == "hierarchical":
        return Priors(label_rate=HierarchicalBins())
    if word == "flat":
        return Priors(label_rate=IndependentBins(Beta(1, 1)))
    if word == "jeffreys":
        return Priors(label_rate=IndependentBins(Beta(0.5, 0.5)))
    if word.startswith("beta:") and isinstance(rate := prior_from_string(word), Beta):
        return Priors(label_rate=IndependentBins(rate))
    raise InputError(
        "--prior must be curve, curve:SCALE, hierarchical, flat, jeffreys or beta:A,B; "
        f"got {text!r}."
    )


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
