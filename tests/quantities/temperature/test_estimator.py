import numpy as np
import pytest
from scipy.stats import betabinom, binom
from sklearn.metrics import accuracy_score

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.core.scores import predicted_class
from bayescal.quantities.temperature.estimator import (
    CellSums,
    calibration_errors,
    error_draws,
    errors_of,
    estimate,
    implied_by_draws,
    implied_by_temperatures,
    relative_fits,
    reliability,
    rows_to_add,
    smoothed_rows,
    top_class,
)
from bayescal.quantities.temperature.logits import log_probabilities
from tests.quantities.temperature.made import rows


def test_numbers_and_errors_are_those_of_the_calibrators():
    logits, label = rows(300, 3)
    scores = bc.Scores(y_true=label, y_prob=logits, from_logits=True)
    found = estimate(scores)
    fitted = bc.temperature.ClassWiseTemperatureScaling().fit(logits, label)
    np.testing.assert_allclose(found.class_alpha, fitted.alpha_, rtol=1e-8)
    assert found.shared_alpha == pytest.approx(fitted.shared_alpha_, rel=1e-8)
    after = calibration_errors(bc.Scores(y_true=label, y_prob=fitted.predict_proba(logits)))
    before = calibration_errors(scores)
    for name in ("ece", "max_ece", "avg_ece"):
        assert getattr(found, name) == pytest.approx(getattr(after, name), abs=1e-9)
        assert getattr(found, f"{name}_uncalibrated") == pytest.approx(getattr(before, name))
    assert found.accuracy == before.accuracy


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_scores_at_edges_are_binned_as_they_are_given(n_classes, dtype):
    # Shares of 15 votes lie at the edges of 15 bins; their softmax may lie beside them.
    rng = np.random.default_rng(n_classes)
    votes = rng.multinomial(15, np.full(n_classes, 1 / n_classes), 200)
    label = (rng.random((200, n_classes)) * votes).argmax(axis=1)
    prob = (votes / 15).astype(dtype)
    data = bc.Scores(y_true=label, y_prob=prob[:, 1] if n_classes == 2 else prob)
    found, before = estimate(data), calibration_errors(data)
    fit = bc.fit(bc.temperature, data, method="direct", draws=250, seed=1)
    rows = fit["point_estimate"]["bin_rows"].sel(stage="before").values.squeeze()
    # By whole numbers: a row of v of 15 votes is in the right-closed bin v.
    most = votes.max(axis=1)
    for k in range(n_classes):
        mine = most[predicted_class(prob) == k]
        np.testing.assert_array_equal(rows[k], np.bincount(mine - 1, minlength=15))
    for name in ("ece", "max_ece", "avg_ece"):
        assert getattr(found, f"{name}_uncalibrated") == pytest.approx(
            getattr(before, name), abs=1e-6 if dtype == np.float32 else 1e-11
        )


def test_logits_of_confidences_on_an_edge_are_in_the_bin_that_it_closes():
    # Votes of thirty trees, in fifteen bins: bin k is of 2 k - 1 and 2 k votes, in whole numbers.
    rng = np.random.default_rng(0)
    votes = rng.multinomial(30, rng.dirichlet(np.ones(4), 800))
    # Without ties for the most, whose class rounding would choose.
    votes = votes[(np.sort(votes)[:, -2] < votes.max(axis=1)) & (votes.min(axis=1) > 0)]
    most, best = votes.max(axis=1), votes.argmax(axis=1)
    # Rights and wrongs in turn by votes: a row in the next bin changes the sum.
    right = most % 4 < 2
    label = np.where(right, best, (best + 1) % 4)
    bins = (-(-most // 2) == k for k in range(16))
    gaps = [abs(30 * right[rows].sum() - most[rows].sum()) for rows in bins]
    scores = bc.Scores(y_true=label, y_prob=np.log(votes / 30), from_logits=True)
    expected = pytest.approx(sum(gaps) / 30 / len(votes), abs=1e-12)
    assert bc.temperature.estimate(scores).ece_uncalibrated == expected
    assert bc.temperature.calibration_errors(scores).ece == expected


def test_one_classifier_at_a_time():
    data = bc.Scores.stack({"a": [0.2, 0.7], "b": [0.3, 0.6]}, y_true=[0, 1])
    with pytest.raises(bc.InputError, match="estimate takes one classifier; got 2"):
        estimate(data)


@pytest.mark.parametrize("take", [estimate, bc.temperature.build_model])
def test_groups_are_taken_one_by_one(take):
    data = bc.Scores(y_true=[0, 1, 0, 1], y_prob=[0.2, 0.7, 0.4, 0.6], group=list("abba"))
    with pytest.raises(
        bc.InputError, match=r"no groups; got 'a', 'b'. Take them .*fit_many\(.*by_group\(\)"
    ):
        take(data)
    found = [take(part) for part in data.by_group().values()]
    assert len(found) == 2


def test_whole_weights_are_repeated_rows():
    logits, label = rows(300, 3)
    label = label.astype(float)
    label[::5] = np.nan
    weight = np.random.default_rng(0).integers(0, 4, 300)
    data = bc.Scores(y_true=label, y_prob=logits, from_logits=True, sample_weight=weight)
    again = bc.Scores(
        y_true=label.repeat(weight), y_prob=logits.repeat(weight, axis=0), from_logits=True
    )
    for gamma in (0.05, np.inf):
        one, two = estimate(data, gamma=gamma), estimate(again, gamma=gamma)
        for name in one._fields:
            np.testing.assert_allclose(getattr(one, name), getattr(two, name), rtol=1e-7)
    plain = estimate(data.without_weight())
    assert abs(plain.shared_alpha - one.shared_alpha) > 1e-3


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_logits_far_apart_are_taken_as_they_are(dtype):
    # exp(-120) is 0 in float32, and a label of probability 0 is refused.
    logits, label = rows(300, 3)
    logits[0], label[0] = [120, 0, 0], 1
    given = logits.astype(dtype)
    found = estimate(bc.Scores(y_true=label, y_prob=given, from_logits=True))
    fitted = bc.temperature.ClassWiseTemperatureScaling().fit(given, label)
    np.testing.assert_allclose(found.class_alpha, fitted.alpha_, rtol=1e-7)
    prob = np.exp(given - given.max(axis=1, keepdims=True))
    prob /= prob.sum(axis=1, keepdims=True)
    if dtype == np.float32:
        with pytest.raises(bc.InputError, match="label of a row must have a score above 0"):
            estimate(bc.Scores(y_true=label, y_prob=prob))


@pytest.mark.parametrize("logits", [[0.5, np.inf, -np.inf], [[0, 0.5], [-np.inf, 0], [0, -np.inf]]])
def test_infinite_logits_are_refused_where_they_are_the_labels(logits):
    assert estimate(bc.Scores(y_true=[1, 1, 0], y_prob=logits, from_logits=True)).accuracy == 1
    with pytest.raises(bc.InputError, match="score above 0; it is 0 for classifier at row 1"):
        estimate(bc.Scores(y_true=[1, 0, 0], y_prob=logits, from_logits=True))


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


def test_errors_of_whole_weights_are_those_of_repeated_rows():
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


BINNING = bc.Binning(5, "uniform")


def cells_of(score, predicted, label):
    return CellSums.of(score, predicted, label, 4, BINNING).cells()


def made(n=400, seed=0):
    rng = np.random.default_rng(seed)
    score, predicted = rng.uniform(0.3, 1, n), rng.integers(0, 3, n)
    label = np.where(rng.random(n) < 0.7, predicted, 3)
    return score, predicted, label


def test_cells_hold_the_rows_of_a_class_in_a_bin():
    score, predicted, label = made()
    label[::4] = -1
    sums = CellSums.of(score, predicted, label, 4, BINNING, [score[None] ** 2])
    cells, (squares,) = sums.cells(), sums.means()
    assert cells.rows.sum() == 400
    assert cells.labeled.sum() == 300
    for c in range(len(cells.of)):
        low, high = cells.bin[c] / 5, (cells.bin[c] + 1) / 5
        held = (predicted == cells.of[c]) & (score > low) & (score <= high)
        assert cells.rows[c] == held.sum()
        assert cells.correct[c] == (label[held] == cells.of[c]).sum()
        assert cells.score[c] == pytest.approx(score[held].mean())
        assert squares[0, c] == pytest.approx((score[held] ** 2).mean())


def test_sums_of_parts_add_up():
    score, predicted, label = made()
    label[::4] = -1
    whole = CellSums.of(score, predicted, label, 4, BINNING, [score[None] ** 2])
    at = slice(0, 150), slice(150, None)
    parts = [
        CellSums.of(score[i], predicted[i], label[i], 4, BINNING, [score[None, i] ** 2]) for i in at
    ]
    found = parts[0].plus(parts[1])
    for name in ("rows", "labeled", "correct"):
        np.testing.assert_array_equal(getattr(found, name), getattr(whole, name))
    for name in ("score", "labeled_score"):
        np.testing.assert_allclose(getattr(found, name), getattr(whole, name), rtol=1e-13)
    np.testing.assert_allclose(found.means()[0], whole.means()[0], rtol=1e-13)


def test_what_temperatures_imply_lies_between_the_points():
    score, predicted, label = made()
    cells = cells_of(score, predicted, label)
    at = np.array([[0.5], [0.7], [1.0]]) * cells.score
    places = np.tile([[-1.0], [0.0], [1.0]], (1, 3))
    draws = np.tile([[-1.0], [-0.5], [1.0], [3.0]], (1, 3))
    found = implied_by_temperatures(cells, at, places, draws, (3.0, np.inf))
    factor = np.array([0.5, 0.6, 1.0])[:, None]
    np.testing.assert_allclose(found.accuracy[:3], factor * cells.score)
    direct = implied_by_draws(cells, at, (3.0, np.inf))
    np.testing.assert_allclose(found.fit[[0, 2]], direct.fit[[0, 2]])
    np.testing.assert_allclose(found.fit[1], direct.fit[:2].mean(axis=0))


def test_a_class_whose_points_are_one_has_that_value():
    score, predicted, label = made()
    cells = cells_of(score, predicted, label)
    same = np.tile(cells.score, (3, 1))
    found = implied_by_temperatures(cells, same, np.zeros((3, 3)), np.zeros((2, 3)), (3.0,))
    np.testing.assert_allclose(found.accuracy, np.tile(cells.score, (2, 1)))


def test_many_labels_give_the_binned_errors():
    score, predicted, label = made(200_000)
    cells = cells_of(score, predicted, label)
    accuracy = np.broadcast_to(cells.score, (300, len(cells.of)))
    found = error_draws(
        cells, implied_by_draws(cells, accuracy, [1.0]), {1.0: 1.0}, 4, np.random.default_rng(0)
    )
    expected = errors_of(score, label == predicted, predicted, 4, BINNING)
    # 13,000 rows a cell: standard errors of .004.
    assert found.ece.mean() == pytest.approx(expected.ece, abs=0.003)
    assert found.max_ece.mean() == pytest.approx(expected.max_ece, abs=0.005)
    assert found.avg_ece.mean() == pytest.approx(expected.avg_ece, abs=0.003)
    np.testing.assert_allclose(found.class_ece.mean(axis=0)[:3], expected.class_ece[:3], atol=0.005)
    assert np.isnan(found.class_ece[:, 3]).all()


def test_infinite_concentration_is_the_temperatures_alone():
    score, predicted, label = made()
    cells = cells_of(score, predicted, label)
    accuracy = np.broadcast_to(cells.score, (200, len(cells.of)))
    found = error_draws(
        cells,
        implied_by_draws(cells, accuracy, [np.inf]),
        {np.inf: 1.0},
        3,
        np.random.default_rng(0),
    )
    assert np.abs(found.ece).max() < 1e-12
    moved = error_draws(
        cells,
        implied_by_draws(cells, accuracy - 0.1, [np.inf]),
        {np.inf: 1.0},
        3,
        np.random.default_rng(0),
    )
    np.testing.assert_allclose(moved.max_ece, 0.1)
    np.testing.assert_allclose(moved.ece, 0.1)


def test_draws_are_weighed_by_beta_binomial_over_binomial_probabilities():
    score, predicted, label = made(60)
    cells = cells_of(score, predicted, label)
    accuracy = np.stack([cells.score, 0.9 * cells.score])
    found = relative_fits(cells, accuracy, (3.0, np.inf)).sum(axis=1)
    for place, mean in enumerate(accuracy):
        spread = betabinom.logpmf(cells.correct, cells.labeled, 3 * mean, 3 * (1 - mean)).sum()
        exact = binom.logpmf(cells.correct, cells.labeled, mean).sum()
        assert found[place, 0] == pytest.approx(spread - exact, abs=1e-8)
    assert (found[:, 1] == 0).all()


def test_labels_that_the_temperatures_do_not_explain_give_accuracies_of_their_own():
    score, predicted, label = made(20_000)
    cells = cells_of(score, predicted, label)
    accuracy = np.broadcast_to(cells.score, (300, len(cells.of)))
    found = error_draws(
        cells,
        implied_by_draws(cells, accuracy, [np.inf, 10.0]),
        {np.inf: 0.9, 10.0: 0.1},
        4,
        np.random.default_rng(0),
    )
    expected = errors_of(score, label == predicted, predicted, 4, BINNING)
    assert found.ece.mean() == pytest.approx(expected.ece, abs=0.01)


def test_bins_of_a_class_are_those_of_its_labelled_rows():
    rng = np.random.default_rng(0)
    score, predicted = rng.uniform(0, 1, 200), rng.integers(0, 3, 200)
    label = np.where(rng.random(200) < 0.6, predicted, 3)
    label[::5] = -1
    found = reliability(CellSums.of(score, predicted, label, 4, bc.Binning(4, "uniform")))
    assert found["bin_rows"].shape == (4, 4)
    for k in range(3):
        for b in range(4):
            held = (predicted == k) & (label >= 0) & (score > b / 4) & (score <= (b + 1) / 4)
            assert found["bin_rows"][k, b] == held.sum()
            np.testing.assert_allclose(found["bin_confidence"][k, b], score[held].mean())
            np.testing.assert_allclose(found["bin_accuracy"][k, b], (label[held] == k).mean())
    assert found["bin_rows"][3].sum() == 0
    assert np.isnan(found["bin_accuracy"][3]).all()


def smoothed_case(n, seed=0):
    """Rows around one mean for each class."""
    rng = np.random.default_rng(seed)
    of = rng.integers(0, 3, n)
    return 6 * np.eye(3)[of] + rng.normal(0, [1.0, 0.5, 0.2], (n, 3))


def test_rows_are_filled_up_to_200_a_class():
    assert rows_to_add(100, 10) == 1900
    assert rows_to_add(2500, 10) == 0
    assert rows_to_add(100, 1000) == 19_900


def test_means_and_covariances_of_classes_stay():
    rows = smoothed_case(300)
    found = smoothed_rows(rows, 60_000, np.random.default_rng(1))
    for k in range(3):
        mine, drawn = (x[x.argmax(axis=1) == k] for x in (rows, found))
        # A tenth of a standard deviation: 100 rows a class have standard errors of that size.
        np.testing.assert_allclose(drawn.mean(axis=0), mine.mean(axis=0), atol=0.1)
        np.testing.assert_allclose(drawn.std(axis=0), mine.std(axis=0), rtol=0.2)
    share = np.bincount(found.argmax(axis=1)) / 60_000
    np.testing.assert_allclose(share, np.bincount(rows.argmax(axis=1)) / 300, atol=0.01)


@pytest.mark.parametrize("weight", [None, [1.0, 2.0, 0.5, 0.5, 1.0]])
def test_a_row_is_drawn_as_often_as_its_weight_says(weight):
    """Chance among them would move the errors of all draws alike."""
    logits, given = 100 * np.eye(5), None if weight is None else np.array(weight)
    found = smoothed_rows(logits, 50, np.random.default_rng(1), given)
    np.testing.assert_array_equal(
        np.bincount(found.argmax(axis=1)), 10 * np.array(weight or [1] * 5)
    )


def test_one_row_and_rows_that_are_equal_give_themselves():
    for logits in (np.array([[1.0, 0.0]]), np.array([[1.0, 0.0]] * 5 + [[0.0, 2.0]] * 5)):
        found = smoothed_rows(logits, 50, np.random.default_rng(0))
        assert {tuple(row) for row in found} <= {tuple(row) for row in logits}


@pytest.mark.parametrize("n_classes", [2, 6])
@pytest.mark.parametrize("least", [0, 1e-15, 1e-4])
def test_scores_of_0_and_clipped_ones_add_no_noise(n_classes, least):
    """A tree's leaf holds few of the classes; that is no spread of the logits of the others."""
    rng = np.random.default_rng(0)
    leaves = rng.multinomial(12, rng.dirichlet(np.full(n_classes, 0.3), 300)) / 12
    logits = log_probabilities(np.clip(leaves, least, 1))
    found = smoothed_rows(logits, 20_000, np.random.default_rng(1))
    got, expected = (top_class(x)[0] for x in (found, logits))
    assert abs(got.mean() - expected.mean()) < 0.02
    assert abs(got.std() - expected.std()) < 0.02
