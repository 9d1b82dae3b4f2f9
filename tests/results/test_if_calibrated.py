"""Which results say what their plug-in ECE would be under calibration."""

import bayescal as bc
from bayescal.results import access
from bayescal.results.intervals import if_calibrated
from bayescal.results.summary import records
from tests.synthetic import make_result
from tests.synthetic_ssme import make_panel_result


def test_the_same_result_and_its_selection_give_the_same_numbers() -> None:
    tree = make_result(("a", "b"), draws=20)
    whole = [if_calibrated(tree, case, 0.9) for case in access.cases(tree)]
    assert whole[0] != whole[1]
    part = tree.sel(classifier="b")
    assert if_calibrated(part, access.cases(part)[0], 0.9) == whole[1]
    wider = if_calibrated(tree, access.cases(tree)[0], 0.98)
    assert wider.lower < whole[0].lower < whole[0].upper < wider.upper


def test_only_plug_in_estimates_of_labelled_rows_in_bins() -> None:
    panel = make_panel_result()
    assert if_calibrated(panel, access.cases(panel)[0], 0.9) is None
    tree = make_result(("a",), draws=20)
    del tree["point_estimate"]["positives"]
    assert if_calibrated(tree, access.cases(tree)[0], 0.9) is None
    assert "p_value_calibrated" not in bc.summary(tree)


def test_rows_of_means_over_classes_have_every_column() -> None:
    tree = make_result(("a",), classes=("x", "y"), draws=20)
    tree.attrs["multiclass"] = "marginal"
    *classes, mean = records(tree, 0.9)
    assert all(0 < row["p_value_calibrated"] <= 1 for row in classes)
    assert {mean[name] for name in classes[0] if "value" in name or "if_c" in name} == {None}
