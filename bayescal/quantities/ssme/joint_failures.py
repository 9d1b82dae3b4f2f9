"""Rows on which every classifier is wrong at once, from the labels' probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bayescal.core.errors import InputError
from bayescal.core.quantity import Floats
from bayescal.core.scores import Scores
from bayescal.quantities.ssme.data import panel_of
from bayescal.results import access, schema

if TYPE_CHECKING:
    from xarray import DataTree


class AllWrong(NamedTuple):
    """Failures that all classifiers share.

    Parameters
    ----------
    prob : ndarray of shape (obs,), in [0, 1]
        Posterior probability that every classifier is wrong on a row.
    rate : ndarray of shape (draw,), in [0, 1]
        Draws of the share of rows on which all are wrong, among the rows that were fitted.
    """

    prob: Floats
    rate: Floats


def all_wrong(result: DataTree, scores: Scores) -> AllWrong:
    """Find rows on which no classifier is right, and how many there are.

    Parameters
    ----------
    result : DataTree
        What `bayescal.fit` returned for ``ssme`` with ``prob_label=True``.
    scores : Scores
        The scores that were fitted.

    Returns
    -------
    AllWrong
        By row, and as a share of the rows.

    Raises
    ------
    InputError
        If the result has no probabilities of labels, or the scores are not those fitted.

    Notes
    -----
    Estimand: that the label is none of the classes that a classifier finds most probable. Where all
    predict the same class of two, that is the probability of the other one.

    Examples
    --------
    >>> import bayescal as bc
    >>> scores = bc.datasets.ssme.truth("mixed").scores(20, 200, seed=1)
    >>> result = bc.fit(bc.ssme, scores, seed=20, prob_label=True)  # doctest: +SKIP
    >>> bc.ssme.all_wrong(result, scores).rate.mean()  # doctest: +SKIP
    """
    draws = label_draws(result)
    panel = panel_of(scores)
    if (panel.n_obs, panel.n_classes) != draws.shape[1:]:
        raise InputError(
            f"scores must be those that were fitted: {draws.shape[1]} rows of {draws.shape[2]} "
            f"classes; got {panel.n_obs} of {panel.n_classes}."
        )
    predicted = np.zeros((panel.n_obs, panel.n_classes), dtype=bool)
    predicted[np.arange(panel.n_obs), panel.probs.argmax(axis=2)] = True
    wrong = np.where(predicted, 0.0, draws).sum(axis=2)
    return AllWrong(wrong.mean(axis=0), wrong.mean(axis=1))


def label_draws(result: DataTree) -> Floats:
    """Read the probabilities of labels of a result, (draw, obs, class)."""
    schema.check_result(result)
    if not access.has_variable(result, schema.POSTERIOR, "prob_label"):
        raise InputError(
            "the result must hold the probabilities of labels; got one without. Fit with "
            "prob_label=True."
        )
    held = access.variable(result, schema.POSTERIOR, "prob_label")
    values = held.transpose(*schema.DRAW_DIMS, "obs", "label_class").to_numpy()
    return np.asarray(values.reshape(-1, *values.shape[2:]), dtype=np.float64)
