import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray
from scipy.stats import norm

from bayescal.core.errors import InputError
from bayescal.core.quantity import CALIBRATION_ERRORS, CaseArrays
from bayescal.results.assemble import assemble
from bayescal.results.compare import difference
from tests.synthetic import make_result
from tests.synthetic_ssme import make_panel_result

MEANS, SDS, NAMES = (0.3, 0.2), (0.02, 0.01), ("vit", "gbm")


def _mixed(draws: NDArray[np.float64], p_calibrated: float) -> NDArray[np.float64]:
    """The same draws, but 0 in a share of them that is spread evenly over their order."""
    place = np.arange(draws.size) * (np.sqrt(5) - 1) / 2 % 1
    return np.where(np.argsort(np.argsort(place)) < p_calibrated * draws.size, 0.0, draws)


def _normal_result(
    correlation: float, p_calibrated: tuple[float, float] = (0.0, 0.0)
) -> xr.DataTree:
    """Two posteriors that are normal, so that their difference is known."""
    quantiles = norm.ppf((np.arange(8000) + 0.5) / 8000)
    fits = [
        CaseArrays(
            coords={"classifier": name},
            posterior={"tce": _mixed(mean + sd * quantiles, p0).reshape(4, 2000)},
            given_miscalibration={"tce": (mean + sd * quantiles).reshape(4, 2000)},
            point_estimate={"ece": mean},
            model_average={"p_calibrated": p0},
            diagnostics={"converged": True},
        )
        for name, mean, sd, p0 in zip(NAMES, MEANS, SDS, p_calibrated, strict=True)
    ]
    matrix = xr.DataArray(
        [[1, correlation], [correlation, 1]],
        dims=("classifier", "classifier_other"),
        coords={"classifier": list(NAMES), "classifier_other": list(NAMES)},
    )
    words = ("bayescal_version", "quantity", "title", "estimand", "status")
    attrs = {**dict.fromkeys(words, ""), "seed": 20, "converged": True}
    return assemble(
        fits, variables=CALIBRATION_ERRORS, attrs=attrs, error_correlation={"correlation": matrix}
    )


@pytest.mark.parametrize("correlation", [-0.5, 0.0, 0.6, 0.95])
def test_normal_posteriors_give_the_normal_difference(correlation: float) -> None:
    found = difference(_normal_result(correlation), "vit", "gbm", prob=0.9)
    sd = np.sqrt(SDS[0] ** 2 + SDS[1] ** 2 - 2 * correlation * SDS[0] * SDS[1])
    expected = 0.1 + sd * norm.ppf([0.05, 0.95])
    # Four standard errors of a 5% quantile of 8000 draws.
    error = 4 * sd * np.sqrt(0.05 * 0.95 / 8000) / norm.pdf(norm.ppf(0.05))
    np.testing.assert_allclose([found.lower, found.upper], expected, atol=error)
    np.testing.assert_allclose(found.mean, 0.1, atol=1e-12)
    assert found.correlation == correlation


def test_exchanging_the_names_changes_the_signs_only() -> None:
    tree = make_result(("vit", "gbm"), p_calibrated=0.2)
    one, other = difference(tree, "vit", "gbm"), difference(tree, "gbm", "vit")
    np.testing.assert_array_equal(one.draws, -other.draws)
    assert (one.lower, one.upper) == pytest.approx((-other.upper, -other.lower), abs=1e-15)
    assert one.prob_first_larger + other.prob_first_larger + one.prob_equal == pytest.approx(1)


def test_the_same_result_gives_the_same_draws() -> None:
    tree = make_result(("vit", "gbm"), p_calibrated=0.2)
    one, again = (difference(tree, "vit", "gbm").draws for _ in range(2))
    np.testing.assert_array_equal(one, again)


def test_two_calibrated_classifiers_are_equal_but_the_interval_does_not_collapse() -> None:
    found = difference(_normal_result(0.6, (1.0, 1.0)), "vit", "gbm")
    assert (found.mean, found.prob_equal, found.prob_first_larger) == (0.0, 1.0, 0.0)
    # Either may be off by as much as its own rows allow, with the other one calibrated.
    assert found.upper == pytest.approx(MEANS[0] + SDS[0] * norm.ppf(0.95), abs=1e-4)
    assert found.lower == pytest.approx(-MEANS[1] - SDS[1] * norm.ppf(0.95), abs=1e-4)


@pytest.mark.parametrize("p_calibrated", [(0.0, 0.0), (0.03, 0.3), (0.6, 0.9)])
def test_the_interval_holds_its_probability_of_the_averaged_posterior(
    p_calibrated: tuple[float, float],
) -> None:
    found = difference(_normal_result(0.5, p_calibrated), "vit", "gbm", prob=0.8)
    assert np.mean(found.draws < found.lower) <= 0.1
    assert np.mean(found.draws > found.upper) <= 0.1


def test_a_classifier_that_may_be_calibrated_widens_the_interval_to_the_others_error() -> None:
    found = difference(_normal_result(0.0, (0.0, 0.5)), "vit", "gbm")
    # Half of the time the second error is 0, and the difference is the first, about 0.3.
    assert found.upper == pytest.approx(MEANS[0] + SDS[0] * norm.ppf(0.9), abs=0.002)
    assert found.lower == pytest.approx(0.1 - np.hypot(*SDS) * norm.ppf(0.95), abs=0.002)
    assert found.mean == pytest.approx(0.3 - 0.5 * 0.2, abs=1e-4)


def test_the_answer_in_words() -> None:
    text = difference(_normal_result(0.0), "vit", "gbm").text
    assert text.startswith("TCE of vit minus gbm: +0.1000 (90% interval +0.0")
    assert text.endswith("vit's is the larger with probability above 0.999.")


def test_the_answer_says_how_probably_both_are_equal() -> None:
    """Whose error is the smaller does not follow from the larger one's probability alone."""
    found = difference(_normal_result(0.0, (0.9, 0.6)), "vit", "gbm")
    # Both are calibrated with .9 x .6; where vit is not, its error is the larger.
    assert found.text.endswith("probability 0.10, and both are equal with probability 0.54.")


def test_a_failed_fit_of_either_is_said_first() -> None:
    tree = make_result(("a", "b", "c"), converged=False)  # that of the first
    said = [difference(tree, *pair).text.startswith("Unreliable: ") for pair in ("ab", "ca", "bc")]
    assert said == [True, True, False]
    metrics = difference(make_panel_result(("a",), converged=False), "auc", "auprc")
    assert metrics.text.startswith("Unreliable: ")


def test_classes_are_chosen_by_name() -> None:
    tree = make_result(("vit", "gbm"), classes=("cat", "dog"))
    cat, dog = (difference(tree, "vit", "gbm", class_=name) for name in ("cat", "dog"))
    assert cat.mean != dog.mean
    averages = tree["posterior"]["tce"].sel({"class": "dog"}).mean(("chain", "draw"))
    assert dog.mean == pytest.approx(float(averages.sel(classifier="vit") - averages[1]))


def test_the_answer_names_the_class_and_the_group_that_were_asked_for() -> None:
    classes = make_result(("vit", "gbm"), classes=("cat", "dog"))
    assert difference(classes, "vit", "gbm", class_="dog").text.startswith(
        "TCE of vit minus gbm, class dog: "
    )
    panel = make_panel_result(("a", "b"), ("x", "y"))
    assert " minus b, group y: " in difference(panel, "a", "b", group="y").text


@pytest.mark.parametrize(("dim", "given"), [("class_", "classes"), ("group", "groups")])
def test_classes_and_groups_must_be_chosen(dim: str, given: str) -> None:
    with pytest.raises(InputError, match=f"{dim} must be one of the result's.*'f', 'm'"):
        difference(make_result(("vit", "gbm"), **{given: ("f", "m")}), "vit", "gbm")


@pytest.mark.parametrize("groups", [(), ("f", "m")])
def test_without_the_correlation_the_remedy_is_named(groups: tuple[str, ...]) -> None:
    tree = make_result(("vit", "gbm"), groups=groups)
    del tree["error_correlation"]
    with pytest.raises(InputError, match=r"of labelled rows do.*fitted together.*Scores\.stack"):
        difference(tree, "vit", "gbm")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("vit", "nobody"), "got 'nobody'. Choose from 'vit', 'gbm'"),
        (("vit", "vit"), "must differ"),
        (("vit", "gbm", "gap"), "must be one of the result's; got 'gap'"),
        (("vit", "gbm", "tce", 1.5), r"prob must be a number in \(0, 1\)"),
    ],
)
def test_wrong_arguments(arguments: tuple[str, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        difference(make_result(("vit", "gbm")), *arguments)
