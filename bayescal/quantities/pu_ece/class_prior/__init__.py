"""The share of positives among unlabelled rows: its bounds, its prior, and what depends on it."""

from bayescal.quantities.pu_ece.class_prior.best_bin import (
    ClassPriorEstimate,
    estimate_class_prior,
)

__all__ = ["ClassPriorEstimate", "estimate_class_prior"]
