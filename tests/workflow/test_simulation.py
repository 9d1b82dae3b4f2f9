"""Coverage and simulation-based calibration against known laws, and plans of labels."""

from types import SimpleNamespace

import numpy as np
import pytest
import toy_quantity_0_2 as toy
from scipy.special import expit
from scipy.stats import beta, binom
from sklearn.metrics import average_precision_score

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.measures.scores import auprc
from bayescal.quantities import base
from bayescal.results import access
from bayescal.results.answers import LabelPlan
from bayescal.workflow.simulation import RANKED, Coverage, Sbc, _options, _Truth, coverage, sbc
from tests.synthetic import make_result
from tests.synthetic_ssme import make_panel_result

TRUTH = bc.datasets.ece.truth("over")
COUNTS = bc.bin_scores(TRUTH.scores(300, seed=2), n_bins=10, strategy="quantile")
RANKED_HERE = ["tce", "label_rate"]
PRIORS = {
    "average": bc.ece.Priors(),
    "curve": bc.ece.Priors(bc.ece.SmoothCurve()),
    "jeffreys": bc.ece.Priors(label_rate=bc.ece.IndependentBins(bc.Beta(0.5, 0.5))),
    "hierarchical": bc.ece.Priors(label_rate=bc.ece.HierarchicalBins()),
}


def test_an_interval_is_that_of_the_result():
    found = coverage(bc.ece, TRUTH, 300, 1, seed=5, draws=1000)
    rng = np.random.default_rng(np.random.SeedSequence(5).spawn(1)[0])
    tree = bc.fit(bc.ece, TRUTH.scores(300, rng), method="direct", seed=5, draws=1000, chains=1)
    np.testing.assert_array_equal(bc.interval(tree, "tce").values, [found.lower[0], found.upper[0]])
    assert found.mean[0] == pytest.approx(tree["posterior"]["tce"].mean().item())
    assert found.truth == TRUTH.tce
    assert found.converged.all()


def test_a_measure_is_covered_as_a_variable_is():
    truth = SimpleNamespace(scores=TRUTH.scores, brier=0.1)
    found = coverage(bc.ece, truth, 1000, 1, seed=5, var="brier")
    rows = truth.scores(1000, np.random.default_rng(np.random.SeedSequence(5).spawn(1)[0]))
    loss = (rows.y_prob[0] - rows.y_true) ** 2
    # Two rows are added to 1,000; of 4,000 draws widths are known to 3 %.
    assert found.mean[0] == pytest.approx(loss.mean(), abs=0.001)
    assert found.width[0] == pytest.approx(2 * 1.645 * loss.std() / 1000**0.5, rel=0.1)


@pytest.mark.slow
def test_the_truth_is_covered_as_often_as_a_smooth_truth_should_be():
    found = coverage(bc.ece, TRUTH, 1000, 20, seed=1, draws=400, priors=PRIORS["curve"])
    assert binom.cdf(found.covered.sum(), 20, 0.9) > 0.001
    assert abs(found.error.mean()) < 0.3 * found.width.mean()


def test_rows_depend_on_the_seed_alone():
    first, second = (
        coverage(bc.ece, TRUTH, 200, 3, seed=9, draws=100, priors=priors)
        for priors in (PRIORS["jeffreys"], bc.ece.Priors(PRIORS["jeffreys"].label_rate, 0))
    )
    np.testing.assert_array_equal(first.upper, second.upper)
    assert np.isnan(second.p_calibrated).all()
    assert (second.mean >= first.mean).all()


def test_properties_of_coverage():
    found = Coverage(
        0.1, np.array([0, 0.2]), np.array([0.1, 0.3]), np.array([0.05, 0.25]), *[0] * 3
    )
    assert found.covered.tolist() == [True, False]
    np.testing.assert_allclose(found.width, 0.1)
    np.testing.assert_allclose(found.error, [-0.05, 0.15])


def test_a_truth_must_know_the_quantity():
    with pytest.raises(InputError, match="the truth must know its 'mce'"):
        coverage(bc.ece, TRUTH, 100, 1, seed=0, var="mce")
    with pytest.raises(InputError, match="truth must have a method scores"):
        coverage(bc.ece, 0.03, 100, 1, seed=0)
    with pytest.raises(InputError, match="sample must be a function; got 3"):
        coverage(bc.ece, TRUTH, 100, 1, seed=0, sample=3)


@pytest.mark.mcmc
@pytest.mark.parametrize("name", PRIORS)
def test_ranks_are_uniform(name):
    found = sbc(bc.ece, COUNTS, 40, seed=3, priors=PRIORS[name], draws=400, variables=RANKED_HERE)
    p_values = found.p_values(bins=5)
    assert list(p_values) == ["tce", *(f"label_rate[{i}]" for i in range(10))]
    assert min(p_values.values()) > 0.001 / len(p_values)
    assert (found.divergences == 0).all()
    assert (found.ess_min > 200).all()


@pytest.mark.slow
def test_groups_have_ranks_of_their_own():
    rng = np.random.default_rng(6)
    score, label = TRUTH.sample(100, rng)
    data = bc.Scores(y_true=label, y_prob=score, group=rng.choice(["a", "b"], 100, p=[0.8, 0.2]))
    options = {"priors": PRIORS["curve"], "n_bins": 3, "variables": RANKED_HERE}
    found = sbc(bc.ece, data, 4, seed=3, draws=200, **options)
    names = ["tce[0]", "tce[1]", *(f"label_rate[{i}]" for i in range(6))]
    assert list(found.ranks) == names
    assert all(ranks.min() >= 0 and ranks.max() <= RANKED for ranks in found.ranks.values())
    assert (found.ess_min > 50).all()


@pytest.mark.slow
def test_ranks_see_a_prior_that_is_not_the_one_fitted(monkeypatch):
    def larger(case, rng):
        again, values = simulate(case, rng)
        return again, {name: value * 1.3 for name, value in values.items()}

    case = type(bc.ece.plan(COUNTS, PRIORS["curve"]).cases[0])
    simulate = case.simulate
    monkeypatch.setattr(case, "simulate", larger)
    given = {"priors": PRIORS["curve"], "variables": ["tce"]}
    found = sbc(bc.ece, COUNTS, 80, seed=3, draws=200, **given)
    assert found.p_values(bins=10)["tce"] < 1e-6


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"draws": RANKED - 1}, f"draws of all chains must be a whole number >= {RANKED}"),
        ({"replications": 0}, "replications must be a whole number >= 1"),
        ({"variables": ["tec"]}, "no variable 'tec'; did you mean 'tce'"),
        ({"variables": 1}, "variables must be a word, or a list of words; got 1"),
    ],
)
def test_what_gives_no_ranks_is_refused(given, said):
    with pytest.raises(InputError, match=said):
        sbc(bc.ece, COUNTS, **{"replications": 1, "seed": 3, **given})


def test_all_that_is_simulated_is_ranked_unless_variables_are_given():
    found = sbc(bc.ece, COUNTS, 2, seed=3, draws=100)
    assert {"tce", "ece", "mce"} <= set(found.ranks)


@pytest.mark.slow
def test_coverage_of_several_classifiers_at_once():
    """The accuracies of a conjugate model: its interval has the law of the binomial."""
    base.adapted.cache_clear()
    with pytest.warns(DeprecationWarning, match="VARIABLES"):
        found = coverage(toy, Guesses(), 60, 40, seed=7, draws=2000)
    assert found.covered.shape == (40, 2)
    for covered in found.covered.T:
        assert binom.cdf(covered.sum(), 40, 0.9) > 0.0005
    # 40 means of 60 rows: four standard errors of the share.
    np.testing.assert_allclose(found.mean.mean(axis=0), [0.8, 0.6], atol=4 * 0.5 / np.sqrt(2400))
    assert np.isnan(found.p_calibrated).all()


class Guesses:
    """Two classifiers that are right with known probabilities."""

    accuracy = (0.8, 0.6)

    def scores(self, n, rng):
        label = rng.integers(0, 2, n)
        right = rng.random((2, n)) < np.array(self.accuracy)[:, None]
        prob = np.where(right, label, 1 - label) * 0.8 + 0.1
        return bc.Scores.stack({"a": prob[0], "b": prob[1]}, y_true=label)


@pytest.mark.slow
def test_coverage_of_rows_with_bounds():
    """An imprecise Dirichlet model of bins that hold a step: its bounds cover as often or more."""
    truth = bc.datasets.credal.truth("calibrated")
    rows = np.array([0.25, 0.75])

    class AtRows:
        prob = truth.probability(rows)

    found = coverage(
        "credal",
        AtRows(),
        400,
        10,
        seed=5,
        priors=bc.credal.Priors(bc.credal.ImpreciseDirichlet(bins=10)),
        sample=lambda n, rng: truth.split(n, rows, rng),
        draws=400,
    )
    assert found.covered.shape == (10, 2)
    assert (found.lower < found.upper).all()
    assert found.covered.mean() > 0.6


def test_p_values_are_those_of_the_chi_square_test():
    ranks = np.arange(RANKED + 1)
    flat = Sbc({"x": ranks, "low": ranks // 2}, *[np.zeros(100)] * 3)
    assert flat.p_values()["x"] == pytest.approx(1.0)
    assert flat.p_values()["low"] < 1e-10
    for wrong in (7, 0, 2.5):
        with pytest.raises(InputError, match=f"bins must .*; got {wrong}"):
            flat.p_values(bins=wrong)


@pytest.mark.mcmc
def test_nuts_ranks_and_health():
    given = {"priors": PRIORS["curve"], "variables": ["tce", "mce"]}
    found = sbc(bc.ece, COUNTS, 2, seed=3, method="nuts", **given)
    assert list(found.ranks) == ["tce", "mce"]
    assert (found.divergences == 0).all()
    assert (found.rhat_max <= 1.01).all()
    assert (found.ess_min > 400).all()


PILOT = bc.datasets.ece.truth("over").scores(300, seed=1)
QUICK = {"n": 100, "replications": 2}


@pytest.fixture(scope="module")
def result():
    """Of a smooth curve, a tenth of the time of an average."""
    return bc.fit(bc.ece, PILOT, method="direct", seed=1, priors=PRIORS["curve"])


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


def test_a_pilot_of_scores_is_fitted_first() -> None:
    result = bc.fit(bc.ece, PILOT, method="direct", seed=1)
    found = bc.plan_labels(PILOT, "ece", seed=1, **QUICK)
    assert found.text.startswith("Expected width")
    with pytest.warns(bc.ConvergenceWarning):
        short = bc.fit("ece", PILOT, method="direct", draws=4, seed=1)
    assert bc.plan_labels(short, "ece", **QUICK).text.startswith("Unreliable: a fit did not")
    np.testing.assert_array_equal(found.ends, bc.plan_labels(result, "ece", seed=1, **QUICK).ends)


def test_a_plan_of_a_function_is_that_of_the_measure_and_takes_a_limit() -> None:
    result = bc.fit(bc.ece, PILOT, method="direct", seed=1)
    by_hand, named = (
        bc.plan_labels(result, var, **QUICK) for var in (bc.measures.errors.e90, "e90")
    )
    np.testing.assert_array_equal(by_hand.ends, named.ends)
    assert by_hand.with_limit(0.01).table.equals(named.with_limit(0.01).table)


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


def test_a_pilot_of_positives_ranks_rows_by_parts_of_cells() -> None:
    """Half of a rare event's positives are known; cells of a hundredth have .6 of its precision."""
    rng = np.random.default_rng(3)
    score = expit(rng.normal(-7, 1.7, 100_000))
    label, first = rng.random(len(score)) < score, rng.random(len(score)) < 0.5
    data = bc.PUScores.stack({"a": (score[label & first], score[~first])})
    known = bc.Beta(1e5 * label.mean(), 1e5 * (1 - label.mean()))
    tree = bc.fit(bc.pu_ece, data, priors=bc.pu_ece.Priors(known), method="direct", seed=1)
    truth = _Truth.of(tree, access.cases(tree)[0], "auprc")
    found = auprc(truth.rate, truth.score, truth.mass).mean()
    # 186 positives know it to a tenth; parts are off by as much at most.
    assert found == pytest.approx(average_precision_score(label, score), rel=0.2)


def test_rows_of_a_plan_rank_as_those_of_the_pilot() -> None:
    """Events have the highest scores, an average precision of 1; cells of ten rows would have .6.

    The two rows that are added at random take a twentieth of it.
    """
    label = np.repeat([0, 1], [980, 20])
    pilot = bc.Scores(y_true=label, y_prob=(np.arange(1000) + 0.5) / 1000)
    tree = bc.fit(bc.ece, pilot, method="direct", draws=150, seed=1, priors=PRIORS["curve"])
    truth, rng = _Truth.of(tree, access.cases(tree)[0], "auprc"), np.random.default_rng(0)
    samples = [truth.rows(draw, 5000, rng) for draw in range(0, 600, 30)]
    found = [average_precision_score(rows.y_true, rows.y_prob[0]) for rows in samples]
    assert np.mean(found) == pytest.approx(1, abs=0.15)


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
    curve = bc.credal.AveragedCurve(rough=0, rising=0, steps=0)
    priors = bc.credal.Priors(curve)
    tree = bc.fit("credal", split, priors=priors, method="direct", seed=1)
    assert bc.plan_labels(tree, class_="2", **QUICK).table.width[0] > 0
    for given, message in (({}, "class_ must be one of"), ({"class_": "9"}, "has no class '9'")):
        with pytest.raises(bc.InputError, match=message):
            bc.plan_labels(tree, **given)
    priors = bc.agnostic.Priors(bc.ece.CurveAverage(rough=0, segments=0, linear=0))
    agnostic = bc.fit("agnostic", PILOT, priors=priors, method="direct", seed=1)
    assert bc.plan_labels(agnostic, "e90", **QUICK).table.width[0] > 0


def test_one_of_several_cases_is_chosen(result) -> None:
    tree = make_result(("a", "b"), groups=("x", "y"), draws=20)
    tree.attrs["priors"] = PRIORS["curve"].to_json()
    found = bc.plan_labels(tree, classifier="b", group="y", **QUICK)
    assert found.ends.shape == (1, 2, 2)
    with pytest.raises(bc.InputError, match="group must be one"):
        bc.plan_labels(tree, classifier="a")
    grid = {"certain": bc.ece.Priors(bc.ece.SmoothCurve(), 0), "curve": PRIORS["curve"]}
    several = bc.prior_sensitivity(bc.ece, PILOT, grid, method="direct", seed=1)
    with pytest.raises(bc.InputError, match="one prior; got 2"):
        bc.plan_labels(several, **QUICK)
    plans = [bc.plan_labels(one, **QUICK) for one in (several.sel(prior="curve"), result)]
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
        (0.05, "About 1,000 labels exclude 0.05 with probability above 0.5 (0.50 that it", 1000),
        (0.05, "(0.50 that it lies below 0.05, 0.50 that it lies above).", 1000),
        (0.065, "Even 1,000 labels exclude 0.065 with probability 0.50 only.", None),
    ],
)
def test_in_words(limit: float | None, words: str, enough: int | None) -> None:
    plan = LabelPlan("tce", 0.9, (100, 1000), ENDS, limit)
    assert words in plan.text
    assert words in repr(plan)
    assert plan.enough == enough


def test_one_label_in_words() -> None:
    text = LabelPlan("tce", 0.9, (1,), ENDS[:1], 0.065).text
    assert "0.080 with 1 label. Even 1 label excludes 0.065" in text


def test_eight_intervals_of_ten_on_either_side_of_the_limit_are_enough() -> None:
    ends = np.array([[0.1, 0.2]] * 7 + [[0.4, 0.5]] + [[0.2, 0.4]] * 2)
    plan = LabelPlan("tce", 0.9, (100,), ends[None], 0.3)
    assert plan.table.prob_excludes.tolist() == [0.8]
    assert plan.table.prob_se[0] == pytest.approx(beta(9, 3).std())
    assert plan.enough == 100


def test_the_numbers_of_the_table() -> None:
    table = LabelPlan("tce", 0.9, (100, 1000), ENDS, 0.05).table
    assert table.width.tolist() == pytest.approx([0.08, 0.01])
    # Two widths .1 and .06: standard error .02; their 5 % and 95 % quantiles lie .002 inside.
    assert table.width_se[0] == pytest.approx(0.02)
    assert (table.width_lower[0], table.width_upper[0]) == pytest.approx((0.062, 0.098))
    assert table.prob_below.tolist() == [0, 0.5]
    assert table.prob_above.tolist() == [0, 0.5]
    # None of two samples excludes the limit, then both.
    assert table.prob_se.tolist() == pytest.approx([beta(1, 3).std(), beta(3, 1).std()])


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
        ({"var": "gap"}, "var must be one of 'tce', 'ece', 'mce', or a measure, which"),
        ({"var": "nothing"}, "got 'nothing'. Pass 'tce', say."),
    ],
)
def test_what_cannot_be_planned(result, given: dict, message: str) -> None:
    given = {"data": result, **QUICK, **given}
    with pytest.raises(bc.InputError, match=message):
        bc.plan_labels(given.pop("data"), **given)


def test_samples_too_small_for_a_value_are_named() -> None:
    # Two events among 200 rows: most samples of 20 have none, and no AUC.
    pilot = bc.Scores(y_true=np.arange(200) >= 198, y_prob=np.linspace(0.001, 0.02, 200))
    few = bc.fit(bc.ece, pilot, priors=PRIORS["curve"], method="direct", seed=1)
    with pytest.raises(bc.InputError, match=r"auc has a value .* one of 20 labels has none\. Pass"):
        bc.plan_labels(few, "auc", n=(20, 30), replications=5)


def test_another_limit_must_be_a_number() -> None:
    with pytest.raises(bc.InputError, match="limit must be a number"):
        LabelPlan("tce", 0.9, (100, 1000), ENDS).with_limit("low")
