"""What a result says of itself: how to make it again, and whether it may be used."""

import json

import numpy as np
import pytest

import bayescal as bc
from bayescal.core.health import REMEDY
from bayescal.core.quantity import CaseArrays
from bayescal.results.access import gather, in_words
from bayescal.workflow.fit import _said, attributes, converged
from bayescal.workflow.sampling import Settings

PRIORS = bc.ece.Priors(bc.ece.IndependentBins(), calibrated=0.3)
SCORES = bc.datasets.ece.truth("over").scores(200, seed=1)


def settings(**changes):
    given = {"draws": 50, "tune": 1, "chains": 2, "target_accept": None, "seed": 4}
    return Settings(**{**given, "method": "direct", "prob": 0.8, **changes})


def attrs_of(data=SCORES, priors=PRIORS, **changes):
    return attributes(bc.ece, bc.ece.plan(data, priors), priors, settings(**changes))


def test_attributes_are_those_of_quantity_priors_and_settings():
    found = attrs_of()
    assert found["quantity"] == "ece"
    assert found["estimand"] == bc.ece.ESTIMAND
    assert found["bayescal_version"] == bc.__version__
    assert [entry["key"] for entry in found["references"]] == [
        reference.key for reference in bc.ece.REFERENCES
    ]
    assert found["classifiers"] == ["over"]
    assert json.loads(found["priors"])["calibrated"] == 0.3
    assert found["prior_text"] == PRIORS.describe()
    for name in ("draws", "tune", "chains", "seed", "prob"):
        assert found[name] == getattr(settings(), name)


def test_the_version_is_that_of_what_sampled():
    assert attrs_of()["sampler_version"] == bc.__version__
    import nutpie

    assert attrs_of(method="nuts")["sampler_version"] == nutpie.__version__


@pytest.mark.parametrize(
    ("prior", "sampler"),
    [
        (bc.ece.SmoothCurve(), "importance sampling"),
        (bc.ece.HierarchicalBins(), "quadrature"),
        (bc.ece.IndependentBins(), "conjugate"),
    ],
)
def test_a_direct_result_says_what_drew_it(prior, sampler):
    scores = bc.datasets.ece.truth("over").scores(100, seed=1)
    tree = bc.fit(bc.ece, scores, priors=bc.ece.Priors(prior), method="direct", draws=150, seed=1)
    assert tree.attrs["sampler"] == sampler


def test_the_hash_is_that_of_the_data():
    assert attrs_of()["data_hash"] == attrs_of(seed=9, draws=70)["data_hash"]
    other = bc.datasets.ece.truth("over").scores(200, seed=2)
    assert attrs_of()["data_hash"] != attrs_of(other)["data_hash"]
    assert attrs_of()["data_hash"].startswith("sha256:")


@pytest.mark.parametrize("method", ["direct", pytest.param("nuts", marks=pytest.mark.mcmc)])
def test_a_result_is_made_again_from_its_attributes(method):
    options = {"draws": 60, "tune": 100, "chains": 2, "seed": 8, "method": method, "n_bins": 4}
    with pytest.warns(bc.ConvergenceWarning):
        first = bc.fit(bc.ece, SCORES, priors=PRIORS, closed="left", strategy="uniform", **options)
    attrs = first.attrs
    kind, parameters = next(iter(json.loads(attrs["priors"])["label_rate"].items()))
    priors = bc.ece.Priors(
        getattr(bc.ece, kind)(bc.Beta(**parameters["rate"])),
        json.loads(attrs["priors"])["calibrated"],
    )
    with pytest.warns(bc.ConvergenceWarning):
        again = bc.fit(
            bc.ece,
            SCORES,
            priors=priors,
            n_bins=attrs["n_bins"],
            strategy=attrs["binning_strategy"],
            closed=attrs["closed"],
            draws=attrs["draws"],
            tune=attrs["tune"],
            chains=attrs["chains"],
            seed=attrs["seed"],
            method=attrs["method"],
        )
    assert again.attrs["data_hash"] == attrs["data_hash"]
    for name, values in first["posterior"].data_vars.items():
        np.testing.assert_array_equal(again["posterior"][name], values)


GOOD = {
    "rhat_max": 1.001,
    "ess_min": 2000.0,
    "divergences": 0,
    "ebfmi_min": 0.9,
    "converged": True,
}


JUMPS = "the data favour a calibration curve that jumps."


def result(name="vit", warnings=(), **figures):
    return CaseArrays(
        coords={"classifier": name},
        posterior={},
        diagnostics={**GOOD, **figures},
        warnings=warnings,
    )


def status(found, warnings):
    return in_words(gather(_said(found, warnings)))


def test_a_good_fit_is_ok():
    assert status([result(), result("gbm")], [[], []]) == "ok"
    assert converged([result(), result("gbm")])


@pytest.mark.parametrize(
    ("figures", "words"),
    [
        ({"rhat_max": 1.3, "converged": False}, ["did not converge", "R-hat is 1.300", REMEDY]),
        ({"ess_min": 12.0, "converged": False}, ["the effective sample size is 12", REMEDY]),
        ({"divergences": 7, "converged": False}, ["7 transitions diverged", "target_accept=0.99"]),
        ({"warnings": [JUMPS]}, [JUMPS]),
    ],
)
def test_every_problem_names_its_remedy(figures, words):
    said = status([result(**figures)], [[]])
    assert said.startswith("vit: ")
    for word in words:
        assert word in said


def test_cases_with_the_same_problem_share_a_sentence():
    said = status([result("vit", [JUMPS]), result("gbm", [JUMPS])], [[], []])
    assert said == f"vit, gbm: {JUMPS}"


def test_many_cases_are_counted():
    fits = [result(f"c{place}", [JUMPS]) for place in range(7)]
    assert status(fits, [[]] * 7).startswith("c0, c1, c2 and 4 more: ")


def test_warnings_about_the_data_are_in_it_too():
    said = status([result(), result("gbm", [JUMPS])], [["all labels are positive."], []])
    assert "vit: all labels are positive." in said
    assert "gbm: the data favour" in said


def test_classes_are_named_with_their_classifier():
    made = CaseArrays(
        coords={"classifier": "vit", "class": "cat"},
        posterior={},
        diagnostics=GOOD,
        warnings=[JUMPS],
    )
    assert status([made], [[]]).startswith("vit, cat: ")


def test_one_that_did_not_converge_is_enough():
    assert not converged([result(), result("gbm", converged=False)])
