"""The plug-in ECE under calibration: against every set of labels, and from a result."""

import itertools

import numpy as np
import pytest

import bayescal as bc
from bayescal.core.if_calibrated import IfCalibrated, of_cells

RNG = np.random.default_rng(3)
SCORE = RNG.random(8).round(2)
LABEL = np.array([0, 1, 0, 1, 1, 0, 1, 1])
WEIGHT = np.array([1.0, 2.0, 0.5, 1.0, 3.0, 1.0, 0.2, 1.0])
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


def test_effective_rows_give_the_variance_of_a_weighted_rate() -> None:
    score, count = np.array([0.3]), np.array([7.4])
    found = of_cells(score, np.ones(1), count, np.zeros(1, int), 20_000, np.random.default_rng(1))
    # Fourth moments: four errors of a mean square of 20,000.
    assert np.mean(found**2) == pytest.approx(0.3 * 0.7 / 7.4, rel=4 * np.sqrt(2 / 20_000))


def test_labels_do_not_enter_the_expectation_and_names_the_numbers() -> None:
    pair = bc.Scores.stack({"a": SCORE, "b": SCORE / 2}, y_true=LABEL)
    turned = bc.Scores.stack({"b": SCORE / 2, "a": SCORE}, y_true=1 - LABEL)
    found, other = (bc.ece.expected_if_calibrated(one, n_bins=3) for one in (pair, turned))
    assert [one.case for one in found] == ["a", "b"]
    assert [one[1:4] for one in found] == [one[1:4] for one in reversed(other)]


def test_in_words() -> None:
    found = IfCalibrated("a", 0.0213, 0.013, 0.0301, 0.002, 0.0349, 0.9)
    assert found.text == (
        "If it were perfectly calibrated, the plug-in ECE of these scores would be 0.021 on "
        "average (90%: 0.013 to 0.030); observed 0.035, p = 0.002."
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
