import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_methods_subset_invariance, parametrize_with_checks

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.quantities.credal.calibrator import VennAbersCalibrator
from bayescal.quantities.credal.venn_abers import (
    fit_cross_venn_abers,
    fit_ivap,
    merge_folds,
    merged,
)

_EQUIVALENCE = [f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")]
CUT_ANEW = dict.fromkeys(_EQUIVALENCE, "random cuts; and weights are no counts of repeats")


@parametrize_with_checks(
    [VennAbersCalibrator(), VennAbersCalibrator(cv=2)],
    expected_failed_checks=lambda estimator: CUT_ANEW,
)
def test_scikit_learn_finds_nothing_to_say(estimator, check):
    check(estimator)


class AnotherLastBit(LogisticRegression):
    """Logistic regression whose probabilities of a single row differ in the last bit."""

    def predict_proba(self, X):
        prob = super().predict_proba(X)
        return np.nextafter(prob, 1) if len(prob) == 1 else prob


@pytest.mark.parametrize("cv", [None, 2])
def test_batches_and_single_rows_agree_whatever_their_last_bit(cv):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 2)).round(2), rng.integers(0, 2, 60)
    fitted = VennAbersCalibrator(AnotherLastBit(), cv=cv, random_state=0).fit(x, y)
    prob = fitted.predict_proba(x)
    single = np.concatenate([fitted.predict_proba(row[None]) for row in x])
    assert np.array_equal(single, prob)
    estimator = VennAbersCalibrator(AnotherLastBit(), cv=cv, random_state=0)
    check_methods_subset_invariance("VennAbersCalibrator", estimator)


def two_classes(n=400):
    return make_classification(n, random_state=3, flip_y=0.2)


def test_a_trained_classifier_is_calibrated_on_all_rows():
    x, y = two_classes()
    trained = GaussianNB().fit(x[:200], y[:200])
    fitted = VennAbersCalibrator(FrozenEstimator(trained)).fit(x[200:300], y[200:300])
    score = trained.predict_proba(x)[:, 1]
    p0, p1 = fit_ivap(score[200:300], label=y[200:300]).predict(score[300:])
    lower, upper = fitted.predict_venn_abers(x[300:])
    assert np.array_equal(lower[:, 1], p0)
    assert np.array_equal(upper[:, 1], p1)
    assert np.array_equal(upper[:, 0], 1 - p0)
    # The log merge of one fold goes through exp and log: a few units in the last place.
    np.testing.assert_allclose(fitted.predict_proba(x[300:])[:, 1], merged(p0, p1), rtol=1e-14)


@pytest.mark.parametrize("load", [two_classes, lambda: load_iris(return_X_y=True)])
def test_weighted_rows_count_as_in_the_quantity(load):
    x, y = load()
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    x, held, y, label, _, weight = train_test_split(x, y, weight, test_size=0.5, random_state=0)
    trained = FrozenEstimator(GaussianNB().fit(x, y))
    fitted = VennAbersCalibrator(trained).fit(held, label, weight)
    score, target = (trained.predict_proba(each)[:, -len(np.unique(y)) :] for each in (held, x))
    if target.shape[1] == 2:
        score, target = score[:, 1], target[:, 1]
    calibration = bc.Scores(y_true=label, y_prob=score, sample_weight=weight)
    expected = bc.credal.estimate(bc.CalibrationSplit(calibration=calibration, target=target)).prob
    found = fitted.predict_proba(x)
    # The log merge of one fold goes through exp and log: a few units in the last place.
    np.testing.assert_allclose(found[:, 1] if expected.ndim == 1 else found, expected, rtol=1e-12)
    heavy = VennAbersCalibrator(trained).fit(held, label, 8.0 * weight)
    assert np.array_equal(heavy.predict_proba(x), found)
    assert np.array_equal(heavy.predict_interval(x[:9]), fitted.predict_interval(x[:9]))
    assert not np.array_equal(VennAbersCalibrator(trained).fit(held, label).predict_proba(x), found)


@pytest.mark.parametrize("cv", [None, 3])
def test_the_classifier_has_the_weights_and_rows_of_weight_0_are_left_out(cv):
    x, y = two_classes()
    weight = np.random.default_rng(1).uniform(0, 2, len(y)) * (np.arange(len(y)) % 3 > 0)
    kept = weight > 0
    given = (x, y, weight), (x[kept], y[kept], weight[kept]), (x[kept], y[kept])
    fits = [VennAbersCalibrator(GaussianNB(), cv, random_state=0).fit(*rows) for rows in given]
    assert np.array_equal(fits[0].predict_proba(x), fits[1].predict_proba(x))
    means = [fitted.estimators_[0].theta_ for fitted in fits]
    assert not np.allclose(means[0], means[2])


@pytest.mark.parametrize("size", [0.01, 0.99])
def test_every_class_is_on_both_sides_of_a_split_of_few_rows(size):
    x, y = np.arange(6.0)[:, None], np.array([0, 0, 1, 1, 2, 2])
    fitted = VennAbersCalibrator(GaussianNB(), calibration_size=size).fit(x, y)
    assert sorted(fitted.calibration_scores_[0].y_true) == [0, 1, 2]
    assert fitted.estimators_[0].class_count_.tolist() == [1, 1, 1]


def test_folds_are_those_of_a_cross_predictor():
    x, y = two_classes()
    fitted = VennAbersCalibrator(GaussianNB(), cv=4, random_state=1).fit(x, y)
    from sklearn.model_selection import StratifiedKFold

    fold, score = np.empty(len(y), int), np.empty(len(y))
    at = []
    cut = StratifiedKFold(4, shuffle=True, random_state=1).split(x, y)
    for k, (train, held_out) in enumerate(cut):
        model = GaussianNB().fit(x[train], y[train])
        fold[held_out], score[held_out] = k, model.predict_proba(x[held_out])[:, 1]
        at.append(model.predict_proba(x)[:, 1])
    expected = merge_folds(*fit_cross_venn_abers(score, label=y, fold=fold).predict(at))
    np.testing.assert_allclose(fitted.predict_proba(x)[:, 1], expected, rtol=1e-14)


@pytest.mark.parametrize("cv", [None, 3])
def test_probabilities_of_two_classes_lie_between_p0_and_p1(cv):
    x, y = two_classes()
    fitted = VennAbersCalibrator(RandomForestClassifier(20, random_state=0), cv, random_state=0)
    fitted.fit(x, y)
    lower, upper = fitted.predict_venn_abers(x)
    prob = fitted.predict_proba(x)
    assert (lower - 1e-15 <= prob).all()
    assert (prob <= upper + 1e-15).all()
    np.testing.assert_allclose(prob.sum(axis=1), 1, rtol=1e-15)


def test_intervals_are_those_of_the_posterior_of_the_rows_held_out():
    x, y = two_classes()
    trained = GaussianNB().fit(x[:200], y[:200])
    fitted = VennAbersCalibrator(FrozenEstimator(trained)).fit(x[200:350], y[200:350])
    lower, upper = fitted.predict_interval(x[350:], prob=0.8)
    calibration = bc.Scores(y_true=y[200:350], y_prob=trained.predict_proba(x[200:350])[:, 1])
    data = bc.CalibrationSplit(calibration=calibration, target=trained.predict_proba(x[350:])[:, 1])
    priors = bc.credal.Priors(bc.credal.IncrementIsotonic())
    result = bc.fit(bc.credal, data, priors=priors, seed=1, method="direct")
    frame = bc.row_table(result, 0.8)
    # Quantiles of 2,000 draws and of 4,000 others: a standard error of about .01 each.
    np.testing.assert_allclose(lower[:, 1], frame["lower"], atol=0.05)
    np.testing.assert_allclose(upper[:, 1], frame["upper"], atol=0.05)
    np.testing.assert_array_equal(lower[:, 0], 1 - upper[:, 1])
    wider = fitted.predict_interval(x[350:], prob=0.99)
    assert (wider.lower <= lower).all()
    assert (wider.upper >= upper).all()


def test_intervals_of_several_classes_and_folds():
    x, y = load_iris(return_X_y=True)
    fitted = VennAbersCalibrator(GaussianNB(), cv=2, random_state=0).fit(x, y)
    lower, upper = fitted.predict_interval(x[::10])
    assert lower.shape == upper.shape == (15, 3)
    assert (lower <= upper).all()
    single = fitted.predict_interval(x[20:21])
    np.testing.assert_array_equal(single.lower[0], lower[2])


def test_it_is_part_of_pipelines_and_searches():
    x, y = two_classes(120)
    chain = make_pipeline(StandardScaler(), VennAbersCalibrator(GaussianNB(), random_state=0))
    assert cross_val_score(chain, x, y, cv=3, scoring="neg_log_loss").shape == (3,)
    search = GridSearchCV(chain, {"vennaberscalibrator__calibration_size": [0.2, 0.4]}, cv=2)
    assert search.fit(x, y).predict_proba(x).shape == (120, 2)
    around = CalibratedClassifierCV(VennAbersCalibrator(GaussianNB(), random_state=0), cv=2)
    np.testing.assert_allclose(around.fit(x, y).predict_proba(x).sum(axis=1), 1)


def test_several_classes_and_words_for_them():
    x, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    fitted = VennAbersCalibrator(LogisticRegression(max_iter=1000), random_state=0).fit(x, names)
    prob = fitted.predict_proba(x)
    assert prob.shape == (150, 3)
    np.testing.assert_allclose(prob.sum(axis=1), 1, rtol=1e-14)
    assert (fitted.predict(x) == names).mean() > 0.9
    lower, upper = fitted.predict_venn_abers(x)
    assert (lower < upper).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"calibration_size": 1.0}, "calibration_size must be a number in"),
        ({"calibration_size": np.nan}, "calibration_size must be a number in"),
        ({"cv": 1}, "cv must be a whole number >= 2; got 1"),
        ({"cv": 300}, "at least 300 rows each"),
    ],
)
def test_parameters_outside_their_range_are_refused(parameters, message):
    x, y = two_classes()
    with pytest.raises(InputError, match=message):
        VennAbersCalibrator(**parameters).fit(x, y)


@pytest.mark.parametrize(
    ("y", "message"),
    [(["a"] * 6, r"got 1 class,"), (["a"] * 5 + ["b"], r"the rarest with 1\.")],
)
def test_classes_without_rows_to_hold_out_are_refused(y, message):
    with pytest.raises(InputError, match=message):
        VennAbersCalibrator().fit(np.arange(6.0)[:, None], y)
