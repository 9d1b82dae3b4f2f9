"""``--prior`` in words to the Priors of ``ssme``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayescal.core.errors import InputError

if TYPE_CHECKING:
    from bayescal.quantities.ssme.priors import LabelPrior, Priors


def ssme_priors_from_text(text: str) -> Priors:
    """Read a prior of the labels given several classifiers' scores."""
    from bayescal.quantities.ssme.priors import Priors

    word, colon, power = text.strip().casefold().partition(":")
    model = _label_prior(word.strip())
    if model is None or (colon and _number(power) is None):
        raise InputError(
            "--prior must be agreement, mean, gaussian or student-t, each with or without "
            f":POWER; got {text!r}."
        )
    number = _number(power)
    return Priors(model) if number is None else Priors(model, power=number)


def _label_prior(word: str) -> LabelPrior | None:
    from bayescal.quantities.ssme.priors import (
        OPINION_POOLS,
        GaussianMixture,
        StudentTMixture,
        Tilt,
    )

    if word in OPINION_POOLS:
        return Tilt(opinion_pool=word)
    if word == "gaussian":
        return GaussianMixture()
    return StudentTMixture() if word == "student-t" else None


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
