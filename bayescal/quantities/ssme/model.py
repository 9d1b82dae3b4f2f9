"""The quantity's PyMC model: the labels that are known, given all classifiers' scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayescal.core.checks import check_is
from bayescal.core.scores import Scores
from bayescal.quantities.ssme.data import Problem, panel_of
from bayescal.quantities.ssme.models import label_model
from bayescal.quantities.ssme.models.base import LabelModel
from bayescal.quantities.ssme.priors import Priors

if TYPE_CHECKING:
    import pymc as pm


def build_model(
    data: Scores, priors: Priors | None = None, *, labeling: str = "random"
) -> pm.Model:
    """Build the model of all classifiers at once, unsampled.

    Parameters
    ----------
    data : Scores
        Scores of one or several classifiers; labels may be missing.
    priors : Priors, optional
        Priors; the defaults if not given.
    labeling : {"random", "one-per-class"}, default "random"
        How rows were chosen to be labeled: at random, or one of each class first and the others at
        random.

    Returns
    -------
    pm.Model
        Observed ``label`` (label_row), padded; Deterministics ``intercept``, ``slope`` (class),
        ``log_slope``, ``weight``, ``own_bend`` (classifier), ``bend``, and by group
        ``group_intercept``, ``group_slope``; data as pm.Data. Metrics are computed from draws of
        these: no gradient touches the rows without label.

    Raises
    ------
    InputError
        If the data are no Scores, or the labeling is unknown.

    Notes
    -----
    The tilt says that the density of the scores given class k is that of all scores times
    ``exp(eta_k)``, up to a constant: an exponential tilt [1]_. Of randomly labeled rows that leaves
    the probability of the label given the scores, ``softmax(eta)``. With one label a class forced,
    each of those K labels is a draw of the scores given its class, and its likelihood is divided by
    the class's mean probability over all rows (256 of them, which changes nothing that can be
    seen): the potential ``one_per_class``.

    References
    ----------
    .. [1] J. A. Anderson, "Separate sample logistic discrimination", Biometrika 59(1), 1972.
       https://doi.org/10.1093/biomet/59.1.19

    Examples
    --------
    >>> import bayescal as bc
    >>> scores = bc.Scores.stack({"a": [0.2, 0.9, 0.6], "b": [0.4, 0.7, 0.1]}, y_true=[0, 1, None])
    >>> sorted(v.name for v in bc.ssme.build_model(scores).deterministics)
    ['bend', 'intercept', 'log_slope', 'own_bend', 'slope', 'weight']
    """
    problem = Problem.of(panel_of(data), labeling)
    priors = Priors() if priors is None else priors
    check_is(priors, Priors, "priors", "Pass bayescal.ssme.Priors().")
    return model_of(problem, label_model(problem, priors))


def model_of(problem: Problem, labels: LabelModel) -> pm.Model:
    """Build the model of one problem."""
    import pymc as pm

    panel = problem.panel
    coords = {
        "class": [str(label) for label in panel.classes],
        "classifier": list(panel.classifiers),
    }
    if panel.groups:
        coords["group"] = list(panel.groups)
    with pm.Model(coords=coords) as model:
        labels.add_to_model()
    return model
