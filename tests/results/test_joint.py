"""Summary, interval and difference of a result with all classifiers in one posterior."""

import numpy as np
import pytest
import xarray as xr

import bayescal as bc
from bayescal.core.errors import InputError
from tests.synthetic_ssme import METRICS, make_panel_result


@pytest.fixture(scope="module")
def tree() -> xr.DataTree:
    return make_panel_result()


def test_the_summary_has_a_row_a_classifier_and_metric(tree: xr.DataTree) -> None:
    frame = bc.summary(tree, prob=0.8)
    assert len(frame) == 3 * len(METRICS)
    row = frame[(frame["classifier"] == "b") & (frame["metric"] == "auc")].iloc[0]
    draws = tree["posterior"]["auc"].sel(classifier="b").values.ravel()
    assert row["mean"] == pytest.approx(draws.mean())
    assert row["median"] == pytest.approx(np.median(draws))
    assert (row["lower"], row["upper"]) == pytest.approx(tuple(np.quantile(draws, (0.1, 0.9))))
    place = {"classifier": "b"}
    assert row["point"] == tree["point_estimate"]["auc"].sel(place).item()
    for method in ("ensemble", "labeled"):
        held = tree["reference_estimates"]["auc"].sel(place | {"method": method})
        assert row[method] == held.item()
    assert set(frame["status"]) == {"ok"}


@pytest.mark.slow
def test_groups_one_classifier_no_labels_and_a_failed_fit() -> None:
    grouped = bc.summary(make_panel_result(groups=("x", "y")))
    assert list(grouped.index[:1]) == ["a / x"]
    assert set(grouped["group"]) == {"x", "y"}
    alone = bc.summary(make_panel_result(("only",), labeled=False, converged=False))
    assert set(alone["classifier"]) == {"only"}
    assert alone["labeled"].isna().all()
    assert set(alone["status"]) == {"NOT CONVERGED"}
    assert set(bc.summary(make_panel_result(labeled=False))["status"]) == {"NO LABELS"}


def test_intervals_are_equal_tailed(tree: xr.DataTree) -> None:
    found = bc.interval(tree, "ece", prob=0.9)
    assert found.attrs["ci_kind"] == "eti"
    assert found.dims == ("classifier", "ci_bound")


def test_the_difference_is_of_paired_draws(tree: xr.DataTree) -> None:
    found = bc.difference(tree, "a", "c", "accuracy", 0.5)
    one, two = (tree["posterior"]["accuracy"].sel(classifier=k).values.ravel() for k in "ac")
    assert found.draws == pytest.approx(one - two)
    assert (found.lower, found.upper) == pytest.approx(tuple(np.quantile(one - two, (0.25, 0.75))))
    assert found.prob_first_larger == np.mean(one > two)
    assert found.correlation == pytest.approx(np.corrcoef(one, two)[0, 1])
    turned = bc.difference(tree, "c", "a", "accuracy", 0.5)
    assert turned.mean == pytest.approx(-found.mean)
    assert found.text.startswith("accuracy of a minus c: +0.0")


def test_of_equal_classifiers_neither_is_larger() -> None:
    tree = make_panel_result(("a", "b"))
    held = tree["posterior"]["brier"]
    tree["posterior"]["brier"] = held.copy(data=np.full(held.shape, 0.2))
    found = bc.difference(tree, "a", "b", "brier")
    assert (found.prob_first_larger, found.prob_equal) == (0, 1)
    assert np.isnan(found.correlation)


def test_what_has_no_difference(tree: xr.DataTree) -> None:
    with pytest.raises(InputError, match="Choose from accuracy, ece"):
        bc.difference(tree, "a", "b", "tce")
    with pytest.raises(InputError, match="classifier must be one in the result"):
        bc.difference(tree, "a", "z", "auc")
    with pytest.raises(InputError, match="group must be one"):
        bc.difference(make_panel_result(groups=("x", "y")), "a", "b", "auc")
    empty = make_panel_result(("a", "b"))
    empty["posterior"]["auc"] = empty["posterior"]["auc"] * np.nan
    with pytest.raises(InputError, match="undefined in every draw"):
        bc.difference(empty, "a", "b", "auc")


def test_power_scaling_reads_it(tree: xr.DataTree) -> None:
    frame = bc.power_scale(tree, "accuracy")
    assert list(frame["classifier"]) == ["a", "b", "c"]


def test_power_scaling_names_what_is_undefined() -> None:
    tree = make_panel_result(("a", "b"))
    tree["posterior"]["auc"][0, 0] = np.nan
    frame = bc.power_scale(tree, ["auc", "ece"])
    found = dict(zip(frame["quantity"] + frame["classifier"], frame["diagnosis"], strict=True))
    assert found["auca"] == found["aucb"] == "undefined in some draws"
    assert found["ecea"] != "undefined in some draws"
