"""What must be known before any number."""

import xarray as xr

from bayescal.report.alerts import alerts
from bayescal.report.view import View
from tests.synthetic import make_result


def kinds(tree: xr.DataTree) -> list[str]:
    return [alert.kind for alert in alerts(View(tree, 0.9))]


def test_nothing_to_say() -> None:
    assert alerts(View(make_result(("a",), draws=20), 0.9)) == []


def test_the_loudest_comes_first() -> None:
    tree = make_result(("a", "b"), draws=20, converged=False, jump=True)
    tree.attrs["method"] = "direct"
    assert kinds(tree) == ["bad", "warn", "quick"]


def test_the_status_with_its_remedy_is_said_once() -> None:
    tree = make_result(("a", "b"), draws=20, converged=False, jump=True)
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


def test_a_jump_names_its_cases() -> None:
    tree = make_result(("a", "b"), draws=20, jump=True)
    tree.attrs["status"] = "ok"
    (alert,) = alerts(View(tree, 0.9))
    assert (alert.kind, alert.names) == ("warn", "a")


def test_draws_without_mcmc_are_said_to_be() -> None:
    tree = make_result(("a",), draws=20)
    tree.attrs["method"] = "direct"
    (alert,) = alerts(View(tree, 0.9))
    assert alert.kind == "quick"
    assert "without MCMC" in alert.text
