"""The PyMC model: a number for each predicted class, around a shared one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayescal.core.checks import check_data, check_is
from bayescal.core.errors import InputError
from bayescal.core.scores import Scores
from bayescal.quantities.temperature.data import Problem, Rows
from bayescal.quantities.temperature.models.average import TemperatureAverage
from bayescal.quantities.temperature.models.hierarchical import HierarchicalTemperatures
from bayescal.quantities.temperature.priors import Priors

if TYPE_CHECKING:
    import pymc as pm


def build_model(data: Scores, priors: Priors | None = None) -> pm.Model:
    """Build the model of one classifier, unsampled.

    Parameters
    ----------
    data : Scores
        Scores of one classifier.
    priors : Priors, optional
        Priors; the defaults if not given.

    Returns
    -------
    pm.Model
        ``log_alpha ~ Normal(mu, tau)`` (label_class), and observed ``labels`` (label_class): rows
        of each predicted class, whose labels have the log likelihood tabulated in the pm.Data
        ``table``.

    Raises
    ------
    InputError
        If there are several classifiers.

    Notes
    -----
    A row of logits z and predicted class k has ``P(label = j) = softmax(exp(log_alpha_k) z)_j``.
    Given the predictions the log likelihood is a sum of one function of one number a class.

    Examples
    --------
    >>> import bayescal as bc
    >>> from bayescal.quantities.temperature.model import build_model
    >>> scores = bc.datasets.temperature.truth("heterogeneous").scores(100, seed=1)
    >>> [v.name for v in build_model(scores).free_RVs]
    ['mu', 'tau', 'log_alpha']
    """
    check_data(data, (Scores,), "temperature", "Scores(y_true=..., y_prob=..., from_logits=True)")
    if data.n_classifiers != 1:
        raise InputError(
            f"build_model takes one classifier; got {data.n_classifiers}. Pass data.select(name)."
        )
    problem = Problem.of(data, data.classifiers[0])
    priors = Priors() if priors is None else priors
    check_is(priors, Priors, "priors", "Pass bayescal.temperature.Priors().")
    return model_of(problem, temperatures_of(problem, priors))


def temperatures_of(problem: Rows, priors: Priors) -> HierarchicalTemperatures:
    """Join a problem and its priors."""
    return HierarchicalTemperatures(*problem.tabulated(), priors)


def average_of(problem: Rows, priors: Priors) -> TemperatureAverage:
    """Join a problem and all models of its priors."""
    return TemperatureAverage(temperatures_of(problem, priors), problem.labeled_logits())


def model_of(problem: Rows, temperatures: HierarchicalTemperatures) -> pm.Model:
    """Build the model of one problem."""
    import pymc as pm

    with pm.Model(coords={"label_class": list(problem.classes)}) as model:
        temperatures.add_to_model()
    return model
