import numpy as np
import pytest
from sklearn.metrics import accuracy_score

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.quantities.temperature.errors import calibration_errors
from tests.quantities.temperature.made import rows


def scores(seed=0, n=300):
    logits, label = rows(n, 4, seed)
    return bc.Scores(y_true=label, y_prob=logits, from_logits=True)


def by_hand(prob, label, of, n_slices, n_bins):
    """Errors by loops over bins of equal width, right-closed."""
    score, correct = prob.max(axis=1), prob.argmax(axis=1) == label
    place = np.maximum(np.ceil(score * n_bins).astype(int) - 1, 0)

    def error(held):
        total = 0.0
        for b in range(n_bins):
            here = held & (place == b)
            if here.any():
                total += abs(correct[here].mean() - score[here].mean()) * here.sum() / held.sum()
        return total

    each = [error(of == k) for k in range(n_slices)]
    return error(np.ones(len(label), bool)), each


@pytest.mark.parametrize("by", ["predicted", "true"])
def test_errors_are_those_of_loops_over_bins(by):
    data = scores()
    prob, label = data.y_prob[0], data.y_true
    of = prob.argmax(axis=1) if by == "predicted" else label
    found = calibration_errors(data, by=by, binning=bc.Binning(12, "uniform"))
    ece, each = by_hand(prob, label, of, 4, 12)
    assert found.ece == pytest.approx(ece, abs=1e-12)
    np.testing.assert_allclose(found.class_ece, each, atol=1e-12)
    assert found.max_ece == pytest.approx(max(each))
    assert found.avg_ece == pytest.approx(np.mean(each))
    assert found.rows.tolist() == np.bincount(of, minlength=4).tolist()
    assert found.accuracy == pytest.approx((prob.argmax(axis=1) == label).mean())


def worked(confidences):
    """Two predicted classes of 25 rows, right in .52 and .48 of them, as in section 5.4."""
    y_prob = [np.array([c, 0, 0.0]) for c in confidences]
    y_prob = [np.roll(p, k) for k, p in enumerate(y_prob)]
    rest = [np.where(p == 0, (1 - p.sum()) / 2, p) for p in y_prob]
    label = [0] * 13 + [2] * 12 + [1] * 12 + [2] * 13
    return bc.Scores(y_true=label, y_prob=np.repeat(rest, 25, axis=0))


@pytest.mark.parametrize(
    ("confidences", "each", "merged"), [((0.6, 0.4), 0.08, 0.0), ((0.54, 0.5), 0.02, 0.02)]
)
def test_the_worked_example_of_the_paper(confidences, each, merged):
    bucket = bc.Binning(strategy=[0, 0.39, 0.61, 1])
    found = calibration_errors(worked(confidences), binning=bucket)
    np.testing.assert_allclose(found.class_ece[:2], each, atol=1e-12)
    # The paper calls the second method's merged error .02: its signs agree, .02 and .02.
    assert found.ece == pytest.approx(merged, abs=1e-12)
    assert found.max_ece == pytest.approx(each)


def test_a_class_without_rows_has_no_error_and_counts_in_no_mean():
    data = bc.Scores(y_true=[0, 1], y_prob=[[0.8, 0.1, 0.1], [0.2, 0.7, 0.1]])
    found = calibration_errors(data)
    assert np.isnan(found.class_ece[2])
    assert found.avg_ece == pytest.approx(0.25)


def test_groups_and_two_classes():
    data = bc.Scores(y_true=[0, 1, 1, None], y_prob=[0.2, 0.6, 0.9, 0.5], group=list("abab"))
    found = calibration_errors(data, by="group")
    np.testing.assert_allclose(found.class_ece, [(0.2 + 0.1) / 2, 0.4])
    # Their predicted classes are 0, 1 and 1; the row without a label is left out.
    assert calibration_errors(data).rows.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("data", "by", "message"),
    [
        (lambda: scores(), "group", "by='group' needs groups"),
        (lambda: scores(), "label", "by must be one of"),
        (lambda: bc.Scores(y_true=[None], y_prob=[0.5]), "true", "at least one row"),
        (
            lambda: bc.Scores.stack({"a": [0.5], "b": [0.1]}, y_true=[1]),
            "true",
            "takes one classifier; got 2",
        ),
    ],
)
def test_data_that_cannot_be_measured_are_refused(data, by, message):
    with pytest.raises(InputError, match=message):
        calibration_errors(data(), by=by)


def test_whole_weights_are_repeated_rows():
    logits, label = rows(300, 4)
    weight = np.random.default_rng(0).integers(0, 5, 300)
    group = np.array(list("ab"))[np.arange(300) % 2]
    data = bc.Scores(
        y_true=label, y_prob=logits, from_logits=True, sample_weight=weight, group=group
    )
    again = bc.Scores(
        y_true=label.repeat(weight),
        y_prob=logits.repeat(weight, axis=0),
        from_logits=True,
        group=group.repeat(weight),
    )
    for by in ("predicted", "true", "group"):
        for binning in (bc.Binning(15, "uniform"), bc.Binning(10, "quantile")):
            one, two = (calibration_errors(each, by=by, binning=binning) for each in (data, again))
            for name in one._fields[:-1]:
                np.testing.assert_allclose(getattr(one, name), getattr(two, name), rtol=1e-9)
    prob = data.y_prob[0]
    expected = accuracy_score(data.y_true, prob.argmax(axis=1), sample_weight=data.sample_weight)
    assert one.accuracy == pytest.approx(expected)


def test_a_score_of_one_half_predicts_the_positive_class():
    # Section 2 of the paper: the predicted class is 1 where f(X) >= 0.5.
    for more in ({"y_prob": [0.5, 0.5]}, {"y_prob": [0.0, 0.0], "from_logits": True}):
        found = calibration_errors(bc.Scores(y_true=[1, 1], **more))
        assert (found.accuracy, found.rows.tolist()) == (1, [0, 2])
        assert bc.temperature.estimate(bc.Scores(y_true=[1, 1], **more)).accuracy == 1
