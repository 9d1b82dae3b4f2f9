import bayescal.core.quantity

from .bounds import bounds as bounds
from .calibrator import VennAbersCalibrator as VennAbersCalibrator
from .command import COMMAND as COMMAND
from .estimator import Estimate as Estimate
from .estimator import estimate as estimate
from .many_rows import count_rows as count_rows
from .model import build_model as build_model
from .plan import plan as plan
from .priors import AveragedCurve as AveragedCurve
from .priors import ImpreciseDirichlet as ImpreciseDirichlet
from .priors import IncrementIsotonic as IncrementIsotonic
from .priors import MonotoneCurve as MonotoneCurve
from .priors import Priors as Priors
from .row_bounds import bounds_for as bounds_for
from .row_files import write_rows as write_rows
from .row_lookup import RowBounds as RowBounds
from .self_learning.algorithm import SelfLearningSettings as SelfLearningSettings
from .self_learning.data import SelfLearningRows as SelfLearningRows
from .self_learning.label_sets import LabelSets as LabelSets
from .self_learning.network import NetworkClassifier as NetworkClassifier
from .self_learning.one_vs_all import SgdSettings as SgdSettings
from .self_learning.pseudo_labels import credal_labels as credal_labels
from .self_learning.pseudo_labels import hard_labels as hard_labels
from .self_learning.pseudo_labels import soft_labels as soft_labels
from .self_learning.run import SelfLearned as SelfLearned
from .self_learning.run import self_learn as self_learn
from .self_learning.threshold import ThresholdLearned as ThresholdLearned
from .self_learning.threshold import ThresholdSettings as ThresholdSettings
from .self_learning.threshold import self_learn_by_threshold as self_learn_by_threshold
from .sets.credal_sets import expectation as expectation
from .sets.credal_sets import probability as probability
from .sets.credal_sets import reachable as reachable
from .sets.credible import CredibleSets as CredibleSets
from .sets.credible import credible_sets as credible_sets
from .sets.decisions import e_admissible as e_admissible
from .sets.decisions import interval_dominance as interval_dominance
from .sets.decisions import maximin as maximin
from .sets.decisions import zero_one as zero_one
from .sets.discounting import discount as discount
from .sets.imprecision import imprecision as imprecision
from .sets.intervals import is_proper as is_proper
from .sets.projection import divergence as divergence
from .sets.projection import project as project
from .venn_abers.cross import CrossVennAbers as CrossVennAbers
from .venn_abers.cross import fit_cross_venn_abers as fit_cross_venn_abers
from .venn_abers.cross import merge_folds as merge_folds
from .venn_abers.ivap import InductiveVennAbers as InductiveVennAbers
from .venn_abers.ivap import fit_ivap as fit_ivap
from .venn_abers.ivap import merged as merged
from .venn_abers.one_vs_rest import OneVsRest as OneVsRest
from .venn_abers.one_vs_rest import fit_one_vs_rest as fit_one_vs_rest

NAME: str
TITLE: str
ESTIMAND: str
KIND: str
REFERENCES: tuple[bayescal.core.quantity.Reference, ...]
