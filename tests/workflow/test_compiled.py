"""Compiled models are shared by cases of one compile_key."""

import numpy as np

import bayescal as bc
from bayescal.workflow.compiled import compiled_model

BINS = bc.ece.Priors(bc.ece.IndependentBins())


def case(name="over", n=200, priors=BINS, **options):
    scores = bc.datasets.ece.truth(name).scores(n, seed=1)
    return bc.ece.cases(scores, priors, **options)[0]


def test_other_classifiers_rows_bins_and_parameters_share_a_model():
    first = compiled_model(bc.ece, case())
    others = [
        case("less"),
        case(n=5000),
        case(n_bins=3, strategy="uniform"),
        case(priors=bc.ece.Priors(bc.ece.IndependentBins(bc.Beta(4, 16)))),
    ]
    assert all(compiled_model(bc.ece, other) is first for other in others)


def test_other_families_and_larger_problems_have_their_own():
    first = compiled_model(bc.ece, case())
    assert (
        compiled_model(bc.ece, case(priors=bc.ece.Priors(bc.ece.HierarchicalBins()))) is not first
    )
    assert case(n_bins=20).compile_key != case().compile_key


def test_a_shared_model_gives_what_its_own_would():
    other = case("less", n=300, n_bins=4)
    shared = compiled_model(bc.ece, case("calibrated", n=5000)).sample(
        other.inputs(), seed=2, draws=50, tune=100, chains=2
    )
    from bayescal.inference.sampler import compile_model

    own = compile_model(other.build_model()).sample(
        other.inputs(), seed=2, draws=50, tune=100, chains=2
    )
    np.testing.assert_array_equal(shared.posterior["rate"], own.posterior["rate"])
