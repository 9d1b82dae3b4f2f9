"""A plan of labels: the samples it simulates, what it says, what it refuses."""

import numpy as np
import pytest

import bayescal as bc
from bayescal.results import access
from bayescal.results.answers import LabelPlan
from bayescal.workflow.simulation import _options, _Truth
from tests.synthetic import make_result
from tests.synthetic_ssme import make_panel_result

PILOT = bc.datasets.ece.truth("over").scores(300, seed=1)
QUICK = {"n": 100, "replications": 2}


@pytest.fixture(scope="module")
def result():
    return bc.fit(bc.ece, PILOT, method="direct", seed=1)


def test_more_labels_make_narrower_intervals_that_exclude_more(result) -> None:
    said = []
    plan = bc.plan_labels(
        result, n=(1000, 100), limit=0.01, replications=4, progress=lambda *args: said.append(args)
    )
    few, many = plan.table.itertuples()
    assert (few.n, many.n) == (100, 1000)
    # The error of this classifier is .086: an interval of 100 labels is some .1 wide, and widths
    # fall with the root of the number.
    assert 2 < few.width / many.width < 5
    assert few.prob_excludes <= many.prob_excludes == 1 == many.prob_above
    assert plan.enough == 1000
    assert said[-1] == ("", 8, 8)
    again = bc.plan_labels(result, n=(1000, 100), replications=4).with_limit(0.01)
    np.testing.assert_array_equal(again.ends, plan.ends)
    assert again.text == plan.text


def test_a_pilot_of_scores_is_fitted_first(result) -> None:
    seed = result.attrs["seed"]
    found = bc.plan_labels(PILOT, "ece", seed=seed, **QUICK)
    np.testing.assert_array_equal(found.ends, bc.plan_labels(result, "ece", seed=1, **QUICK).ends)


def test_rows_come_from_the_cells_of_a_draw() -> None:
    """Counts within five standard errors of the masses and rates of the draw."""
    mass, rate = np.array([[0.5, 0.5], [0.2, 0.8]]), np.array([[0.5, 0.5], [0.1, 0.7]])
    truth = _Truth(np.array([0.2, 0.6]), mass, rate)
    rows = truth.rows(1, 20_000, np.random.default_rng(1))
    score, label = rows.y_prob[0], rows.y_true
    assert (score == 0.6).mean() == pytest.approx(0.8, abs=5 * 0.4 / 141)
    for cell, chance in zip((0.2, 0.6), rate[1], strict=True):
        assert label[score == cell].mean() == pytest.approx(chance, abs=5 * 0.5 / 63)
    # Errors .2 and .16: of two places along them one each.
    assert sorted(truth.evenly(2, np.random.default_rng(1))) == [0, 1]


@pytest.mark.parametrize(
    "priors",
    [
        bc.ece.Priors(),
        bc.ece.Priors(bc.ece.CurveAverage(curve=bc.ece.SmoothCurve(0.3), rough=0.0), 0.2),
        bc.ece.Priors(bc.ece.SmoothCurve(scale=0.3, lengthscales=(0.5,)), calibrated=0),
        bc.ece.Priors(bc.ece.IndependentBins(bc.Beta(0.5, 0.5))),
        bc.ece.Priors(bc.ece.HierarchicalBins(bc.LogNormal(3, 1))),
    ],
)
def test_samples_have_the_priors_and_bins_of_the_pilot(priors) -> None:
    assert bc.ece.Priors.from_json(priors.to_json()) == priors
    edges = (0.0, 0.3, 1.0)
    tree = make_result(("a",), draws=20)
    tree.attrs |= {"priors": priors.to_json(), "binning_strategy": "edges", "closed": "left"}
    held = tree["point_estimate"].to_dataset().drop_dims("bin_edge")
    tree["point_estimate"] = held.assign(bin_edges=("bin_edge", np.array(edges)))
    case = access.cases(tree)[0]
    found = _options(tree, case, bc.ece)
    assert found == {"priors": priors, "binning": bc.Binning(strategy=edges, closed="left")}


def test_results_of_other_quantities_with_a_curve() -> None:
    classes = bc.Scores(
        y_true=np.arange(60) % 3, y_prob=np.random.default_rng(1).dirichlet([1] * 3, 60)
    )
    split = bc.CalibrationSplit(calibration=classes, target=classes.y_prob[0][:2])
    tree = bc.fit("credal", split, method="direct", seed=1)
    assert bc.plan_labels(tree, class_="2", **QUICK).table.width[0] > 0
    for given, message in (({}, "class_ must be one of"), ({"class_": "9"}, "has no class '9'")):
        with pytest.raises(bc.InputError, match=message):
            bc.plan_labels(tree, **given)
    agnostic = bc.fit("agnostic", PILOT, method="direct", seed=1)
    assert bc.plan_labels(agnostic, "e90", **QUICK).table.width[0] > 0


def test_one_of_several_cases_is_chosen() -> None:
    tree = make_result(("a", "b"), groups=("x", "y"), draws=20)
    tree.attrs["priors"] = bc.ece.Priors().to_json()
    found = bc.plan_labels(tree, classifier="b", group="y", **QUICK)
    assert found.ends.shape == (1, 2, 2)
    with pytest.raises(bc.InputError, match="group must be one"):
        bc.plan_labels(tree, classifier="a")
    grid = {"wide": bc.ece.Priors(calibrated=0), "default": bc.ece.Priors()}
    several = bc.prior_sensitivity(bc.ece, PILOT, grid, method="direct", seed=1)
    with pytest.raises(bc.InputError, match="one prior; got 2"):
        bc.plan_labels(several, **QUICK)
    alone = bc.fit(bc.ece, PILOT, method="direct", seed=1)
    plans = [bc.plan_labels(one, **QUICK) for one in (several.sel(prior="default"), alone)]
    assert plans[0].text == plans[1].text


ENDS = np.array([[[0.0, 0.1], [0.02, 0.08]], [[0.03, 0.04], [0.06, 0.07]]])


@pytest.mark.parametrize(
    ("limit", "words", "enough"),
    [
        (
            None,
            "Expected width of the 90% interval of tce: 0.080 with 100, 0.010 with 1,000 la",
            None,
        ),
        (0.05, "About 1,000 labels exclude 0.05 with a probability of > 0.5 (0.50 that it", 1000),
        (0.065, "Even 1,000 labels exclude 0.065 with a probability of 0.50 only.", None),
    ],
)
def test_in_words(limit: float | None, words: str, enough: int | None) -> None:
    plan = LabelPlan("tce", 0.9, (100, 1000), ENDS, limit)
    assert words in plan.text
    assert words in repr(plan)
    assert plan.enough == enough


def test_the_numbers_of_the_table() -> None:
    table = LabelPlan("tce", 0.9, (100, 1000), ENDS, 0.05).table
    assert table.width.tolist() == pytest.approx([0.08, 0.01])
    # Two widths .1 and .06: standard error .02; their 5 % and 95 % quantiles lie .002 inside.
    assert table.width_se[0] == pytest.approx(0.02)
    assert (table.width_lower[0], table.width_upper[0]) == pytest.approx((0.062, 0.098))
    assert table.prob_below.tolist() == [0, 0.5]
    assert table.prob_above.tolist() == [0, 0.5]
    assert table.prob_se.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"data": PILOT.y_prob}, "ece takes Scores"),
        ({"data": make_panel_result()}, r"this one, of ssme, holds none.*bayescal\.ece"),
        ({"n": ()}, "n must hold a number of labels; got none"),
        ({"n": 0}, "n must be a whole number >= 1; got 0"),
        ({"n": "many"}, "n must be a whole number"),
        ({"n": 10**9}, "n must be 10,000,000 at most"),
        ({"limit": "small"}, "limit must be a number"),
        ({"prob": 90}, "prob must be a number in"),
        ({"replications": 1}, "replications must be a whole number >= 2"),
        ({"seed": -1}, "seed must be a whole number >= 0"),
        ({"classifier": "c"}, "classifier must be one in the result"),
        ({"progress": 1}, "progress must be a function"),
        ({"var": "gap"}, "var must have one number a case; 'gap' has 15"),
        ({"var": "nothing"}, "nothing"),
    ],
)
def test_what_cannot_be_planned(result, given: dict, message: str) -> None:
    given = {"data": result, **QUICK, **given}
    with pytest.raises(bc.InputError, match=message):
        bc.plan_labels(given.pop("data"), **given)


def test_another_limit_must_be_a_number() -> None:
    with pytest.raises(bc.InputError, match="limit must be a number"):
        LabelPlan("tce", 0.9, (100, 1000), ENDS).with_limit("low")
