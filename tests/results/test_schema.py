import pytest
import xarray as xr

from bayescal.core.errors import InputError
from bayescal.results import access, schema
from tests.synthetic import make_result


def test_a_lone_classifier_is_one_case_named_by_the_root() -> None:
    (case,) = access.cases(make_result(("vit",)))
    assert (case.classifier, case.class_, case.group) == ("vit", None, None)
    assert (case.sel, case.label, case.title) == ({}, "vit", "vit")


def test_cases_run_classifier_by_classifier() -> None:
    found = access.cases(make_result(("vit", "gbm"), classes=("cat", "dog")))
    assert [case.label for case in found] == ["vit / cat", "vit / dog", "gbm / cat", "gbm / dog"]
    assert found[1].sel == {"classifier": "vit", "class": "dog"}
    assert found[1].title == "vit, class dog"


def test_a_label_leaves_out_what_does_not_vary() -> None:
    found = access.cases(make_result(("vit",), groups=("women", "men")))
    assert [case.label for case in found] == ["women", "men"]
    assert found[0].title == "vit, group women"


def test_variable_selects_the_case() -> None:
    tree = make_result(("vit", "gbm"))
    gbm = access.cases(tree)[1]
    expected = tree["posterior"]["ece"].sel(classifier="gbm")
    xr.testing.assert_identical(access.variable(tree, "posterior", "ece", gbm), expected)


def test_variable_says_what_is_there_instead() -> None:
    with pytest.raises(InputError, match="'brier' in its group 'bounds'; it holds total_bias"):
        access.variable(make_result(), "bounds", "brier")
    with pytest.raises(InputError, match="it holds nothing there"):
        access.variable(make_result(), "nowhere", "ece")


def test_scalar_of_what_is_not_there_is_none() -> None:
    tree = make_result(("vit",))
    (case,) = access.cases(tree)
    assert access.scalar(tree, "bounds", "brier", case) is None
    assert access.scalar(tree, "point_estimate", "n", case) == 2000


def test_check_names_all_that_is_missing_at_once() -> None:
    tree = make_result()
    del tree["point_estimate"]
    del tree.attrs["seed"]
    with pytest.raises(InputError, match="group 'point_estimate', root attribute 'seed'"):
        schema.check_result(tree)


def test_check_refuses_another_type() -> None:
    with pytest.raises(InputError, match=r"must be an xarray\.DataTree; got dict"):
        schema.check_result({})


@pytest.mark.parametrize("version", [99, 2.5, "x"])
def test_check_refuses_another_version_and_says_whose(version: object) -> None:
    tree = make_result()
    tree.attrs |= {"schema_version": version, "bayescal_version": "7.1"}
    with pytest.raises(InputError, match=rf"must be 2; got {version}.*bayescal 7\.1"):
        schema.check_result(tree)


def test_check_refuses_a_posterior_without_chains() -> None:
    tree = make_result()
    tree["posterior"] = xr.DataTree(tree["posterior"].dataset.isel(chain=0, drop=True))
    with pytest.raises(InputError, match="chain"):
        schema.check_result(tree)


def test_structures_come_back_from_json() -> None:
    assert access.classifier_names(make_result(("vit", "gbm"))) == ["vit", "gbm"]
    assert access.json_attribute(make_result(), "references")[0]["key"] == "naeini2015"


@pytest.mark.parametrize("converged", [True, False])
def test_is_converged(converged: bool) -> None:
    assert access.is_converged(make_result(converged=converged)) is converged
