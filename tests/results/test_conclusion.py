"""Whether a conclusion is robust, on draws whose answer is known."""

import numpy as np
import pytest

import bayescal as bc
from bayescal.core.quantity import CALIBRATION_ERRORS, CaseArrays
from bayescal.results.assemble import assemble, combine
from bayescal.results.robustness import conclusions
from tests.synthetic import make_result

LEVELS = (np.arange(2000) + 0.5) / 2000


def tree(low, high, p_calibrated=0.0, converged=True, names=("vit",)):
    """Draws spread evenly between two ends; 0 in the share in which it is calibrated."""
    n_zero = round(np.nan_to_num(p_calibrated) * LEVELS.size)
    levels = (np.arange(LEVELS.size - n_zero) + 0.5) / max(LEVELS.size - n_zero, 1)
    draws = np.concatenate([np.zeros(n_zero), low + (high - low) * levels])
    attrs = {
        "bayescal_version": "0",
        "quantity": "ece",
        "title": "t",
        "estimand": "e",
        "seed": 1,
        "status": "ok",
        "converged": converged,
        "n_obs": 9,
        "n_labeled": 9,
    }
    fits = [
        CaseArrays(
            coords={"classifier": name},
            posterior={"tce": draws.reshape(4, 500)},
            given_miscalibration={"tce": (low + (high - low) * LEVELS).reshape(4, 500)},
            point_estimate={"n": 9},
            model_average={"p_calibrated": p_calibrated},
            diagnostics={"converged": converged},
        )
        for name in names
    ]
    return assemble(fits, variables=CALIBRATION_ERRORS, attrs=attrs)


def asked(trees, **options):
    (found,) = conclusions(combine(trees), **options)
    return found


def test_intervals_that_overlap_on_one_side_are_robust():
    found = asked({"a": tree(0.1, 0.2), "b": tree(0.15, 0.25)})
    assert found.robust
    assert found.overlap
    assert found.agree
    assert found.text == (
        "The conclusion on the calibration error is robust to the prior: under both priors the "
        "90% intervals overlap and exclude perfect calibration. The posterior mean moves most "
        "under b: +0.0500 from 0.1500 under a, 1.73 posterior sd."
    )


def test_the_shift_is_in_units_of_the_posterior_sd():
    found = asked({"a": tree(0.1, 0.2), "b": tree(0.15, 0.25), "c": tree(0.0, 0.2)})
    sd = 0.1 / np.sqrt(12)
    first, second, third = found.rows
    assert first.shift == 0
    assert second.sd == pytest.approx(sd, rel=1e-3)
    assert second.shift == pytest.approx(0.05 / sd, rel=1e-3)
    assert third.shift == pytest.approx(-0.05 / np.sqrt((sd**2 + 4 * sd**2) / 2), rel=1e-3)
    assert found.largest is second


def test_sd_and_mean_count_exact_calibration_in():
    found = asked({"a": tree(0.1, 0.2, p_calibrated=0.25), "b": tree(0.1, 0.2)})
    draws = np.concatenate([np.zeros(500), 0.1 + 0.1 * (np.arange(1500) + 0.5) / 1500])
    assert found.rows[0].mean == pytest.approx(draws.mean(), rel=1e-6)
    assert found.rows[0].sd == pytest.approx(draws.std(), rel=1e-3)


def test_intervals_apart_are_not_robust():
    found = asked({"a": tree(0.1, 0.2), "b": tree(0.3, 0.4), "c": tree(0.1, 0.4)})
    assert not found.overlap
    assert not found.robust
    assert "under a (0.1050 to 0.1950) and b (0.3050 to 0.3950) do not overlap" in found.text


def test_one_that_allows_calibration_disagrees_with_one_that_does_not():
    found = asked({"a": tree(0.1, 0.2), "b": tree(0.1, 0.2, p_calibrated=0.3)})
    assert found.overlap
    assert not found.agree
    assert not found.robust
    assert "exclude perfect calibration under a but allow perfect calibration under b" in found.text


def test_a_prior_without_calibration_without_a_probability_does_not_disagree():
    pair = {"a": tree(0.1, 0.2, p_calibrated=0.3), "b": tree(0.1, 0.2, p_calibrated=np.nan)}
    found = asked(pair)
    assert found.rows[1].side == "unknown"
    assert found.rows[1].p_calibrated is None
    assert found.robust
    assert "allow perfect calibration; b gives calibration no probability." in found.text
    neither = asked({"a": pair["b"], "b": pair["b"]})
    assert neither.robust
    assert "none gives calibration a probability" in neither.text
    assert "less than 0.01 sd" in neither.text


@pytest.mark.parametrize(
    ("threshold", "sides"),
    [(0.05, ["above", "above"]), (0.3, ["below", "below"]), (0.17, ["both", "both"])],
)
def test_a_threshold_has_two_sides(threshold, sides):
    found = asked({"a": tree(0.1, 0.2), "b": tree(0.15, 0.25)}, threshold=threshold)
    assert [row.side for row in found.rows] == sides
    assert found.robust


def test_a_threshold_between_the_answers_is_not_robust():
    found = asked({"a": tree(0.1, 0.2), "b": tree(0.15, 0.25)}, threshold=0.11)
    assert [row.side for row in found.rows] == ["both", "above"]
    assert not found.robust
    assert "cover 0.11 under a but lie above 0.11 under b" in found.text


def test_a_wider_interval_may_hide_a_disagreement():
    trees = {"a": tree(0.1, 0.2), "b": tree(0.19, 0.29)}
    assert not asked(trees, prob=0.8).robust
    assert asked(trees, prob=0.95).robust


def test_a_failed_fit_is_said_first():
    found = asked({"a": tree(0.1, 0.2), "b": tree(0.1, 0.2, converged=False)})
    assert not found.converged
    assert found.text.startswith("Unreliable: a fit did not converge. ")


def test_points_that_differ_move_without_end():
    found = asked({"a": tree(0.1, 0.1), "b": tree(0.2, 0.2), "c": tree(0.1, 0.1)})
    assert found.rows[1].shift == np.inf
    assert found.rows[2].shift == 0


def test_every_case_has_its_conclusion():
    names = ("vit", "gbm")
    found = conclusions(
        combine({"a": tree(0.1, 0.2, names=names), "b": tree(0.1, 0.2, names=names)})
    )
    assert [one.case for one in found] == ["vit", "gbm"]
    assert "calibration error of gbm is robust" in found[1].text


def test_other_quantities_need_a_threshold_and_one_number():
    pair = {"a": make_result(("v",)), "b": make_result(("v",), seed=1)}
    for one in pair.values():
        one["posterior"]["slope"] = one["posterior"]["coef"].isel(basis=1, drop=True)
    grid = combine(pair)
    with pytest.raises(bc.InputError, match="threshold must be given for 'slope'"):
        conclusions(grid, "slope")
    assert conclusions(grid, "slope", threshold=0.0)[0].rows[0].p_calibrated is not None
    with pytest.raises(bc.InputError, match="one number a case"):
        conclusions(grid, "label_rate", threshold=0.5)
    with pytest.raises(bc.InputError, match=r"threshold must be a number in \[0, 1\]; got 5"):
        conclusions(grid, "tce", threshold=5)
    with pytest.raises(bc.InputError, match="no variable or measure 'nothing'"):
        conclusions(grid, "nothing")
    with pytest.raises(bc.InputError, match="has one prior"):
        conclusions(make_result())
