"""Probabilities that a number lies on one side of a limit, against counting draws."""

import numpy as np
import pytest
import xarray as xr

import bayescal as bc
from tests.synthetic import make_result

TREE = make_result(("vit", "gbm"), p_calibrated=0.3)
BOTH = pytest.mark.parametrize("side", [bc.prob_below, bc.prob_above])


def test_they_are_shares_of_the_draws_case_by_case() -> None:
    below, above = bc.prob_below(TREE, "tce", 0.03), bc.prob_above(TREE, "tce", 0.03)
    for name in ("vit", "gbm"):
        draws = TREE["posterior"]["tce"].sel(classifier=name).values
        assert below.sel(classifier=name) == np.mean(draws < 0.03)
        assert above.sel(classifier=name) == np.mean(draws > 0.03)
    assert below.attrs["text"] == "Posterior probability that tce is below 0.03."


def test_without_a_name_it_is_the_main_variable() -> None:
    assert bc.prob_below(TREE, None, 0.03).identical(bc.prob_below(TREE, "tce", 0.03))


def test_draws_of_calibrated_classifiers_are_below_any_error() -> None:
    draws = TREE["posterior"]["tce"]
    calibrated = (draws == 0).mean(("chain", "draw"))
    np.testing.assert_array_equal(bc.prob_below(TREE, "tce", 1e-12), calibrated)
    np.testing.assert_array_equal(bc.prob_above(TREE, "tce", 0), 1 - calibrated)


@pytest.mark.parametrize("var", ["tce", "e90", "auc", "net_benefit:0.3"])
@pytest.mark.parametrize("tail", [0.05, 0.2])
def test_an_end_of_the_interval_leaves_its_tail(var: str, tail: float) -> None:
    """The upper end is never below the quantile of the posterior; of measures of rows it is it."""
    upper = bc.interval(TREE, var, 1 - 2 * tail).sel(ci_bound="upper")
    for name, end in zip(("vit", "gbm"), upper.values, strict=True):
        above = float(bc.prob_above(TREE, var, float(end)).sel(classifier=name))
        assert above <= tail + 1e-9
        assert above == pytest.approx(tail, abs=0.01) or var in ("tce", "e90")


def test_an_interval_below_a_limit_leaves_its_tail_above_it() -> None:
    """What `conclusions` calls below a threshold at 90% is below it with probability .95."""
    upper = bc.interval(TREE, "tce", 0.9).sel(ci_bound="upper")
    assert (bc.prob_below(TREE, "tce", float(upper.max()) + 1e-9) >= 0.95).all()


def test_draws_that_do_not_exist_are_left_out() -> None:
    tree = make_result(("vit",))
    groups = {name: node.to_dataset() for name, node in tree.children.items()}
    draws = groups["posterior"]["tce"].copy()
    draws[0] = np.nan
    tree["posterior"] = xr.DataTree(groups["posterior"].assign(tce=draws))
    expected = np.mean(draws.values[1:] < 0.03)
    assert bc.prob_below(tree, "tce", 0.03) == pytest.approx(expected)


def test_it_is_that_of_the_measure_over_all_intervals() -> None:
    scores = bc.datasets.agnostic.truth("over").scores(200, seed=1)
    result = bc.fit(bc.agnostic, scores, method="direct", seed=20)
    assert bc.agnostic.prob_above(result, 0.05) == bc.prob_above(result, "c", 0.05)


@BOTH
@pytest.mark.parametrize(
    ("var", "limit", "message"),
    [
        ("tcf", 0.1, "did you mean 'tce'"),
        (5, 0.1, "5"),
        ("tce", np.nan, r"limit must be a number in \(-inf, inf\); got nan"),
        ("tce", "a", "limit must be a number .*; got 'a'. Pass the value that would matter"),
        ("tce", None, "limit must be a number"),
        ("tce", [0.1, 0.2], "limit must be a number"),
    ],
)
def test_wrong_input_is_refused(side, var: object, limit: object, message: str) -> None:
    with pytest.raises(bc.InputError, match=message):
        side(TREE, var, limit)


@BOTH
def test_what_is_no_result_is_refused(side) -> None:
    with pytest.raises(bc.InputError, match="result"):
        side({"tce": 0.1}, "tce", 0.1)
