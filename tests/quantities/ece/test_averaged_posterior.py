"""What a result holds of an average over descriptions, each array against its definition."""

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import kstest

import bayescal as bc
from bayescal.core.quantity import dims_of
from bayescal.curves.priors import COMPONENTS, CurveAverage
from bayescal.quantities.ece import VARIABLES
from bayescal.quantities.ece.posterior import AveragedCase, EceCase, case_of
from bayescal.quantities.ece.priors import IndependentBins, Priors, SmoothCurve
from tests.quantities.ece.made import of_counts, problem

SHAPE = (2, 250)


def with_ends():
    """Rows of exactly 0 and 1, with an error each, beside others."""
    return of_counts(
        [40, 30, 30, 60], [1, 12, 20, 58], [0.0, 0.3, 0.6, 1.0], [0, 1e-300, 0.5, 1 - 1e-9, 1]
    )


PROBLEMS = {
    "fine": problem(n=300, n_bins=6),
    "ends": with_ends(),
    "ends alone": of_counts([40, 60], [0, 58], [0.0, 1.0]),
}


def fitted(made, prior=None, calibrated=0.5, seed=1):
    """Case, draws and arrays, without NUTS."""
    case = case_of(made, Priors(prior or CurveAverage(), calibrated))
    rng = np.random.default_rng(seed)
    direct = case.model.direct_draws(SHAPE[0] * SHAPE[1], rng)
    draws = {name: value.reshape(*SHAPE, *value.shape[1:]) for name, value in direct.draws.items()}
    return case, direct, draws, case.arrays(draws, direct, rng)


@pytest.fixture(scope="module", params=PROBLEMS)
def one(request):
    return fitted(PROBLEMS[request.param])


def test_the_prior_decides_the_kind_of_case():
    made = problem(n=60)
    for prior, kind in (
        (CurveAverage(), AveragedCase),
        (SmoothCurve(), EceCase),
        (IndependentBins(), EceCase),
    ):
        assert type(case_of(made, Priors(prior))) is kind


def test_every_array_has_the_dims_of_the_case(one):
    case, _, _, arrays = one
    groups = ("posterior", "prior", "posterior_predictive", "log_likelihood", "log_prior")
    for group in groups:
        for name, values in getattr(arrays, group).items():
            assert np.ndim(values) == 2 + len(dims_of(VARIABLES).get(name, ())), name
    for group in ("observed_data", "constant_data", "point_estimate", "model_average"):
        for name, values in getattr(arrays, group).items():
            assert np.ndim(values) == len(dims_of(VARIABLES).get(name, ())), name
    for values in arrays.descriptions.values():
        assert np.shape(values) == (*SHAPE, len(COMPONENTS))
    assert case.axes == {"description": COMPONENTS, "boundary": ("0", "1")}


def test_everything_is_finite(one):
    case, *_, arrays = one
    boundary = arrays.model_average["boundary_calibrated"]
    rows = [score in case.problem.cells.mean_score for score in (0, 1)]
    np.testing.assert_array_equal(np.isfinite(boundary), rows)
    for group in ("posterior", "prior", "log_likelihood", "log_prior", "model_average"):
        for name, values in getattr(arrays, group).items():
            assert values is boundary or np.isfinite(values).all(), (group, name)
    for values in arrays.descriptions.values():
        assert np.isfinite(values).all()


def test_weights_are_those_of_the_descriptions(one):
    case, direct, _, arrays = one
    weights = case.model.weights(direct.evidence)
    found = arrays.model_average["weight"]
    assert found == pytest.approx([weights.get(name, 0.0) for name in COMPONENTS])
    expected = case.model.p_calibrated(direct.evidence)
    assert arrays.model_average["p_calibrated"] == pytest.approx(expected)
    size = arrays.posterior["tce"].size
    shares = np.bincount(arrays.posterior["description"].ravel(), minlength=len(COMPONENTS)) / size
    np.testing.assert_allclose(shares, found, atol=1 / size)
    np.testing.assert_array_equal(arrays.curve["component"], arrays.posterior["description"])
    right = arrays.posterior["tce"] == 0
    assert right.mean() == pytest.approx(expected, abs=1 / size)
    assert not right[arrays.posterior["description"] > 0].any()
    assert (arrays.given_miscalibration["tce"] > 0).all()


def test_the_likelihood_of_a_score_that_never_errs_is_that_of_its_evidence():
    """With an error at 0, which the power leaves a small probability of no error rate."""
    case, *_, arrays = fitted(PROBLEMS["ends"])
    never = arrays.curve["rate"][..., 0] == 0
    assert never.any()
    zero = case.model.boundary_scores[0]
    expected = zero.log_calibrated + np.log(40)  # One error in 40 rows: 40 ways.
    np.testing.assert_allclose(arrays.log_likelihood["events"][never][:, 0], expected, rtol=1e-9)


def test_a_curve_by_cell_has_the_errors(one):
    """The true calibration error is the mean over cells, by the masses that are kept."""
    *_, arrays = one
    gap = np.abs(arrays.curve["rate"] - arrays.constant_data["cell_score"])
    found = (arrays.curve["mass"] * gap).sum(axis=-1)
    np.testing.assert_allclose(found, arrays.posterior["tce"], atol=1e-5)


def test_the_answer_is_the_mean_of_the_descriptions():
    """Of a problem without rows of 0 or 1, with calibration and without it."""
    case, direct, _, arrays = fitted(PROBLEMS["fine"])
    weights = case.model.weights(direct.evidence)
    mixture = np.array([weights[name] for name in COMPONENTS])
    means = arrays.descriptions["tce"].mean(axis=(0, 1))
    tce, given = arrays.posterior["tce"], arrays.given_miscalibration["tce"]
    error = 4 * given.std() / np.sqrt(given.size)
    assert tce.mean() == pytest.approx(means @ mixture, abs=error)
    mixture[0] = 0
    assert given.mean() == pytest.approx(means @ mixture / mixture.sum(), abs=error)
    # Calibration has no error.
    np.testing.assert_allclose(arrays.descriptions["tce"][..., 0], 0, atol=1e-12)


def test_a_description_left_out_has_no_weight_and_no_draws():
    _, _, _, arrays = fitted(PROBLEMS["fine"], CurveAverage(rough=0, linear=0))
    rough = COMPONENTS.index("rough")
    assert arrays.model_average["weight"][rough] == 0
    assert not (arrays.posterior["description"] == rough).any()


def test_without_a_calibrated_alternative_no_draw_is_calibrated():
    _, _, _, arrays = fitted(PROBLEMS["fine"], calibrated=0.0)
    assert np.isnan(arrays.model_average["p_calibrated"])
    assert arrays.model_average["weight"][0] == 0
    assert (arrays.posterior["tce"] > 0).all()
    np.testing.assert_array_equal(arrays.given_miscalibration["tce"], arrays.posterior["tce"])


def test_the_smooth_description_alone_is_the_smooth_curve():
    made = problem(n=2000, n_bins=6)
    *_, alone = fitted(made, SmoothCurve(), seed=2)
    *_, average = fitted(made, CurveAverage(rough=0, segments=0, linear=0), seed=3)
    for name in ("ece", "tce"):
        ours, theirs = (one.given_miscalibration[name] for one in (average, alone))
        error = 4 * theirs.std() * np.sqrt(2 / theirs.size)
        assert ours.mean() == pytest.approx(theirs.mean(), abs=error)
    # Both rest on some 900 effective draws.
    p = alone.model_average["p_calibrated"]
    error = 4 * p * (1 - p) * np.sqrt(2 / 800) + 1e-9
    assert average.model_average["p_calibrated"] == pytest.approx(p, abs=error)


def test_a_jump_is_found_where_it_is():
    """From a score of 0.6 on all logits are off by one amount, as in a segment."""
    score = (np.arange(40) + 0.5) / 40
    count = np.full(40, 500)
    rate = expit(logit(score) - 0.8 * (score > 0.6))
    made = of_counts(count, np.round(count * rate).astype(int), score)
    *_, arrays = fitted(made)
    assert arrays.model_average["weight"][COMPONENTS.index("segments")] > 0.9
    assert np.argmax(arrays.model_average["jump_probability"]) == 24
    assert arrays.model_average["jump_probability"][24] > 0.9


def test_the_error_of_a_classifier_that_separates_the_labels_is_covered():
    """It is the largest that there can be, and no shift in logits reaches it."""
    score = (np.arange(300) + 0.5) / 300
    made = of_counts(np.full(100, 3), np.repeat([0, 3], 50), score.reshape(100, 3).mean(axis=1))
    for prior, covered in ((CurveAverage(), True), (CurveAverage(certain=0), False)):
        *_, arrays = fitted(made, prior)
        assert (np.quantile(arrays.posterior["tce"], 0.95) > 0.25) == covered


def answer(score, label):
    tree = bc.fit(
        bc.ece, bc.Scores(y_true=label, y_prob=score), method="direct", draws=1000, seed=7
    )
    ends = bc.interval(tree, "tce").values
    return np.array([*ends, tree["posterior"]["tce"].mean().item()])


def test_one_more_distinct_score_changes_little():
    """At 100 distinct scores each is a cell; at 101 cells are quantiles of the rows."""
    rng = np.random.default_rng(5)
    score = (rng.integers(0, 100, 3000) + 0.5) / 100
    label = (rng.random(3000) < expit(0.6 * logit(score) + 0.2)).astype(int)
    split = score.copy()
    split[np.flatnonzero(score == 0.505)[0]] += 1e-6
    assert (len(np.unique(score)), len(np.unique(split))) == (100, 101)
    first, second = answer(score, label), answer(split, label)
    # A tenth of the interval's width; draws alone move an end by about a twentieth.
    assert np.abs(first - second).max() < 0.1 * (first[1] - first[0])


@pytest.mark.slow
@pytest.mark.parametrize("calibrated", [0.0, 0.5])
def test_ranks_of_simulated_errors_are_uniform(calibrated):
    """Simulation-based calibration on scores with rows of 0 and 1."""
    rng = np.random.default_rng(8)
    case = case_of(with_ends(), Priors(calibrated=calibrated))
    ranks = []
    for _ in range(100):
        simulated, truth = case.simulate(rng)
        direct = simulated.model.direct_draws(200, rng)
        draws = {name: value[None] for name, value in direct.draws.items()}
        tce = simulated.arrays(draws, direct, rng).given_miscalibration["tce"]
        ranks.append((tce < truth["tce"]).mean())
    # One in a thousand ranks that are uniform are farther from it.
    assert kstest(ranks, "uniform").pvalue > 0.001


@pytest.mark.mcmc
@pytest.mark.parametrize("name", ["over", "jump"])
def test_nuts_and_importance_sampling_agree(name):
    scores = bc.datasets.ece.truth(name).scores(2000, seed=4)
    trees = [
        bc.fit(bc.ece, scores, method=method, draws=1000, seed=5) for method in ("direct", "nuts")
    ]
    direct, nuts = (tree["given_miscalibration"]["tce"].values for tree in trees)
    assert trees[1]["diagnostics"]["divergences"].item() == 0
    # Each rests on at least 400 effective draws.
    error = 4 * direct.std() * np.sqrt(2 / 400)
    assert nuts.mean() == pytest.approx(direct.mean(), abs=error)
    for place, one in enumerate(COMPONENTS):
        ours, theirs = (tree["descriptions"]["tce"].sel(description=one).values for tree in trees)
        error = 4 * ours.std() * np.sqrt(2 / 400) + 1e-9
        assert theirs.mean() == pytest.approx(ours.mean(), abs=error), one
        weights = [tree["model_average"]["weight"].values[place] for tree in trees]
        # Both from importance sampling, of 4000 draws and of 2000.
        assert weights[0] == pytest.approx(weights[1], abs=0.1)


def test_groups_of_scores_0_and_1_alone_have_no_curve_to_share():
    rng = np.random.default_rng(4)
    label = rng.integers(0, 2, 300)
    hard = np.where(rng.random(300) < 0.9, label, 1 - label).astype(float)
    group = np.repeat(["a", "b", "c"], 100)
    priors = Priors(calibrated=0)

    def tce(score):
        scores = bc.Scores(y_true=label, y_prob=score, group=group)
        tree = bc.fit(bc.ece, scores, priors=priors, method="direct", draws=250, seed=1)
        return tree["posterior"]["tce"].mean(("chain", "draw")).sel(group=["a", "b"])

    # A group with other scores changes nothing that the others have.
    soft = np.where(group == "c", 0.3, hard)
    np.testing.assert_allclose(tce(hard), tce(soft), atol=0.01)
    error = np.abs(hard - label)
    expected = [error[group == name].mean() for name in ("a", "b")]
    # The prior of an error rate, about 0.007, draws to itself as by some rows.
    np.testing.assert_allclose(tce(hard), expected, atol=0.02)


def test_a_classifier_of_scores_0_and_1_alone_stands_beside_others_in_groups():
    rng = np.random.default_rng(4)
    score = rng.random(300)
    label = (rng.random(300) < score).astype(int)
    columns = {"votes": np.round(score), "soft": score}
    group = np.repeat(["a", "b", "c"], 100)

    def tce(*names):
        stack = {name: columns[name] for name in names}
        scores = bc.Scores.stack(stack, y_true=label, group=group)
        tree = bc.fit(bc.ece, scores, method="direct", draws=250, seed=1)
        return tree["posterior"]["tce"].mean(("chain", "draw"))

    both = tce("votes", "soft")
    # 1000 draws of a standard deviation of .04 have means whose difference has one of .002.
    np.testing.assert_allclose(both.sel(classifier="votes"), tce("votes"), atol=0.01)
    np.testing.assert_array_equal(both.sel(classifier="soft"), tce("soft"))
