"""What breaks a rule is refused with the rule, the value and where it is; what is odd works."""

import numpy as np
import pytest

from bayescal.core.errors import InputError
from bayescal.quantities.credal import credal_sets
from bayescal.quantities.credal import estimator as decisions
from bayescal.quantities.credal.venn_abers import fit_ivap, fit_one_vs_rest, merged

NEED_BOUNDS = {
    "is_proper": credal_sets.is_proper,
    "discount": credal_sets.discount,
    "reachable": credal_sets.reachable,
    "imprecision": credal_sets.imprecision,
    "probability": lambda low, high: credal_sets.probability(np.array([True, False]), low, high),
    "expectation": lambda low, high: credal_sets.expectation([1, 2], low, high),
    "project": lambda low, high: credal_sets.project(np.full(np.shape(low), 0.5), low, high),
    "maximin": lambda low, high: decisions.maximin(decisions.zero_one(2), low, high),
    "interval_dominance": lambda low, high: decisions.interval_dominance(
        decisions.zero_one(2), low, high
    ),
    "e_admissible": lambda low, high: decisions.e_admissible(decisions.zero_one(2), low, high),
}
NEED_MEMBERS = {k: v for k, v in NEED_BOUNDS.items() if k not in ("is_proper", "discount")}


@pytest.mark.parametrize("function", NEED_BOUNDS.values(), ids=NEED_BOUNDS)
@pytest.mark.parametrize(
    ("lower", "upper", "message"),
    [
        ([[0, 0], [0.6, 0.1]], [[1, 1], [0.5, 0.9]], "lower 0.6 and upper 0.5 at row 1, column 0"),
        ([0.2, -0.1], [0.5, 0.9], "upper <= 1; got lower -0.1 and upper 0.9 at place 1"),
        ([0.2, 0.1], [0.5, 1.1], "got lower 0.1 and upper 1.1 at place 1"),
        ([0.2, np.nan], [0.5, 0.9], "got lower nan and upper 0.9 at place 1"),
        ([0.2, 0.1], [0.5, np.inf], "got lower 0.1 and upper inf at place 1"),
        ([0.2, 0.1], [0.5], r"the same shape; got \(2,\) and \(1,\)"),
    ],
)
def test_bounds_that_are_none(function, lower, upper, message):
    with pytest.raises(InputError, match=message):
        function(lower, upper)


@pytest.mark.parametrize(
    "function",
    [credal_sets.is_proper, credal_sets.discount, credal_sets.reachable, credal_sets.imprecision],
)
@pytest.mark.parametrize("lower", [[0.5], [[0.5], [0.4]], 0.5])
def test_a_single_class(function, lower):
    with pytest.raises(InputError, match="at least two classes, in the last dimension"):
        function(lower, lower)


@pytest.mark.parametrize("function", NEED_MEMBERS.values(), ids=NEED_MEMBERS)
def test_a_set_empty_after_rounding(function):
    exact = np.array([[0.333, 0.667], [0.5, 0.5]])
    rounded = np.round(exact, 1)
    rounded[0] = [0.3, 0.6]
    with pytest.raises(InputError, match=r"got sums 0.9 and 0.9 at row 0 \(1 such rows\)"):
        function(rounded, rounded)
    function(*credal_sets.discount(rounded, rounded))


@pytest.mark.parametrize("function", NEED_BOUNDS.values(), ids=NEED_BOUNDS)
def test_all_bounds_from_zero_to_one_and_no_rows_at_all(function):
    function(np.zeros((3, 2)), np.ones((3, 2)))
    function(np.zeros((0, 2)), np.ones((0, 2)))


@pytest.mark.parametrize(
    ("score", "label", "message"),
    [
        ([0.1, np.nan], [0, 1], "score must be finite; got nan at place 1"),
        ([0.1, -np.inf], [0, 1], "score must be finite; got -inf at place 1"),
        (["a", "b"], [0, 1], "score must be numbers; got 'a' at row 0"),
        ([0.1, 0.2], [0, 2], "label must hold 0 or 1 for each row; got 2 at row 1"),
        ([0.1, 0.2], [0, np.nan], "label must hold 0 or 1 for each row; got nan at row 1"),
        ([0.1, 0.2], ["no", "yes"], "label must hold 0 or 1 for each row; got dtype"),
        ([0.1, 0.2], [0], "label and score must have the same length; got 1 and 2 rows"),
        ([], [], "score must have at least one row"),
        ([[0.1, 0.9]], [1], r"score must hold one value a row; got shape \(1, 2\)"),
    ],
)
def test_calibration_rows_that_are_none(score, label, message):
    with pytest.raises(InputError, match=message):
        fit_ivap(score, label=label)


@pytest.mark.parametrize(
    ("score", "label", "message"),
    [
        ([[0.1], [0.2]], [0, 0], "at least two classes; got shape"),
        ([0.1, 0.2], [0, 1], "at least two classes; got shape"),
        ([[0.1, 0.9]], [2], r"label must hold the column of each .* 0 to 1; got 2 at row 0"),
        ([[0.1, 0.9]], ["cat"], "0 to 1; got dtype"),
        ([[0.1, 0.9]], [0, 1], "label and score must have the same length"),
        ([[0.1, np.inf]], [0], "score must be finite; got inf"),
        (np.empty((0, 2)), np.empty(0, int), "score must have at least one row"),
    ],
)
def test_calibration_rows_of_classes_that_are_none(score, label, message):
    with pytest.raises(InputError, match=message):
        fit_one_vs_rest(score, label=label)


def test_new_scores_that_are_none():
    with pytest.raises(InputError, match="score must be finite; got nan at place 1"):
        fit_ivap([0.1], label=[1]).predict([0.5, np.nan])
    with pytest.raises(InputError, match="a column for each of the 2 classes; got 3"):
        fit_one_vs_rest([[0.4, 0.6]], label=[1]).predict([[0.2, 0.3, 0.5]])


def test_a_single_calibration_row_of_classes():
    lower, upper = fit_one_vs_rest([[0.2, 0.3, 0.5]], label=[2]).predict([[0.1, 0.1, 0.8]])
    low, high = credal_sets.discount(lower, upper)
    assert credal_sets.is_proper(low, high).all()


def test_probabilities_that_are_none():
    low, high = np.zeros(2), np.ones(2)
    with pytest.raises(InputError, match=r"prob must lie in \[0, 1\]; got -0.5"):
        credal_sets.project([-0.5, 1], low, high)
    with pytest.raises(InputError, match="prob must be finite; got nan"):
        credal_sets.project([np.nan, 1], low, high)
    with pytest.raises(InputError, match=r"got shape \(3,\) for \(2,\)"):
        credal_sets.project([0.2, 0.3, 0.5], low, high)
    with pytest.raises(InputError, match=r"p must lie in \[0, 1\]; got 2"):
        credal_sets.divergence([2, 0], [0.5, 0.5])
    with pytest.raises(InputError, match=r"p0 0\.5 and p1 0\.4 at place 0"):
        merged(0.5, 0.4)


def test_costs_and_events_that_are_none():
    low, high = np.zeros(2), np.ones(2)
    with pytest.raises(InputError, match="cost must be finite"):
        credal_sets.expectation([1, np.nan], low, high)
    with pytest.raises(InputError, match=r"with 2 classes; got \(3,\)"):
        credal_sets.expectation([1, 2, 3], low, high)
    with pytest.raises(InputError, match=r"\(action, class\) with 2 classes; got \(2,\)"):
        decisions.maximin([1, 2], low, high)
    with pytest.raises(InputError, match="event must hold true or false for each of the 2 classes"):
        credal_sets.probability([1, 0], low, high)
    with pytest.raises(InputError, match="event must be a column of values, or rows of one length"):
        credal_sets.probability([True, [False]], low, high)
    with pytest.raises(InputError, match="n_classes must be a whole number >= 2; got 1"):
        decisions.zero_one(1)
