"""The mean over classes against every combination of the classes' draws."""

import json
from itertools import product

import numpy as np
import pytest

import bayescal as bc
from bayescal.core.quantity import CALIBRATION_ERRORS, CaseArrays
from bayescal.results.assemble import assemble, combine
from bayescal.results.intervals import marginal, marginals
from bayescal.results.summary import records
from tests.synthetic import make_result

CLASSES = ("cat", "dog", "owl")
N = 4000


def result(levels, p_calibrated=None, classifiers=("vit",), seed=20):
    """Each class takes the given values equally often."""
    fits = []
    for name, (cls, values) in product(classifiers, zip(CLASSES, levels, strict=False)):
        values = np.asarray(values, dtype=float)
        p0 = 0.0 if p_calibrated is None else p_calibrated[CLASSES.index(cls)]
        each = N // len(values)
        given = np.repeat(values, each)
        # 0 in the same share of the draws of each value.
        drawn = np.where(np.tile(np.arange(each) < p0 * each, len(values)), 0.0, given)
        fits.append(
            CaseArrays(
                coords={"classifier": name, "class": cls},
                posterior={"ece": drawn.reshape(4, -1)},
                given_miscalibration={"ece": given.reshape(4, -1)},
                point_estimate={"ece": 2 * values.mean()},
                model_average={"p_calibrated": np.nan if p_calibrated is None else p0},
                diagnostics={"converged": True},
            )
        )
    words = ("bayescal_version", "quantity", "title", "estimand", "status")
    attrs = {**dict.fromkeys(words, ""), "seed": seed, "converged": True}
    attrs |= {"multiclass": "marginal"}
    return assemble(fits, variables=CALIBRATION_ERRORS, attrs=attrs)


def brute_quantile(supports, weights, level):
    """Quantile of the mean of independent discrete variables."""
    mean = np.array([np.mean(values) for values in product(*supports)])
    weight = np.array([np.prod(values) for values in product(*weights)])
    order = np.argsort(mean)
    return mean[order][np.searchsorted(np.cumsum(weight[order]), level)]


LEVELS = [(0.01, 0.02, 0.05, 0.1), (0.03, 0.2), (0.004, 0.008, 0.3, 0.4)]


@pytest.mark.parametrize("p_calibrated", [None, (0.3, 0.0, 0.6)])
def test_interval_is_that_of_all_combinations(p_calibrated):
    p0 = p_calibrated or (0.0, 0.0, 0.0)
    with_zero = [(0.0, *values) for values in LEVELS]
    weights = [(p, *[(1 - p) / len(v)] * len(v)) for p, v in zip(p0, LEVELS, strict=True)]
    even = [[1 / len(v)] * len(v) for v in LEVELS]
    found = marginal(result(LEVELS, p_calibrated), prob=0.9)
    # Quantiles of a discrete law: levels half a percent off, two standard errors of 4000 draws.
    slack = 0.007
    low = [brute_quantile(with_zero, weights, 0.05 + d) for d in (-slack, slack)]
    high = [brute_quantile(LEVELS, even, 0.95 + d) for d in (-slack, slack)]
    assert low[0] - 1e-12 <= found.lower <= low[1] + 1e-12
    assert high[0] - 1e-12 <= found.upper <= high[1] + 1e-12


def test_mean_is_exact_and_averages_over_calibration():
    p0 = (0.3, 0.0, 0.6)
    found = marginal(result(LEVELS, p0))
    expected = np.mean([(1 - p) * np.mean(v) for p, v in zip(p0, LEVELS, strict=True)])
    assert found.mean == pytest.approx(expected, rel=1e-12)


def test_plug_in_is_the_mean_of_the_classes():
    found = marginal(result(LEVELS))
    assert found.plug_in == pytest.approx(2 * np.mean([np.mean(v) for v in LEVELS]), rel=1e-12)


def test_a_class_that_is_surely_calibrated_adds_only_to_the_upper_end():
    found = marginal(result([(0.3,), (0.06,), (0.09,)], (1.0, 0.0, 0.0)))
    assert found.lower == pytest.approx(0.05, rel=1e-12)
    assert found.upper == pytest.approx(0.15, rel=1e-12)
    assert found.mean == pytest.approx(0.05, rel=1e-12)


def test_calibrated_classes_start_at_0_and_do_not_collapse():
    found = marginal(result([(0.3,), (0.06,), (0.09,)], (1.0, 1.0, 1.0)))
    assert (found.mean, found.lower) == (0.0, 0.0)
    assert found.upper == pytest.approx(0.15, rel=1e-12)


def test_the_classes_draws_are_joined_as_independent():
    """Draws in the same order in each class must not move together."""
    draws = np.linspace(0, 1, 1000)
    found = marginal(result([draws] * 3), prob=0.9)
    # Mean of three uniforms: P(mean < x) = (3 x)^3 / 6 for x < 1/3.
    expected = (6 * 0.05) ** (1 / 3) / 3
    assert found.lower == pytest.approx(expected, abs=0.02)
    assert found.upper == pytest.approx(1 - expected, abs=0.02)


def test_the_same_result_gives_the_same_numbers():
    assert marginal(result(LEVELS, (0.3, 0, 0.6))) == marginal(result(LEVELS, (0.3, 0, 0.6)))


def test_the_sentence_has_the_numbers():
    found = marginal(result([(0.3,), (0.06,), (0.09,)], (0, 0, 0)), prob=0.8)
    assert found.text == "Mean ECE of the 3 classes of vit: 0.1500 (80% interval 0.1500 to 0.1500)."


def test_of_several_classifiers_one_must_be_named():
    tree = result(LEVELS, classifiers=("vit", "gbm"))
    assert marginal(tree, classifier="gbm").mean == pytest.approx(
        marginal(tree, "ece", 0.9, "vit").mean
    )
    with pytest.raises(bc.InputError, match=r"classifier must be one .* 'vit', 'gbm'"):
        marginal(tree)
    with pytest.raises(bc.InputError, match="classifier must be one"):
        marginal(tree, classifier="svm")


def test_of_several_groups_one_must_be_named():
    tree = make_result(("vit",), classes=CLASSES, groups=("men", "women"))
    assert "group women" in marginal(tree, group="women").text
    with pytest.raises(bc.InputError, match="group must be one"):
        marginal(tree)


def test_of_several_priors_each_has_its_own():
    """The mean over classes is not one over classes and priors."""
    fits = {"wide": result(LEVELS, (0.3, 0, 0.6)), "narrow": result([(0.1,)] * 3)}
    grid = combine(fits)
    found = {case.prior: mean for case, mean in marginals(grid, "ece")}
    assert found == {name: marginal(tree) for name, tree in fits.items()}
    rows = [row for row in records(grid, 0.9) if "mean over" in row["case"]]
    assert [row["case"] for row in rows] == [f"{name} / mean over classes" for name in fits]
    assert [row["prior"] for row in rows] == list(fits)
    assert [row["ece_mean"] for row in rows] == [found[name].mean for name in fits]
    with pytest.raises(bc.InputError, match=r"one prior; got 2. .* result.sel\(prior='wide'\)"):
        marginal(grid)
    assert marginal(grid.sel(prior="narrow")) == found["narrow"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"var": "label_rate"}, "calibration error"),
        ({"prob": 1.0}, r"prob must be a number in \(0, 1\); got 1.0"),
    ],
)
def test_what_makes_no_sense_is_refused(given, message):
    with pytest.raises(bc.InputError, match=message):
        marginal(result(LEVELS), **given)


def test_without_classes_it_says_how_to_fit_them():
    with pytest.raises(bc.InputError, match='multiclass="marginal"'):
        marginal(make_result(("vit",)))


def test_of_a_fit_the_plug_in_is_the_estimators():
    rng = np.random.default_rng(3)
    p = rng.dirichlet((1, 2, 3), 600)
    y = (rng.random((600, 1)) > p.cumsum(axis=1)).sum(axis=1)
    scores = bc.Scores(y_true=y, y_prob=p)
    tree = bc.fit(
        bc.ece, scores, n_bins=5, multiclass="marginal", draws=250, seed=1, method="direct"
    )
    assert tree.attrs["multiclass"] == "marginal"
    assert tree["posterior"].sizes["class"] == 3
    found = bc.marginal(tree)
    expected = bc.ece.estimate(scores, n_bins=5, multiclass="marginal").ece
    assert found.plug_in == pytest.approx(float(expected), rel=1e-12)
    assert 0 <= found.lower <= found.mean <= found.upper
    assert bc.marginal(tree, "tce").plug_in == found.plug_in
    mce = bc.ece.estimate(scores, n_bins=5, multiclass="marginal").mce
    assert bc.marginal(tree, "mce").plug_in == pytest.approx(float(mce), rel=1e-12)


@pytest.mark.slow
def test_marginals_lists_every_classifier_and_group():
    tree = make_result(("a", "b"), classes=CLASSES, groups=("men", "women"))
    found = marginals(tree, prob=0.8)
    assert [(case.classifier, case.group) for case, _ in found] == [
        (name, group) for name in ("a", "b") for group in ("men", "women")
    ]
    assert found[3][1] == marginal(tree, "ece", 0.8, "b", group="women")
    assert marginals(make_result(("a", "b"))) == []


def test_a_failed_fit_of_a_class_is_said_first():
    tree = make_result(("a", "b"), classes=CLASSES, converged=False)  # a's first
    said = [marginal(tree, classifier=name).text.startswith("Unreliable: ") for name in "ab"]
    assert said == [True, False]


def test_of_selected_classes_only_a_mean_that_says_so_is_given():
    tree = result(LEVELS)
    tree.attrs["classes"] = json.dumps(CLASSES)
    two = tree.sel({"class": ["cat", "owl"]})
    found = marginal(two)
    assert found.text.startswith("Mean ECE of 2 of the 3 classes of vit: ")
    # The means of the levels of the first class and of the third.
    assert found.mean == pytest.approx((0.045 + 0.178) / 2)
    assert marginals(two) == []
    assert [row["case"] for row in records(two, 0.9)] == ["cat", "owl"]
    assert records(tree, 0.9)[-1]["case"] == "mean over classes"
