"""Methods that impute the labels that are missing."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from bayescal.core.errors import InputError
from bayescal.inference.sampler import compile_model
from bayescal.quantities.ssme.data import score_matrix
from bayescal.quantities.ssme.imputed_labels import (
    annotators,
    bayesian_calibration,
    build_model,
    calibrated,
    check_labels,
    ensemble,
    imputed_metrics,
    majority_vote,
    mean_score,
    predicted_labels,
    pseudo_labeled,
    vote_shares,
)
from bayescal.quantities.ssme.metrics import measured, metrics
from tests.conftest import oracle
from tests.quantities.ssme.made import binary, simulated, stacked, unlabeled


@pytest.fixture
def matrix():
    return score_matrix(simulated(n_classes=3)[0])


def uniform(matrix):
    return np.full((matrix.n_obs, matrix.n_classes), 1 / matrix.n_classes)


def test_with_all_labels_known_every_reading_is_their_metrics():
    scores, y = simulated(n_obs=60, n_labeled=60)
    matrix = score_matrix(scores)
    expected = metrics(matrix.probs, np.eye(2)[y])
    for reading in ("hard", "soft", "drawn"):
        found = imputed_metrics(matrix, uniform(matrix), reading, n_draws=3)
        for ours, theirs in zip(found, expected, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_drawn_metrics_are_the_expectation_over_all_labelings():
    # Two labelled rows and four others: 16 labelings, each with its probability.
    score = np.array([0.1, 0.9, 0.3, 0.6, 0.7, 0.2])
    chance = np.array([0.2, 0.5, 0.9, 0.1])
    matrix = score_matrix(stacked([np.stack([1 - score, score], axis=1)], [0, 1, *[None] * 4]))
    prob = np.zeros((6, 2))
    prob[2:, 1], prob[2:, 0] = chance, 1 - chance
    expected = np.zeros(7)
    for number in range(16):
        label = (number >> np.arange(4)) & 1
        weight = np.prod(np.where(label == 1, chance, 1 - chance))
        one = metrics(matrix.probs, np.eye(2)[[0, 1, *label]])
        expected += weight * np.concatenate(one)
    found = imputed_metrics(matrix, prob, "drawn", n_draws=40_000, seed=3)
    # Metrics lie within [0, 3] and vary by some .2 between draws: .005 is five standard errors.
    np.testing.assert_allclose(np.concatenate(found), expected, atol=0.005)


def test_labels_of_one_class_have_no_auc():
    score = np.full((1, 20, 2), 0.5)
    matrix = score_matrix(stacked(score, [1, *[None] * 19]))
    found = imputed_metrics(matrix, np.tile([0.1, 0.9], (20, 1)), "hard")
    assert np.isnan(found.auc).all()
    assert np.isfinite(found.accuracy).all()
    # By chance some draws hold a label of the other class, and these are averaged.
    assert np.isfinite(imputed_metrics(matrix, np.tile([0.1, 0.9], (20, 1)), "drawn").auc).all()


def test_too_few_labels_are_refused():
    probs = np.full((1, 4, 2), 0.5)
    nothing = unlabeled(stacked(probs, [1, 1, None, None]))
    with pytest.raises(InputError, match=r"Vote needs a labelled row; none of 4 rows is labelled"):
        check_labels(nothing, "Vote")
    one = score_matrix(stacked(probs, [1, 1, None, None]))
    check_labels(one, "Vote")
    with pytest.raises(
        InputError, match=r"Vote needs .* 2 classes or more; 1 is the only label, of 2 r"
    ):
        check_labels(one, "Vote", classes=2)


def test_accuracy_is_the_mean_of_what_the_prediction_is_believed():
    scores, truth = binary()
    found = ensemble(scores)
    matrix = score_matrix(scores)
    for m, prob in enumerate(matrix.probs):
        predicted = prob.argmax(axis=1)
        mean = matrix.probs.mean(axis=0)
        believed = [
            float(predicted[i] == truth[i]) if i < 20 else mean[i, predicted[i]] for i in range(200)
        ]
        assert np.isclose(found.accuracy[m], np.mean(believed), rtol=0, atol=1e-12)


def test_groups_add_up():
    group = np.array(["u", "v"])[np.arange(200) % 2]
    scores, _ = binary(group=group)
    matrix = score_matrix(scores)
    by_group = measured(matrix, mean_score(matrix))
    assert by_group.auc.shape == (3, 2)
    # Groups of equal size.
    np.testing.assert_allclose(by_group.brier.mean(axis=1), ensemble(scores).brier, atol=1e-12)


def test_shares_are_those_counted_by_hand():
    scores, y = simulated(n_classes=3, n_classifiers=4)
    matrix = score_matrix(scores)
    weight = [sum(matrix.probs[m, i].argmax() == y[i] for i in range(40)) / 40 for m in range(4)]
    found = vote_shares(matrix)
    for i in range(matrix.n_obs):
        expected = np.zeros(3)
        for m in range(4):
            expected[matrix.probs[m, i].argmax()] += weight[m] / sum(weight)
        np.testing.assert_allclose(found[i], expected, rtol=1e-12, atol=1e-15)


def two_classes(score):
    score = np.asarray(score)
    return np.stack([1 - score, score], axis=-1)


def test_a_classifier_that_is_never_right_has_no_vote():
    probs = two_classes([[0.1, 0.9, 0.9], [0.9, 0.1, 0.1]])
    found = majority_vote(stacked(probs, [0, 1, None]))
    np.testing.assert_array_equal(found.accuracy, [1, 0])


def test_readings_differ_where_votes_are_split():
    # Right on two, one and one of two labels: half of the votes for the fourth row are the first's.
    probs = two_classes([[0.1, 0.9, 0.1], [0.1, 0.1, 0.9], [0.9, 0.9, 0.1]])
    scores = stacked(probs, [0, 1, None])
    # The third row: 0 has 3/4 of the votes.
    np.testing.assert_allclose(majority_vote(scores).accuracy, [1, 1 / 3, 2 / 3])
    soft = majority_vote(scores, reading="soft")
    np.testing.assert_allclose(soft.accuracy, [2.75 / 3, 1.25 / 3, 1.75 / 3])
    drawn = majority_vote(scores, reading="drawn", n_draws=20_000)
    np.testing.assert_allclose(drawn.accuracy, soft.accuracy, atol=0.006)  # standard error .001


def test_a_tie_of_votes_is_of_the_first_class():
    # Right on one, two and three of five: 1 / 5 + 2 / 5 is 3 / 5, though not in floating point.
    score = [[0.9] + [0.1] * 4 + [0.9], [0.9] * 2 + [0.1] * 3 + [0.9], [0.9] * 3 + [0.1] * 3]
    found = majority_vote(stacked(two_classes(score), [1] * 5 + [None]))
    np.testing.assert_allclose(found.accuracy, [1 / 6, 2 / 6, 4 / 6])


def test_votes_by_threshold_are_for_every_class_above_its_share():
    probs = np.array([[[0.5, 0.4, 0.1], [0.8, 0.1, 0.1]], [[0.2, 0.3, 0.5], [1 / 3, 1 / 3, 1 / 3]]])
    matrix = score_matrix(stacked(probs, [0, None]))
    # Only the first classifier is right; equal probabilities leave the most probable class.
    found = vote_shares(matrix, "threshold")
    np.testing.assert_allclose(found, [[0.5, 0.5, 0], [1, 0, 0]])
    two = score_matrix(simulated(n_classes=2)[0])
    np.testing.assert_allclose(vote_shares(two, "threshold"), vote_shares(two), rtol=1e-12)
    with pytest.raises(InputError, match="votes must be one of"):
        majority_vote(stacked(probs, [0, None]), votes="all")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("k", [6, 7, 11, 12, 20])
def test_a_score_of_its_share_is_not_above_it(k, dtype):
    """1 / 6 is .166666666667 in twelve decimals, 1 / 7 above itself in single precision."""
    probs = np.array([[1 / k, 1 / k, 1 - 2 / k, *[0] * (k - 3)]] * 2, dtype)
    matrix = score_matrix(stacked([probs], [2, None]))
    np.testing.assert_array_equal(vote_shares(matrix, "threshold"), np.eye(k)[[2, 2]])


def test_weights_that_are_all_zero_are_refused():
    with pytest.raises(InputError, match="got 0 for all 2 on 2 rows"):
        majority_vote(stacked(two_classes([[0.9, 0.1, 0.5]] * 2), [0, 1, None]))


def test_predictions_are_scikit_learns():
    scores, y = simulated(n_labeled=30)
    features = scores.y_prob.T
    model = LogisticRegression().fit(features[:30], y[:30])
    found = predicted_labels(score_matrix(scores))
    np.testing.assert_allclose(found, model.predict_proba(features), atol=1e-4)  # its tolerance


def test_several_classes_use_every_column():
    scores, y = simulated(n_labeled=60, n_classes=4)
    features = np.concatenate(list(scores.y_prob), axis=1)
    model = LogisticRegression().fit(features[:60], y[:60])
    found = predicted_labels(score_matrix(scores))
    np.testing.assert_allclose(found, model.predict_proba(features), atol=1e-3)


def test_hard_labels_of_a_perfect_classifier_find_it_perfect():
    y = np.array([0, 1] * 50)
    probs = np.stack([np.where(y == 1, 0.1, 0.9), np.where(y == 1, 0.9, 0.1)], axis=1)
    scores = stacked([probs], [0, 1, 0, 1, *[None] * 96])
    hard = pseudo_labeled(scores, reading="hard")
    assert hard.accuracy[0] == hard.auc[0] == 1
    # The penalty leaves predictions near the share of each class: what is read of them matters.
    assert pseudo_labeled(scores, reading="soft").accuracy[0] < 0.9


def test_a_class_without_a_label_has_probability_zero():
    scores, y = simulated(n_classes=3)
    y_true = [int(k) if i < 40 and k < 2 else None for i, k in enumerate(y)]
    prob = predicted_labels(score_matrix(stacked(scores.y_prob, y_true)))
    assert (prob[:, 2] == 0).all()
    np.testing.assert_allclose(prob.sum(axis=1), 1)


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
    matrix = score_matrix(scores) if n_labeled else unlabeled(scores)
    expected = by_loops(matrix.probs.argmax(axis=2), matrix.y, n_classes, 5)
    found = annotators(matrix, max_iter=5, tol=0)
    for ours, theirs in zip(found[:3], expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


@pytest.mark.mcmc
@pytest.mark.filterwarnings("ignore")  # its calls to pandas are deprecated
def test_em_is_crowd_kits():
    classification = oracle("crowdkit.aggregation.classification")
    import pandas as pd

    matrix = unlabeled(simulated(n_obs=200, n_classes=3, n_classifiers=4)[0])
    vote = matrix.probs.argmax(axis=2)
    rows = [(i, m, vote[m, i]) for m in range(4) for i in range(200)]
    answers = pd.DataFrame(rows, columns=["task", "worker", "label"])
    theirs = classification.DawidSkene(n_iter=30, tol=0).fit_predict_proba(answers)
    found = annotators(matrix, max_iter=30, tol=0)
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
    matrix = score_matrix(scores) if n_labeled else unlabeled(scores)
    found = annotators(matrix)
    assert found.converged
    np.testing.assert_allclose(found.class_prior, [0.7, 0.3], atol=0.03)
    # 1200 and 2800 rows of either class, seen through other votes: errors of some .02.
    diagonal = found.confusion[:, [0, 1], [0, 1]]
    np.testing.assert_allclose(diagonal, np.stack([right, right], axis=1), atol=0.06)
    soft = imputed_metrics(matrix, found.prob_label, "soft")
    np.testing.assert_allclose(soft.accuracy, right, atol=0.03)


def test_a_class_that_nobody_predicts_gets_no_rows():
    probs = np.tile([0.5, 0.4, 0.1], (3, 20, 1))
    probs[:, ::2] = [0.3, 0.6, 0.1]
    found = annotators(score_matrix(stacked(probs, [0, *[None] * 19])))
    assert (found.prob_label[:, 2] == 0).all()
    assert (found.confusion[:, 2] == 0).all()


def test_fifty_classifiers_do_not_underflow():
    scores, y = simulated(n_classifiers=50, n_labeled=5)
    prob = annotators(score_matrix(scores)).prob_label
    assert np.isfinite(prob).all()
    assert (prob.argmax(axis=1) == y).mean() > 0.95


def test_em_that_is_stopped_says_so():
    scores, _ = simulated()
    found = annotators(score_matrix(scores), max_iter=1)
    assert not found.converged
    assert found.n_iter == 1


@pytest.fixture(scope="module")
def scores():
    return simulated(n_obs=220, n_labeled=20, n_classifiers=2)[0]


@pytest.fixture(scope="module")
def compiled(scores):
    return compile_model(build_model(scores))


def by_importance(score, known, n_draws=200_000):
    """Posterior means of calibrated probabilities, by draws from the prior."""
    rng = np.random.default_rng(9)
    a, b = rng.normal(0, np.sqrt(0.4**2 + 0.15**2), size=(2, n_draws, 1))
    c = rng.normal(0, np.sqrt(2**2 + 0.75**2), size=(n_draws, 1))
    coefficients = np.concatenate([c, np.exp(a), -np.exp(b)], axis=1)
    score = np.clip(score, 0.01, 0.99)
    terms = np.stack([np.ones_like(score), np.log(score), np.log1p(-score)])
    n = len(known)
    positive = expit(coefficients @ terms[:, :n])
    weight = np.prod(np.where(known == 1, positive, 1 - positive), axis=1)
    weight /= weight.sum()
    assert 1 / np.sum(weight**2) > 2000  # effective draws: errors below 1 / 90 of a posterior sd
    # Draws of together less than 1e-4 of the weight take most of the time.
    heavy = weight > 1e-4 / n_draws
    return weight[heavy] @ expit(coefficients[heavy] @ terms[:, n:])


@pytest.mark.mcmc
def test_accuracy_is_that_of_importance_sampling(scores, compiled):
    found = bayesian_calibration(scores, cut=0.01, n_draws=2000, seed=1, compiled=compiled)
    known = scores.y_true[:20]
    for m, score in enumerate(scores.y_prob):
        p = by_importance(score, known)
        says = score > 0.5
        right = np.concatenate([(says[:20] == known), np.where(says[20:], p, 1 - p)])
        # The posterior sd of accuracy is some .04, of 2000 draws that are nearly independent.
        assert found.point.accuracy[m] == pytest.approx(right.mean(), abs=0.005)


@pytest.mark.mcmc
def test_the_prior_is_centred_at_no_change():
    scores, _ = simulated()
    matrix = score_matrix(scores)
    nothing = np.zeros((1, matrix.n_classifiers))
    found = calibrated(matrix, nothing, nothing, nothing)
    np.testing.assert_allclose(found[0], np.clip(scores.y_prob, 1e-4, 1 - 1e-4), rtol=1e-9)
    wide = calibrated(matrix, nothing, nothing, nothing, cut=1e-9)
    np.testing.assert_allclose(wide[0], scores.y_prob, rtol=1e-9)


@pytest.mark.mcmc
def test_draws_hold_known_labels_and_shapes(scores, compiled):
    found = bayesian_calibration(scores, n_draws=6, seed=2, compiled=compiled)
    assert found.draws.accuracy.shape == (8, 2)  # two draws of each of four chains
    assert found.point.auc.shape == (2,)
    again = bayesian_calibration(scores, n_draws=6, seed=2, compiled=compiled)
    np.testing.assert_array_equal(found.draws.ece, again.draws.ece)


@pytest.mark.mcmc
def test_several_classes_are_refused():
    with pytest.raises(InputError, match="Bayesian-Calibration needs two classes; got 3"):
        bayesian_calibration(simulated(n_classes=3)[0])


@pytest.mark.mcmc
def test_scores_of_exactly_zero_and_one_are_cut(compiled):
    scores, _ = simulated(n_obs=220, n_labeled=20, n_classifiers=2)
    positive = scores.y_prob.round()
    known = [*map(int, scores.y_true[:20]), *[None] * 200]
    rounded = stacked(np.stack([1 - positive, positive], axis=2), known)
    found = bayesian_calibration(rounded, n_draws=40, compiled=compiled)
    assert np.isfinite(found.point.accuracy).all()


@pytest.mark.mcmc
def test_a_model_compiled_for_other_shapes_is_refused(compiled):
    with pytest.raises(InputError, match="compiled for data of shapes"):
        bayesian_calibration(simulated(n_labeled=30)[0], compiled=compiled)
