"""A result's root attributes make it again."""

import json

import numpy as np
import pytest

import bayescal as bc
from bayescal.workflow.provenance import attributes
from bayescal.workflow.settings import Settings

PRIORS = bc.ece.Priors(bc.ece.IndependentBins(), calibrated=0.3)
SCORES = bc.datasets.ece.truth("over").scores(200, seed=1)


def settings(**changes):
    given = {"draws": 50, "tune": 0, "chains": 2, "target_accept": None, "seed": 4}
    return Settings(**{**given, "quick": True, "prob": 0.8, **changes})


def told(data=SCORES, priors=PRIORS, **changes):
    return attributes(bc.ece, bc.ece.cases(data, priors), priors, settings(**changes))


def test_attributes_are_those_of_room_priors_and_settings():
    found = told()
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


def test_the_sampler_is_named_with_its_version():
    assert told()["sampler"] == "exact, without NUTS"
    assert told()["sampler_version"] == bc.__version__
    import nutpie

    nuts = told(quick=False)
    assert nuts["sampler"] == "nutpie NUTS"
    assert nuts["sampler_version"] == nutpie.__version__


def test_the_hash_is_that_of_the_data():
    assert told()["data_hash"] == told(seed=9, draws=70)["data_hash"]
    other = bc.datasets.ece.truth("over").scores(200, seed=2)
    assert told()["data_hash"] != told(other)["data_hash"]
    assert told()["data_hash"].startswith("sha256:")


@pytest.mark.parametrize("quick", [True, False])
def test_a_result_is_made_again_from_its_attributes(quick):
    options = {"draws": 60, "tune": 100, "chains": 2, "seed": 8, "quick": quick, "n_bins": 4}
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
            quick=attrs["sampler"] != "nutpie NUTS",
        )
    assert again.attrs["data_hash"] == attrs["data_hash"]
    for name, values in first["posterior"].data_vars.items():
        np.testing.assert_array_equal(again["posterior"][name], values)
