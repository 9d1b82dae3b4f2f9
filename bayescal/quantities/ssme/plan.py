"""The models to fit for given data, and what a result says of the data."""

from __future__ import annotations

from bayescal.core.checks import check_choice, check_data, check_flag, check_is
from bayescal.core.errors import InputError
from bayescal.core.quantity import Plan
from bayescal.core.scores import Scores
from bayescal.quantities.ssme.data import LABELING, MOST_UNLABELED, Problem, panel_of
from bayescal.quantities.ssme.many_rows import SampledRows
from bayescal.quantities.ssme.metrics.binned_error import convention_name
from bayescal.quantities.ssme.posterior import SSMECase
from bayescal.quantities.ssme.priors import Priors


def plan(
    data: Scores | SampledRows,
    priors: Priors,
    *,
    labeling: str = "random",
    ece: str | None = None,
    prob_label: bool = False,
) -> Plan:
    """Plan the one fit of all classifiers: every draw is one of all, on the same rows.

    Parameters
    ----------
    data : Scores or SampledRows
        Scores of one or several classifiers, where labels may be missing; or what
        `bayescal.ssme.count_rows` returned.
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
        If the data are neither, an option is unknown, or there are too many rows for
        `prob_label`.
    """
    check_data(data, (Scores, SampledRows), "ssme", "Scores.stack({name: y_prob}, y_true=...)")
    check_is(priors, Priors, "priors", "Pass bayescal.ssme.Priors().")
    check_flag(prob_label, "prob_label")
    if isinstance(data, SampledRows):
        check_choice(labeling, LABELING, "labeling")
        problem = Problem(panel_of(data.scores), data.weight, labeling)
    else:
        problem = Problem.of(panel_of(data), labeling)
    panel = problem.panel
    convention = convention_name(ece, panel.n_classes)
    if prob_label and panel.n_obs < data.n_obs:
        # A model of many rows has a random part of them: their places would be lost.
        raise InputError(
            f"prob_label=True needs at most {MOST_UNLABELED} rows without label; got "
            f"{data.n_obs - panel.n_labeled}. Pass fewer of them, or leave prob_label out."
        )
    attrs = {
        "n_obs": data.n_obs,
        "n_labeled": panel.n_labeled,
        "classes": [str(label) for label in panel.classes],
        "multiclass": "binary" if panel.n_classes == 2 else "joint",
        "labeling": labeling,
        "ece_convention": convention,
        "point_label": "SSME-KDE",
    }
    return Plan([SSMECase.of(problem, priors, ece, prob_label)], attrs)
