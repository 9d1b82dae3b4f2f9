"""Shapes of curves, and bands: against quantiles, a search, and curves inside boxes."""

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import norm

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.results import access, curves
from bayescal.results import curves as bands
from tests.quantities.agnostic.made import rows
from tests.synthetic import Weights, make_result
from tests.synthetic_ssme import make_panel_result


def described(shape: Weights, p_calibrated: float = 0.1, score: str = "smooth") -> xr.DataTree:
    return make_result(("a",), draws=20, p_calibrated=p_calibrated, shape=shape, score=score)


def shape_of(tree: xr.DataTree) -> curves.CurveShape | None:
    return curves.curve_shape(tree, access.cases(tree)[0])


@pytest.mark.parametrize(
    ("p_calibrated", "shape", "name", "weight"),
    [
        (0.6, (1, 1, 2), "calibrated", 0.6),
        (0.2, (4, 3, 1), "smooth", 0.4),
        (0.2, (1, 2, 1), "rough", 0.4),
        (0.0, (1, 1, 3), "segments", 0.6),
    ],
)
def test_the_most_probable_description_is_taken(
    p_calibrated: float, shape: Weights, name: str, weight: float
) -> None:
    found = shape_of(described(shape, p_calibrated))
    assert found is not None
    assert (found.name, found.weight) == (name, pytest.approx(weight))
    assert bool(found.jumps) is (name == "segments")
    assert f"(probability {weight:.2f})." in found.sentence


def test_the_weights_are_those_of_the_result() -> None:
    tree = described((1, 2, 1), 0.2)
    found = curves.description_weights(tree, access.cases(tree)[0])
    assert list(found) == ["calibrated", "smooth", "rough", "segments"]
    np.testing.assert_allclose(list(found.values()), [0.2, 0.2, 0.4, 0.2])


def test_jumps_are_near_the_cells_where_the_curve_may_jump() -> None:
    """One that is spread over neighbouring cells is one jump, between them."""
    tree = described((0, 0, 1))
    chance = np.zeros(50)
    chance[[9, 10, 11]] = [0.3, 0.3, 0.3]
    chance[40] = 0.45
    chance[25] = 0.8
    tree["model_average"]["jump_probability"][:] = chance
    score = tree["constant_data"]["cell_score"].values
    found = shape_of(tree)
    assert found is not None
    np.testing.assert_allclose(found.jumps, [score[9:12].mean(), score[25]])
    assert f"near {score[9:12].mean():.2g} and {score[25]:.2g} (" in found.sentence


def test_no_more_than_four_jumps_are_told() -> None:
    tree = described((0, 0, 1))
    tree["model_average"]["jump_probability"][5::6] = 0.9
    found = shape_of(tree)
    assert found is not None
    assert len(found.jumps) == 4


def test_segments_without_a_likely_jump() -> None:
    tree = described((0, 0, 1))
    tree["model_average"]["jump_probability"][:] = 0.05
    found = shape_of(tree)
    assert found is not None
    assert found.jumps == ()
    assert "stretches" in found.sentence


@pytest.mark.parametrize("cells", [2, 3, 4])
def test_jumps_of_fewer_cells_than_a_jump_may_spread_over(cells: int) -> None:
    tree = described((0, 0, 1))
    tree["model_average"] = tree["model_average"].to_dataset().isel(cell=slice(20, 20 + cells))
    tree["constant_data"] = tree["constant_data"].to_dataset().isel(cell=slice(20, 20 + cells))
    found = shape_of(tree)
    assert found is not None
    np.testing.assert_allclose(found.jumps, tree["constant_data"]["cell_score"].values[:1])


def test_there_is_none_without_an_average_over_descriptions() -> None:
    assert shape_of(make_result(("a",), draws=20)) is None


@pytest.mark.parametrize("scores", [[0.0, 1.0], [0.0, 0.3, 1.0], [0.3]])
def test_fewer_than_two_scores_between_0_and_1_make_no_curve(scores: list[float]) -> None:
    tree = described((1, 1, 1))
    tree["constant_data"]["cell_score"][:] = np.resize(scores, 50)
    case = access.cases(tree)[0]
    assert not curves.lies_on_curve(tree, case)
    assert curves.curve_shape(tree, case) is None
    assert curves.description_weights(tree, case) == {}


def test_cells_without_rows_are_not_counted() -> None:
    tree = described((1, 1, 1))
    tree["constant_data"]["cell_count"][2:] = 0
    case = access.cases(tree)[0]
    assert curves.lies_on_curve(tree, case)
    tree["constant_data"]["cell_count"][1:] = 0
    assert not curves.lies_on_curve(tree, case)


def test_every_sentence_ends_and_says_its_probability() -> None:
    for name in ("calibrated", "smooth", "rough", "segments", "linear"):
        assert curves.CurveShape(name, 0.9996, ()).sentence.endswith("(probability above 0.999).")


def test_wrong_labels_are_told_from_other_errors() -> None:
    """One label in twenty is flipped, so that the rate is .05 + .9 score."""
    rng = np.random.default_rng(3)
    score = expit(rng.normal(0, 2.5, 4000))
    label = (rng.random(4000) < score) ^ (rng.random(4000) < 0.05)
    data = bc.Scores(y_true=label, y_prob=score, pos_label=True)
    tree = bc.fit("ece", data, method="direct", seed=1)
    found = shape_of(tree)
    assert found is not None
    assert found.name == "linear"
    assert found.words == "The calibration curve is a line in the score, as wrong labels make it"
    lower, upper = bc.interval(tree, "tce").to_numpy().ravel()
    assert lower < 0.05 * np.abs(1 - 2 * score).mean() < upper


def test_scores_of_exactly_0_and_1_are_named_with_their_rows() -> None:
    score = np.repeat([0.0, 0.3, 0.6, 1.0], [30, 40, 40, 20])
    label = np.concatenate([np.repeat([1, 0], [2, 28]), np.arange(80) % 10 < 4, np.ones(20)])
    both = {"both": score, "none": np.clip(score, 0.1, 0.6)}  # fewer cells
    tree = bc.fit("ece", bc.Scores.stack(both, y_true=label), method="direct", draws=200, seed=1)
    first, second = access.cases(tree)
    assert curves.boundary_scores(tree, second) == []
    zero, one = curves.boundary_scores(tree, first)
    assert (zero.score, zero.rows, zero.positives) == ("0", 30, 2)
    assert (one.score, one.rows, one.positives) == ("1", 20, 20)
    # Two positives of score 0 are impossible if it never errs.
    assert zero.p_calibrated < 1e-4
    assert 0.3 < one.p_calibrated < 0.7


def test_the_pointwise_band_is_of_quantiles():
    curves = np.random.default_rng(3).normal(size=(20_000, 4))
    band = bands.pointwise_band(curves, 0.9)
    assert band.upper == pytest.approx(norm.ppf(0.95), abs=0.05)
    assert band.lower == pytest.approx(-norm.ppf(0.95), abs=0.05)


def test_the_simultaneous_band_of_independent_points():
    # Inside at all of 10 points with probability .9: at each with .9 ** (1 / 10).
    curves = np.random.default_rng(4).normal(size=(20_000, 10))
    band = bands.simultaneous_band(curves, 0.9)
    expected = norm.ppf((1 + 0.9**0.1) / 2)
    assert band.upper == pytest.approx(expected, abs=0.12)
    assert band.lower == pytest.approx(-expected, abs=0.12)


@pytest.mark.parametrize("prob", [0.5, 0.9, 0.95])
@pytest.mark.parametrize("seed", range(3))
def test_the_simultaneous_band_holds_its_share_of_draws_and_no_narrower_one_does(seed, prob):
    curves = np.cumsum(np.random.default_rng(seed).normal(size=(400, 12)), axis=1)
    curves[:, 5] = 1.0
    band = bands.simultaneous_band(curves, prob)
    inside = ((curves >= band.lower) & (curves <= band.upper)).all(axis=1)
    assert inside.mean() >= prob
    ordered = np.sort(curves, axis=0)
    place = int((ordered[:, 0] < band.lower[0]).sum())
    tighter = (curves >= ordered[place + 1]) & (curves <= ordered[-place - 2])
    assert tighter.all(axis=1).mean() < prob


def test_one_point_is_the_pointwise_band():
    curves = np.random.default_rng(5).random((1001, 1))
    one, other = bands.simultaneous_band(curves, 0.9), bands.pointwise_band(curves, 0.9)
    assert one.lower == pytest.approx(other.lower, abs=0.003)
    assert one.upper == pytest.approx(other.upper, abs=0.003)


def _boxes(rng, n):
    """Boxes around n points of a rising curve between (0, 0) and (1, 1)."""
    ends = np.sort(rng.random((2, 2, n)), axis=2)
    (x, also_x), (y, also_y) = ends
    lower, upper = np.minimum, np.maximum
    return bands.RocRegion(
        *(
            np.concatenate([[0.0], values, [1.0]])
            for values in (lower(x, also_x), upper(x, also_x), lower(y, also_y), upper(y, also_y))
        )
    )


def _curve_through(region, straight, rng):
    """A curve with a random point in each box, and in between what `straight` allows."""
    low, high = region.fpr_lower, region.fpr_upper
    x = np.maximum.accumulate(low + rng.random(len(low)) * (high - low))
    y = region.tpr_lower + rng.random(len(low)) * (region.tpr_upper - region.tpr_lower)
    y = np.maximum.accumulate(y)
    points = [(x[0], y[0])]
    for k in range(1, len(x)):
        if not straight[k]:
            more = np.sort(rng.random((2, 3)), axis=1)
            points += zip(
                x[k - 1] + more[0] * (x[k] - x[k - 1]),
                y[k - 1] + more[1] * (y[k] - y[k - 1]),
                strict=True,
            )
        points.append((x[k], y[k]))
    return np.array(points).T


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 6))
def test_curves_through_all_boxes_lie_in_the_band(seed, n):
    rng = np.random.default_rng(seed)
    region = _boxes(rng, n)
    straight = np.append(True, rng.random(n + 1) < 0.5)
    fpr = np.linspace(0, 1, 41)
    band = bands.band_of_boxes(region, straight, fpr)
    for _ in range(5):
        tpr = np.interp(fpr, *_curve_through(region, straight, rng))
        assert (band.lower[:-1] <= tpr[:-1] + 1e-12).all()
        assert (tpr <= band.upper + 1e-12).all()


def test_boxes_without_extent_leave_one_curve_where_it_is_straight():
    x, y = np.array([0.0, 0.25, 0.5, 1.0]), np.array([0.0, 0.5, 1.0, 1.0])
    band = bands.band_of_boxes(
        bands.RocRegion(x, x, y, y), np.array([True] * 4), np.array([0.125, 0.4])
    )
    assert band.lower.tolist() == pytest.approx([0.25, 0.8])
    assert band.upper.tolist() == pytest.approx([0.25, 0.8])


def test_between_points_that_no_line_joins_the_curve_may_be_anywhere():
    x, y = np.array([0.0, 0.25, 0.5, 1.0]), np.array([0.0, 0.5, 0.75, 1.0])
    straight = np.array([True, True, False, True])
    band = bands.band_of_boxes(bands.RocRegion(x, x, y, y), straight, np.array([0.125, 0.4, 0.75]))
    assert band.lower.tolist() == pytest.approx([0.25, 0.5, 0.875])
    assert band.upper.tolist() == pytest.approx([0.25, 0.75, 0.875])


def test_a_side_with_one_label_only_excludes_nothing():
    rate = bands.Band(np.array([0.0, 0.2, 0.4, 1.0]), np.array([0.0, 0.3, 0.9, 1.0]))
    above = bands.Above(positive=np.array([0, 2, 5, 5]), negative=np.array([0, 0, 3, 6]))
    found = bands.boxes(rate, rate, above)
    assert found.fpr_lower.tolist() == [0.0, 0.0, 0.4, 1.0]
    assert found.fpr_upper.tolist() == [0.0, 0.3, 0.9, 1.0]
    assert found.tpr_lower.tolist() == [0.0, 0.2, 0.4, 1.0]
    assert found.tpr_upper.tolist() == [0.0, 0.3, 1.0, 1.0]


@pytest.fixture(scope="module")
def result():
    return bc.fit(bc.agnostic, rows(), method="direct", draws=300, seed=20)


@pytest.fixture(scope="module")
def panel():
    scores = rows(n_unlabeled=0)
    panel = bc.Scores.stack(
        {"many": scores.y_prob[0], "few": scores.y_prob[0].round(1)}, y_true=scores.y_true.tolist()
    )
    return bc.fit(bc.agnostic, panel, method="direct", draws=300, seed=20)


def _draws(tree, name, points):
    return tree["posterior"][name].values.reshape(1200, -1)[:, :points]


@pytest.mark.parametrize("prefix", ["", "unlabeled_"])
def test_boxes_hold_their_share_of_draws(result, prefix):
    found = bands.roc_boxes(result, 0.9, unlabeled=bool(prefix))
    inside = np.ones(1200, bool)
    for name in ("fpr", "tpr"):
        draws = _draws(result, prefix + name, found.sizes["threshold"])
        inside &= (draws >= found[f"{name}_lower"].values).all(axis=1)
        inside &= (draws <= found[f"{name}_upper"].values).all(axis=1)
        assert found[name].values == pytest.approx(draws.mean(axis=0), abs=1e-5)
    assert inside.mean() >= 0.9


@pytest.mark.parametrize("unlabeled", [False, True])
def test_bands(result, unlabeled):
    whole = bands.roc_band(result, 0.9, unlabeled=unlabeled)
    each = bands.roc_band(result, 0.9, unlabeled=unlabeled, simultaneous=False)
    points = bands.roc_boxes(result, unlabeled=unlabeled).sizes["threshold"]
    prefix = "unlabeled_" * unlabeled
    draws = bands.tpr_at(
        *(_draws(result, prefix + name, points) for name in ("fpr", "tpr")), bands.FPR
    )
    inside = ((draws >= whole.lower.values - 1e-6) & (draws <= whole.upper.values + 1e-6))[:, :-1]
    assert inside.all(axis=1).mean() >= 0.9
    assert (whole.lower <= each.lower + 1e-6).all()
    assert (whole.upper >= each.upper - 1e-6).all()
    assert whole.fpr.values.tolist() == np.linspace(0, 1, 101).tolist()


def test_thresholds_are_the_scores_of_a_classifier_of_few(panel):
    found = bands.roc_boxes(panel, classifier="few").threshold.values
    distinct = np.unique(rows(n_unlabeled=0).y_prob[0].round(1))
    # 0 and 1 are cells of their own; above 1, and above the largest score below 1, is nothing.
    assert set(distinct[(distinct > 0) & (distinct < 1)]) <= set(found.round(12))
    assert found[-1] == -np.inf
    assert (np.diff(found) <= 0).all()
    first = bands.roc_boxes(panel, classifier="few").isel(threshold=0)
    assert float(first.tpr_upper) == float(first.fpr_upper) == 0.0


def test_a_classifier_must_be_named(panel):
    assert bands.roc_band(panel, classifier="many").attrs["prob"] == 0.9
    with pytest.raises(InputError, match="classifier must be one of the result's; got none"):
        bands.roc_band(panel)


@pytest.mark.parametrize("read", [bands.roc_band, bands.roc_boxes])
def test_bad_input(panel, read):
    with pytest.raises(InputError, match="prob must be a number in"):
        read(panel, 0.0, classifier="few")
    with pytest.raises(InputError, match="no unlabelled rows"):
        read(panel, classifier="few", unlabeled=True)
    for unlabeled in (False, True):
        with pytest.raises(InputError, match=r"result of ece holds no ROC curves\. Fit"):
            read(make_result(("a",), draws=20), unlabeled=unlabeled)


def test_the_band_of_each_point_is_the_interval_of_the_curve():
    tree = make_result(("a", "b"), draws=100, p_calibrated=0.3)
    each = bc.calibration_band(tree, 0.8, simultaneous=False, classifier="b")
    ends = bc.interval(tree, "calibration_curve", 0.8).sel(classifier="b")
    np.testing.assert_allclose([each.lower, each.upper], ends.transpose("ci_bound", ...))
    np.testing.assert_array_equal(each.curve_score, tree["constant_data/curve_score"][1])
    draws = tree["posterior/calibration_curve"].sel(classifier="b")
    np.testing.assert_allclose(each["mean"], draws.mean(("chain", "draw")))


@pytest.mark.parametrize("p_calibrated", [0.0, 0.3, 1.0])
def test_the_band_of_the_curve_holds_the_average_and_what_is_given_miscalibration(p_calibrated):
    tree = make_result(("a",), draws=100, p_calibrated=p_calibrated)
    band = bc.calibration_band(tree, 0.8)
    for group in ("posterior", "given_miscalibration"):
        draws = tree[group]["calibration_curve"]
        inside = ((band.lower <= draws) & (draws <= band.upper)).all("point")
        assert float(inside.mean()) >= 0.8
    score = band.curve_score
    assert p_calibrated < 1 or bool(((band.lower <= score) & (score <= band.upper)).all())


def _of_one_score():
    scores = bc.Scores(y_true=[0, 1] * 20, y_prob=[0.3] * 40)
    return bc.fit(bc.ece, scores, method="direct", seed=1)


@pytest.mark.parametrize(
    ("tree", "options", "said"),
    [
        (lambda: 3, {}, "a result must be an xarray.DataTree; got int"),
        (make_panel_result, {}, "needs a result with a calibration curve; this one, of ssme, has"),
        (_of_one_score, {}, "fewer than two scores between 0 and 1"),
        (make_result, {}, "classifier must be one of the result's; got none"),
        (make_result, {"classifier": "c"}, "classifier must be one in the result; got 'c'"),
        (make_result, {"classifier": "a", "group": "g"}, "This result has no group dimension"),
        (make_result, {"classifier": "a", "class_": "g"}, "This result has no class dimension"),
        (
            make_result,
            {"classifier": "a", "prob": 90},
            "prob must be a number in \\(0, 1\\); got 90",
        ),
        (make_result, {"simultaneous": 1}, "simultaneous must be True or False"),
    ],
)
def test_bands_that_cannot_be(tree, options, said):
    with pytest.raises(InputError, match=said):
        bc.calibration_band(tree(), **options)
