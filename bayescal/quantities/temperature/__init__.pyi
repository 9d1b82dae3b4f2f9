import bayescal.core.quantity

from .bounds import bounds as bounds
from .calibrate_rows import calibrate as calibrate
from .calibrators.base import LogitCalibrator as LogitCalibrator
from .calibrators.class_wise import ClassWiseTemperatureScaling as ClassWiseTemperatureScaling
from .calibrators.held_out import HeldOutCalibration as HeldOutCalibration
from .calibrators.platt import PlattScaling as PlattScaling
from .calibrators.slices import SliceCalibration as SliceCalibration
from .calibrators.temperature import TemperatureScaling as TemperatureScaling
from .calibrators.vector import VectorScaling as VectorScaling
from .command import COMMAND as COMMAND
from .errors import CalibrationErrors as CalibrationErrors
from .errors import calibration_errors as calibration_errors
from .estimator import Estimate as Estimate
from .estimator import estimate as estimate
from .many_rows import count_rows as count_rows
from .model import build_model as build_model
from .plan import plan as plan
from .priors import Priors as Priors
from .training import label_noise_confidence as label_noise_confidence
from .training import rare_feature_factor as rare_feature_factor
from .training import rare_feature_probability as rare_feature_probability
from .training import train_on_rare_feature as train_on_rare_feature

NAME: str
TITLE: str
ESTIMAND: str
KIND: str
REFERENCES: tuple[bayescal.core.quantity.Reference, ...]
