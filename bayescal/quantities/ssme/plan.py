"""The models to fit for given data, and what a result says of the data."""

from __future__ import annotations

from bayescal.core.checks import check_data
from bayescal.core.errors import InputError
from bayescal.core.quantity import Plan
from bayescal.core.scores import Scores
from bayescal.quantities.ssme.data import MOST_UNLABELED, Problem, panel_of
from bayescal.quantities.ssme.metrics.binned_error import convention_name
from bayescal.quantities.ssme.posterior import SSMECase
from bayescal.quantities.ssme.priors import Priors


def plan(
    data: Scores,
    priors: Priors,
    *,
    labeling: str = "random",
    ece: str | None = None,
    prob_label: bool = False,
) -> Plan:
    """Plan the one fit of all classifiers: every draw is one of all, on the same rows.

    Parameters
    ----------
    data : Scores
        Scores of one or several classifiers; labels may be missing.
    priors : Priors
        Priors.
    labeling : {"random", "one-per-class"}, default "random"
        How rows were chosen to be labeled; see `build_model`.
    ece : {"equal-mass", "equal-width", "top-label"}, each also with "-optimal", optional
        Convention of the calibration errors; see `metrics`.
    prob_label : bool, default False
        Whether the posterior holds ``prob_label`` (obs, label_class), the probabilities of every
        row's labels. Of at most 5,000 rows without label.

    Returns
    -------
    Plan
        One case.

    Raises
    ------
    InputError
        If the data are no Scores, an option is unknown, or there are too many rows for
        `prob_label`.
    """
    check_data(data, (Scores,), "ssme", "Scores.stack({name: y_prob}, y_true=...)")
    panel = panel_of(data)
    convention = convention_name(ece, panel.n_classes)
    problem = Problem.of(panel, labeling)
    if prob_label and problem.panel.n_obs < panel.n_obs:
        # A model of many rows has a random part of them: their places would be lost.
        raise InputError(
            f"prob_label=True needs at most {MOST_UNLABELED} rows without label; got "
            f"{panel.n_obs - panel.n_labeled}. Pass fewer of them, or leave prob_label out."
        )
    attrs = {
        "n_obs": data.n_obs,
        "n_labeled": data.n_labeled,
        "classes": [str(label) for label in data.classes],
        "multiclass": "binary" if data.n_classes == 2 else "joint",
        "labeling": labeling,
        "ece_convention": convention,
        "point_label": "SSME-KDE",
    }
    return Plan([SSMECase.of(problem, priors, ece, prob_label)], attrs)
