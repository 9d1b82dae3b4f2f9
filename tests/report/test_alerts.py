"""What must be known before any number."""

import numpy as np
import pytest
import xarray as xr

from bayescal.core.contradiction import contradiction
from bayescal.report.sections import alerts
from bayescal.report.view import View
from tests.synthetic import make_result


def kinds(tree: xr.DataTree) -> list[str]:
    return [alert.kind for alert in alerts(View(tree, 0.9))]


def test_nothing_to_say() -> None:
    assert alerts(View(make_result(("a",), draws=20), 0.9)) == []


def test_the_loudest_comes_first() -> None:
    tree = make_result(("a", "b"), draws=20, converged=False, p_calibrated=0.1, shape=(0, 1, 0))
    tree.attrs["method"] = "direct"
    assert kinds(tree) == ["bad", "note", "quick"]


def test_the_status_with_its_remedy_is_said_once() -> None:
    tree = make_result(("a", "b"), draws=20, converged=False, p_calibrated=0.1, shape=(0, 1, 0))
    texts = [alert.text for alert in alerts(View(tree, 0.9))]
    assert texts[0] == tree.attrs["status"]
    assert tree.attrs["status"] not in texts[1:]


def test_a_remark_is_shown_although_the_fit_converged() -> None:
    tree = make_result(("a",), draws=20)
    tree.attrs["status"] = "All labels are of one class."
    (alert,) = alerts(View(tree, 0.9))
    assert (alert.kind, alert.text) == ("warn", "All labels are of one class.")


def test_one_case_that_failed_is_enough() -> None:
    """The flag of a case is believed even where the summary of all says otherwise."""
    tree = make_result(("a", "b"), draws=20, converged=False)
    tree.attrs["converged"], tree.attrs["status"] = "true", "ok"
    (alert,) = alerts(View(tree, 0.9))
    assert (alert.kind, alert.names) == ("bad", "a")
    assert "target_accept" in alert.text


def test_a_contradiction_of_estimate_and_posterior_is_a_warning_beside_the_shape() -> None:
    """The note on the shape of the curve must not take the place of the status."""
    tree = make_result(("a",), draws=20, p_calibrated=0.1, shape=(0, 1, 0))
    (sentence,) = contradiction(0.5, np.linspace(0.01, 0.02, 5000))
    tree.attrs["status"] = f"a: {sentence}"
    warning, note = alerts(View(tree, 0.9))
    assert (warning.kind, warning.text) == ("warn", f"a: {sentence}")
    assert note.kind == "note"


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        ((0, 1, 0), "a: The calibration curve is rough"),
        ((0, 0, 1), "a: The calibration curve jumps near"),
    ],
)
def test_a_curve_that_is_not_smooth_is_told_case_by_case(
    shape: tuple[float, float, float], said: str
) -> None:
    tree = make_result(("a", "b"), draws=20, p_calibrated=0.1, shape=shape)
    tree["model_average"]["weight"].loc[{"classifier": "b"}] = [0.1, 0.9, 0, 0]
    (alert,) = alerts(View(tree, 0.9))
    assert alert.kind == "note"
    assert said in alert.text
    assert "b: " not in alert.text


def test_many_curves_that_are_not_smooth_are_counted() -> None:
    names = [f"model {k}" for k in range(7)]
    tree = make_result(names, draws=20, p_calibrated=0.1, shape=(0, 1, 0))
    (alert,) = alerts(View(tree, 0.9))
    assert alert.text.count("is rough") == 4
    assert "The same holds for 3 more cases" in alert.text


@pytest.mark.parametrize("shape", [None, (1.0, 0.0, 0.0)])
def test_a_smooth_curve_needs_no_note(shape: tuple[float, float, float] | None) -> None:
    tree = make_result(("a",), draws=20, p_calibrated=0.1, shape=shape)
    assert alerts(View(tree, 0.9)) == []


def test_draws_without_mcmc_are_said_to_be() -> None:
    tree = make_result(("a",), draws=20)
    tree.attrs["method"] = "direct"
    (alert,) = alerts(View(tree, 0.9))
    assert alert.kind == "quick"
    assert "without MCMC" in alert.text
