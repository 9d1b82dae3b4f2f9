"""What is fitted for given data, what it is called, and what classifiers share."""

import numpy as np
import pytest

import bayescal as bc
from bayescal.core.bins.streaming import StreamedCounts
from bayescal.quantities.ece.error_correlation import correlation, influence
from bayescal.quantities.ece.plan import cases, describe, pairing
from bayescal.quantities.ece.priors import HierarchicalBins, IndependentBins, Priors
from bayescal.quantities.ece.simulator import sample_panel

PANEL = sample_panel(400, seed=7, names=["less", "better", "over"])
SCORES = bc.Scores.stack(PANEL.score, y_true=PANEL.label)
THREE = bc.Scores(
    y_true=np.tile([0, 1, 2], 20), y_prob=np.random.default_rng(1).dirichlet([1, 2, 3], 60)
)


def drawn(made, draws=200):
    found = []
    for case in made:
        exact = case.direct_draws(draws, np.random.default_rng(3)).draws
        found.append({name: value[None] for name, value in exact.items()})
    return found


def test_one_case_a_classifier():
    made = cases(SCORES, Priors())
    assert [case.coords["classifier"] for case in made] == ["less", "better", "over"]
    assert len({case.compile_key for case in made}) == 1
    assert len({case.fingerprint() for case in made}) == 3


def test_options_reach_every_case():
    for case in cases(SCORES, Priors(), n_bins=4, strategy="uniform", closed="left"):
        np.testing.assert_array_equal(case.problem.bins.edges, [0, 0.25, 0.5, 0.75, 1])
        assert case.problem.bins.closed == "left"


@pytest.mark.parametrize(("multiclass", "number"), [("top-label", 1), ("class-wise", 3)])
def test_several_classes(multiclass, number):
    made = cases(THREE, Priors(), multiclass=multiclass)
    assert len(made) == number


@pytest.mark.parametrize("prior", [Priors(), Priors(IndependentBins()), Priors(HierarchicalBins())])
def test_pairing_is_the_correlation_of_influences(prior):
    made = cases(SCORES, prior)
    draws = drawn(made)
    found = pairing(SCORES, made, draws)
    influences = []
    for task, case, values in zip(SCORES.tasks(), made, draws, strict=True):
        cells = case.problem.cells
        rates = case.rates.cell_rates(values, np.random.default_rng(0))
        sign = (rates > cells.mean_score).mean((0, 1)) - (rates < cells.mean_score).mean((0, 1))
        influences.append(influence(task, cells, sign))
    np.testing.assert_allclose(found, correlation(influences), atol=1e-6)
    assert found.shape == (3, 3)
    assert found[0, 1] > 0.5


@pytest.mark.parametrize(
    "data",
    [
        SCORES.select("less"),
        bc.bin_scores(SCORES.select("less"), n_bins=5),
        bc.Scores.stack(PANEL.score, y_true=PANEL.label, group=PANEL.label),
    ],
    ids=["one classifier", "counts", "groups"],
)
def test_nothing_to_pair(data):
    made = cases(data, Priors(IndependentBins()))
    assert pairing(data, made, drawn(made)) is None


def test_classes_are_not_paired():
    made = cases(THREE, Priors(), multiclass="class-wise")
    assert pairing(THREE, made, drawn(made), multiclass="class-wise") is None


def test_description_of_scores():
    label = PANEL.label.astype(float)
    label[:50] = np.nan
    scores = bc.Scores(y_true=label, y_prob=PANEL.score["less"], classes=(0, 1))
    assert describe(scores, n_bins=7, strategy="uniform", closed="left") == {
        "n_obs": 400,
        "n_labeled": 350,
        "classes": ["0", "1"],
        "multiclass": "binary",
        "binning_strategy": "uniform",
        "n_bins": 7,
        "closed": "left",
    }


@pytest.mark.parametrize("edges", [[0, 0.5, 1], np.array([0, 0.5, 1]), (0, 0.5, 1)])
def test_given_edges_have_their_number(edges):
    found = describe(THREE, strategy=edges, multiclass="class-wise")
    assert (found["n_bins"], found["binning_strategy"]) == (2, "edges")
    assert found["multiclass"] == "class-wise"


def test_description_of_counts_is_their_own():
    bins = bc.bin_scores(SCORES.select("over"), n_bins=6, strategy="quantile", closed="left")
    found = describe(bins, n_bins=99)
    assert (found["n_bins"], found["binning_strategy"], found["closed"]) == (6, "quantile", "left")
    assert found["n_labeled"] == 400


def test_counts_of_a_stream_are_those_of_its_rows():
    scores = SCORES.select("over")
    (expected,) = cases(scores, Priors(), n_bins=6)
    counts = StreamedCounts(expected.problem.bins, expected.problem.cells, ("no", "yes"), 450)
    data = {"over": counts}
    (fine,), (coarse,) = cases(data, Priors()), cases(data, Priors(IndependentBins()))
    assert fine.fingerprint() == expected.fingerprint()
    assert coarse.problem.cells is counts.bins
    assert pairing(data, [fine], drawn([fine])) is None
    found = describe(data)
    assert (found["n_obs"], found["n_labeled"]) == (450, 400)
    assert found["classes"] == ["no", "yes"]
