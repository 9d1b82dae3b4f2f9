"""What holds for every plot and every result."""

import inspect
import json
from collections.abc import Callable
from functools import cache
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
import xarray as xr
from hostile import public
from matplotlib import _pylab_helpers, style
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from bayescal import CalibrationSplit, Scores, credal, fit, plots
from bayescal.core.errors import InputError
from bayescal.core.text import shorten
from bayescal.measures import measure
from bayescal.plots.style import legend, line, new_figure
from tests.plots.looks import assert_readable, words
from tests.synthetic import make_result
from tests.synthetic_credal import failed, make_credal_result
from tests.synthetic_ssme import make_panel_result

Plot = Callable[[xr.DataTree], Figure]

LONG = tuple(f"resnet50-imagenet-augmented-label-smoothing-seed-{k}" for k in range(12))
HOSTILE = ("$\\frac{", "<script>", "_x", "%s {} \\n")
ANIMALS = ("cat", "dog", "eel", "fox", "gnu")
ERRORS: dict[str, dict[str, Any]] = {
    "twenty": {"classifiers": [f"model {k}" for k in range(20)]},
    "long names not converged": {"classifiers": LONG[:3], "converged": False},
    "ten classes": {"classifiers": ("vit",), "classes": [f"digit {k}" for k in range(10)]},
    "groups": {"groups": ("women", "men", "not said")},
    "long names in groups": {
        "classifiers": LONG[:3],
        "groups": ("north", "a group with quite a long name indeed"),
    },
    "long names of classes": {
        "classifiers": ("vit",),
        "classes": [f"a class with quite a long name {k}" for k in range(3)],
        "shape": (1, 1, 1),
        "p_calibrated": 0.46,
    },
    "all scores equal": {"score": "constant"},
    "empty bins": {"score": "rare", "strategy": "uniform", "n": 300},
    "several descriptions": {"shape": (1, 1, 1)},
    "surely calibrated": {"p_calibrated": 1.0},
    "hostile names": {"classifiers": HOSTILE},
}
METRICS: dict[str, dict[str, Any]] = {
    "groups": {"groups": ("north", "south", "a group with quite a long name indeed")},
    "many": {"classifiers": LONG},
    "long names in groups": {"classifiers": LONG[:3], "groups": ("north", "south")},
    "no labels": {"labeled": False, "status": "all classifiers: no row is labelled."},
    "hostile names": {"classifiers": HOSTILE[:3], "groups": ("$a", "%s")},
}
ROWS: dict[str, dict[str, Any]] = {
    "binary": {},
    "five classes": {"classes": ANIMALS},
    "hardly a row": {"calibration": 3, "target": 1},
    "hostile names": {
        "classifiers": HOSTILE[:2],
        "classes": (*HOSTILE[:2], "a class with quite a long name indeed"),
    },
}
OF_ERRORS: tuple[Plot, ...] = (
    plots.plot_reliability,
    plots.plot_posterior,
    plots.plot_comparison,
    plots.plot_prior_posterior,
)
# Results that differ in nothing that these plots show.
ALIKE: dict[Plot, set[str]] = {
    plots.plot_posterior: {"all scores equal", "empty bins"},
    plots.plot_comparison: {"all scores equal", "empty bins", "several descriptions"},
    plots.plot_prior_posterior: {"all scores equal", "empty bins", "groups", "ten classes"},
}
OF_METRICS: tuple[Plot, ...] = (plots.plot_metrics, plots.plot_ranks)
OF_ROWS: tuple[Plot, ...] = (plots.plot_probability, plots.plot_decisions, plots.plot_credal_sets)
PLAIN: dict[Plot, Callable[..., xr.DataTree]] = {
    **dict.fromkeys(OF_ERRORS, lambda **given: make_result(prior=True, draws=200, **given)),
    **dict.fromkeys(OF_METRICS, lambda **given: make_panel_result(draws=60, **given)),
    **dict.fromkeys(
        OF_ROWS, lambda **given: make_credal_result(**{"classes": ANIMALS[:3]} | given)
    ),
}
CASES = [
    pytest.param(draw, name, id=f"{draw.__name__}-{name}".replace(" ", "-"))
    for drawn, results in ((OF_ERRORS, ERRORS), (OF_METRICS, METRICS), (OF_ROWS, ROWS))
    for draw in drawn
    for name, given in results.items()
    if name not in ALIKE.get(draw, ())
    # Two classes have no triangle.
    if draw is not plots.plot_credal_sets or "classes" in given
]
any_plot = pytest.mark.parametrize("draw", PLAIN, ids=lambda draw: draw.__name__)


def plain(draw: Plot, **given: Any) -> xr.DataTree:
    """A result that a plot can draw."""
    if draw is plots.plot_credal_sets:
        given["classes"] = ANIMALS[:3]
    return PLAIN[draw](**given)


@cache
def drawn_often(make: Callable[..., xr.DataTree], name: str) -> xr.DataTree:
    """One result for all plots of its kind, which leave it as it is: see below."""
    results = {OF_ERRORS: ERRORS, OF_METRICS: METRICS, OF_ROWS: ROWS}
    (found,) = (given for drawn, given in results.items() if PLAIN[drawn[0]] is make)
    return make(**found[name])


def said(figure: Figure) -> str:
    return " ".join(" ".join(words(figure)).split())


@pytest.mark.mcmc
@pytest.mark.parametrize(("draw", "name"), CASES)
def test_it_can_be_read(draw: Plot, name: str) -> None:
    assert_readable(draw(drawn_often(PLAIN[draw], name)))


@pytest.mark.slow
@any_plot
def test_a_failed_fit_is_shouted_and_a_good_one_has_no_notes(draw: Plot) -> None:
    good = plain(draw)
    assert "NOT CONVERGED" not in said(draw(good))
    bad = failed(good) if draw in OF_ROWS else plain(draw, converged=False)
    assert "NOT CONVERGED" in said(draw(bad))


@pytest.mark.slow
@any_plot
def test_neither_the_result_nor_anything_global_is_touched(draw: Plot) -> None:
    tree = plain(draw)
    result, settings = tree.copy(deep=True), dict(mpl.rcParams)
    open_figures = list(_pylab_helpers.Gcf.figs)
    figure = draw(tree)
    xr.testing.assert_identical(tree, result)
    assert dict(mpl.rcParams) == settings
    assert list(_pylab_helpers.Gcf.figs) == open_figures
    assert figure._repr_png_().startswith(b"\x89PNG")  # type: ignore[attr-defined]  # of our own figure class


@any_plot
def test_a_warning_of_the_status_is_shown(draw: Plot) -> None:
    tree = plain(draw)
    tree.attrs.pop("warnings", None)
    tree.attrs["status"] = "only one class among the labels"
    assert "only one class among the labels" in said(draw(tree))


ON_AXES = (
    *(draw for draw in PLAIN if draw is not plots.plot_reliability),
    *(plots.plot_differences, plots.plot_roc, plots.plot_class_reliability, plots.plot_sensitivity),
    *(plots.plot_sensitivity_curve, plots.plot_label_plan, plots.plot_change),
)


def test_plots_without_ax_say_so() -> None:
    without = {plots.plot_reliability, plots.plot_decision_curve}
    assert {getattr(plots, name) for name in plots.__all__} == {*ON_AXES} | without
    assert all("ax" in inspect.signature(draw).parameters for draw in ON_AXES)
    assert all("panels belong together" in (draw.__doc__ or "") for draw in without)


ONE_CASE = {draw: {"classifiers": ("vit",)} for draw in OF_ERRORS[1:]}
OTHER_RESULTS = [draw for draw in ON_AXES if draw not in PLAIN]


@pytest.mark.parametrize(
    "draw", [*OF_ERRORS[1:], *OF_METRICS, *OF_ROWS], ids=lambda draw: draw.__name__
)
def test_axes_of_the_users_are_drawn_on_and_warnings_stay(draw: Plot) -> None:
    tree = PLAIN[draw](**ONE_CASE.get(draw, {}))
    given = {"rows": [0]} if draw is plots.plot_credal_sets else {}
    tree.attrs.pop("warnings", None)
    tree.attrs["status"] = "only one class among the labels"
    figure = Figure(figsize=(12, 5), layout="constrained")
    left, right = figure.subplots(1, 2)
    with pytest.raises(InputError, match="ax must be Axes; got int"):
        draw(tree, ax=3, **given)
    assert draw(tree, ax=left, **given) is figure
    assert left.has_data()
    assert not right.has_data()
    assert left.get_legend() is not None or draw is plots.plot_ranks
    assert "only one class among the labels" in said(figure)
    assert not figure.legends


@pytest.mark.mcmc
@pytest.mark.filterwarnings("ignore::bayescal.core.errors.ConvergenceWarning")
@pytest.mark.parametrize("draw", OTHER_RESULTS, ids=lambda draw: draw.__name__)
def test_axes_of_the_users_for_other_results(draw: Plot) -> None:
    given = public.right(f"bayescal.plots.{draw.__name__}")
    if draw is plots.plot_class_reliability:
        given["classes"] = ["0"]
    figure = Figure()
    ax = figure.subplots()
    assert draw(**given | {"ax": ax}) is figure
    assert ax.has_data()
    assert ax.get_legend() is not None


@pytest.mark.parametrize("draw", [plots.plot_posterior, plots.plot_credal_sets])
def test_several_panels_need_a_figure(draw: Plot) -> None:
    with pytest.raises(InputError, match="ax takes one panel; this plot has"):
        draw(plain(draw), ax=Figure().subplots())


@pytest.mark.parametrize("name", ["dark_background", "ggplot"])
def test_the_style_in_force_gives_ground_and_text(name: str) -> None:
    with style.context(name):
        own = plots.plot_comparison(make_result(draws=50))
        (users,) = plots.plot_comparison(make_result(draws=50), ax=Figure().subplots()).axes
        rc = dict(mpl.rcParams)
    for ax in (own.axes[0], users):
        assert ax.get_facecolor() == to_rgba(rc["axes.facecolor"])
        assert ax.figure.get_facecolor() == to_rgba(rc["figure.facecolor"])
    assert to_rgba(own.axes[0].get_yticklabels()[0].get_color()) == to_rgba(rc["text.color"])
    assert users.spines["top"].get_visible()
    assert to_rgba(users.xaxis.label.get_color()) == to_rgba(rc["axes.labelcolor"])


def test_a_panel_carries_the_warnings_of_its_own_classifier() -> None:
    tree = make_result(("a", "b"))
    tree.attrs["status"] = "a: the curve jumps."
    tree.attrs["warnings"] = json.dumps([["the curve jumps.", [{"classifier": "a"}]]])
    assert "the curve jumps" in said(plots.plot_reliability(tree, "a"))
    assert "the curve jumps" not in said(plots.plot_reliability(tree, "b"))
    assert "a: the curve jumps." in words(plots.plot_comparison(tree))
    assert "jumps" not in said(plots.plot_comparison(tree.sel(classifier="b")))


def test_a_result_that_does_not_say_which_case_failed_warns_in_every_plot() -> None:
    tree = make_result(converged=False)
    tree["diagnostics"]["converged"][...] = True
    assert "NOT CONVERGED" in said(plots.plot_reliability(tree, "b"))


def test_shortened_names_keep_both_ends_and_one_line() -> None:
    name = "resnet50 augmented\nlabel-smoothing seed 17"
    line = name.replace("\n", " ")
    assert shorten(name, 40) == line[:19] + "..." + line[-18:]
    assert len(shorten(name, 21)) == 21
    assert shorten("vit") == "vit"


@pytest.mark.parametrize("draw", [*OF_ERRORS[1:3], plots.plot_metrics])
def test_dollar_signs_in_the_title_of_a_measure_make_no_formula(draw: Callable[..., Any]) -> None:
    def loss(rate: Any, score: Any, mass: Any) -> Any:
        return (mass * abs(rate - score)).sum(axis=-1)

    of = measure.ROWS if draw is plots.plot_metrics else measure.ALL
    own = measure.Measure("loss", "loss in $\\frac$", loss, components=of)
    assert_readable(draw(make_result(draws=50, p_calibrated=0.3), own))


def test_a_measure_of_several_curves_is_refused() -> None:
    score = np.random.default_rng(0).dirichlet(np.ones(3), 60)
    scores = Scores(y_true=score.argmax(axis=1), y_prob=score)
    rows = CalibrationSplit(calibration=scores, target=score[:5])
    priors = credal.Priors(credal.ImpreciseDirichlet())
    tree = fit(credal, rows, priors=priors, method="direct", draws=100, seed=1)
    drawn = {"e90": [plots.plot_posterior, plots.plot_comparison], "brier": [plots.plot_metrics]}
    for plot, var in ((plot, var) for var, every in drawn.items() for plot in every):
        with pytest.raises(InputError, match="var must have one number a case"):
            plot(tree, var)


@pytest.mark.parametrize(
    ("name", "columns"),
    [("of trees", 3), ("of many trees " * 3, 2), ("of many trees " * 7, 1), ("W" * 20, 2)],
)
def test_a_legend_has_the_columns_that_its_figure_has_room_for(name: str, columns: int) -> None:
    figure = new_figure(7.0, 3.0)
    legend(figure, {f"{k} {name}": line() for k in range(3)}, 3)
    figure.draw_without_rendering()
    box, texts = figure.legends[0].get_window_extent(), figure.legends[0].get_texts()
    assert len({round(text.get_window_extent().x0) for text in texts}) == columns
    assert 0 <= box.x0 < box.x1 <= figure.bbox.width
