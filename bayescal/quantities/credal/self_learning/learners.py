"""Training a classifier on label sets: at once where it can, else by turns."""

from __future__ import annotations

from typing import Any, Protocol, Self, cast

import numpy as np
from numpy.typing import NDArray

from bayescal.core.errors import InputError
from bayescal.core.quantity import Floats
from bayescal.quantities.credal.self_learning.label_sets import LabelSets


class Learner(Protocol):
    """What a classifier must have: scikit-learn's methods, with sample weights."""

    classes_: NDArray[Any]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on weighted labels."""
        ...

    def predict_proba(self, X: Any) -> Any:
        """Compute probabilities of shape (obs, class)."""
        ...

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Give the parameters."""
        ...

    def set_params(self, **params: Any) -> Any:
        """Change parameters."""
        ...


def check_learner(classifier: Any) -> None:
    """Check that a classifier predicts probabilities and can be trained on label sets."""
    from sklearn.utils.validation import has_fit_parameter

    name = type(classifier).__name__
    if not callable(getattr(classifier, "predict_proba", None)):
        raise InputError(
            f"the classifier must have predict_proba; {name} has none. "
            "Wrap it so that it predicts probabilities, or pass another one."
        )
    if not has_fit_parameter(classifier, "sample_weight"):
        raise InputError(
            f"the classifier must take sample_weight in fit; {name} does not. "
            "Pass another one; a pipeline does not either: transform the features before."
        )


def fit_label_sets(
    classifier: Learner,
    x: Floats,
    sets: LabelSets,
    classes: NDArray[Any],
    seed: int = 0,
    rounds: int = 5,
) -> Learner:
    """Train a copy of a classifier on label sets, towards the least optimistic loss.

    Notes
    -----
    The loss is the mean of ``min over q in Q of KL(q || p)``. A classifier that takes labels only
    learns q when each row is given once for each class, weighted by q. By turns, q is the point of
    Q nearest to the predictions, and the classifier is trained on it. For a classifier that
    minimises the weighted log loss neither turn can raise the loss. The first q are the most even
    ones of each set.
    """
    from sklearn.base import clone

    learner: Any = clone(classifier).set_params(**_seeds(classifier, seed))
    if hasattr(learner, "fit_credal"):
        learner.fit_credal(x, sets.lower, sets.upper, classes=classes)
        return cast("Learner", learner)
    q = sets.nearest(np.full(sets.lower.shape, 1 / len(classes)))
    for _ in range(rounds if (sets.lower < sets.upper).any() else 1):
        row, column = np.nonzero(q)
        learner.fit(x[row], classes[column], sample_weight=q[row, column])
        if not np.array_equal(learner.classes_, classes):
            raise InputError(
                f"the classifier must know the classes {classes.tolist()}; "
                f"{type(learner).__name__} learned {np.asarray(learner.classes_).tolist()}."
            )
        q = sets.nearest(np.asarray(learner.predict_proba(x), np.float64))
    return cast("Learner", learner)


def _seeds(classifier: Learner, seed: int) -> dict[str, int]:
    """Give a seed for each source of chance that has none."""
    return {
        name: seed
        for name, value in classifier.get_params().items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    }
