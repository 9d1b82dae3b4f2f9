"""Pseudo-Labeled: a logistic regression from all classifiers' scores to the label."""

from __future__ import annotations

import numpy as np

from bayescal.core.quantity import Floats
from bayescal.core.scores import Scores
from bayescal.quantities.ssme.baselines.imputed import check_labels, imputed_metrics
from bayescal.quantities.ssme.data import Panel, panel_of
from bayescal.quantities.ssme.metrics.metrics import Metrics


def pseudo_labeled(
    scores: Scores, *, reading: str = "drawn", n_draws: int = 500, seed: int = 0
) -> Metrics:
    """Measure under labels that a logistic regression of the labelled rows predicts.

    Parameters
    ----------
    scores : Scores
        Scores of one or several classifiers; labelled rows of two classes or more.
    reading : {"drawn", "soft", "hard"}, default "drawn"
        Labels drawn from the predicted probabilities, these as weights, or the most probable label.
    n_draws : int, default 500
        Number of draws, for "drawn" only.
    seed : int, default 0
        Same seed, same draws.

    Returns
    -------
    Metrics
        Arrays of shape (classifier,); as for `imputed_metrics`.

    Raises
    ------
    InputError
        If fewer than two classes have a label, or an option is none of those allowed.

    Notes
    -----
    Features are the probabilities themselves (of a binary task those of the positive class), as
    they come; the regression is scikit-learn's with its defaults, so with an L2 penalty of 1, which
    on few labels keeps predictions near the share of each class. A class without a label gets
    probability 0. The paper does not say how predictions are read; drawn labels give its errors
    within two standard errors on both of its published sets of predictions.

    References
    ----------
    .. [1] D. Shanmugam et al., "Evaluating multiple models using labeled and unlabeled data",
       2025, appendix B.2. https://arxiv.org/abs/2501.11866

    Examples
    --------
    >>> import bayescal as bc
    >>> from bayescal.quantities.ssme.baselines.pseudo_labeled import pseudo_labeled
    >>> scores = bc.Scores(y_true=[0, 1, 1, 0, None], y_prob=[0.2, 0.9, 0.8, 0.3, 0.6])
    >>> pseudo_labeled(scores, reading="hard").accuracy
    array([1.])
    """
    panel = panel_of(scores)
    check_labels(panel, "Pseudo-Labeled", classes=2)
    prob = predicted_labels(panel)
    return imputed_metrics(panel, prob, reading, n_draws=n_draws, seed=seed)


def predicted_labels(panel: Panel) -> Floats:
    """Probability of each label by a logistic regression of the labelled rows, (obs, class)."""
    from sklearn.linear_model import LogisticRegression

    columns = panel.probs[..., 1:] if panel.is_binary else panel.probs
    features = columns.transpose(1, 0, 2).reshape(panel.n_obs, -1)
    model = LogisticRegression(max_iter=1000)
    model.fit(features[panel.labeled], panel.y[panel.labeled])
    prob = np.zeros((panel.n_obs, panel.n_classes))
    prob[:, model.classes_] = model.predict_proba(features)
    return prob
