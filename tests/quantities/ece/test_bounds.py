"""The bounds as printed, whether they hold, and the plug-in ECE against every set of labels."""

import itertools
import math

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import norm

import bayescal as bc
from bayescal.core.binning import bin_scores
from bayescal.core.errors import InputError
from bayescal.core.scores import Task
from bayescal.measures.errors import IfCalibrated, simulated_of_cells
from bayescal.quantities.ece.bounds import bounds, least_bound_n_bins, optimal_n_bins
from bayescal.quantities.ece.estimator import estimate
from bayescal.quantities.pu_ece.bounds import optimal_n_bins as pu_optimal_n_bins


class Truth:
    """x ~ N(1, 1) or N(-1, 1), each half the time; P(Y | x) = sigmoid(2 x); f = sigmoid(a + b x).

    What depends on the law of (f, Y) alone is computed by quadrature on a fine grid of x.
    """

    def __init__(self, a, b):
        self.a, self.b = a, b
        x = np.linspace(-9, 9, 200_001)
        mass = (norm.pdf(x, 1) + norm.pdf(x, -1)) / 2 * (x[1] - x[0])
        gap = (expit(2 * x) - expit(a + b * x)) * mass
        self.tce = np.abs(gap).sum()
        self._x, self._below = x, np.cumsum(gap)
        slope = 2 * expit(2 * x) * expit(-2 * x) / (b * expit(a + b * x) * expit(-a - b * x))
        self.lipschitz = slope.max()

    def draw(self, rng, n):
        x = rng.normal(size=n) + rng.choice([-1, 1], n)
        event = (rng.random(n) < expit(2 * x)).astype(np.uint8)
        return Task({}, expit(self.a + self.b * x), event)

    def binned_tce(self, edges):
        with np.errstate(divide="ignore"):
            x = (logit(edges) - self.a) / self.b
        return np.abs(np.diff(np.interp(x, self._x, self._below))).sum()


TRUTHS = {"calibrated": (0.0, 2.0), "less": (-0.5, 1.5), "better": (-0.2, 1.9)}


@pytest.mark.parametrize("truth", TRUTHS)
@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize(("n", "n_bins"), [(30, 15), (1000, 100), (3000, 1)])
def test_bounds_hold_where_the_truth_is_known(truth, strategy, n, n_bins):
    truth = Truth(*TRUTHS[truth])
    rng = np.random.default_rng(4)
    found = bounds(n, n_bins, strategy, truth.lipschitz, delta=0.1)
    total, statistical, binning = [], [], []
    for _ in range(200):
        bins = bin_scores(truth.draw(rng, n), n_bins=n_bins, strategy=strategy)
        ece, binned = estimate(bins).ece, truth.binned_tce(bins.edges)
        total.append(abs(ece - truth.tce))
        statistical.append(abs(ece - binned))
        binning.append(abs(binned - truth.tce))
    assert np.mean(total) <= found.total_bias.value
    assert np.mean(statistical) <= found.statistical_bias.value
    assert np.mean(binning) <= found.binning_bias.value
    assert np.mean(np.array(statistical) > found.deviation.value) <= 0.1


@pytest.mark.parametrize("rate", [0.5, 0.7, 0.85, 0.95])
def test_statistical_bound_of_equal_mass_holds_where_the_printed_proof_is_open(rate):
    # The mass of a bin matters most when every score is near 0 and most labels are 1. Compared is
    # what the proof bounds, the sum over bins of |true - observed|, which is above |TCE - ECE|.
    rng = np.random.default_rng(8)
    n, n_bins, widest = 2000, 100, 1e-3
    found = []
    for _ in range(200):
        score = rng.random(n) * widest
        event = (rng.random(n) < rate).astype(np.uint8)
        bins = bin_scores(Task({}, score, event), n_bins=n_bins, strategy="quantile")
        edges = np.minimum(bins.edges, widest)
        true = np.diff(edges) / widest * (rate - (edges[:-1] + edges[1:]) / 2)
        observed = (bins.positives - bins.count * bins.mean_score) / n
        found.append(np.abs(true - observed).sum())
    assert np.mean(found) <= bounds(n, n_bins, "quantile").statistical_bias.value


def test_the_direct_argument_proves_the_total_bound_as_printed():
    # Its parts: sqrt(2B(n+1))/n + 2(B-1)/n, and (1+L) (1/B + 1/n + sqrt(n+2)/n) for the widths.
    for n in (10, 30, 100, 1000, 10_000, 10**6):
        for n_bins in {2, 3, 5, 10, 30, 100, n // 4, n // 2}:
            if not 2 <= n_bins <= n // 2:
                continue
            for slope in (0.0, 1.0, 10.0):
                direct = (
                    (1 + slope) * (1 / n_bins + 1 / n + math.sqrt(n + 2) / n)
                    + math.sqrt(2 * n_bins * (n + 1)) / n
                    + 2 * (n_bins - 1) / n
                )
                assert direct <= bounds(n, n_bins, "quantile", slope).total_bias.value


def test_values_as_printed():
    n, b, slope = 5000, 20, 1.5
    uniform = bounds(n, b, "uniform", slope)
    assert uniform.total_bias.value == pytest.approx(2.5 / 20 + math.sqrt(40 * math.log(2) / 5000))
    assert uniform.statistical_bias.value == pytest.approx(math.sqrt(40 * math.log(2) / 5000))
    assert uniform.binning_bias.value == pytest.approx(2.5 / 20)
    quantile = bounds(n, b, "quantile", slope)
    s = math.sqrt(40 * math.log(2) / 4980) + 40 / 4980
    assert quantile.statistical_bias.value == pytest.approx(s)
    assert quantile.total_bias.value == pytest.approx(2.5 / 20 + 3.5 * s)
    # Eq. (58) solved: 2**B exp(-n e**2 / 2) = delta.
    e = bounds(n, b, "uniform", delta=0.01).deviation.value
    assert 2**b * math.exp(-n * e**2 / 2) == pytest.approx(0.01)


def test_given_edges_count_by_their_widest_bin():
    given = bounds(1000, strategy=[0, 0.1, 0.2, 0.6, 1])
    assert given.binning_bias.value == pytest.approx(2 * 0.4)
    assert given.statistical_bias == bounds(1000, 4, "uniform").statistical_bias


def test_too_few_rows_for_equal_mass_say_nothing():
    assert bounds(29, 15, "quantile").total_bias.value == math.inf
    assert bounds(30, 15, "quantile").total_bias.value < math.inf
    assert bounds(1, 15, "quantile").deviation.value == math.inf


def test_each_says_what_it_is_and_assumes():
    for strategy in ("uniform", "quantile"):
        for bound in bounds(1000, strategy=strategy, lipschitz=2):
            assert bound.kind
            assert "independent" in bound.assumption
    found = bounds(1000, strategy="quantile", lipschitz=2)
    assert "2-Lipschitz" in found.total_bias.assumption
    assert "density" in found.statistical_bias.assumption
    assert "density" not in bounds(1000, strategy="uniform").statistical_bias.assumption


def test_optimal_order_is_the_cube_root_rounded_up():
    for root in range(1, 200):
        assert optimal_n_bins(root**3) == root
        assert optimal_n_bins(root**3 + 1) == root + 1
    assert optimal_n_bins(10**9 - 1) == 1000


@pytest.mark.parametrize(
    ("n", "class_prior", "bins"),
    # (n / pi^2)^(1/3) by hand: 10 / .25 = 40, 100 / .16 = 625, 10^4 / .04 = 250,000, 27 * 4 = 108.
    [(10, 0.5, 4), (100, 0.4, 9), (10_000, 0.2, 63), (54, 0.5, 6), (55, 0.5, 7)],
)
def test_the_second_rule_divides_the_rows_by_the_squared_class_prior(n, class_prior, bins):
    assert optimal_n_bins(n, class_prior) == bins
    # As PU-ECE has with infinitely many unlabelled rows.
    assert pu_optimal_n_bins(n, 10**15, class_prior) == bins


@pytest.mark.parametrize("class_prior", [0.0, 1.0, -0.1, np.nan, "a"])
def test_a_class_prior_outside_its_range_is_refused(class_prior):
    with pytest.raises(InputError, match=r"class_prior must be a number in \[1e-9, 1\)"):
        optimal_n_bins(10, class_prior)


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize("slope", [0.0, 1.0, 5.0])
@pytest.mark.parametrize("n", [1, 2, 7, 100, 1000])
def test_least_bound_is_the_least(strategy, slope, n):
    best = least_bound_n_bins(n, strategy, slope)
    values = [bounds(n, b, strategy, slope).total_bias.value for b in range(1, n + 1)]
    assert values[best - 1] == min(values)


def test_the_least_bound_of_any_rows_and_slope_takes_no_time():
    n, slope = 10**15, 1e9
    equal = (2 * n * (1 + slope) ** 2 / math.log(2)) ** (1 / 3)
    assert least_bound_n_bins(n, "uniform", slope) == pytest.approx(equal, rel=1e-3)
    # Of equal mass, with n far above B, (1 + L) / B + (2 + L) sqrt(2 B log 2 / n) is least there.
    assert least_bound_n_bins(n, "quantile", slope) == pytest.approx(
        (2 * n / math.log(2)) ** (1 / 3), rel=1e-3
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 0}, "n must be a whole number >= 1; got 0"),
        ({"n": 10.5}, "n must be a whole number >= 1; got 10.5"),
        ({"n": 10, "n_bins": 0}, "n_bins must be a whole number >= 1"),
        ({"n": 10, "lipschitz": -1}, "lipschitz must be a number in \\[0, 1e9\\]; got -1"),
        ({"n": 10, "lipschitz": math.nan}, "lipschitz must be a number in \\[0, 1e9\\]; got nan"),
        ({"n": 10, "delta": 0}, r"delta must be a number in \(0, 1\)"),
        ({"n": 10, "strategy": "equal"}, "strategy must be one of"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(InputError, match=message):
        bounds(**arguments)


RNG = np.random.default_rng(3)
SCORE = RNG.random(8).round(2)
LABEL = np.array([0, 1, 0, 1, 1, 0, 1, 1])
WEIGHT = np.array([2.0, 2.0, 0.5, 1.0, 3.0, 1.0, 0.2, 1.0])
PROBS = RNG.dirichlet(np.ones(3), 5).round(6)
PROBS[:, 2] = 1 - PROBS[:, :2].sum(axis=1)
CODES = np.array([0, 2, 1, 1, 2])
N = 4000


def every(scores: bc.Scores, given: dict) -> tuple[np.ndarray, np.ndarray]:
    """Estimates of all sets of labels, (set, case), and their probabilities if calibrated."""
    y_prob, weight = scores.y_prob[0], scores.sample_weight
    rates = np.column_stack([1 - y_prob, y_prob]) if y_prob.ndim == 1 else y_prob
    found, chance = [], []
    for labels in itertools.product(range(rates.shape[1]), repeat=len(rates)):
        drawn = bc.Scores(
            y_true=labels, y_prob=y_prob, classes=scores.classes, sample_weight=weight
        )
        found.append(np.ravel(bc.ece.estimate(drawn, **given).ece))
        chance.append(np.prod(rates[np.arange(len(rates)), list(labels)]))
    return np.array(found), np.array(chance)


@pytest.mark.parametrize(
    ("scores", "given"),
    [
        (bc.Scores(y_true=LABEL, y_prob=SCORE), {"n_bins": 3}),
        (bc.Scores(y_true=LABEL, y_prob=SCORE), {"n_bins": 2, "strategy": "uniform"}),
        (bc.Scores(y_true=LABEL, y_prob=SCORE, sample_weight=WEIGHT), {"n_bins": 3}),
        *(
            (bc.Scores(y_true=CODES, y_prob=PROBS), {"n_bins": 2, "multiclass": multiclass})
            for multiclass in ("class-wise", "marginal")
        ),
    ],
)
def test_every_set_of_labels(scores: bc.Scores, given: dict) -> None:
    estimates, chance = every(scores, given)
    observed = np.ravel(bc.ece.estimate(scores, **given).ece)
    found = bc.ece.expected_if_calibrated(scores, n_simulations=N, seed=1, **given)
    assert len(found) == len(observed)
    for one, values, seen in zip(found, estimates.T, observed, strict=True):
        mean = chance @ values
        # Four standard errors of N simulations.
        assert one.mean == pytest.approx(mean, abs=4 * np.sqrt(chance @ (values - mean) ** 2 / N))
        p = chance @ (values >= seen - 1e-9)
        assert one.p_value == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / N) + 1 / N)
        assert one.observed == seen
        below = [chance @ (values <= end + 1e-9) for end in (one.lower, one.upper)]
        not_above = [chance @ (values < end - 1e-9) for end in (one.lower, one.upper)]
        noise = 4 * np.sqrt(0.05 * 0.95 / N)
        for level, at_most, less in zip((0.05, 0.95), below, not_above, strict=True):
            assert less - noise <= level <= at_most + noise


def test_p_values_of_calibrated_classifiers_are_uniform() -> None:
    """Kolmogorov's distance of 200 values exceeds 1.95 / sqrt(200) with probability .001."""
    truth = bc.datasets.ece.truth("calibrated")
    found = [
        bc.ece.expected_if_calibrated(truth.scores(200, seed=k), n_simulations=200)[0].p_value
        for k in range(200)
    ]
    levels = np.arange(1, 201) / 200
    assert np.abs(np.sort(found) - levels).max() < 1.95 / np.sqrt(200)


def _weighted(scores: bc.Scores) -> bc.Scores:
    weight = np.random.default_rng(2).gamma(2.0, size=scores.n_obs)
    return bc.Scores(y_true=scores.y_true, y_prob=scores.y_prob[0], sample_weight=weight)


@pytest.mark.parametrize("weigh", [lambda scores: scores, _weighted])
def test_counts_and_results_agree_with_rows(weigh) -> None:
    scores = weigh(bc.datasets.ece.truth("over").scores(2000, seed=1))
    exact = bc.ece.expected_if_calibrated(scores, n_simulations=N)[0]
    counts = bc.Counts.from_arrays(
        scores.y_true, scores.y_prob[0], sample_weight=scores.sample_weight
    )
    row = bc.summary(bc.fit(bc.ece, scores, method="direct", seed=1)).iloc[0]
    read = IfCalibrated(
        "",
        *row[["ece_if_calibrated", "ece_if_calibrated_lower", "ece_if_calibrated_upper"]],
        row["p_value_calibrated"],
        row["ece_point"],
        0.9,
    )
    by_cells = bc.ece.expected_if_calibrated(counts, n_simulations=N)[0]
    in_bins = bc.ece.expected_if_calibrated(bc.bin_scores(scores), n_simulations=N)[0]
    for found in (by_cells, in_bins, read):
        # Standard deviation over simulations about .006; four errors of a mean of 1,000 and more
        # of a quantile, and 2 % for cells in place of rows.
        assert found.mean == pytest.approx(exact.mean, abs=0.0008, rel=0.02)
        assert (found.lower, found.upper) == pytest.approx((exact.lower, exact.upper), abs=0.002)
        assert found.observed == pytest.approx(exact.observed, abs=1e-4)
    assert read.p_value == pytest.approx(exact.p_value, abs=1e-3)


def test_rows_drawn_by_their_label_are_so_in_simulations() -> None:
    """Of calibrated rows an event was kept ten times as often as any other, and weighs a tenth."""
    weights = np.array([10.0, 1.0])
    given = {"n_bins": 2, "strategy": "uniform"}
    event = 10 * SCORE / (10 * SCORE + 1 - SCORE)
    values, chance = [], []
    for drawn in itertools.product((0, 1), repeat=len(SCORE)):
        weight, chosen = weights[list(drawn)], np.where(drawn, event, 1 - event)
        scores = bc.Scores(y_true=drawn, y_prob=SCORE, classes=[0, 1], sample_weight=weight)
        values.append(bc.ece.estimate(scores, **given).ece * weight.sum())
        chance.append(chosen.prod())
    scores = bc.Scores(y_true=LABEL, y_prob=SCORE, sample_weight=weights[LABEL])
    (found,) = bc.ece.expected_if_calibrated(scores, n_simulations=N, seed=1, **given)
    # All weigh as much as the rows at hand; four standard errors of N simulations.
    values, mean = np.array(values), np.dot(chance, values)
    error = 4 * np.sqrt(chance @ (values - mean) ** 2 / N)
    assert found.mean * weights[LABEL].sum() == pytest.approx(mean, abs=error)


@pytest.mark.parametrize(("power", "classes"), [(1, 2), (6, 2), (6, 3)])
def test_many_rows_vary_as_their_own_scores_say(power: int, classes: int) -> None:
    """With power 6 a third of the scores are below 1 / 1024, within one cell."""
    score = np.random.default_rng(1).uniform(1e-3, 0.999, 60_000) ** power
    rest = (1 - score) / (classes - 1)
    prob = score if classes == 2 else np.column_stack([score, rest, rest])
    scores = bc.Scores(y_true=np.arange(60_000) % classes, y_prob=prob)
    bins = {"n_bins": 4, "strategy": "uniform", "multiclass": "class-wise"}
    found = bc.ece.expected_if_calibrated(scores, n_simulations=1000, seed=1, **bins)
    for one, own in zip(found, (score, rest), strict=False):
        # Sums of so many labels are nearly normal.
        spread = np.sqrt(np.histogram(own, 4, (0, 1), weights=own * (1 - own))[0]) / 60_000
        mean, each = np.sqrt(2 / np.pi) * spread.sum(), np.sqrt((1 - 2 / np.pi) * spread @ spread)
        # Four standard errors; a quantile at .05 or .95 varies twice as much as the mean.
        assert one.mean == pytest.approx(mean, abs=4 * each / np.sqrt(1000))
        assert one.upper - one.lower == pytest.approx(3.29 * each, rel=0.15)


def test_effective_rows_give_the_variance_of_a_weighted_rate() -> None:
    score, count = np.array([0.3]), np.array([7.4])
    found = simulated_of_cells(
        score, np.ones(1), count, np.zeros(1, int), 20_000, np.random.default_rng(1)
    )
    # Fourth moments: four errors of a mean square of 20,000.
    assert np.mean(found**2) == pytest.approx(0.3 * 0.7 / 7.4, rel=4 * np.sqrt(2 / 20_000))


def test_labels_do_not_enter_the_expectation_and_names_the_numbers() -> None:
    pair = bc.Scores.stack({"a": SCORE, "b": SCORE / 2}, y_true=LABEL)
    turned = bc.Scores.stack({"b": SCORE / 2, "a": SCORE}, y_true=1 - LABEL)
    found, other = (bc.ece.expected_if_calibrated(one, n_bins=3) for one in (pair, turned))
    assert [one.case for one in found] == ["a", "b"]
    assert [one[1:4] for one in found] == [one[1:4] for one in reversed(other)]


@pytest.mark.parametrize(("p", "said"), [(0.002, "p = 0.002"), (1 / 1001, "p < 0.001")])
def test_in_words(p: float, said: str) -> None:
    found = IfCalibrated("a", 0.0213, 0.013, 0.0301, p, 0.0349, 0.9)
    assert found.text == (
        "If it were perfectly calibrated, the plug-in ECE of these scores would be 0.021 on "
        f"average (90%: 0.013 to 0.030); observed 0.035, {said}."
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"prob": 1}, "prob must be a number in"),
        ({"n_simulations": 0}, "n_simulations must be a whole number >= 1; got 0"),
        ({"n_simulations": 10**9}, "n_simulations must be 1,000,000 at most"),
        ({"seed": 0.5}, "seed must be a whole number"),
        ({"multiclass": "none"}, "multiclass must be one of"),
        ({"n_bins": 0}, "n_bins must be"),
        ({"data": bc.Scores(y_true=[None], y_prob=[0.5])}, "at least one label"),
        ({"data": bc.BinCounts([0, 1], [0], [0], [0.5])}, "at least one row"),
        ({"data": SCORE}, "expected_if_calibrated takes Scores"),
    ],
)
def test_what_cannot_be_simulated(given: dict, message: str) -> None:
    given = {"data": bc.Scores(y_true=LABEL, y_prob=SCORE), **given}
    with pytest.raises(bc.InputError, match=message):
        bc.ece.expected_if_calibrated(given.pop("data"), **given)
