"""What a posterior is read beside: the paper's estimate, the plain ensemble, the labels alone."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from bayescal.core.quantity import Floats
from bayescal.quantities.ssme.baselines.ensemble import ensemble, ensemble_by_group
from bayescal.quantities.ssme.data import Panel, Problem
from bayescal.quantities.ssme.estimator import estimate, estimate_by_group
from bayescal.quantities.ssme.metrics.metrics import Metrics, join, metrics, stack_last

METHODS: Final = ("ensemble", "labeled")
"""The plain ensemble, and the labeled rows alone."""


def point_estimate(problem: Problem, ece: str | None) -> dict[str, Any]:
    """Estimate metrics by SSME-KDE."""
    panel = problem.panel
    found = (estimate_by_group if panel.groups else estimate)(panel, ece=ece)._asdict()
    return {name: found[name] for name in (*Metrics._fields, "class_prior")}


def reference_estimates(problem: Problem, ece: str | None) -> dict[str, Floats]:
    """Estimate metrics without any model, (method, classifier)."""
    panel = problem.panel
    if panel.group is None:
        of_ensemble = ensemble(panel, ece=ece)
        of_labels = _labeled(panel, ece)
    else:
        of_ensemble = ensemble_by_group(panel, ece=ece)
        parts = [_labeled(panel.take(panel.group == g), ece) for g in range(len(panel.groups))]
        of_labels = join(parts, stack_last)
    return join([of_ensemble, of_labels], np.stack)._asdict()


def _labeled(panel: Panel, ece: str | None) -> Metrics:
    """Metrics on the labeled rows; NaN without any."""
    if panel.n_labeled == 0:
        return Metrics._make(np.full(panel.n_classifiers, np.nan) for _ in Metrics._fields)
    known = panel.take(panel.labeled)
    return metrics(known.probs, np.eye(panel.n_classes)[known.y], ece=ece)
