"""``--class-prior`` and ``--label-rate`` in words to the Priors of ``pu_ece``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayescal.core.errors import InputError

if TYPE_CHECKING:
    from bayescal.core.priors import Beta
    from bayescal.quantities.pu_ece.data import PUScores
    from bayescal.quantities.pu_ece.priors import Priors


def pu_priors_from_text(class_prior: str, label_rate: str, data: PUScores) -> Priors:
    """Read the priors of PU-ECE."""
    from bayescal.quantities.pu_ece.priors import IndependentBins, MixtureBins, Priors

    share = _class_prior(class_prior.strip().casefold(), class_prior, data)
    if label_rate == "mixture":
        return Priors(share, MixtureBins())
    if label_rate == "independent":
        return Priors(share, IndependentBins())
    return Priors(share)


def _class_prior(word: str, text: str, data: PUScores) -> float | Beta:
    from bayescal.core.priors import Beta, prior_from_string
    from bayescal.quantities.pu_ece.class_prior import estimate_class_prior

    if word == "estimate":
        return estimate_class_prior(data.select(data.classifiers[0])).prior
    if word.startswith("beta:") and isinstance(found := prior_from_string(word), Beta):
        return found
    try:
        return float(word)
    except ValueError:
        raise InputError(
            f"--class-prior must be beta:A,B, a number in (0, 1) or estimate; got {text!r}."
        ) from None
