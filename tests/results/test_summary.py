from __future__ import annotations

import numpy as np
import pytest

from bayescal.results.intervals import interval
from bayescal.results.summary import summary
from tests.synthetic import make_result

COLUMNS = [
    "classifier", "n", "ece_point", "ece_mean", "ece_median", "ece_lower", "ece_upper",
    "p_calibrated", "tce_mean", "tce_lower", "tce_upper", "rhat_max", "ess_min", "divergences",
    "curve", "status",
]  # fmt: skip


def test_one_row_a_classifier_with_the_documented_columns() -> None:
    table = summary(make_result(("vit", "gbm"), shape=(1, 1, 1)))
    assert list(table.index) == ["vit", "gbm"]
    assert list(table.columns) == COLUMNS


@pytest.mark.slow
def test_classes_and_groups_get_columns() -> None:
    table = summary(make_result(("vit", "gbm"), classes=("cat", "dog")))
    assert list(table["class"]) == ["cat", "dog", "cat", "dog"]
    assert list(summary(make_result(("vit",), groups=("f", "m")))["group"]) == ["f", "m"]


def test_the_mean_is_the_model_averaged_one() -> None:
    tree = make_result(("vit",), p_calibrated=0.25)
    expected = 0.75 * tree["posterior"]["ece"].values.mean()
    np.testing.assert_allclose(summary(tree).loc["vit", "ece_mean"], expected)


@pytest.mark.parametrize(("p_calibrated", "level"), [(0.0, 0.5), (0.2, 0.375), (0.6, None)])
def test_the_median_is_the_model_averaged_one(p_calibrated: float, level: float | None) -> None:
    tree = make_result(("vit",), p_calibrated=p_calibrated)
    expected = 0.0 if level is None else np.quantile(tree["posterior"]["ece"].values, level)
    np.testing.assert_allclose(summary(tree).loc["vit", "ece_median"], expected)


def test_the_bounds_are_those_of_interval() -> None:
    tree = make_result(("vit", "gbm"), classes=("cat", "dog"))
    table = summary(tree, prob=0.8)
    bounds = interval(tree, "tce", 0.8).sel({"classifier": "gbm", "class": "cat"})
    np.testing.assert_array_equal(table.loc["gbm / cat", ["tce_lower", "tce_upper"]], bounds)


def test_without_model_average_the_mean_is_that_of_the_draws() -> None:
    tree = make_result(("vit",))
    del tree["model_average"]
    row = summary(tree).loc["vit"]
    np.testing.assert_allclose(row["ece_mean"], tree["posterior"]["ece"].values.mean())
    np.testing.assert_allclose(row["ece_median"], np.median(tree["posterior"]["ece"].values))
    assert row["p_calibrated"] is None


def test_only_the_case_that_did_not_converge_is_marked() -> None:
    table = summary(make_result(("vit", "gbm"), converged=False))
    assert list(table["status"]) == ["NOT CONVERGED", "ok"]


def test_a_result_that_does_not_tell_cases_apart_marks_them_all() -> None:
    tree = make_result(("vit", "gbm"), converged=False)
    diagnostics = tree["diagnostics"].to_dataset().drop_vars("converged")
    tree["diagnostics"] = diagnostics
    assert set(summary(tree)["status"]) == {"NOT CONVERGED"}
