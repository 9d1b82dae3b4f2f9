"""A posterior that misses something in the data says so, and one that does not is silent."""

import numpy as np
import pytest
from scipy.special import expit, logit

import bayescal as bc
from bayescal.quantities.ece.data import problems
from bayescal.quantities.ece.posterior import case_of
from bayescal.quantities.ece.priors import CurveAverage, Priors, SmoothCurve


def of_leaves(n=5000, leaves=30):
    """A tree whose leaves are off by amounts of their own, in logits."""
    rng = np.random.default_rng(2)
    score = ((np.arange(leaves) + 0.5) / leaves).round(3)
    rate = expit(logit(score) + rng.normal(0, 0.9, leaves))
    leaf = rng.integers(0, leaves, n)
    return bc.Scores(y_true=(rng.random(n) < rate[leaf]).astype(int), y_prob=score[leaf])


def warnings_of(scores, prior, draws=1000):
    made = problems(scores, Priors(prior), bc.Binning(), "top-label")[0]
    case = case_of(made, Priors(prior))
    rng = np.random.default_rng(3)
    direct = case.model.direct_draws(draws, rng)
    drawn = {name: values[None] for name, values in direct.draws.items()}
    return [line for line in case.arrays(drawn, direct, rng).warnings if "contradict" in line]


def test_a_smooth_curve_misses_leaves():
    (sentence,) = warnings_of(of_leaves(), SmoothCurve())
    assert "compare priors" in sentence
    # It is not the ECE that summaries show.
    assert sentence.startswith("the plug-in estimate over cells of scores, 0.")


def test_the_average_does_not_miss_them():
    assert warnings_of(of_leaves(), CurveAverage()) == []


@pytest.mark.slow
def test_calibrated_classifiers_are_not_contradicted():
    """Of 8 fits each is as rare as one in five hundred."""
    found = [
        warnings_of(bc.datasets.ece.truth("calibrated").scores(1000, seed=seed), CurveAverage())
        for seed in range(8)
    ]
    assert sum(map(len, found)) == 0
