"""Calibration errors of weighted rows: formulas, repeated rows, and the weighted bootstrap."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss, roc_auc_score

import bayescal as bc
from bayescal.core.bin_counts import BinCounts
from bayescal.core.binning import Binning, fine_counts
from bayescal.core.errors import InputError
from bayescal.core.functionals import correlation
from bayescal.core.intake import round_scores
from bayescal.curves.cells import draw_events, draw_masses, fingerprint, weighted_masses
from bayescal.quantities.ece.bounds import bounds
from bayescal.quantities.ece.data import data_warnings, problems
from bayescal.quantities.ece.plan import influence
from bayescal.quantities.ece.priors import HierarchicalBins, IndependentBins, Priors, SmoothCurve

RNG = np.random.default_rng(8)
N = 800
SCORE = round_scores(RNG.beta(0.8, 0.8, N))
LABEL = (RNG.random(N) < SCORE**1.3).astype(int)
WEIGHT = RNG.exponential(size=N)
WEIGHTED = bc.Scores(y_true=LABEL, y_prob=SCORE, sample_weight=WEIGHT)
EVERY_PRIOR = [
    Priors(),
    Priors(SmoothCurve()),
    Priors(IndependentBins()),
    Priors(HierarchicalBins()),
]


def one_problem(scores, priors=EVERY_PRIOR[0]):
    return problems(scores, priors, Binning(), "top-label")[0]


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_estimates_are_those_of_the_weighted_formulas(strategy):
    # In this order they differ by the label no more than by chance.
    weight = WEIGHT[::-1]
    scores = bc.Scores(y_true=LABEL, y_prob=SCORE, sample_weight=weight)
    found = bc.ece.estimate(scores, n_bins=10, strategy=strategy)
    place = np.searchsorted(found.bin_edges[1:-1], SCORE, side="left")
    w = weight / weight.sum()
    ece = squared = debiased = 0.0
    gaps = []
    for b in range(10):
        inside = place == b
        mass, v = w[inside].sum(), w[inside] / w[inside].sum()
        rate, confidence = v @ LABEL[inside], v @ SCORE[inside]
        # Unbiased for the variance of a weighted mean of rows with one variance.
        noise = rate * (1 - rate) * (v @ v) / (1 - v @ v)
        ece += mass * abs(rate - confidence)
        squared += mass * (rate - confidence) ** 2
        debiased += mass * ((rate - confidence) ** 2 - noise)
        gaps.append(abs(rate - confidence))
        assert found.count[b] == pytest.approx(1 / (v @ v))
    assert found.ece == pytest.approx(ece)
    assert found.mce == pytest.approx(max(gaps))
    assert found.l2 == pytest.approx(np.sqrt(squared))
    assert found.l2_debiased == pytest.approx(np.sqrt(max(debiased, 0)))


def test_the_brier_score_splits_into_what_the_bins_say():
    """With a score a bin: Brier = sum of mass (rate (1 - rate) + gap**2), weighted throughout."""
    score = SCORE.round(1)
    scores = bc.Scores(y_true=LABEL, y_prob=score, sample_weight=WEIGHT)
    edges = np.append(0, np.arange(11) / 10)
    found = bc.ece.estimate(scores, strategy=round_scores(edges))
    parts = found.bin_mass * (found.label_rate * (1 - found.label_rate) + found.gap**2)
    expected = brier_score_loss(LABEL, score, sample_weight=WEIGHT)
    assert parts.sum() == pytest.approx(expected, rel=1e-10)


@given(
    st.lists(
        st.tuples(st.floats(0, 1), st.booleans(), st.integers(0, 4)), min_size=1, max_size=40
    ).filter(lambda rows: any(times for _, _, times in rows)),
    st.integers(1, 12),
    st.sampled_from(["uniform", "quantile"]),
    st.sampled_from(["right", "left"]),
)
def test_whole_weights_estimate_as_repeated_rows_do(rows, n_bins, strategy, closed):
    score, label, weight = (np.array(column) for column in zip(*rows, strict=True))
    # Rows of one weight are rows without.
    times = weight if len(set(weight) - {0}) > 1 else weight.clip(max=1)
    options = {"n_bins": n_bins, "strategy": strategy, "closed": closed}
    label = label.astype(int)
    once = bc.ece.estimate(bc.Scores(y_true=label, y_prob=score, sample_weight=weight), **options)
    repeated = bc.Scores(y_true=label.repeat(times), y_prob=score.repeat(times))
    again = bc.ece.estimate(repeated, **options)
    np.testing.assert_array_equal(once.bin_edges, again.bin_edges)
    for name in ("ece", "mce", "l2", "label_rate", "gap", "confidence", "bin_mass"):
        np.testing.assert_allclose(getattr(once, name), getattr(again, name), atol=1e-12)


@pytest.mark.parametrize("of_events", [1.0, 4.0])
def test_masses_and_rates_have_the_moments_of_the_weighted_bootstrap(of_events):
    """Sums of w g over a cell's rows, g ~ Exponential(1), of which events weigh so much more."""
    n, draws, rng = 2000, 20_000, np.random.default_rng(0)
    score = rng.random(n)
    label = rng.random(n) < score / (score + (1 - score) * of_events)
    weight = np.where(label, of_events, 1.0) * rng.choice([1.0, 2.0], n)
    task = bc.Scores(y_true=label.astype(int), y_prob=score, sample_weight=weight).tasks()[0]
    cells = fine_counts(task, np.linspace(0, 1, 6), 1).evened()
    place = cells.find(score)
    at = np.where(place == np.arange(cells.n_bins)[:, None], 1.0, 0.0).T
    g = rng.standard_exponential((draws, n)) * weight
    total, events = g @ at, (g * label) @ at
    selected = rng.beta(*(cells.weight_by_label / cells.unit)[::-1], (draws, cells.n_bins))
    without, with_event = cells.unit
    found_rate = selected * with_event / (selected * with_event + (1 - selected) * without)
    share = draw_masses(cells.mass_count, (draws,), rng)
    found_mass = weighted_masses(share, cells.unit, found_rate)

    def moments(mass, rate):
        # The error of a classifier that is off in one direction, among them.
        over = (mass * (rate - cells.mean_score / 2)).sum(axis=1)
        every = np.column_stack([mass, rate, over])
        return every.mean(axis=0), np.cov(every, rowvar=False)

    mean, expected = moments(total / total.sum(axis=1, keepdims=True), events / total)
    spread = np.sqrt(np.diag(expected))
    found_mean, found = moments(found_mass, found_rate)
    # A difference of two moments in units of the spreads has a standard error of .014 at most: 3.5
    # of them. Without weights of the label, mass and rate have no correlation.
    assert abs((found_mean - mean) / spread).max() < 0.05
    assert abs((found - expected) / np.outer(spread, spread)).max() < 0.05
    correlation = found[0, cells.n_bins] / np.sqrt(found[0, 0] * found[cells.n_bins, cells.n_bins])
    assert (abs(correlation) > 0.2) == (of_events > 1)


def test_measures_take_the_masses_of_each_draw_where_weights_follow_the_label():
    # Nearly calibrated: the masses of many draws are others given miscalibration.
    label = (np.random.default_rng(5).random(N) < SCORE / (4 - 3 * SCORE)).astype(int)
    data = bc.Scores(y_true=label, y_prob=SCORE, sample_weight=np.where(label == 1, 4.0, 1.0))
    result = bc.fit("ece", data, method="direct", draws=250, seed=1)
    # ICI is the same number, of the curve that the result keeps in single precision.
    for found, own in (
        (bc.measure, result.posterior.tce),
        (bc.interval, bc.interval(result, "tce")),
    ):
        np.testing.assert_allclose(found(result, "ici"), own, atol=1e-6)


def test_positives_of_effective_rows_vary_as_the_weighted_labels_do():
    rng, rate, count = np.random.default_rng(2), np.array([0.5, 0.3, 0.8]), np.zeros(3)
    expected = np.zeros((50_000, 3))
    for place, rows in enumerate([1, 7, 50]):
        weight = rng.choice([1.0, 10.0], rows)
        count[place] = weight.sum() ** 2 / (weight**2).sum()
        labels = rng.random((50_000, rows)) < rate[place]
        expected[:, place] = count[place] * (labels @ weight) / weight.sum()
    rows, score = np.array([1, 7, 50]), np.array([0.2, 0.5, 0.9])
    cells = BinCounts(np.linspace(0, 1, 4), count, count / 2, score, mass=count, rows=rows)
    drawn = draw_events(cells.count, np.tile(rate, (50_000, 1)), rng)
    np.testing.assert_allclose(drawn.mean(axis=0), count * rate, atol=0.05)
    # Standard error of each .003; the part of a row varies less by up to .25 / count.
    np.testing.assert_allclose(drawn.std(axis=0), expected.std(axis=0), rtol=0.04)


def test_weights_do_not_make_a_calibrated_classifier_contradict_its_posterior():
    """Two in a thousand may; half of such fits did."""
    rng = np.random.default_rng(3)
    score = rng.random(20_000)
    weight = rng.choice([1.0, 10.0], len(score))
    data = bc.Scores(y_true=rng.random(len(score)) < score, y_prob=score, sample_weight=weight)
    assert bc.fit("ece", data, method="direct", draws=250, seed=1).attrs["status"] == "ok"


@pytest.mark.parametrize("priors", EVERY_PRIOR)
def test_weights_of_1_fit_as_no_weights_do(priors):
    ones = bc.Scores(y_true=LABEL, y_prob=SCORE, sample_weight=np.ones(N))
    weighted = bc.fit("ece", ones, priors=priors, method="direct", draws=250, seed=1)
    plain = bc.fit(
        "ece", WEIGHTED.without_weight(), priors=priors, method="direct", draws=250, seed=1
    )
    for name in ("ece", "tce", "mce"):
        np.testing.assert_allclose(weighted.posterior[name], plain.posterior[name], rtol=1e-6)
    assert weighted.point_estimate["effective_n"].item() == N
    assert "effective_n" not in plain.point_estimate
    assert plain.point_estimate["count"].dtype == np.int64


@pytest.mark.parametrize("priors", EVERY_PRIOR)
def test_a_fit_does_not_depend_on_the_unit_of_the_weights(priors):
    found = [
        bc.fit(
            "ece",
            bc.Scores(y_true=LABEL, y_prob=SCORE, sample_weight=WEIGHT * factor),
            priors=priors,
            method="direct",
            draws=250,
            seed=1,
        ).posterior["ece"]
        for factor in (1.0, 1e6)
    ]
    np.testing.assert_allclose(*found, rtol=1e-6)


def test_a_result_records_rows_and_effective_rows():
    result = bc.fit("ece", WEIGHTED, method="direct", draws=250, seed=1)
    expected = WEIGHT.sum() ** 2 / (WEIGHT**2).sum()
    point = result.point_estimate
    assert point["n"].item() == N
    assert point["effective_n"].item() == pytest.approx(expected)
    assert point["prevalence"].item() == pytest.approx(np.average(LABEL, weights=WEIGHT))
    assert result.attrs["effective_n"] == pytest.approx(expected)
    assert bc.summary(result)["effective_n"].item() == pytest.approx(expected)
    # Bounds are those of so many whole rows.
    theory = bounds(int(expected))
    assert result["bounds"]["total_bias"].item() == pytest.approx(theory.total_bias.value)
    assert f"effective number of rows, {int(expected)}" in str(result["bounds"]["total_bias"].attrs)


def test_groups_have_effective_rows_of_their_own():
    group = np.arange(N) % 2
    scores = bc.Scores(y_true=LABEL, y_prob=SCORE, sample_weight=WEIGHT, group=group)
    result = bc.fit("ece", scores, method="direct", draws=250, seed=1)
    for place in (0, 1):
        w = WEIGHT[group == place]
        found = result.point_estimate["effective_n"].values.ravel()[place]
        assert found == pytest.approx(w.sum() ** 2 / (w**2).sum())


@pytest.mark.parametrize("name", ["calibrated", "over"])
def test_weights_undo_a_selection_by_the_label(name):
    """Negatives drawn a fifth as often as positives: the interval covers with weights alone."""
    world = bc.datasets.ece.truth(name)
    score, label = world.sample(5000, 0)
    chance = np.where(label == 1, 1.0, 0.2)
    held = np.random.default_rng(1).random(5000) < chance
    scores = bc.Scores(y_true=label[held], y_prob=score[held], sample_weight=1 / chance[held])
    for data, covers in ((scores, True), (scores.without_weight(), False)):
        result = bc.fit("ece", data, method="direct", draws=250, seed=1)
        low, high = bc.interval(result, "tce").to_numpy()
        assert (low <= world.tce <= high) == covers


def drawn_by_label(n, seed=6):
    """All rows of a rare event and one of ten others, with their weights."""
    rng = np.random.default_rng(seed)
    score = rng.beta(1, 4, n)
    label = (rng.random(n) < score).astype(int)
    held = (label == 1) | (rng.random(n) < 0.1)
    return label[held], score[held] ** 0.8, np.where(label[held] == 1, 1.0, 10.0)


def bootstrap_spread(label, score, weight, function, draws=800):
    """Standard deviation of a weighted measure under Dirichlet weights of all rows."""
    rng = np.random.default_rng(0)
    return np.std(
        [function(label, score, weight * rng.exponential(size=len(label))) for _ in range(draws)]
    )


MEANS = {
    "brier": lambda y, p, w: np.average((y - p) ** 2, weights=w),
    "auc": lambda y, p, w: roc_auc_score(y, p, sample_weight=w),
    "sensitivity:0.3": lambda y, p, w: np.average(p[y == 1] > 0.3, weights=w[y == 1]),
    "specificity:0.3": lambda y, p, w: np.average(p[y == 0] <= 0.3, weights=w[y == 0]),
    "prevalence": lambda y, p, w: np.average(y, weights=w),
    "mean_gap": lambda y, p, w: np.average(y - p, weights=w),
}


@pytest.fixture(scope="module")
def by_label():
    """Fits of one classifier and of two to rows drawn by their label."""
    label, score, weight = drawn_by_label(8000)
    one = bc.Scores(y_true=label, y_prob=score, sample_weight=weight)
    both = {"a": score, "b": score[::-1]}
    two = bc.Scores.stack(both, y_true=label, sample_weight=weight)
    return [bc.fit("ece", data, method="direct", draws=1000, seed=1) for data in (one, two)]


@pytest.mark.parametrize("name", MEANS)
def test_measures_of_rows_drawn_by_their_label_spread_as_in_the_bootstrap(by_label, name):
    one, two = (bc.measure(result, name) for result in by_label)
    expected = bootstrap_spread(*drawn_by_label(8000), MEANS[name])
    # Three standard errors of two standard deviations are .09; a mean gap is drawn as if rates and
    # masses of cells were independent, which takes a tenth off its spread here.
    for draws in (one, two.sel(classifier="a")):
        assert draws.std().item() == pytest.approx(expected, rel=0.1 if name != "mean_gap" else 0.2)


def test_the_debiased_error_of_calibrated_rows_drawn_by_their_label_is_as_often_0():
    found = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        score = rng.beta(1, 9, 6000)
        label = (rng.random(6000) < score).astype(int)
        held = (label == 1) | (rng.random(6000) < 0.1)
        weight = np.where(label[held] == 1, 1.0, 10.0)
        scores = bc.Scores(y_true=label[held], y_prob=score[held], sample_weight=weight)
        found.append(bc.ece.estimate(scores).l2_debiased > 0)
    # Its square has the mean 0 and a skewed distribution; four standard errors of a share are .2.
    assert 0.2 < np.mean(found) < 0.65


@pytest.mark.parametrize("multiclass", ["class-wise", "marginal"])
def test_the_error_expected_of_calibrated_classes_drawn_by_their_label(multiclass):
    """Labels drawn from the scores, a tenth of the first class kept: the mean of their errors."""
    observed, expected = [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        prob = rng.dirichlet([2, 1, 1], 3000)
        label = (prob.cumsum(axis=1) < rng.random((3000, 1))).sum(axis=1)
        weight = np.where(label == 0, 10.0, 1.0)
        held = rng.random(3000) < 1 / weight
        rows = bc.Scores(y_true=label[held], y_prob=prob[held], sample_weight=weight[held])
        options = {"multiclass": multiclass, "n_simulations": 60}
        found = bc.ece.expected_if_calibrated(rows, **options)
        observed.append([one.observed for one in found])
        expected.append([one.mean for one in found])
    error = np.std(observed, axis=0) / np.sqrt(60)
    # Four standard errors, and a twentieth: ratios of weights are shrunk towards those of all.
    apart = np.abs(np.mean(observed, axis=0) - np.mean(expected, axis=0))
    assert (apart < 4 * error + 0.05 * np.mean(observed, axis=0)).all()


def test_an_added_row_weighs_as_one_of_its_label():
    """Of 50 events, none missed, the next one is: a sensitivity of 50 / 51, not as of 5 events."""
    label, score = np.repeat([1, 0], [50, 500]), np.repeat([0.9, 0.1], [50, 500])
    weight = np.where(label == 1, 1.0, 10.0)
    scores = bc.Scores(y_true=label, y_prob=score, sample_weight=weight)
    result = bc.fit("ece", scores, method="direct", draws=1000, seed=1)
    missed = 1 - bc.measure(result, "sensitivity:0.5").mean().item()
    # A coin makes each added row an event; one is at a row at random, the other anywhere.
    assert missed == pytest.approx((500 / 550 + 1 / 2) / 2 / 51, rel=0.15)


def test_correlation_is_that_of_the_weighted_bootstrap():
    scores = bc.Scores.stack(
        {"a": SCORE, "b": np.clip(SCORE + 0.05, 0, 1)}, y_true=LABEL, sample_weight=WEIGHT
    )
    parts, influences, sums = scores.tasks(), [], []
    rng = np.random.default_rng(4)
    g = rng.standard_exponential((4000, N)) * WEIGHT
    for task in parts:
        cells = bc.bin_scores(task)
        sign = np.sign(cells.positives / cells.count - cells.mean_score)
        influences.append(influence(task, cells, sign))
        sums.append(g @ (sign[cells.find(task.score)] * (task.event - task.score)) / g.sum(axis=1))
    expected = np.corrcoef(sums)[0, 1]
    # Four standard errors of a correlation over 4000 draws.
    assert correlation(influences)[0, 1] == pytest.approx(expected, abs=4 / np.sqrt(4000))


def test_one_class_alone_is_warned_of():
    for label, word in ((0, "negative"), (1, "positive")):
        scores = bc.Scores(
            y_true=np.full(N, label), y_prob=SCORE, sample_weight=WEIGHT, classes=[0, 1]
        )
        (warning,) = data_warnings(one_problem(scores))
        assert warning.startswith(f"all {N} labels are {word}")


def test_weights_tell_problems_apart():
    made = [
        one_problem(bc.Scores(y_true=LABEL, y_prob=SCORE, sample_weight=weight))
        for weight in (np.ones(N), 2 * np.ones(N))
    ]
    assert len({fingerprint(one, one.cells.positives) for one in made}) == 2


def test_numbers_of_weighted_rows_tell_problems_apart():
    held = {"count": [10.0, 12.0], "positives": [2.0, 9.0], "mean_score": [0.2, 0.7]}
    made = [
        bc.ece.plan(BinCounts([0, 0.5, 1], **held, mass=[11, 13], rows=rows), Priors()).cases[0]
        for rows in ([12, 14], [20, 14])
    ]
    assert [sum(case.problem.cells.rows) for case in made] == [26, 34]
    assert len({case.fingerprint() for case in made}) == 2


@pytest.mark.mcmc
def test_pymc_counts_whole_rows():
    with pytest.raises(InputError, match=r"must have whole counts of rows.*method='direct'"):
        bc.ece.build_model(WEIGHTED, bc.ece.Priors(bc.ece.IndependentBins()))


def test_groups_of_weighted_rows_are_refused_before_pymc_is_loaded(monkeypatch):
    for module in ("pymc", "bayescal.inference.sampler"):
        monkeypatch.setitem(sys.modules, module, None)
    data = bc.Scores(LABEL, SCORE, sample_weight=WEIGHT, group=np.arange(N) % 2)
    with pytest.raises(InputError, match=r"must have whole counts of rows.*method='direct'"):
        bc.fit(bc.ece, data, seed=1)


@pytest.mark.mcmc
def test_the_average_takes_effective_rows_by_both_methods():
    rng = np.random.default_rng(3)
    score, label = bc.datasets.ece.truth("over").sample(1000, rng)
    scores = bc.Scores(y_true=label, y_prob=score, sample_weight=rng.exponential(size=1000))
    nuts, direct = (
        bc.fit(bc.ece, scores, seed=1, method=method).given_miscalibration["tce"].values
        for method in ("nuts", "direct")
    )
    # At least 1,000 effective draws each: four Monte Carlo errors of the difference of two means.
    assert abs(nuts.mean() - direct.mean()) < 4 * direct.std() * np.sqrt(2 / 1000)
