"""Models of the labels given several classifiers' scores, one file each."""

from bayescal.quantities.ssme.data import Problem
from bayescal.quantities.ssme.models.base import LabelModel
from bayescal.quantities.ssme.models.mixture import MixtureModel
from bayescal.quantities.ssme.models.tilt import TiltModel
from bayescal.quantities.ssme.priors import Priors, Tilt


def label_model(problem: Problem, priors: Priors) -> LabelModel:
    """Join a problem and its priors."""
    power = priors.likelihood_power(problem.panel.n_labeled)
    if isinstance(priors.label, Tilt):
        return TiltModel.of(problem, priors.label, power)
    return MixtureModel.of(problem, priors.label, power)
