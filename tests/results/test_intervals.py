import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.results.intervals import in_words, interval
from tests.synthetic import make_result


@settings(max_examples=25)
@given(
    p_calibrated=st.floats(0, 1),
    prob=st.sampled_from([0.5, 0.8, 0.9, 0.95]),
    seed=st.integers(0, 20),
)
def test_the_conservative_interval_holds_its_probability(
    p_calibrated: float, prob: float, seed: int
) -> None:
    tree = make_result(("vit",), p_calibrated=p_calibrated, seed=seed, draws=100, n=200)
    lower, upper = interval(tree, "tce", prob).values
    draws = tree["posterior"]["tce"].values
    inside = np.mean((draws >= lower) & (draws <= upper))
    assert inside >= prob - 2 / draws.size


@pytest.mark.parametrize(("p_calibrated", "touches"), [(0.049, False), (0.051, True)])
def test_the_lower_end_is_0_from_the_tail_probability_on(
    p_calibrated: float, touches: bool
) -> None:
    tree = make_result(("vit",), p_calibrated=p_calibrated)
    assert (float(interval(tree, "ece", 0.9)[0]) == 0) is touches


def test_the_upper_end_is_that_given_miscalibration() -> None:
    tree = make_result(("vit", "gbm"), p_calibrated=0.97)
    upper = interval(tree, "ece", 0.9).sel(ci_bound="upper")
    expected = np.quantile(tree["given_miscalibration"]["ece"].values, 0.95, axis=(0, 1))
    np.testing.assert_allclose(upper, expected)


@settings(max_examples=25, deadline=None)
@given(
    p_calibrated=st.sampled_from([0, 0.001, 0.04, 0.3, 0.9, 1]),
    prob=st.sampled_from([0.5, 0.9, 0.95]),
    seed=st.integers(0, 99),
)
def test_ends_are_quantiles_of_the_average_and_given_miscalibration(
    p_calibrated: float, prob: float, seed: int
) -> None:
    """Brute force: draws in order, as many zeros before them as calibration is probable."""
    tree = make_result(("vit",), draws=500, chains=2, p_calibrated=p_calibrated, seed=seed)
    given = np.sort(tree["given_miscalibration"]["ece"].values.ravel())
    zeros = np.zeros(round(1e6 * p_calibrated))
    mixed = np.concatenate([zeros, np.repeat(given, round(1000 * (1 - p_calibrated)))])
    alpha = (1 - prob) / 2
    lower, upper = interval(tree, "ece", prob).values
    # The share of draws that are 0 is that probability; which of the others are left is chance.
    low, high = np.quantile(mixed, np.clip([alpha - 0.03, alpha + 0.03], 0, 1))
    assert low - 1e-12 <= lower <= high + 1e-12
    assert upper == pytest.approx(np.quantile(given, 1 - alpha))


def test_a_curve_has_the_union_of_both_equal_tailed_intervals() -> None:
    tree = make_result(("vit", "gbm"), p_calibrated=0.97)
    found = interval(tree, "calibration_curve", 0.8).sel(classifier="vit")
    drawn, given = (
        np.quantile(tree[group]["calibration_curve"].sel(classifier="vit"), [0.1, 0.9], (0, 1))
        for group in ("posterior", "given_miscalibration")
    )
    assert np.ptp(drawn, axis=0).max() < 1e-12  # the diagonal, which that given none may not hold
    np.testing.assert_allclose(found[:, 0], np.minimum(drawn[0], given[0]))
    np.testing.assert_allclose(found[:, 1], np.maximum(drawn[1], given[1]))


def test_an_interval_names_the_power_of_the_evidence_where_there_are_components() -> None:
    tree = make_result(("vit",), draws=50, shape=(1, 1, 1))
    found = interval(tree, "ece", 0.8)
    assert found.attrs["ci_kind"] == "conservative"
    assert found.attrs["ci_text"].startswith(in_words("conservative", 0.8))
    assert "to the power 0.35" in found.attrs["ci_text"]
    assert "power" not in interval(make_result(("vit",), draws=50), "ece").attrs["ci_text"]


def test_a_measure_of_the_curve_that_the_result_does_not_hold() -> None:
    """The measure c by brute force over all runs of neighbouring cells."""
    tree = make_result(("vit",), draws=20, chains=2, p_calibrated=0.25)
    rate, mass = (tree["curve"][name].values.reshape(40, -1) for name in ("rate", "mass"))
    step = mass * (rate - tree["constant_data"]["cell_score"].values)
    step[(tree["curve"]["component"] == 0).values.ravel()] = 0
    runs = [(i, j) for i in range(50) for j in range(i + 1, 51)]
    c = np.max([abs(step[:, i:j].sum(axis=1)) for i, j in runs], axis=0)
    found = interval(tree, "c", 0.9)
    expected = [np.quantile(c, 0.05), np.quantile(c[c > 0], 0.95)]
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert (np.sum(c == 0), expected[0]) == (10, 0)


def test_other_variables_are_equal_tailed_and_keep_their_dims() -> None:
    tree = make_result(("vit", "gbm"), p_calibrated=0.97)
    found = interval(tree, "coef", 0.8)
    assert found.dims == ("classifier", "basis", "ci_bound")
    assert (found.attrs["ci_kind"], found.attrs["ci_prob"]) == ("eti", 0.8)
    draws = tree["posterior"]["coef"].sel(classifier="gbm").values[..., 1]
    bounds = found.sel(classifier="gbm")[1]
    np.testing.assert_allclose(bounds, np.quantile(draws, [0.1, 0.9]))


def test_each_case_has_its_own_probability_of_calibration() -> None:
    tree = make_result(("vit", "gbm"), classes=("cat", "dog"), p_calibrated=0.0)
    calibrated = {"classifier": "vit", "class": "dog", "draw": slice(0, 99)}
    tree["posterior"]["ece"].loc[calibrated] = 0
    lower = interval(tree, "ece").sel(ci_bound="lower")
    assert lower.dims == ("classifier", "class")
    np.testing.assert_array_equal(lower == 0, [[False, True], [False, False]])


def test_the_order_of_the_dims_does_not_matter() -> None:
    tree = make_result(("vit", "gbm"), classes=("cat", "dog"))
    turned = tree.copy()
    average = tree["model_average"].to_dataset()
    turned["model_average"] = average.transpose("class", "classifier")
    assert interval(tree, "ece").equals(interval(turned, "ece"))


@pytest.mark.parametrize("how", ["absent", "nan"])
def test_without_a_probability_of_calibration_it_is_equal_tailed(how: str) -> None:
    tree = make_result(("vit",), p_calibrated=0.0)
    if how == "absent":
        del tree["model_average"]
    else:
        tree["model_average"]["p_calibrated"][...] = np.nan
    found = interval(tree, "ece", 0.9)
    assert found.attrs["ci_kind"] == "eti"
    np.testing.assert_allclose(found, np.quantile(tree["posterior"]["ece"], [0.05, 0.95]))


def test_the_interval_says_in_words_what_it_is() -> None:
    words = interval(make_result(), "ece", 0.9).attrs["ci_text"]
    assert words == in_words("conservative", 0.9)
    assert words.startswith("90% conservative credible interval: from the 5% quantile")
    assert "97.5% quantile" in in_words("conservative", 0.95)


@pytest.mark.parametrize("var", ["slope", "oe", "calibration_curve"])
def test_of_what_is_no_error_it_is_not_said_that_it_starts_at_0(var: str) -> None:
    found = interval(make_result(("vit",), p_calibrated=0.5, shape=(1, 1, 1)), var)
    words = found.attrs["ci_text"]
    assert found.attrs["ci_kind"] == "conservative"
    assert "are 0" not in words
    assert "starts at 0" not in words
    assert "lower one of the 5% quantiles" in words
    assert "higher one of the 95% quantiles" in words


@pytest.mark.parametrize("prob", [0, 1, 90, -0.1, float("nan")])
def test_prob_outside_the_unit_interval(prob: float) -> None:
    with pytest.raises(InputError, match=r"prob must be a number in \(0, 1\)"):
        interval(make_result(), "ece", prob)


def test_an_unknown_variable() -> None:
    with pytest.raises(InputError, match="no variable or measure 'breir'; did you mean 'brier'"):
        interval(make_result(), "breir")


TREE = make_result(("vit", "gbm"), p_calibrated=0.3)
BOTH = pytest.mark.parametrize("side", [bc.prob_below, bc.prob_above])


def test_they_are_shares_of_the_draws_case_by_case() -> None:
    below, above = bc.prob_below(TREE, "tce", 0.03), bc.prob_above(TREE, "tce", 0.03)
    for name in ("vit", "gbm"):
        draws = TREE["posterior"]["tce"].sel(classifier=name).values
        assert below.sel(classifier=name) == np.mean(draws < 0.03)
        assert above.sel(classifier=name) == np.mean(draws > 0.03)
    assert below.attrs["text"] == "Posterior probability that tce is below 0.03."


def test_numbers_of_a_fit_that_did_not_converge_say_so() -> None:
    tree = make_result(("vit",), converged=False)
    said = [interval(tree, "tce").attrs["ci_text"]]
    said += [side(tree, "tce", 0.03).attrs["text"] for side in (bc.prob_below, bc.prob_above)]
    assert all(text.startswith("Unreliable: a fit did not converge. ") for text in said)


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
        ("tce", 5, r"limit must be a number in \[0, 1\]; got 5"),
        ("oe", np.nan, r"limit must be a number in \(-inf, inf\); got nan"),
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
