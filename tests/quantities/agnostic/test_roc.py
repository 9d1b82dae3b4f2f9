"""ROC curves against scikit-learn and the formulas of section 4, and their region."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score, roc_curve

from bayescal.core.errors import InputError
from bayescal.quantities.agnostic.estimator import interval_measure
from bayescal.quantities.agnostic.functionals import printed_roc, roc, roc_region


def test_labels_give_the_usual_curve():
    rng = np.random.default_rng(20)
    score = rng.random(300).round(2)
    label = (rng.random(300) < score).astype(int)
    found = roc(score, probability=label)
    fpr, tpr, _ = roc_curve(label, score, drop_intermediate=False)
    np.testing.assert_allclose(found.fpr, fpr, atol=1e-12)
    np.testing.assert_allclose(found.tpr, tpr, atol=1e-12)
    assert found.auc == pytest.approx(roc_auc_score(label, score))


def test_scores_alone_by_the_formulas_with_the_direction_turned():
    score = np.random.default_rng(21).random(50).round(1)
    found = roc(score)
    for threshold, fpr, tpr in zip(found.threshold, found.fpr, found.tpr, strict=True):
        above = score > threshold
        assert tpr == pytest.approx(score[above].sum() / score.sum())
        assert fpr == pytest.approx((1 - score[above]).sum() / (50 - score.sum()))


def test_scores_alone_are_weighted_rows_of_scikit_learn():
    score = np.random.default_rng(22).random(200)
    both, label = np.tile(score, 2), np.repeat([1, 0], 200)
    weight = np.concatenate([score, 1 - score])
    expected = roc_auc_score(label, both, sample_weight=weight)
    assert roc(score).auc == pytest.approx(expected)


@pytest.mark.slow
@given(st.lists(st.tuples(st.floats(0.01, 0.99), st.booleans()), min_size=2, max_size=40))
def test_the_region_holds_the_curve_of_its_rows(rows):
    score, label = (np.array(column) for column in zip(*rows, strict=True))
    if label.all() or not label.any():
        return
    region = roc_region(score, interval_measure(score, label=label).c)
    # The true rates divide by the true number of positives, the bound by the estimated one.
    true = roc(score, probability=label)
    assert (true.tpr >= region.tpr_lower - 1e-9).all()
    assert (true.tpr <= region.tpr_upper + 1e-9).all()
    assert (true.fpr >= region.fpr_lower - 1e-9).all()
    assert (true.fpr <= region.fpr_upper + 1e-9).all()


def test_a_measure_of_0_leaves_no_room():
    region = roc_region([0.2, 0.5, 0.7], 0.0)
    assert (region.tpr_lower == region.tpr_upper).all()


def test_a_region_of_hardly_any_positives_is_everything():
    region = roc_region([0.0, 5e-324], 0.25)
    assert region.tpr_upper.tolist() == [0, 1, 1]
    assert region.tpr_lower.tolist() == [0, 0, 1]


def test_the_printed_rates_are_those_of_the_scores_below_the_threshold():
    rng = np.random.default_rng(7)
    score = rng.random(40).round(1)
    curve = printed_roc(score)
    for p, tpr, fpr in zip(curve.threshold, curve.tpr, curve.fpr, strict=True):
        assert tpr == pytest.approx((score * (score < p)).sum() / score.sum())
        assert fpr == pytest.approx(((1 - score) * (score < p)).sum() / (40 - score.sum()))
    assert curve.threshold.tolist() == [*np.unique(score), np.inf]
    assert curve.auc == pytest.approx(np.trapezoid(curve.tpr, curve.fpr))
    assert curve.auc < 0.5 < roc(score).auc


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: roc([0.0, 0.0]), "all rows are negative"),
        (lambda: roc([0.5, 0.6], probability=[1, 1]), "all rows are positive"),
        (lambda: roc([0.5], probability=[0.5, 0.5]), "same length"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(InputError, match=message):
        call()
