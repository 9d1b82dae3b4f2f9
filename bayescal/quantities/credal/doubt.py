"""What a reader must know of the calibration rows before believing the posterior."""

from __future__ import annotations

import numpy as np

from bayescal.quantities.credal.problem import Problem

# Standard errors by which the mean rank of labelled rows may lie below the middle.
_FALLS = 3.0


def doubts(problem: Problem, names: tuple[str, ...], *, rising: bool) -> list[str]:
    """Say what is missing in the labels, and whether they fall as the score rises."""
    found = []
    total = problem.count.sum(axis=1)
    for name, rows, labels in zip(names, total, problem.positives.sum(axis=1), strict=True):
        if labels in (0, rows):
            found.append(
                f"{'no' if labels == 0 else 'every'} calibration row is of class {name}; one end "
                "of its bounds rests on the prior. Add rows of both kinds."
            )
    if rising:
        for name, falls in zip(names, _fall(problem), strict=True):
            if falls:
                found.append(
                    f"class {name} grows rarer as its score rises, which the model rules out: it "
                    "gives a flat curve. Turn the score round, or use ImpreciseDirichlet."
                )
    return found


def _fall(problem: Problem) -> list[bool]:
    """Test whether rows of each label have lower ranks than the others (Mann-Whitney)."""
    found = []
    rows = zip(problem.count, problem.positives, problem.place, strict=True)
    for count, positives, place in rows:
        n, k = count.sum(), positives.sum()
        if k in (0, n):
            found.append(False)
            continue
        middle = np.average(place, weights=count)
        variance = np.average((place - middle) ** 2, weights=count)
        error = np.sqrt(variance * (n - k) / (k * max(n - 1, 1)))
        found.append(bool(np.average(place, weights=positives) - middle < -_FALLS * error))
    return found
