import bayescal.core.quantity

from . import baselines as baselines
from .baselines.ensemble import ensemble as ensemble
from .bounds import bounds as bounds
from .command import COMMAND as COMMAND
from .estimator import Estimate as Estimate
from .estimator import estimate as estimate
from .estimator import estimate_by_group as estimate_by_group
from .estimator import estimate_each as estimate_each
from .flow.estimator import estimate_flow as estimate_flow
from .flow.settings import FlowSettings as FlowSettings
from .joint_failures import AllWrong as AllWrong
from .joint_failures import all_wrong as all_wrong
from .kde.settings import KDESettings as KDESettings
from .many_rows import count_rows as count_rows
from .metrics.effective_sample_size import effective_sample_size as effective_sample_size
from .metrics.effective_sample_size import rescaled_error as rescaled_error
from .metrics.metrics import Metrics as Metrics
from .metrics.metrics import metrics as metrics
from .metrics.metrics import subgroup_metrics as subgroup_metrics
from .model import build_model as build_model
from .next_rows import NextLabels as NextLabels
from .next_rows import next_labels as next_labels
from .plan import plan as plan
from .priors import GaussianMixture as GaussianMixture
from .priors import Priors as Priors
from .priors import StudentTMixture as StudentTMixture
from .priors import Tilt as Tilt
from .unbinned_error import estimate_unbinned_ece as estimate_unbinned_ece

NAME: str
TITLE: str
ESTIMAND: str
KIND: str
REFERENCES: tuple[bayescal.core.quantity.Reference, ...]
