import bayescal.core.quantity

from .bounds import bounds as bounds
from .bounds import label_noise_confidence as label_noise_confidence
from .bounds import rare_feature_factor as rare_feature_factor
from .bounds import rare_feature_probability as rare_feature_probability
from .bounds import train_on_rare_feature as train_on_rare_feature
from .calibrators import ClassWiseTemperatureScaling as ClassWiseTemperatureScaling
from .calibrators import LogitCalibrator as LogitCalibrator
from .calibrators import PlattScaling as PlattScaling
from .calibrators import TemperatureScaling as TemperatureScaling
from .calibrators import VectorScaling as VectorScaling
from .command import COMMAND as COMMAND
from .estimator import CalibrationErrors as CalibrationErrors
from .estimator import Estimate as Estimate
from .estimator import calibration_errors as calibration_errors
from .estimator import estimate as estimate
from .many_rows import count_rows as count_rows
from .model import build_model as build_model
from .posterior import calibrate as calibrate
from .posterior import plan as plan
from .priors import Priors as Priors
from .slice_calibrators import HeldOutCalibration as HeldOutCalibration
from .slice_calibrators import SliceCalibration as SliceCalibration

NAME: str
TITLE: str
ESTIMAND: str
REFERENCES: tuple[bayescal.core.quantity.Reference, ...]
VARIABLES: tuple[bayescal.core.quantity.Variable, ...]
