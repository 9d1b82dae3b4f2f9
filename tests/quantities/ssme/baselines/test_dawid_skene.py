import numpy as np
import pytest

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.quantities.ssme.data import panel_of
from bayescal.quantities.ssme.imputed_labels import annotators, dawid_skene, imputed_metrics
from tests.conftest import oracle
from tests.quantities.ssme.baselines.made import simulated, stacked, unlabeled


def by_loops(vote, y, n_classes, n_iter):
    """EM of equations 2.3 to 2.5 entry by entry; known labels are held."""
    n_classifiers, n_obs = vote.shape
    prob = [
        [sum(v == k for v in vote[:, i]) / n_classifiers for k in range(n_classes)]
        for i in range(n_obs)
    ]

    def hold():
        for i in range(n_obs):
            if y[i] >= 0:
                prob[i] = [float(k == y[i]) for k in range(n_classes)]

    def maximize():
        prior = [sum(row[k] for row in prob) / n_obs for k in range(n_classes)]
        rates = np.zeros((n_classifiers, n_classes, n_classes))
        for m in range(n_classifiers):
            for k in range(n_classes):
                for i in range(n_obs):
                    rates[m, k, vote[m, i]] += prob[i][k]
                if rates[m, k].sum() > 0:
                    rates[m, k] /= rates[m, k].sum()
        return prior, rates

    hold()
    prior, rates = maximize()
    for _ in range(n_iter):
        for i in range(n_obs):
            row = [
                prior[k] * np.prod([rates[m, k, vote[m, i]] for m in range(n_classifiers)])
                for k in range(n_classes)
            ]
            prob[i] = [value / sum(row) for value in row]
        hold()
        prior, rates = maximize()
    return np.array(prob), np.array(prior), rates


@pytest.mark.parametrize("n_labeled", [0, 10])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_em_is_that_of_loops(n_classes, n_labeled):
    scores, _ = simulated(60, 10, n_classes, seed=n_classes)
    panel = panel_of(scores) if n_labeled else unlabeled(scores)
    expected = by_loops(panel.probs.argmax(axis=2), panel.y, n_classes, 5)
    found = annotators(panel, max_iter=5, tol=0)
    for ours, theirs in zip(found[:3], expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


@pytest.mark.mcmc
@pytest.mark.filterwarnings("ignore")  # its calls to pandas are deprecated
def test_em_is_crowd_kits():
    classification = oracle("crowdkit.aggregation.classification")
    import pandas as pd

    panel = unlabeled(simulated(n_obs=200, n_classes=3, n_classifiers=4)[0])
    vote = panel.probs.argmax(axis=2)
    rows = [(i, m, vote[m, i]) for m in range(4) for i in range(200)]
    answers = pd.DataFrame(rows, columns=["task", "worker", "label"])
    theirs = classification.DawidSkene(n_iter=30, tol=0).fit_predict_proba(answers)
    found = annotators(panel, max_iter=30, tol=0)
    np.testing.assert_allclose(found.prob_label, theirs.sort_index().to_numpy(), atol=1e-9)


def independent(n_obs=4000, n_labeled=20, seed=3):
    """Votes whose errors are independent given the label, as the model has it."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n_obs) < 0.3).astype(int)
    y[:2] = 0, 1
    right = np.array([0.9, 0.8, 0.7, 0.75])
    vote = np.where(rng.random((4, n_obs)) < right[:, np.newaxis], y, 1 - y)
    score = np.where(vote == 1, 0.9, 0.1)
    known = [*map(int, y[:n_labeled]), *[None] * (n_obs - n_labeled)]
    return stacked(np.stack([1 - score, score], axis=2), known), right


@pytest.mark.slow
@pytest.mark.parametrize("n_labeled", [0, 20])
def test_what_is_simulated_is_found(n_labeled):
    scores, right = independent()
    panel = panel_of(scores) if n_labeled else unlabeled(scores)
    found = annotators(panel)
    assert found.converged
    np.testing.assert_allclose(found.class_prior, [0.7, 0.3], atol=0.03)
    # 1200 and 2800 rows of either class, seen through other votes: errors of some .02.
    diagonal = found.confusion[:, [0, 1], [0, 1]]
    np.testing.assert_allclose(diagonal, np.stack([right, right], axis=1), atol=0.06)
    soft = imputed_metrics(panel, found.prob_label, "soft")
    np.testing.assert_allclose(soft.accuracy, right, atol=0.03)


def test_a_class_that_nobody_predicts_gets_no_rows():
    probs = np.tile([0.5, 0.4, 0.1], (3, 20, 1))
    probs[:, ::2] = [0.3, 0.6, 0.1]
    found = annotators(panel_of(stacked(probs, [0, *[None] * 19])))
    assert (found.prob_label[:, 2] == 0).all()
    assert (found.confusion[:, 2] == 0).all()


def test_fifty_classifiers_do_not_underflow():
    scores, y = simulated(n_classifiers=50, n_labeled=5)
    prob = annotators(panel_of(scores)).prob_label
    assert np.isfinite(prob).all()
    assert (prob.argmax(axis=1) == y).mean() > 0.95


def test_em_that_is_stopped_says_so():
    scores, _ = simulated()
    found = annotators(panel_of(scores), max_iter=1)
    assert not found.converged
    assert found.n_iter == 1


def test_numbers_outside_their_range_are_refused():
    with pytest.raises(InputError, match="max_iter"):
        dawid_skene(bc.Scores(y_true=[0, 1], y_prob=[0.1, 0.9]), max_iter=0)
