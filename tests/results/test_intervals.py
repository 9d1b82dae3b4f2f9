from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

from bayescal.core.errors import InputError
from bayescal.results.intervals import averaged_quantile, in_words, interval
from tests.synthetic import Weights, make_result


@given(zeros=st.integers(0, 399), level=st.floats(0.01, 0.99), seed=st.integers(0, 99))
def test_averaged_quantile_is_that_of_the_draws_with_zeros_put_in(
    zeros: int, level: float, seed: int
) -> None:
    draws = np.random.default_rng(seed).uniform(1, 2, 400)
    mixed = np.concatenate([np.zeros(zeros), draws])
    found = averaged_quantile(draws, zeros / mixed.size, level)
    low, high = np.quantile(mixed, [max(level - 0.01, 0), min(level + 0.01, 1)])
    assert low - 1e-12 <= found <= high + 1e-12


@pytest.mark.mcmc
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
    assert p_calibrated * (lower == 0) + (1 - p_calibrated) * inside >= prob - 2 / draws.size


@pytest.mark.parametrize(("p_calibrated", "touches"), [(0.049, False), (0.0501, True)])
def test_the_lower_end_is_0_from_the_tail_probability_on(
    p_calibrated: float, touches: bool
) -> None:
    tree = make_result(("vit",), p_calibrated=p_calibrated)
    assert (float(interval(tree, "ece", 0.9)[0]) == 0) is touches


def test_the_upper_end_is_the_draws_own() -> None:
    tree = make_result(("vit", "gbm"), p_calibrated=0.97)
    upper = interval(tree, "ece", 0.9).sel(ci_bound="upper")
    expected = np.quantile(tree["posterior"]["ece"].values, 0.95, axis=(0, 1))
    np.testing.assert_allclose(upper, expected)


def hedged(p_calibrated: float, shape: Weights, seed: int = 0) -> xr.DataTree:
    """An average over descriptions, each with draws of its own."""
    tree = make_result(("vit", "gbm"), draws=50, p_calibrated=p_calibrated, shape=shape)
    rng = np.random.default_rng(seed)
    drawn = tree["descriptions"]["ece"]
    drawn[:] = rng.uniform(0, 0.1, drawn.shape) + np.array([0, 0.05, 0.08, 0.2])
    return tree


@settings(max_examples=25, deadline=None)
@given(
    p_calibrated=st.sampled_from([0, 0.001, 0.04, 0.3, 0.9]),
    shape=st.tuples(*(st.sampled_from([0, 1e-4, 0.02, 0.5, 1]) for _ in range(3))).filter(any),
    prob=st.sampled_from([0.5, 0.9, 0.95]),
    seed=st.integers(0, 99),
)
def test_hedged_ends_are_quantiles_of_draws_repeated_by_the_roots_of_the_weights(
    p_calibrated: float, shape: Weights, prob: float, seed: int
) -> None:
    """Brute force: each draw as often as its weight says, in units of a millionth."""
    tree = hedged(p_calibrated, shape, seed)
    found = interval(tree, "ece", prob).sel(classifier="gbm").values
    root = np.sqrt(tree["model_average"]["weight"].sel(classifier="gbm").values)
    drawn = tree["descriptions"]["ece"].sel(classifier="gbm").values.reshape(-1, 4)
    alpha = (1 - prob) / 2
    for end, first, level in ((0, 0, alpha), (1, 1, 1 - alpha)):
        times = np.rint(1e4 * root[first:]).astype(int)
        every = np.sort(np.concatenate([
            np.repeat(drawn[:, first + k], number) for k, number in enumerate(times)
        ]))  # fmt: skip
        # The next draw may be the one, where the level falls between two.
        places = np.array([level - 1e-3, level + 1e-3]) * len(every)
        low, high = every[places.astype(int).clip(0, len(every) - 1)]
        assert low - 1e-12 <= found[end] <= high + 1e-12


def test_an_unlikely_description_widens_the_interval() -> None:
    """A probability of 0.02 counts sqrt(0.02) = 0.14 parts against 0.99: over 5% of the whole."""
    alone = interval(hedged(0.0, (1, 0, 0)), "ece").sel(classifier="vit").values
    both = interval(hedged(0.0, (0.98, 0, 0.02)), "ece").sel(classifier="vit").values
    assert alone[1] < 0.15
    assert both[1] > 0.2
    np.testing.assert_allclose(both[0], alone[0], atol=0.003)


def test_a_probability_of_calibration_of_which_the_root_is_above_the_tail_reaches_down() -> None:
    tree = hedged(0.01, (1, 0, 0))
    tree["descriptions"]["ece"].loc[{"description": "calibrated"}] = 0
    assert interval(tree, "ece").sel(ci_bound="lower").values.tolist() == [0, 0]
    upper = interval(tree, "ece").sel(ci_bound="upper")
    draws = tree["descriptions"]["ece"].sel(description="smooth")
    np.testing.assert_allclose(upper, np.quantile(draws, 0.95, axis=(0, 1)), atol=0.003)


def test_where_nothing_but_calibrated_has_weight_both_ends_are_its_own() -> None:
    """As where all scores are 0 or 1: their errors are those of the description calibrated."""
    tree = hedged(1.0, (1, 1, 1))
    found = interval(tree, "ece").sel(classifier="vit").values
    draws = tree["descriptions"]["ece"].sel(classifier="vit", description="calibrated")
    np.testing.assert_allclose(found, np.quantile(draws, [0.05, 0.95]), atol=0.003)


def test_a_hedged_interval_says_what_it_is() -> None:
    found = interval(hedged(0.1, (1, 1, 1)), "ece", 0.8)
    assert found.dims == ("classifier", "ci_bound")
    assert found.attrs["ci_kind"] == "hedged"
    assert found.attrs["ci_text"] == in_words("hedged", 0.8)
    assert "10% quantile" in in_words("hedged", 0.8)
    assert interval(hedged(0.1, (1, 1, 1)), "gap").attrs["ci_kind"] == "eti"


def test_other_variables_are_equal_tailed_and_keep_their_dims() -> None:
    tree = make_result(("vit", "gbm"), p_calibrated=0.97)
    found = interval(tree, "gap", 0.8)
    assert found.dims == ("classifier", "bin", "ci_bound")
    assert (found.attrs["ci_kind"], found.attrs["ci_prob"]) == ("eti", 0.8)
    draws = tree["posterior"]["gap"].sel(classifier="gbm", bin=3).values
    bounds = found.sel(classifier="gbm", bin=3)
    np.testing.assert_allclose(bounds, np.quantile(draws, [0.1, 0.9]))


def test_each_case_has_its_own_probability_of_calibration() -> None:
    tree = make_result(("vit", "gbm"), classes=("cat", "dog"))
    tree["model_average"]["p_calibrated"][:] = [[0.0, 0.9], [0.0, 0.0]]
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
    tree = make_result(("vit",), p_calibrated=0.5)
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


@pytest.mark.slow
@pytest.mark.parametrize("prob", [0, 1, 90, -0.1, float("nan")])
def test_prob_outside_the_unit_interval(prob: float) -> None:
    with pytest.raises(InputError, match=r"prob must be a number in \(0, 1\)"):
        interval(make_result(), "ece", prob)


def test_an_unknown_variable() -> None:
    with pytest.raises(InputError, match="'brier'"):
        interval(make_result(), "brier")
