import bayescal.core.quantity

from .bounds import bounds as bounds
from .bounds import expected_if_calibrated as expected_if_calibrated
from .bounds import least_bound_n_bins as least_bound_n_bins
from .bounds import optimal_n_bins as optimal_n_bins
from .command import COMMAND as COMMAND
from .estimator import Estimate as Estimate
from .estimator import estimate as estimate
from .model import build_model as build_model
from .plan import plan as plan
from .priors import CurveAverage as CurveAverage
from .priors import HierarchicalBins as HierarchicalBins
from .priors import IndependentBins as IndependentBins
from .priors import Priors as Priors
from .priors import SmoothCurve as SmoothCurve

NAME: str
TITLE: str
ESTIMAND: str
REFERENCES: tuple[bayescal.core.quantity.Reference, ...]
VARIABLES: tuple[bayescal.core.quantity.Variable, ...]
