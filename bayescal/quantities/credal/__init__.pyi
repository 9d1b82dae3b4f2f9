import bayescal.core.quantity

from .calibrator import VennAbersCalibrator as VennAbersCalibrator
from .command import COMMAND as COMMAND
from .credal_sets import discount as discount
from .credal_sets import divergence as divergence
from .credal_sets import expectation as expectation
from .credal_sets import imprecision as imprecision
from .credal_sets import is_proper as is_proper
from .credal_sets import probability as probability
from .credal_sets import project as project
from .credal_sets import reachable as reachable
from .data import count_rows as count_rows
from .estimator import Estimate as Estimate
from .estimator import bounds as bounds
from .estimator import e_admissible as e_admissible
from .estimator import estimate as estimate
from .estimator import interval_dominance as interval_dominance
from .estimator import maximin as maximin
from .estimator import zero_one as zero_one
from .posterior import build_model as build_model
from .posterior import plan as plan
from .priors import AveragedCurve as AveragedCurve
from .priors import ImpreciseDirichlet as ImpreciseDirichlet
from .priors import IncrementIsotonic as IncrementIsotonic
from .priors import MonotoneCurve as MonotoneCurve
from .priors import Priors as Priors
from .row_bounds import CredibleSets as CredibleSets
from .row_bounds import bounds_for as bounds_for
from .row_bounds import credible_sets as credible_sets
from .row_bounds import write_rows as write_rows
from .row_lookup import RowBounds as RowBounds
from .self_learning import LabelSets as LabelSets
from .self_learning import SelfLearningRows as SelfLearningRows
from .self_learning import credal_labels as credal_labels
from .self_learning import hard_labels as hard_labels
from .self_learning import soft_labels as soft_labels
from .self_learning.learning import NetworkClassifier as NetworkClassifier
from .self_learning.learning import SelfLearned as SelfLearned
from .self_learning.learning import SelfLearningSettings as SelfLearningSettings
from .self_learning.learning import self_learn as self_learn
from .self_learning.threshold import SgdSettings as SgdSettings
from .self_learning.threshold import ThresholdLearned as ThresholdLearned
from .self_learning.threshold import ThresholdSettings as ThresholdSettings
from .self_learning.threshold import self_learn_by_threshold as self_learn_by_threshold
from .venn_abers import CrossVennAbers as CrossVennAbers
from .venn_abers import InductiveVennAbers as InductiveVennAbers
from .venn_abers import OneVsRest as OneVsRest
from .venn_abers import fit_cross_venn_abers as fit_cross_venn_abers
from .venn_abers import fit_ivap as fit_ivap
from .venn_abers import fit_one_vs_rest as fit_one_vs_rest
from .venn_abers import merge_folds as merge_folds
from .venn_abers import merged as merged

NAME: str
TITLE: str
ESTIMAND: str
REFERENCES: tuple[bayescal.core.quantity.Reference, ...]
VARIABLES: tuple[bayescal.core.quantity.Variable, ...]
