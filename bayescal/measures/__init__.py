"""Every number of a calibration curve, one function each.

A function takes the label rates (..., cell), scores (cell,) and masses (..., cell) of cells of
increasing score, NumPy arrays or PyTensor tensors, and gives values (...). `registry` has them by
name.
"""

from bayescal.measures.decisions import cost, net_benefit, net_benefit_all
from bayescal.measures.discrimination import (
    accuracy,
    auc,
    auprc,
    npv,
    ppv,
    sensitivity,
    specificity,
)
from bayescal.measures.errors import (
    c,
    e50,
    e90,
    eci,
    emax,
    gap_quantile,
    ks,
    l2,
    mean_gap,
    oe,
    over,
    tce,
    under,
)
from bayescal.measures.measure import Measure
from bayescal.measures.recalibration import citl, intercept, slope
from bayescal.measures.registry import measures, resolve
from bayescal.measures.scores import (
    brier,
    brier_discrimination,
    brier_miscalibration,
    brier_uncertainty,
    log_loss,
    log_loss_discrimination,
    log_loss_miscalibration,
    log_loss_uncertainty,
    prevalence,
    scaled_brier,
)
from bayescal.measures.smooth_ece import smece

__all__ = [
    "Measure",
    "accuracy",
    "auc",
    "auprc",
    "brier",
    "brier_discrimination",
    "brier_miscalibration",
    "brier_uncertainty",
    "c",
    "citl",
    "cost",
    "e50",
    "e90",
    "eci",
    "emax",
    "gap_quantile",
    "intercept",
    "ks",
    "l2",
    "log_loss",
    "log_loss_discrimination",
    "log_loss_miscalibration",
    "log_loss_uncertainty",
    "mean_gap",
    "measures",
    "net_benefit",
    "net_benefit_all",
    "npv",
    "oe",
    "over",
    "ppv",
    "prevalence",
    "resolve",
    "scaled_brier",
    "sensitivity",
    "slope",
    "smece",
    "specificity",
    "tce",
    "under",
]
