"""What a posterior is read beside: the paper's estimate, the plain ensemble, the labels alone."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from bayescal.core.quantity import Floats
from bayescal.quantities.ssme.baselines.ensemble import mean_score
from bayescal.quantities.ssme.data import Problem
from bayescal.quantities.ssme.estimator import estimate, estimate_by_group
from bayescal.quantities.ssme.metrics.label_draws import measured
from bayescal.quantities.ssme.metrics.metrics import Metrics, join

METHODS: Final = ("ensemble", "labeled")
"""The plain ensemble, and the labeled rows alone."""


def point_estimate(problem: Problem, ece: str | None) -> dict[str, Any]:
    """Estimate metrics by SSME-KDE."""
    panel = problem.panel
    found = (estimate_by_group if panel.groups else estimate)(panel, ece=ece)._asdict()
    return {name: found[name] for name in (*Metrics._fields, "class_prior")}


def reference_estimates(problem: Problem, ece: str | None) -> dict[str, Floats]:
    """Estimate metrics without any model, (method, classifier) or (method, classifier, group)."""
    panel = problem.panel
    of_ensemble = measured(panel, mean_score(panel), ece=ece)
    if panel.n_labeled:
        of_labels = measured(panel.take(panel.labeled), panel.known, ece=ece)
    else:
        of_labels = Metrics._make(np.full(np.shape(value), np.nan) for value in of_ensemble)
    return join([of_ensemble, of_labels], np.stack)._asdict()
