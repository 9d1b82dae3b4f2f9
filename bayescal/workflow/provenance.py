"""What a result says of itself: how it was made, and whether it may be used."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any

from bayescal._version import __version__
from bayescal.core.health import REMEDY, problems
from bayescal.core.quantity import Case, CaseArrays, Plan, Quantity
from bayescal.workflow.settings import Settings


def attributes(quantity: Quantity, plan: Plan, priors: Any, settings: Settings) -> dict[str, Any]:
    """Root attributes: all that is needed to make the result again, but for its status."""
    prints = "|".join(case.fingerprint() for case in plan.cases)
    direct = settings.method == "direct"
    return {
        "bayescal_version": __version__,
        "quantity": quantity.NAME,
        "result_kind": quantity.KIND,
        "title": quantity.TITLE,
        "estimand": quantity.ESTIMAND,
        "references": [reference._asdict() for reference in quantity.REFERENCES],
        "data_hash": f"sha256:{hashlib.sha256(prints.encode()).hexdigest()[:16]}",
        "classifiers": _classifiers(plan.cases),
        "priors": priors.to_json(),
        "prior_text": priors.describe(),
        "method": settings.method,
        "sampler": "direct, without NUTS" if direct else "nutpie NUTS",
        "sampler_version": __version__ if direct else version("nutpie"),
        "draws": settings.draws,
        "tune": settings.tune,
        "chains": settings.chains,
        "target_accept": settings.target_accept or plan.cases[0].model.target_accept,
        "seed": settings.seed,
        "prob": settings.prob,
        **plan.attrs,
    }


def status(found: Sequence[CaseArrays], warnings: Sequence[Iterable[str]]) -> str:
    """Say "ok", or name cases, problems and remedies."""
    by_sentence: dict[str, list[str]] = {}
    for arrays, said in zip(found, warnings, strict=True):
        name = ", ".join(arrays.coords.values()) or "all classifiers"
        for sentence in [*_of_fit(arrays.diagnostics), *arrays.warnings, *said]:
            by_sentence.setdefault(sentence, []).append(name)
    return " ".join(f"{_names(names)}: {text}" for text, names in by_sentence.items()) or "ok"


def converged(found: Sequence[CaseArrays]) -> bool:
    """Whether all fits converged."""
    return all(arrays.diagnostics["converged"] for arrays in found)


def _of_fit(figures: Mapping[str, Any]) -> list[str]:
    wrong = problems(figures)
    return [f"the fit did not converge, {'; '.join(wrong)}. {REMEDY}"] if wrong else []


def _names(names: list[str]) -> str:
    return (
        ", ".join(names) if len(names) <= 4 else f"{', '.join(names[:3])} and {len(names) - 3} more"
    )


def _classifiers(cases: Sequence[Case]) -> list[str]:
    """Classifiers of the cases, or those that a case answers for at once."""
    found = [case.axes.get("classifier") or (case.coords["classifier"],) for case in cases]
    return list(dict.fromkeys(name for names in found for name in names))
