import bayescal.core.quantity

from .bounds import bounds as bounds
from .bounds import calibration_test as calibration_test
from .bounds import class_deviation as class_deviation
from .bounds import isotonic_deviation as isotonic_deviation
from .bounds import isotonic_uniform_deviation as isotonic_uniform_deviation
from .bounds import rademacher_bound as rademacher_bound
from .bounds import sample_size as sample_size
from .bounds import uniform_deviation as uniform_deviation
from .calibration import Link as Link
from .calibration import isotonic_calibration as isotonic_calibration
from .calibration import least_loss_calibrated as least_loss_calibrated
from .calibration import minimise_measure as minimise_measure
from .command import COMMAND as COMMAND
from .decisions import Action as Action
from .decisions import DecisionRule as DecisionRule
from .decisions import actual_cost as actual_cost
from .decisions import bayes_rule as bayes_rule
from .decisions import best_rule as best_rule
from .decisions import cost_bound as cost_bound
from .decisions import estimated_cost as estimated_cost
from .decisions import expected_cost as expected_cost
from .estimator import Estimate as Estimate
from .estimator import IntervalStream as IntervalStream
from .estimator import count_rows as count_rows
from .estimator import estimate as estimate
from .estimator import interval_measure as interval_measure
from .estimator import interval_measure_of_rows as interval_measure_of_rows
from .functionals import printed_roc as printed_roc
from .functionals import prob_above as prob_above
from .functionals import roc as roc
from .functionals import roc_band as roc_band
from .functionals import roc_boxes as roc_boxes
from .functionals import roc_region as roc_region
from .functionals import rule_difference as rule_difference
from .functionals import upper_bound as upper_bound
from .posterior import build_model as build_model
from .posterior import plan as plan
from .priors import CurveAverage as CurveAverage
from .priors import Priors as Priors
from .priors import SmoothCurve as SmoothCurve
from .theory import half_plane_measure as half_plane_measure
from .theory import hidden_labels as hidden_labels
from .theory import interleaved_classifiers as interleaved_classifiers
from .theory import shattering_weights as shattering_weights
from .theory import untestable_distance as untestable_distance

NAME: str
TITLE: str
ESTIMAND: str
REFERENCES: tuple[bayescal.core.quantity.Reference, ...]
VARIABLES: tuple[bayescal.core.quantity.Variable, ...]
