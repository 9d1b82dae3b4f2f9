"""Figures of a result; each function reads a result and returns a matplotlib figure."""

from bayescal.plots.answers import plot_change, plot_decision_curve, plot_label_plan
from bayescal.plots.comparison import plot_comparison, plot_differences, plot_metrics, plot_ranks
from bayescal.plots.posterior import plot_posterior, plot_prior_posterior, plot_sensitivity
from bayescal.plots.reliability import plot_reliability
from bayescal.plots.rows import plot_credal_sets, plot_decisions, plot_probability
from bayescal.plots.sections import plot_class_reliability, plot_roc, plot_sensitivity_curve

__all__ = [
    "plot_change",
    "plot_class_reliability",
    "plot_comparison",
    "plot_credal_sets",
    "plot_decision_curve",
    "plot_decisions",
    "plot_differences",
    "plot_label_plan",
    "plot_metrics",
    "plot_posterior",
    "plot_prior_posterior",
    "plot_probability",
    "plot_ranks",
    "plot_reliability",
    "plot_roc",
    "plot_sensitivity",
    "plot_sensitivity_curve",
]
