"""The bounds as printed, and whether they hold where the truth is known."""

import math

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import norm

from bayescal.core.binning import bin_scores
from bayescal.core.errors import InputError
from bayescal.core.scores import Task
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


def test_least_bound_grows_as_the_cube_root():
    few, many = (least_bound_n_bins(n, "uniform") for n in (10**4, 10**7))
    assert many / few == pytest.approx(10, rel=0.03)


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
