import bayescal.core.quantity

from . import baselines as baselines
from .bounds import bounds as bounds
from .bounds import effective_sample_size as effective_sample_size
from .bounds import rescaled_error as rescaled_error
from .command import COMMAND as COMMAND
from .data import count_rows as count_rows
from .estimator import Estimate as Estimate
from .estimator import KDESettings as KDESettings
from .estimator import estimate as estimate
from .estimator import estimate_by_group as estimate_by_group
from .estimator import estimate_each as estimate_each
from .estimator import estimate_unbinned_ece as estimate_unbinned_ece
from .flow import FlowSettings as FlowSettings
from .flow import estimate_flow as estimate_flow
from .imputed_labels import ensemble as ensemble
from .metrics import Metrics as Metrics
from .metrics import metrics as metrics
from .metrics import subgroup_metrics as subgroup_metrics
from .model import build_model as build_model
from .next_rows import AllWrong as AllWrong
from .next_rows import NextLabels as NextLabels
from .next_rows import all_wrong as all_wrong
from .next_rows import next_labels as next_labels
from .posterior import plan as plan
from .priors import GaussianMixture as GaussianMixture
from .priors import Priors as Priors
from .priors import StudentTMixture as StudentTMixture
from .priors import Tilt as Tilt

NAME: str
TITLE: str
ESTIMAND: str
REFERENCES: tuple[bayescal.core.quantity.Reference, ...]
VARIABLES: tuple[bayescal.core.quantity.Variable, ...]
