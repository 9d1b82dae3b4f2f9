"""Labels and scores in scikit-learn's order, or labels by keyword: never silently exchanged."""

import inspect
import pkgutil
from itertools import takewhile

import numpy as np
import pytest

import bayescal as bc
from tests.checks.public_names import public

LABELS = {"y_true", "label", "labels", "event", "calibration_label", "probability"}
SCORES = {"y_prob", "y_score", "score", "scores", "prob", "calibration_prob", "confidence"}
BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def parameters(name: str) -> list[inspect.Parameter]:
    """Parameters of a function, a method or a class, by its full name."""
    found = pkgutil.resolve_name(name)
    # Nobody builds the package's errors, or its named tuples, which are results.
    built = inspect.isclass(found) and issubclass(found, tuple | BaseException)
    return (
        [] if built or not callable(found) else list(inspect.signature(found).parameters.values())
    )


def is_in_order(given: list[inspect.Parameter]) -> bool:
    """Whether no label may be passed by position once a score has been."""
    before = takewhile(lambda one: one.name not in SCORES, given)
    labels = [one.name for one in given if one.name in LABELS and one.kind in BY_POSITION]
    return set(labels) <= {one.name for one in before}


def test_labels_come_before_scores_or_by_keyword() -> None:
    both = {
        name: given
        for name in sorted(set(public()))
        for given in [parameters(name)]
        for names in [{one.name for one in given}]
        if names & LABELS and names & SCORES
    }
    assert "bayescal.quantities.agnostic.functionals.roc" in both
    assert [name for name, given in both.items() if not is_in_order(given)] == []


@pytest.mark.parametrize(
    "call",
    [
        bc.agnostic.roc,
        bc.agnostic.interval_measure,
        bc.agnostic.calibration_test,
        bc.agnostic.isotonic_calibration,
        bc.agnostic.minimise_measure,
        bc.agnostic.least_loss_calibrated,
        bc.agnostic.half_plane_measure,
        bc.credal.fit_ivap,
        bc.credal.fit_one_vs_rest,
    ],
)
def test_two_columns_by_position_are_refused(call) -> None:
    label, score = np.array([0, 1, 1, 0]), np.array([0.0, 1.0, 1.0, 0.0])
    for columns in ((label, score), (score, label)):
        with pytest.raises(TypeError, match="takes 1 positional argument but 2 were given"):
            call(*columns)
