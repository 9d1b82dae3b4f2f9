"""Posteriors of calibration errors, densities, the prior beside them, and what depends on it."""

import numpy as np
import pytest
import xarray as xr
from scipy.integrate import trapezoid
from scipy.stats import expon, norm

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.plots import (
    plot_posterior,
    plot_prior_posterior,
    plot_reliability,
    plot_sensitivity,
    plot_sensitivity_curve,
)
from bayescal.plots.posterior import density
from bayescal.plots.style import BLUE, GREY, VERMILLION, ink
from bayescal.results.assemble import combine
from bayescal.results.intervals import interval
from tests.plots.looks import assert_readable, words
from tests.synthetic import make_result
from tests.synthetic_ssme import make_panel_result

GRID = np.linspace(0, 12, 2401)


def test_far_from_0_it_is_the_density_of_the_draws() -> None:
    draws = norm.ppf((np.arange(3000) + 0.5) / 3000, 6, 1)
    np.testing.assert_allclose(density(draws, GRID), norm.pdf(GRID, 6, 1), atol=0.03)


@pytest.mark.parametrize("size", [2, 3, 50, 4000])
@pytest.mark.parametrize("shift", [0.0, 0.4, 9.0])
def test_it_is_that_of_arviz(size: int, shift: float) -> None:
    from arviz_stats.base import array_stats

    draws = np.random.default_rng(size).exponential(size=size) + shift
    low = max(0.0, draws.min() - draws.std())
    grid, height, _ = array_stats.kde(draws, bw="scott", grid_len=1024, custom_lims=(low, None))
    inside = grid[1:-1]
    np.testing.assert_allclose(density(draws, inside), height[1:-1], rtol=1e-9, atol=1e-12)


def test_nothing_leaks_below_0() -> None:
    draws = expon.ppf((np.arange(3000) + 0.5) / 3000)
    found = density(draws, GRID)
    assert trapezoid(found, GRID) == pytest.approx(1, abs=0.005)
    assert found[0] > 0.75  # without folding it would be near 0.5


@pytest.mark.parametrize("draws", [np.full(100, 0.3), np.zeros(100), np.array([0.3])])
def test_a_point_has_no_density(draws: np.ndarray) -> None:
    assert not density(draws, GRID).any()


@pytest.mark.parametrize("others", [np.zeros(400), np.full(20, np.nan)])
def test_draws_of_exactly_0_and_missing_ones_are_left_out(others: np.ndarray) -> None:
    draws = np.random.default_rng(1).exponential(size=500)
    found = density(np.concatenate([draws, others]), GRID)
    np.testing.assert_array_equal(found, density(draws, GRID))


def test_one_panel_a_case_and_no_empty_axes() -> None:
    figure = plot_posterior(make_result([f"m{k}" for k in range(7)]))
    assert [ax.get_title(loc="left") for ax in figure.axes] == [f"m{k}" for k in range(7)]


def test_the_bar_at_0_is_as_high_as_calibration_is_probable() -> None:
    (ax,) = plot_posterior(make_result(("vit",), p_calibrated=0.37)).axes
    bars = [line for line in ax.lines if list(line.get_xdata()) == [0, 0]]
    assert [list(bar.get_ydata()) for bar in bars] == [[0, 0.37]]
    assert "P(0) = 0.37" in [text.get_text() for text in ax.texts]


@pytest.mark.parametrize("p_calibrated", [0.37, 1.0])
def test_the_density_is_that_given_miscalibration(p_calibrated: float) -> None:
    tree = make_result(("vit",), p_calibrated=p_calibrated)
    (ax,) = plot_posterior(tree).axes
    (curve,) = (line for line in ax.lines if len(line.get_xdata()) > 2)
    expected = density(tree["given_miscalibration"]["tce"].values, curve.get_xdata())
    np.testing.assert_allclose(curve.get_ydata(), expected / expected.max())


def test_the_interval_and_the_estimate_are_where_the_result_has_them() -> None:
    tree = make_result(("vit",))
    (ax,) = plot_posterior(tree, prob=0.8).axes
    drawn = [tuple(line.get_xdata()) for line in ax.lines]
    assert tuple(interval(tree, "tce", 0.8).values) in drawn
    assert (float(tree["point_estimate"]["ece"]),) * 2 in drawn


def test_draws_that_are_all_the_same_are_a_line() -> None:
    tree = make_result(("vit",))
    tree["given_miscalibration"]["tce"][...] = 0.25
    (ax,) = plot_posterior(tree).axes
    assert (0.25, 0.25) in [tuple(line.get_xdata()) for line in ax.lines]


def test_panels_share_their_scale_unless_one_would_be_a_mere_line() -> None:
    tree = make_result(("vit", "gbm"))
    one, other = (ax.get_xlim() for ax in plot_posterior(tree).axes)
    assert one == other
    for group in ("posterior", "given_miscalibration"):
        tree[group]["tce"].loc[{"classifier": "gbm"}] /= 100
    tree["point_estimate"]["ece"].loc[{"classifier": "gbm"}] /= 100
    one, other = (ax.get_xlim() for ax in plot_posterior(tree).axes)
    assert one[1] > 5 * other[1]


def test_an_error_without_an_estimate_has_no_line_for_it() -> None:
    tree = make_result(("vit",))
    with_line = len(plot_posterior(tree).axes[0].lines)
    tree["point_estimate"] = tree["point_estimate"].to_dataset().drop_vars("ece")
    assert len(plot_posterior(tree).axes[0].lines) == with_line - 1


def test_an_unknown_variable() -> None:
    with pytest.raises(InputError, match="got var 'brier'"):
        plot_posterior(make_result(), "brier")


def test_a_probability_of_calibration_that_is_not_known_is_not_drawn() -> None:
    tree = make_result(("vit",))
    tree["model_average"]["p_calibrated"][...] = np.nan
    assert not plot_posterior(tree).axes[0].texts


def test_both_densities_are_there_and_the_prior_is_the_wider() -> None:
    (ax,) = plot_prior_posterior(make_result(("vit",), prior=True)).axes
    prior, posterior = ((line.get_ydata() > 0.5).sum() for line in ax.lines)
    assert prior > 3 * posterior


def test_without_prior_draws_the_remedy_is_named() -> None:
    with pytest.raises(InputError, match=r"needs the group 'prior'.*sample_prior_predictive"):
        plot_prior_posterior(make_result())


def test_a_variable_that_the_prior_lacks() -> None:
    with pytest.raises(InputError, match="'gap' in its group 'prior'; it holds ece, tce, mce"):
        plot_prior_posterior(make_result(prior=True), "gap")


def grid(names=("a",), priors=("default", "wide", "jeffreys"), **options):
    return combine({p: make_result(names, seed=i, **options) for i, p in enumerate(priors)})


def lines(ax, colour):
    return [line for line in ax.lines if line.get_color() == colour]


def with_curve(names=("a",), error="tce", belief=True):
    tree = make_result(names)
    x = np.linspace(0.3, 0.6, 31)
    ece = 0.05 + np.abs(x - 0.45) / 2
    held = {
        "class_prior": x,
        "ece": ece,
        "envelope_lower": np.maximum(0.05 - np.abs(x - 0.45), 0),
        "envelope_upper": 0.05 + np.abs(x - 0.45),
        f"{error}_lower": ece / 2,
        f"{error}_upper": 1.5 * ece,
    }
    dims = ("classifier", "class_prior_point") if len(names) > 1 else ("class_prior_point",)
    shape = (len(names), 31) if len(names) > 1 else (31,)
    data = {name: (dims, np.broadcast_to(values, shape)) for name, values in held.items()}
    coords = {"classifier": list(names)} if len(names) > 1 else {}
    tree["sensitivity"] = xr.DataTree(xr.Dataset(data, coords=coords))
    if belief:
        posterior = tree["posterior"].to_dataset()
        like = posterior["ece"]
        draws = np.random.default_rng(1).normal(0.45, 0.02, like.shape)
        tree["posterior"] = xr.DataTree(posterior.assign(class_prior=(like.dims, draws)))
    return tree


@pytest.mark.slow
@pytest.mark.parametrize(
    ("names", "priors"),
    [(("a",), ("x", "y")), (tuple("abcde"), tuple(f"prior number {i}" for i in range(8)))],
)
def test_any_number_of_priors_and_cases_is_readable(names, priors):
    figure = plot_sensitivity(grid(names, priors))
    assert_readable(figure)
    assert len(figure.axes) == len(names)


def test_rows_are_the_priors_in_order_with_their_intervals():
    tree = grid()
    (ax,) = plot_sensitivity(tree).axes
    ticks = zip(ax.get_yticks(), ax.get_yticklabels(), strict=True)
    labels = {text.get_text(): place for place, text in ticks}
    assert labels == {"default": 2, "wide": 1, "jeffreys": 0}
    bounds = bc.interval(tree, "tce")
    drawn = [tuple(line.get_xdata()) for line in lines(ax, BLUE) if len(line.get_xdata()) == 2]
    assert drawn == [tuple(bounds.sel(prior=name).values) for name in labels]
    (mark,) = lines(ax, GREY)
    assert mark.get_xdata()[0] == float(tree["posterior"]["tce"].sel(prior="default").mean())


@pytest.mark.slow
def test_the_bar_at_zero_is_as_high_as_the_probability_of_calibration():
    (ax,) = plot_sensitivity(grid(p_calibrated=0.5)).axes
    tall = [np.ptp(line.get_ydata()) for line in lines(ax, ink())]
    assert tall == pytest.approx([0.36] * 3)
    (ax,) = plot_sensitivity(grid(p_calibrated=0.0)).axes
    assert lines(ax, ink()) == []


def test_the_threshold_is_drawn_and_kept_from_the_result():
    tree = grid()
    tree.attrs["threshold"] = 0.07
    figure = plot_sensitivity(tree)
    (mark,) = lines(figure.axes[0], VERMILLION)
    assert mark.get_xdata()[0] == 0.07
    assert "threshold 0.07" in words(figure)
    (mark,) = lines(plot_sensitivity(tree, threshold=0.01).axes[0], VERMILLION)
    assert mark.get_xdata()[0] == 0.01


def test_a_conclusion_that_does_not_survive_is_noted():
    trees = {"sure": make_result(("a",)), "not": make_result(("a",), p_calibrated=0.5)}
    assert any("is not robust" in text for text in words(plot_sensitivity(combine(trees))))
    calm = {"one": trees["sure"], "two": trees["sure"]}
    assert not any("is not robust" in text for text in words(plot_sensitivity(combine(calm))))


def test_a_fit_that_failed_is_red_and_named():
    trees = {"good": make_result(("a",)), "bad": make_result(("a",), converged=False)}
    figure = plot_sensitivity(combine(trees))
    assert "bad (not converged)" in words(figure)
    assert any("NOT CONVERGED" in text for text in words(figure))


def test_names_are_taken_as_they_are_written():
    figure = plot_sensitivity(grid(priors=("$x_1$ " * 9, "<b>")))
    assert_readable(figure)


def test_a_plot_of_one_case_says_of_which_prior_it_is():
    tree = grid(priors=("default", "wide"))
    assert "Prior: default" in words(plot_reliability(tree))
    assert "Prior: wide" not in words(plot_reliability(tree.sel(prior="wide")))


def test_a_group_in_which_a_metric_is_undefined_has_no_panel():
    trees = {name: make_panel_result(("a",), ("x", "y", "z"), draws=50) for name in ("one", "two")}
    for tree in trees.values():
        tree["posterior"]["auc"].loc[{"group": "x"}] = np.nan
    figure = plot_sensitivity(combine(trees), "auc", threshold=0.5)
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["y", "z"]


def test_one_prior_is_refused():
    with pytest.raises(bc.InputError, match="has one prior"):
        plot_sensitivity(make_result())


@pytest.mark.slow
@pytest.mark.parametrize("names", [("a",), ("a", "b"), ("a", "b", "c", "d")])
@pytest.mark.parametrize("error", ["tce", "ece"])
def test_the_curve_is_readable(names, error):
    figure = plot_sensitivity_curve(with_curve(names, error))
    assert_readable(figure)
    assert len(figure.axes) == len(names)
    assert any(text.startswith(f"{error.upper()} if miscalibrated") for text in words(figure))


def test_the_curve_draws_the_arrays_of_the_result():
    tree = with_curve()
    (ax,) = plot_sensitivity_curve(tree).axes
    (line,) = lines(ax, VERMILLION)
    held = tree["sensitivity"].dataset
    np.testing.assert_array_equal(line.get_xdata(), held["class_prior"])
    np.testing.assert_array_equal(line.get_ydata(), held["ece"])
    bands = [path.vertices[:, 1] for band in ax.collections for path in band.get_paths()]
    for name in ("envelope_upper", "tce_upper"):
        assert any(band.max() == pytest.approx(held[name].max().item()) for band in bands)
    low, high = np.quantile(tree["posterior"]["class_prior"], (0.05, 0.95))
    assert tuple(lines(ax, ink())[0].get_xdata()) == (low, high)


def test_the_curve_does_without_envelope_posterior_and_belief():
    tree = with_curve(belief=False)
    kept = tree["sensitivity"].dataset[["class_prior", "ece"]]
    tree["sensitivity"] = xr.DataTree(kept)
    figure = plot_sensitivity_curve(tree)
    assert_readable(figure)
    assert "plug-in ECE" in words(figure)
    assert len(figure.axes[0].collections) == 0


def test_a_result_without_a_curve_is_refused():
    with pytest.raises(bc.InputError, match="needs sensitivity/class_prior"):
        plot_sensitivity_curve(make_result())
