"""Weights that follow whether a prediction is right, against the bootstrap and known truths."""

import numpy as np
import pytest

import bayescal as bc
from bayescal.quantities.temperature.data import Problem
from bayescal.quantities.temperature.estimator import CellSums, Implied, error_draws, reliability
from bayescal.quantities.temperature.logits import derivatives, least_loss, peak
from bayescal.quantities.temperature.posterior import plan
from bayescal.quantities.temperature.simulator import LogitTruth

TRUTH = LogitTruth("four", (0.4, 0.7, 1.0, 1.5))
BINNING = bc.Binning(15, "uniform")


def drawn(n, right, wrong, seed=0):
    """Rows of which right and wrong predictions are kept with these probabilities."""
    rng = np.random.default_rng(seed)
    logits = TRUTH.logits(n, rng)
    label = (np.log(TRUTH.probability(logits)) + rng.gumbel(size=logits.shape)).argmax(axis=1)
    chance = np.where(label == logits.argmax(axis=1), right, wrong)
    kept = rng.random(n) < chance
    given = {"y_prob": logits[kept], "from_logits": True, "classes": range(4)}
    return bc.Scores(y_true=label[kept], sample_weight=1 / chance[kept], **given)


@pytest.mark.parametrize(("right", "wrong"), [(1.0, 0.2), (0.2, 1.0)])
def test_log_alphas_vary_as_those_of_the_weighted_bootstrap(right, wrong):
    problem, rng = Problem.of(drawn(4000, right, wrong), "classifier"), np.random.default_rng(1)
    table, rows = problem.table, problem.labeled()
    _, curvature = derivatives(table, peak(table))
    found = []
    for _ in range(400):
        again = problem.weighted(problem.weight * rng.exponential(size=rows.n))
        found.append(np.log(least_loss(again.labeled())))
    # Standard deviations of 400 draws are known to .035, and the rows differ by up to .1.
    np.testing.assert_allclose((-curvature) ** -0.5, np.std(found, axis=0), rtol=0.2)


@pytest.mark.parametrize("n_unlabeled", [0, 1000])
@pytest.mark.parametrize("ratio", [0.25, 1.0, 4.0])
def test_errors_vary_as_those_of_the_weighted_bootstrap(ratio, n_unlabeled):
    """Sums of w g over rows, g ~ Exponential(1): masses and accuracies move together."""
    n, draws, rng = 3000, 8000, np.random.default_rng(2)
    predicted, score = rng.integers(0, 2, n), rng.uniform(0.6, 1, n)
    label = np.where(rng.random(n) < score / (score + ratio * (1 - score)), predicted, 2)
    weight = np.where(label == predicted, ratio, 1.0) * rng.choice([1.0, 2.0], n)
    known = np.arange(n) >= n_unlabeled
    # Off in one direction, so that errors are means.
    rows = score - 0.3, predicted, np.where(known, label, -1), 3, bc.Binning(4, "uniform")
    cells = CellSums.of(*rows, weight=weight, ratio=np.full(3, ratio)).cells()
    implied = Implied(np.full((draws, len(cells.of)), 0.5), np.zeros((draws, 1)))
    found = error_draws(cells, implied, {1e-6: 1.0}, 3, rng)

    place = cells.of * 4 + cells.bin
    at = predicted * 4 + np.ceil((score - 0.3) * 4).astype(int) - 1 == place[:, None]
    g = rng.standard_exponential((draws, n)) * weight
    accuracy = g @ (at * known * (label == predicted)).T / (g @ (at * known).T)
    gap = (g @ at.T) * (accuracy - cells.score)
    expected = gap.sum(axis=1) / g.sum(axis=1)
    # A difference of means in units of the spread has a standard error of .016.
    assert abs(found.ece.mean() - expected.mean()) < 0.06 * expected.std()
    # Of a ratio of standard deviations it is .011.
    assert found.ece.std() == pytest.approx(expected.std(), rel=0.05)


def test_reliability_is_that_of_the_weights():
    data = drawn(2000, 1.0, 0.2)
    problem = Problem.of(data, "classifier")
    score = np.full(len(data.y_true), 0.5)
    rows = score, problem.predicted, problem.label, 4, BINNING
    found = reliability(CellSums.of(*rows, weight=problem.weight, ratio=np.full(4, 0.2)))
    for k in range(4):
        mine = problem.predicted == k
        right = np.average(problem.label[mine] == k, weights=problem.weight[mine])
        assert np.nanmax(found["bin_accuracy"][k]) == pytest.approx(right)
        assert np.nanmax(found["bin_rows"][k]) == mine.sum()


def test_weights_of_the_confidence_are_not_taken_for_those_of_the_label():
    problem = Problem.of(drawn(4000, 1.0, 1.0), "classifier")
    by_label = Problem.of(drawn(8000, 1.0, 0.2), "classifier").facts.ratio
    np.testing.assert_allclose(by_label, 0.2, rtol=0.15)
    prob = np.exp(problem.logits - problem.logits.max(axis=1, keepdims=True))
    sure = 1 / prob.sum(axis=1) > 1 / (1 + np.exp(-2))
    np.testing.assert_array_equal(problem.weighted(np.where(sure, 9.0, 1.0)).facts.ratio, 1)


def test_weights_undo_that_wrong_rows_were_drawn_less_often():
    population, covered = TRUTH.logits(50_000, seed=99), []
    for seed in range(3):
        data = drawn(2000, 1.0, 0.2, seed)
        result = bc.fit(bc.temperature, data, method="direct", draws=250, seed=seed)
        confidence = bc.temperature.calibrate(result, population).max(axis=1)
        ece, of_class = TRUTH.class_errors(population, confidence, BINNING)
        for name, true in (("ece", ece), ("avg_ece", of_class.mean())):
            low, high = np.quantile(result["posterior"][name], [0.05, 0.95])
            covered.append(low <= true <= high)
    # Pairs are correlated: with nine in ten each, fewer than four of six are rare.
    assert sum(covered) >= 4


def test_weights_are_seen_that_sum_to_the_rows_of_every_class():
    logits = np.tile(np.eye(4), (20, 1)) * 3
    weight = np.repeat([1.75, 0.25], 40)
    data = bc.Scores(
        y_true=np.arange(80) % 3,
        y_prob=logits,
        from_logits=True,
        sample_weight=weight,
        classes=range(4),
    )
    facts = Problem.of(data, "classifier").facts
    np.testing.assert_array_equal(facts.weights[0], facts.predicted)
    # Equation of Kish: 80**2 / (40 * (1.75**2 + .25**2)).
    attrs = plan(data, bc.temperature.Priors()).attrs
    assert attrs["effective_n"] == pytest.approx(6400 / (40 * 3.125))


def test_equal_weights_have_the_bounds_of_none():
    data = {"y_true": np.arange(60) % 4, "y_prob": TRUTH.logits(60, 1), "from_logits": True}
    one, same, other = (
        bc.fit(bc.temperature, bc.Scores(**data, **more), method="direct", seed=1, draws=500)
        for more in ({}, {"sample_weight": [2.5] * 60}, {"sample_weight": [0.5, 1.5] * 30})
    )
    assert float(same["bounds"]["deviation"]) == float(one["bounds"]["deviation"]) < np.inf
    assert float(other["bounds"]["deviation"]) == np.inf
