import bayescal.core.quantity

from .bounds import bounds as bounds
from .bounds import fcmi_of_vc as fcmi_of_vc
from .bounds import generalization_bias as generalization_bias
from .bounds import generalization_gap as generalization_gap
from .bounds import least_bound_n_bins as least_bound_n_bins
from .bounds import optimal_n_bins as optimal_n_bins
from .class_prior import estimate_class_prior as estimate_class_prior
from .classifier import PUClassifier as PUClassifier
from .classifier import imbalanced_nnpu_risk as imbalanced_nnpu_risk
from .classifier import nnpu_risk as nnpu_risk
from .classifier import upu_risk as upu_risk
from .command import COMMAND as COMMAND
from .data import count_rows as count_rows
from .estimator import Estimate as Estimate
from .estimator import estimate as estimate
from .logit_mixtures import LogitMixture as LogitMixture
from .logit_mixtures import MixtureTruth as MixtureTruth
from .logit_mixtures import tce_from_logits as tce_from_logits
from .posterior import build_model as build_model
from .posterior import plan as plan
from .priors import IndependentBins as IndependentBins
from .priors import MixtureBins as MixtureBins
from .priors import PriorDraws as PriorDraws
from .priors import Priors as Priors
from .priors import SmoothCurve as SmoothCurve

NAME: str
TITLE: str
ESTIMAND: str
REFERENCES: tuple[bayescal.core.quantity.Reference, ...]
VARIABLES: tuple[bayescal.core.quantity.Variable, ...]
