"""Credal sets of class probabilities from Venn-Abers predictors: intervals, decisions, learning."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

# Bound here, once: the module of the same name would take the name when something loads it first.
from bayescal.quantities.credal.bounds import bounds

if TYPE_CHECKING:
    from bayescal.quantities.credal.calibrator import VennAbersCalibrator
    from bayescal.quantities.credal.credal_sets import expectation, probability, reachable
    from bayescal.quantities.credal.cross_venn_abers import fit_cross_venn_abers, merge_folds
    from bayescal.quantities.credal.decisions import (
        e_admissible,
        interval_dominance,
        maximin,
        zero_one,
    )
    from bayescal.quantities.credal.discounting import discount
    from bayescal.quantities.credal.estimator import Estimate, estimate
    from bayescal.quantities.credal.intervals import is_proper
    from bayescal.quantities.credal.ivap import fit_ivap, merged
    from bayescal.quantities.credal.multiclass import fit_one_vs_rest
    from bayescal.quantities.credal.network import NetworkClassifier
    from bayescal.quantities.credal.projection import divergence, project
    from bayescal.quantities.credal.self_learning import SelfLearningSettings
    from bayescal.quantities.credal.self_learning_rows import SelfLearningRows
    from bayescal.quantities.credal.self_learning_run import self_learn
    from bayescal.quantities.credal.size import imprecision

_HOME = {
    "Estimate": "estimator",
    "NetworkClassifier": "network",
    "SelfLearningRows": "self_learning_rows",
    "SelfLearningSettings": "self_learning",
    "VennAbersCalibrator": "calibrator",
    "discount": "discounting",
    "divergence": "projection",
    "e_admissible": "decisions",
    "estimate": "estimator",
    "expectation": "credal_sets",
    "fit_cross_venn_abers": "cross_venn_abers",
    "fit_ivap": "ivap",
    "fit_one_vs_rest": "multiclass",
    "imprecision": "size",
    "interval_dominance": "decisions",
    "is_proper": "intervals",
    "maximin": "decisions",
    "merge_folds": "cross_venn_abers",
    "merged": "ivap",
    "probability": "credal_sets",
    "project": "projection",
    "reachable": "credal_sets",
    "self_learn": "self_learning_run",
    "zero_one": "decisions",
}

__all__ = [
    "Estimate",
    "NetworkClassifier",
    "SelfLearningRows",
    "SelfLearningSettings",
    "VennAbersCalibrator",
    "bounds",
    "discount",
    "divergence",
    "e_admissible",
    "estimate",
    "expectation",
    "fit_cross_venn_abers",
    "fit_ivap",
    "fit_one_vs_rest",
    "imprecision",
    "interval_dominance",
    "is_proper",
    "maximin",
    "merge_folds",
    "merged",
    "probability",
    "project",
    "reachable",
    "self_learn",
    "zero_one",
]


def __getattr__(name: str) -> Any:
    """Load a name of the room on first use, so that its arithmetic never loads scikit-learn."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the room's names, loaded or not."""
    return sorted(set(globals()) | set(__all__))
