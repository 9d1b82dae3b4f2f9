"""Root attributes of a result: all that is needed to make it again."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from bayescal._version import __version__
from bayescal.core.room import Case, Room
from bayescal.workflow.settings import Settings


def attributes(
    room: Room, cases: Sequence[Case], priors: Any, settings: Settings
) -> dict[str, Any]:
    """Collect what a result says of itself, but for status and what the data say."""
    prints = "|".join(case.fingerprint() for case in cases)
    sampler, version = ("exact, without NUTS", __version__) if settings.quick else _nuts()
    return {
        "bayescal_version": __version__,
        "quantity": room.NAME,
        "title": room.TITLE,
        "estimand": room.ESTIMAND,
        "references": [reference._asdict() for reference in room.REFERENCES],
        "data_hash": f"sha256:{hashlib.sha256(prints.encode()).hexdigest()[:16]}",
        "classifiers": _classifiers(cases),
        "priors": priors.to_json(),
        "prior_text": priors.describe(),
        "sampler": sampler,
        "sampler_version": version,
        "draws": settings.draws,
        "tune": settings.tune,
        "chains": settings.chains,
        "target_accept": settings.target_accept or cases[0].target_accept,
        "seed": settings.seed,
        "prob": settings.prob,
    }


def _classifiers(cases: Sequence[Case]) -> list[str]:
    """Classifiers of the cases, or those that a case answers for at once."""
    found = [case.axes.get("classifier") or (case.coords["classifier"],) for case in cases]
    return list(dict.fromkeys(name for names in found for name in names))


def _nuts() -> tuple[str, str]:
    from importlib.metadata import version

    return "nutpie NUTS", version("nutpie")
