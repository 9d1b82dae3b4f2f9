"""What holds for every plot and every result."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import matplotlib as mpl
import pytest
import xarray as xr
from matplotlib import _pylab_helpers
from matplotlib.figure import Figure

from bayescal import plots
from tests.plots.looks import assert_readable, words
from tests.synthetic import make_result

Plot = Callable[[xr.DataTree], Figure]

LONG = tuple(f"resnet50-imagenet-augmented-label-smoothing-seed-{k}" for k in range(3))
DIGITS = tuple(f"digit {k}" for k in range(10))
RESULTS: dict[str, dict[str, Any]] = {
    "one": {"classifiers": ("vit",)},
    "twenty": {"classifiers": [f"model {k}" for k in range(20)]},
    "long names": {"classifiers": LONG},
    "long names not converged": {"classifiers": LONG, "converged": False},
    "ten classes": {"classifiers": ("vit",), "classes": DIGITS},
    "groups": {"groups": ("women", "men", "not said")},
    "all scores equal": {"score": "constant"},
    "empty bins": {"score": "rare", "strategy": "uniform", "n": 300},
    "not converged": {"converged": False},
    "several descriptions": {"shape": (1, 1, 1)},
    "surely calibrated": {"p_calibrated": 1.0},
    "hostile names": {"classifiers": ("$\\frac{", "<script>", "_x", "%s {} \\n")},
}
ALL: dict[str, Plot] = {
    "reliability": plots.plot_reliability,
    "posterior": plots.plot_posterior,
    "comparison": plots.plot_comparison,
    "prior_posterior": plots.plot_prior_posterior,
}


@pytest.fixture(scope="module", params=RESULTS, ids=lambda name: name.replace(" ", "-"))
def tree(request: pytest.FixtureRequest) -> xr.DataTree:
    return make_result(**RESULTS[request.param], prior=True, draws=200)


@pytest.mark.mcmc
@pytest.mark.parametrize("name", ALL)
def test_it_can_be_read(name: str, tree: xr.DataTree) -> None:
    assert_readable(ALL[name](tree))


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_a_failed_fit_is_shouted(name: str) -> None:
    tree = make_result(converged=False, prior=True)
    said = " ".join(" ".join(words(ALL[name](tree))).split())
    assert "NOT CONVERGED: a: R-hat 1.53" in said


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_a_good_result_has_no_notes(name: str) -> None:
    said = " ".join(words(ALL[name](make_result(prior=True))))
    assert "NOT CONVERGED" not in said


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_nothing_global_is_touched(name: str) -> None:
    before, open_figures = dict(mpl.rcParams), list(_pylab_helpers.Gcf.figs)
    figure = ALL[name](make_result(prior=True))
    assert dict(mpl.rcParams) == before
    assert list(_pylab_helpers.Gcf.figs) == open_figures
    assert figure._repr_png_().startswith(b"\x89PNG")  # type: ignore[attr-defined]  # of our own figure class


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_the_result_is_left_as_it_was(name: str) -> None:
    tree = make_result(prior=True)
    before = tree.copy(deep=True)
    ALL[name](tree)
    xr.testing.assert_identical(tree, before)


def test_a_warning_of_the_status_is_shown() -> None:
    tree = make_result()
    tree.attrs["status"] = "only one class among the labels"
    assert "only one class among the labels" in words(plots.plot_comparison(tree))


def test_a_panel_carries_the_warnings_of_its_own_classifier() -> None:
    tree = make_result(("a", "b"))
    tree.attrs["status"] = "a: the curve jumps."
    tree.attrs["warnings"] = json.dumps([["the curve jumps.", [{"classifier": "a"}]]])
    assert "the curve jumps" in " ".join(words(plots.plot_reliability(tree, "a")))
    assert "the curve jumps" not in " ".join(words(plots.plot_reliability(tree, "b")))
    assert "a: the curve jumps." in words(plots.plot_comparison(tree))
    assert "jumps" not in " ".join(words(plots.plot_comparison(tree.sel(classifier="b"))))


def test_a_result_that_does_not_say_which_case_failed_warns_in_every_plot() -> None:
    tree = make_result(converged=False)
    tree["diagnostics"]["converged"][...] = True
    said = " ".join(words(plots.plot_reliability(tree, "b")))
    assert "NOT CONVERGED" in said
