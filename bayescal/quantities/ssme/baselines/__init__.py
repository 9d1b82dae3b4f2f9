"""Other methods of evaluating classifiers from few labels, to compare with."""

# Bound here, once: the modules have the same names, and would take them when they load.
from bayescal.quantities.ssme.baselines.active_testing import ActiveTest, active_testing
from bayescal.quantities.ssme.baselines.autoeval import AutoEval, autoeval
from bayescal.quantities.ssme.baselines.bayesian_calibration import (
    Calibrated,
    bayesian_calibration,
)
from bayescal.quantities.ssme.baselines.dawid_skene import dawid_skene
from bayescal.quantities.ssme.baselines.labeled import (
    Interval,
    labeled,
    labeled_by_group,
    labeled_interval,
)
from bayescal.quantities.ssme.baselines.majority_vote import majority_vote
from bayescal.quantities.ssme.baselines.pseudo_labeled import pseudo_labeled

__all__ = [
    "ActiveTest",
    "AutoEval",
    "Calibrated",
    "Interval",
    "active_testing",
    "autoeval",
    "bayesian_calibration",
    "dawid_skene",
    "labeled",
    "labeled_by_group",
    "labeled_interval",
    "majority_vote",
    "pseudo_labeled",
]
