"""Names of a result, their check, and what a fit must reach, mark by mark."""

import math
from typing import Any

import numpy as np
import pytest
import xarray as xr

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.results import access, schema
from bayescal.results.schema import MAX_RHAT, MIN_EBFMI, MIN_ESS, problems, remedy
from tests.several import result_of
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


@pytest.mark.parametrize("name", ["classifiers", "groups", "priors", "warnings"])
def test_check_refuses_attributes_that_are_no_json(name: str) -> None:
    tree = make_result(("a",), draws=20)
    tree.attrs[name] = "flat"
    with pytest.raises(InputError, match=f"{name!r} must hold JSON; got 'flat'. Pass what"):
        bc.summary(tree)


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


@pytest.mark.parametrize("dim", ["chain", "draw", "classifier"])
def test_a_selection_of_nothing_is_refused(dim: str) -> None:
    nothing = make_result().isel({dim: slice(0, 0)})
    with pytest.raises(InputError, match=f"must have a {dim}; this selection has none"):
        bc.interval(nothing, "auc")
    with pytest.raises(InputError, match=f"must have a {dim}; this selection has none"):
        bc.prob_below(nothing, "auc", 0.5)


@pytest.mark.parametrize("read", [bc.summary, bc.metrics, bc.show])
def test_two_cases_of_one_name_are_refused(read) -> None:
    joined = make_result(("vit", "gbm")).isel(classifier=[0, 1, 0])
    with pytest.raises(InputError, match=r"classifier names must differ; got 'vit' twice"):
        read(joined)


def test_structures_come_back_from_json() -> None:
    assert access.classifier_names(make_result(("vit", "gbm"))) == ["vit", "gbm"]
    assert access.json_attribute(make_result(), "references")[0]["key"] == "naeini2015"


@pytest.mark.parametrize("converged", [True, False])
def test_is_converged(converged: bool) -> None:
    assert access.is_converged(make_result(converged=converged)) is converged


GOOD = {"rhat_max": MAX_RHAT, "ess_min": MIN_ESS, "divergences": 0, "ebfmi_min": MIN_EBFMI}


def test_the_marks_are_the_usual_ones():
    # Vehtari et al. 2021 (R-hat, and 100 effective draws for each of four chains); Betancourt 2016.
    assert (MAX_RHAT, MIN_ESS, MIN_EBFMI) == (1.01, 400, 0.3)


def test_a_fit_on_the_marks_has_converged():
    assert problems(GOOD) == []


@pytest.mark.parametrize(
    ("figure", "value", "sentence"),
    [
        ("rhat_max", 1.0101, "R-hat is 1.010, which exceeds 1.01"),
        ("rhat_max", math.inf, "R-hat is inf, which exceeds 1.01"),
        ("ess_min", 399.4, "the effective sample size is 399, below 400"),
        ("ess_min", math.nan, "the effective sample size is nan, below 400"),
        ("divergences", 3, "3 transitions diverged"),
        ("ebfmi_min", 0.29, "E-BFMI is 0.29, below 0.3"),
    ],
)
def test_each_figure_that_misses_its_mark_is_named(figure, value, sentence):
    assert problems({**GOOD, figure: value}) == [sentence]


def test_all_that_is_wrong_is_named_at_once():
    bad = {"rhat_max": 2.0, "ess_min": 5.0, "divergences": 1, "ebfmi_min": 0.1}
    assert len(problems(bad)) == 4


def test_draws_without_chains_have_no_r_hat_to_miss():
    assert problems({**GOOD, "rhat_max": math.nan, "ebfmi_min": math.nan}) == []


@pytest.mark.parametrize(
    ("figures", "word"),
    [
        ({"rhat_max": 1.02, "ebfmi_min": 0.2}, "target_accept"),
        ({"rhat_max": math.nan, "ebfmi_min": math.nan, "ess_min": 11.0}, "method='nuts'"),
        # One chain of NUTS has no R-hat either.
        ({"rhat_max": math.nan, "ebfmi_min": 0.9, "ess_min": 11.0}, "Sample longer"),
        ({"rhat_max": 1.0, "ebfmi_min": 0.2}, "another seed"),
    ],
)
def test_the_remedy_is_one_of_the_problem(figures, word):
    assert word in remedy({**GOOD, **figures})


def test_a_result_in_chunks_is_refused_and_loads() -> None:
    pytest.importorskip("dask")
    tree = make_result()
    chunked = tree.chunk()
    with pytest.raises(InputError, match=r"must be in memory.*Pass result.compute\(\)"):
        bc.summary(chunked)
    assert bc.summary(chunked.compute()).equals(bc.summary(tree))
    # A file opened in chunks has those of each variable, which may differ.
    chunked["posterior/tce"] = chunked["posterior/tce"].chunk(draw=7)
    with pytest.raises(InputError, match="must be in memory"):
        bc.summary(chunked)


@pytest.mark.parametrize("part", [{"draw": slice(None, None, 2)}, {"chain": [1]}, {"draw": 3}])
def test_a_posterior_thinned_alone_is_refused(part) -> None:
    tree = make_result()
    tree["posterior"] = xr.DataTree(tree["posterior"].dataset.isel(part))
    with pytest.raises(InputError, match=r"must have the draws of posterior; got \d+ along"):
        bc.summary(tree)


@pytest.mark.parametrize("part", [0, slice(5), [0, 5, 7]])
@pytest.mark.parametrize("dim", ["cell", "bin", "part"])
def test_some_of_the_cells_or_bins_are_refused(dim: str, part: object) -> None:
    some = result_of("ece").isel({dim: part})
    for ask in (bc.summary, lambda one: bc.measure(one, "e90"), bc.plots.plot_reliability):
        with pytest.raises(InputError, match=rf"every {dim}; .* \w+ of \d+( rows)?\. Select cl"):
            ask(some)


@pytest.mark.parametrize("part", [slice(1, None), slice(50), slice(100, None), [0, 2, 5]])
def test_some_of_the_parts_of_unlabelled_or_weighted_rows_are_refused(part: Any) -> None:
    rng = np.random.default_rng(20)
    score, weight = rng.random(200), 0.5 + rng.random(200)
    rows = bc.Scores(rng.random(200) < score, score, sample_weight=weight)
    how: Any = {"method": "direct", "draws": 500, "seed": 1}
    split = bc.CalibrationSplit(calibration=rows, target=[0.5])
    weighted = bc.fit(bc.ece, rows, **how), bc.fit(bc.credal, split, **how)
    for tree in (*weighted, result_of("pu_ece")):
        assert bc.summary(tree) is not None
        with pytest.raises(InputError, match=r"every part; .* has \S+ of \S+ rows\. Select"):
            bc.measure(tree.isel(part=part), "auc")


@pytest.mark.parametrize("dim", ["point", "description", "boundary"])
def test_one_of_what_a_case_has_several_of_is_refused(dim: str) -> None:
    for ask in (bc.summary, bc.plots.plot_reliability, bc.show):
        with pytest.raises(InputError, match=f"must have every {dim}; this selection has one"):
            ask(result_of("ece").isel({dim: 0}))


def test_stacked_draws_are_refused() -> None:
    tree = make_result().map_over_datasets(
        lambda one: one.stack(sample=("chain", "draw")) if "draw" in one.dims else one
    )
    with pytest.raises(InputError, match=r"must have dims chain and draw; \['chain', 'draw'\]"):
        bc.summary(tree)
