"""Shapes of calibration curves."""

import numpy as np
import pytest
import xarray as xr

import bayescal as bc
from bayescal.results import access, curves
from tests.synthetic import Weights, make_result


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
    for name in ("calibrated", "smooth", "rough", "segments"):
        assert curves.CurveShape(name, 0.9996, ()).sentence.endswith("(probability above 0.999).")


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
