"""The model to fit for given data, and what a result says of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bayescal.core.scores import Scores
from bayescal.quantities.ssme.case import SSMECase
from bayescal.quantities.ssme.metrics import convention_name
from bayescal.quantities.ssme.panel import panel_of
from bayescal.quantities.ssme.priors import Priors
from bayescal.quantities.ssme.problem import Problem


def cases(
    data: Scores,
    priors: Priors,
    *,
    labeling: str = "random",
    ece: str | None = None,
    prob_label: bool = False,
) -> list[SSMECase]:
    """Make the one model of all classifiers.

    Parameters
    ----------
    data : Scores
        Scores of one or several classifiers; labels may be missing.
    priors : Priors
        Priors.
    labeling : {"random", "one-per-class"}, default "random"
        How rows were chosen to be labeled; see `build_model`.
    ece : {"equal-mass", "equal-width", "top-label"}, optional
        Convention of the calibration errors; see `metrics`.
    prob_label : bool, default False
        Whether the posterior holds ``prob_label`` (obs, label_class), the probabilities of every
        row's labels.

    Returns
    -------
    list of SSMECase
        One.

    Raises
    ------
    InputError
        If the data are no Scores, or an option is unknown.
    """
    panel = panel_of(data)
    convention_name(ece, panel.n_classes)
    return [SSMECase.of(Problem.of(panel, labeling), priors, ece, prob_label)]


def pairing(
    data: Scores, cases: Sequence[Any], draws: Sequence[Mapping[str, Any]], **_: Any
) -> None:
    """No correlation is needed: every draw is one of all classifiers on the same rows.

    Parameters
    ----------
    data : Scores
        What was fitted.
    cases : sequence of SSMECase
        The fit's case.
    draws : sequence of mapping of str to ndarray
        What the fit gave.
    **_
        Options that matter not here.
    """


def describe(
    data: Scores,
    *,
    labeling: str = "random",
    ece: str | None = None,
    prob_label: bool = False,
) -> dict[str, Any]:
    """Say what was fitted, and how metrics are defined.

    Parameters
    ----------
    data : Scores
        What was fitted.
    labeling, ece, prob_label
        As in `cases`.

    Returns
    -------
    dict
        Root attributes of the result.
    """
    return {
        "n_obs": data.n_obs,
        "n_labeled": data.n_labeled,
        "classes": [str(label) for label in data.classes],
        "multiclass": "binary" if data.n_classes == 2 else "joint",
        "labeling": labeling,
        "ece_convention": convention_name(ece, data.n_classes),
    }
