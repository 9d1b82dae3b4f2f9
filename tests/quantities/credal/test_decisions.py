"""Decisions against linear programmes and the paper's definitions; credal sets of a result."""

import numpy as np
import pytest
from scipy.optimize import linprog

import bayescal as bc
from bayescal.core.probability_intervals import decide
from bayescal.quantities.credal.estimator import e_admissible, interval_dominance, maximin, zero_one
from bayescal.quantities.credal.row_bounds import credible_sets
from tests.quantities.credal.made import binary, multiclass, random_bounds


def best_for_some_member(cost, action, lower, upper):
    """Whether an action's expected cost is least for some member: a linear programme."""
    k = len(lower)
    found = linprog(
        np.zeros(k),
        A_ub=cost[action] - cost,
        b_ub=np.zeros(len(cost)),
        A_eq=np.ones((1, k)),
        b_eq=[1],
        bounds=np.stack([lower, upper], axis=1),
    )
    return found.success


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_the_closed_form_for_naming_a_class_is_the_linear_programmes(n_classes):
    lower, upper = random_bounds(60, n_classes, n_classes)
    cost = zero_one(n_classes)
    found = e_admissible(cost, lower, upper)
    for row in range(60):
        expected = [best_for_some_member(cost, a, lower[row], upper[row]) for a in range(n_classes)]
        assert found[row].tolist() == expected


@pytest.mark.parametrize("unit", [1, 1e-9, 1e150])
@pytest.mark.parametrize("actions", [1, 2, 4])
def test_any_costs_in_any_unit(actions, unit):
    lower, upper = random_bounds(30, 3, 1)
    cost = np.random.default_rng(2).normal(size=(actions, 3))
    found = e_admissible(unit * cost, lower, upper)
    for row in range(30):
        expected = [best_for_some_member(cost, a, lower[row], upper[row]) for a in range(actions)]
        assert found[row].tolist() == expected


@pytest.mark.parametrize("named", [True, False])
def test_each_rule_keeps_what_the_stricter_one_keeps(named):
    lower, upper = random_bounds(100, 4, 3)
    cost = zero_one(4) if named else np.random.default_rng(4).normal(size=(3, 4))
    admissible, kept = e_admissible(cost, lower, upper), interval_dominance(cost, lower, upper)
    chosen = maximin(cost, lower, upper)
    assert (admissible <= kept).all()
    assert admissible.any(axis=1).all()
    assert kept[np.arange(100), chosen].all()


def test_naming_a_class_by_maximin_is_the_largest_lower_probability():
    lower = np.array([[0.3, 0.4, 0.0], [0.1, 0.2, 0.45]])
    upper = np.array([[0.6, 0.5, 0.3], [0.4, 0.4, 0.6]])
    assert maximin(zero_one(3), lower, upper).tolist() == [1, 2]


def test_a_sure_second_best_is_the_maximin_choice():
    # Betting on either class may cost 10; passing costs 3 for sure.
    cost = np.array([[0, 10], [10, 0], [3, 3]])
    assert maximin(cost, [0.3, 0.3], [0.7, 0.7]) == 2
    assert maximin(cost, [0.8, 0.1], [0.9, 0.2]) == 0
    assert e_admissible(cost, [0.3, 0.3], [0.7, 0.7]).tolist() == [True, True, True]
    assert interval_dominance(cost, [0.8, 0.1], [0.9, 0.2]).tolist() == [True, False, False]


def test_one_member_leaves_the_best_actions_ties_and_all():
    p = np.array([0.5, 0.5, 0.0])
    assert e_admissible(zero_one(3), p, p).tolist() == [True, True, False]
    assert interval_dominance(zero_one(3), p, p).tolist() == [True, True, False]


DRAWS = ("chain", "draw")
PRIORS = bc.credal.Priors(bc.credal.ImpreciseDirichlet())


def fit(data):
    return bc.fit(bc.credal, data, priors=PRIORS, seed=20, method="direct", draws=400)


def test_of_two_classes_bounds_are_quantiles_and_their_complements():
    result = fit(binary())
    found = credible_sets(result, 0.8)
    quantile = {name: result["posterior"][name].quantile for name in ("prob_lower", "prob_upper")}
    lower, upper = quantile["prob_lower"](0.1, DRAWS), quantile["prob_upper"](0.9, DRAWS)
    np.testing.assert_allclose(found.lower, np.stack([1 - upper, lower], axis=-1))
    np.testing.assert_allclose(found.upper, np.stack([1 - lower, upper], axis=-1))
    for part, expected in zip(found[2:], decide(found.lower, found.upper), strict=True):
        np.testing.assert_array_equal(part, expected)
    # What is kept for the costs of errors is what the set calls admissible.
    kept = bc.credal.e_admissible(bc.credal.zero_one(2), found.lower, found.upper)
    np.testing.assert_array_equal(kept, found.admissible)


def test_of_several_classes_bounds_are_quantiles_and_decide():
    result = fit(multiclass())
    found = credible_sets(result, 0.8)
    for bound, name, level in ((found.lower, "prob_lower", 0.1), (found.upper, "prob_upper", 0.9)):
        told = result["posterior"][name].transpose(*DRAWS, ...)
        np.testing.assert_allclose(bound, np.quantile(told, level, axis=(0, 1)))
    for part, expected in zip(found[2:], decide(found.lower, found.upper), strict=True):
        np.testing.assert_array_equal(part, expected)


def test_levels_and_results_are_checked():
    with pytest.raises(bc.InputError, match="prob"):
        credible_sets(fit(binary()), 1.0)
    other = bc.fit(
        bc.ece, bc.Scores(y_true=[0, 1] * 20, y_prob=np.linspace(0, 1, 40)), seed=1, method="direct"
    )
    with pytest.raises(bc.InputError, match="got one of ece"):
        credible_sets(other)


def test_of_equally_good_actions_maximin_takes_the_first():
    """The least probability of the classes 1, 2 and 5 is .08, others may take up all the rest."""
    lower, upper = [0.01, 0.08, 0.08, 0.01, 0.06, 0.08], [0.87, 0.88, 0.23, 0.99, 1.0, 0.23]
    assert maximin(zero_one(6), lower, upper) == 1
    assert maximin(1e-9 * zero_one(6), lower, upper) == 1
