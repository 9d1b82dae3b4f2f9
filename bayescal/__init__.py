"""Calibration measures of classifiers, with their posterior.

Names load on first use, so that ``import bayescal`` costs nothing and the arithmetic
(:class:`Scores`, :func:`bin_scores`, ``ece.estimate``) never loads PyMC.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from bayescal._version import __version__

# Bound here, once: the package of the same name would take the name when something loads it first.
from bayescal.report import report

if TYPE_CHECKING:
    from bayescal import datasets, plots
    from bayescal.core.bins.bin_counts import BinCounts
    from bayescal.core.bins.binning import bin_scores
    from bayescal.core.errors import ConvergenceWarning, InputError, OutputError, ScarWarning
    from bayescal.core.priors import Beta, HalfNormal, LogNormal, Normal
    from bayescal.core.scores import Scores
    from bayescal.core.tables import read_scores
    from bayescal.quantities import credal, ece, pu_ece, ssme
    from bayescal.quantities.credal.calibration_split import CalibrationSplit
    from bayescal.quantities.credal.venn_abers.calibrator import VennAbersCalibrator
    from bayescal.quantities.pu_ece.data import PUScores
    from bayescal.quantities.pu_ece.tables import read_pu_scores
    from bayescal.results.best import best
    from bayescal.results.conclusion import conclusions
    from bayescal.results.difference import difference
    from bayescal.results.intervals import interval
    from bayescal.results.io import load, save
    from bayescal.results.marginal import marginal
    from bayescal.results.power_scaling import power_scale
    from bayescal.results.row_table import row_table
    from bayescal.results.summary import summary
    from bayescal.workflow.fit import fit
    from bayescal.workflow.sensitivity import prior_sensitivity

_HOME = {
    "Beta": "bayescal.core.priors",
    "BinCounts": "bayescal.core.bins.bin_counts",
    "CalibrationSplit": "bayescal.quantities.credal.calibration_split",
    "ConvergenceWarning": "bayescal.core.errors",
    "HalfNormal": "bayescal.core.priors",
    "InputError": "bayescal.core.errors",
    "LogNormal": "bayescal.core.priors",
    "Normal": "bayescal.core.priors",
    "OutputError": "bayescal.core.errors",
    "PUScores": "bayescal.quantities.pu_ece.data",
    "ScarWarning": "bayescal.core.errors",
    "Scores": "bayescal.core.scores",
    "VennAbersCalibrator": "bayescal.quantities.credal.venn_abers.calibrator",
    "best": "bayescal.results.best",
    "bin_scores": "bayescal.core.bins.binning",
    "conclusions": "bayescal.results.conclusion",
    "difference": "bayescal.results.difference",
    "fit": "bayescal.workflow.fit",
    "interval": "bayescal.results.intervals",
    "load": "bayescal.results.io",
    "marginal": "bayescal.results.marginal",
    "power_scale": "bayescal.results.power_scaling",
    "prior_sensitivity": "bayescal.workflow.sensitivity",
    "read_pu_scores": "bayescal.quantities.pu_ece.tables",
    "read_scores": "bayescal.core.tables",
    "row_table": "bayescal.results.row_table",
    "save": "bayescal.results.io",
    "summary": "bayescal.results.summary",
}
_MODULES = {
    "credal": "bayescal.quantities.credal",
    "datasets": "bayescal.datasets",
    "ece": "bayescal.quantities.ece",
    "plots": "bayescal.plots",
    "pu_ece": "bayescal.quantities.pu_ece",
    "ssme": "bayescal.quantities.ssme",
}

__all__ = [
    "Beta",
    "BinCounts",
    "CalibrationSplit",
    "ConvergenceWarning",
    "HalfNormal",
    "InputError",
    "LogNormal",
    "Normal",
    "OutputError",
    "PUScores",
    "ScarWarning",
    "Scores",
    "VennAbersCalibrator",
    "__version__",
    "best",
    "bin_scores",
    "conclusions",
    "credal",
    "datasets",
    "difference",
    "ece",
    "fit",
    "interval",
    "load",
    "marginal",
    "plots",
    "power_scale",
    "prior_sensitivity",
    "pu_ece",
    "read_pu_scores",
    "read_scores",
    "report",
    "row_table",
    "save",
    "ssme",
    "summary",
]


def __getattr__(name: str) -> Any:
    """Load a public name on first use (PEP 562)."""
    if name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
    elif name in _MODULES:
        value = import_module(_MODULES[name])
    else:
        raise AttributeError(f"module 'bayescal' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted(set(globals()) | set(__all__))
