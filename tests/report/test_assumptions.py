"""The metrics under each assumption, in the report of a result that has them."""

import numpy as np
import xarray as xr

from bayescal.report.quantity_sections import assumptions
from bayescal.report.view import View
from bayescal.results.text import MISSING
from tests.synthetic_ssme import make_panel_result


def with_assumptions(**given):
    tree = make_panel_result(("a", "b"), **given)
    values = np.array([[[0.6, 0.7], [0.7, 0.8], [0.8, 0.9]], np.full((3, 2), np.nan)])
    tree["sensitivity"] = xr.Dataset(
        {
            "accuracy": (("assumption", "summary", "classifier"), values),
            "probability": (("assumption",), [0.25, np.nan]),
        },
        coords={
            "assumption": ["pool right", "wide"],
            "summary": ["lower", "median", "upper"],
            "classifier": ["a", "b"],
        },
    )
    return tree


def test_a_line_for_each_classifier_and_metric():
    text = str(assumptions(View(with_assumptions(), 0.9)))
    assert "Pool right" in text
    assert "probability 0.25" in text
    assert "0.700 (0.600 to 0.800)" in text
    assert "0.800 (0.700 to 0.900)" in text


def test_an_assumption_that_labels_rule_out_is_a_dash():
    text = str(assumptions(View(with_assumptions(), 0.9)))
    assert text.count(f">{MISSING}<") == 2
    assert "nan" not in text


def test_results_without_assumptions_have_no_section():
    assert assumptions(View(make_panel_result(), 0.9)) is None
