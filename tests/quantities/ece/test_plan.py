"""What is fitted for given data, what its result is called, and what classifiers share."""

import numpy as np
import pytest

import bayescal as bc
from bayescal.core.binning import Binning
from bayescal.quantities.ece.plan import influence, plan
from bayescal.quantities.ece.priors import HierarchicalBins, IndependentBins, Priors, SmoothCurve
from bayescal.quantities.ece.simulator import sample_panel
from bayescal.results.measure import correlation

PANEL = sample_panel(400, seed=7, names=["less", "better", "over"])
SCORES = bc.Scores.stack(PANEL.score, y_true=PANEL.label)
THREE = bc.Scores(
    y_true=np.tile([0, 1, 2], 20), y_prob=np.random.default_rng(1).dirichlet([1, 2, 3], 60)
)


def fitted(case, draws=200):
    """Draws of a case's model, and what a result holds of them."""
    rng = np.random.default_rng(3)
    direct = case.model.direct_draws(draws, rng)
    drawn = {name: value[None] for name, value in direct.draws.items()}
    return drawn, case.arrays(drawn, direct, rng)


def test_one_case_a_classifier():
    made = plan(SCORES, Priors()).cases
    assert [case.coords["classifier"] for case in made] == ["less", "better", "over"]
    assert len({case.model.compile_key for case in made}) == 1
    assert len({case.fingerprint() for case in made}) == 3


def test_options_reach_every_case():
    for case in plan(SCORES, Priors(), binning=Binning(4, "uniform", "left")).cases:
        np.testing.assert_array_equal(case.problem.bins.edges, [0, 0.25, 0.5, 0.75, 1])
        assert case.problem.bins.closed == "left"


@pytest.mark.parametrize(("multiclass", "number"), [("top-label", 1), ("class-wise", 3)])
def test_several_classes(multiclass, number):
    made = plan(THREE, Priors(), multiclass=multiclass)
    assert len(made.cases) == number


@pytest.mark.parametrize("prior", [Priors(), Priors(IndependentBins()), Priors(HierarchicalBins())])
def test_errors_correlate_as_the_influences_of_their_rows(prior):
    made = plan(SCORES, prior)
    arrays = [fitted(case)[1] for case in made.cases]
    found = made.correlate(arrays)
    influences = []
    for task, case, held in zip(SCORES.tasks(), made.cases, arrays, strict=True):
        cells = case.problem.cells
        sign = np.zeros(cells.n_bins)
        rows = np.flatnonzero(cells.count)
        sign[rows] = held.constant_data["gap_direction"][: len(rows)]
        influences.append(influence(task, cells, sign))
    np.testing.assert_allclose(found, correlation(influences), atol=1e-6)
    assert found.shape == (3, 3)
    assert found[0, 1] > 0.5


@pytest.mark.parametrize("prior", [SmoothCurve(), IndependentBins()])
def test_the_direction_of_a_gap_is_that_of_most_draws(prior):
    case = plan(SCORES, Priors(prior)).cases[0]
    drawn, arrays = fitted(case)
    rates, score = case.model.cell_rates(drawn, None), case.problem.cells.mean_score
    expected = (rates > score).mean((0, 1)) - (rates < score).mean((0, 1))
    held = expected[case.problem.cells.count > 0]
    np.testing.assert_allclose(arrays.constant_data["gap_direction"][: len(held)], held)


@pytest.mark.parametrize(
    "data",
    [
        SCORES.select("less"),
        bc.bin_scores(SCORES.select("less"), n_bins=5),
        bc.Scores.stack(PANEL.score, y_true=PANEL.label, group=PANEL.label),
    ],
    ids=["one classifier", "counts", "groups"],
)
def test_nothing_to_correlate(data):
    assert plan(data, Priors(IndependentBins())).correlate is None


def test_classes_are_not_correlated():
    assert plan(THREE, Priors(), multiclass="class-wise").correlate is None


def test_description_of_scores():
    label = PANEL.label.astype(float)
    label[:50] = np.nan
    scores = bc.Scores(y_true=label, y_prob=PANEL.score["less"], classes=(0, 1))
    assert plan(scores, Priors(), binning=Binning(7, "uniform", "left")).attrs == {
        "n_obs": 400,
        "n_labeled": 350,
        "classes": ["0", "1"],
        "multiclass": "binary",
        "binning_strategy": "uniform",
        "n_bins": 7,
        "closed": "left",
        "average_power": 0.35,
    }


@pytest.mark.parametrize("edges", [[0, 0.5, 1], np.array([0, 0.5, 1]), (0, 0.5, 1)])
def test_given_edges_have_their_number(edges):
    found = plan(THREE, Priors(), binning=Binning(strategy=edges), multiclass="class-wise").attrs
    assert (found["n_bins"], found["binning_strategy"]) == (2, "edges")
    assert found["multiclass"] == "class-wise"


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_the_optimal_number_of_bins_is_in_the_description_and_in_the_case(strategy):
    made = plan(SCORES, Priors(), binning=Binning("optimal", strategy))
    assert made.attrs["n_bins"] == 8  # 7^3 < 400 <= 8^3
    assert {case.problem.bins.n_bins for case in made.cases} == {8}


def test_groups_have_one_optimal_number_of_bins():
    group = np.repeat(["a", "b", "c"], [30, 70, 300])
    scores = bc.Scores(y_true=SCORES.y_true, y_prob=SCORES.y_prob[0], group=group)
    for prior in (Priors(), Priors(IndependentBins())):
        made = plan(scores, prior, binning=Binning("optimal"))
        assert made.attrs["n_bins"] == 6  # 400 rows in three groups: 5^3 < 133.3 <= 6^3
    assert {case.problem.bins.n_bins for case in made.cases} == {6}


def test_description_of_counts_is_their_own():
    bins = bc.bin_scores(SCORES.select("over"), n_bins=6, strategy="quantile", closed="left")
    found = plan(bins, Priors(), binning=Binning(99)).attrs
    assert (found["n_bins"], found["binning_strategy"], found["closed"]) == (6, "quantile", "left")
    assert found["n_labeled"] == 400


def test_counts_have_the_cases_of_their_rows():
    score = SCORES.select("over").y_prob[0].round(2)
    label = np.append(np.where(SCORES.y_true == 1, "yes", "no"), [None] * 50)
    scores = bc.Scores(
        y_true=label, y_prob=np.append(score, [0.5] * 50), pos_label="yes", classifier="over"
    )
    counts = bc.Counts.from_arrays(label, np.append(score, [0.5] * 50), pos_label="yes")
    for priors in (Priors(), Priors(IndependentBins())):
        (expected,) = plan(scores, priors, binning=Binning(6)).cases
        made = plan({"over": counts}, priors, binning=Binning(6))
        (case,) = made.cases
        for name in ("edges", "count", "positives"):
            np.testing.assert_array_equal(
                getattr(case.problem.cells, name), getattr(expected.problem.cells, name)
            )
        assert made.correlate is None
        assert (made.attrs["n_obs"], made.attrs["n_labeled"]) == (450, 400)
        assert made.attrs["classes"] == ["no", "yes"]
        assert made.attrs["n_bins"] == 6
    (alone,) = plan(counts, Priors()).cases
    assert alone.coords == {"classifier": "classifier"}
    assert alone.problem.bins.n_bins == 15
