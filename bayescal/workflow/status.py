"""One sentence on whether a result may be used, and what to do if not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from bayescal.core.health import MIN_ESS, REMEDY, problems
from bayescal.results.assemble import CaseResult


def status(results: Sequence[CaseResult], notes: Sequence[Iterable[str]]) -> str:
    """Put together what went wrong."""
    told: dict[str, list[str]] = {}
    for result, said in zip(results, notes, strict=True):
        name = ", ".join(result.coords.values()) or "all classifiers"
        for sentence in [*_of_fit(result), *said]:
            told.setdefault(sentence, []).append(name)
    return " ".join(f"{_names(names)}: {sentence}" for sentence, names in told.items()) or "ok"


def converged(results: Sequence[CaseResult]) -> bool:
    """Tell whether all fits converged."""
    return all(result.diagnostics["converged"] for result in results)


def _of_fit(result: CaseResult) -> list[str]:
    figures: Mapping[str, Any] = result.diagnostics
    found = []
    wrong = problems(figures)
    if wrong:
        found.append(f"the fit did not converge, {'; '.join(wrong)}. {REMEDY}")
    if figures["importance_ess"] < MIN_ESS:
        found.append(
            f"the probability of calibration rests on {figures['importance_ess']:.0f} effective "
            f"draws (at least {MIN_ESS} are asked). Do not rely on it or on the lower ends."
        )
    if np.any(figures["jump_flag"]):
        found.append(
            "the data favour a calibration curve that jumps, which the model smooths over. Its "
            "interval may miss; look at the bins, and try strategy='uniform' or more bins."
        )
    return found


def _names(names: list[str]) -> str:
    return (
        ", ".join(names) if len(names) <= 4 else f"{', '.join(names[:3])} and {len(names) - 3} more"
    )
