"""Plots of what hangs on the priors."""

import numpy as np
import pytest
import xarray as xr

import bayescal as bc
from bayescal.plots import plot_reliability, plot_sensitivity, plot_sensitivity_curve
from bayescal.plots.style import BLUE, GREY, VERMILLION, ink
from bayescal.results.assemble import combine
from tests.plots.looks import assert_readable, words
from tests.synthetic import make_result


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


def test_one_prior_is_refused():
    with pytest.raises(bc.InputError, match="has one prior"):
        plot_sensitivity(make_result())


@pytest.mark.slow
@pytest.mark.parametrize("names", [("a",), ("a", "b", "c", "d")])
@pytest.mark.parametrize("error", ["tce", "ece"])
def test_the_curve_is_readable(names, error):
    figure = plot_sensitivity_curve(with_curve(names, error))
    assert_readable(figure)
    assert len(figure.axes) == len(names)
    assert any(error.upper() in text and "known" in text for text in words(figure))


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
