"""Change over windows: against normal posteriors, whose differences are known."""

from datetime import date
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

import bayescal as bc
from bayescal.core.quantity import CALIBRATION_ERRORS, METRIC, MORE, CaseArrays, Variable
from bayescal.results.assemble import assemble
from bayescal.results.change import _differ
from bayescal.results.compare import Errors, Pair
from tests.several import result_of
from tests.synthetic import make_result

DRAWS = 8000
AUC = Variable("auc", "AUC", role=METRIC, better=MORE)


def window(
    mean: float,
    sd: float = 0.01,
    *,
    p_calibrated: float = 0.0,
    classifier: str = "a",
    converged: bool = True,
    draws: int = DRAWS,
    var: Variable = CALIBRATION_ERRORS[0],
) -> xr.DataTree:
    """A result whose posterior is normal, but 0 in a share of its draws."""
    given = mean + sd * norm.ppf((np.arange(draws) + 0.5) / draws)
    low = np.where(np.arange(draws) < p_calibrated * draws, 0.0, given)
    fit = CaseArrays(
        coords={"classifier": classifier},
        posterior={var.name: low.reshape(4, -1)},
        given_miscalibration={var.name: given.reshape(4, -1)},
        point_estimate={"n": 100, "ece": mean},
        model_average={"p_calibrated": p_calibrated},
        diagnostics={"converged": converged},
    )
    words = ("bayescal_version", "quantity", "title", "estimand", "status")
    attrs = {**dict.fromkeys(words, ""), "seed": 20, "converged": converged}
    return assemble([fit], variables=(var,), attrs=attrs)


def windows(*means: float, **given: Any) -> dict[str, xr.DataTree]:
    return {f"2025-{place:02}": window(mean, **given) for place, mean in enumerate(means, 1)}


def test_differences_of_normal_posteriors() -> None:
    found = bc.change(windows(0.10, 0.11, 0.15), prob=0.9)
    row = found.table.loc["2025-03"]
    sd = 0.01 * np.sqrt(2)
    # Four standard errors of a 5% quantile, and of a probability near 1, of 8000 draws.
    error = 4 * sd * np.sqrt(0.05 * 0.95 / DRAWS) / norm.pdf(norm.ppf(0.05))
    for against, apart in (("previous", 0.04), ("baseline", 0.05)):
        ends = apart + sd * norm.ppf([0.05, 0.95])
        np.testing.assert_allclose(
            row[[f"{against}_lower", f"{against}_upper"]].astype(float), ends, atol=error
        )
        assert row[f"{against}_mean"] == pytest.approx(apart, abs=1e-12)
        assert row[f"{against}_prob_worse"] == pytest.approx(norm.cdf(apart / sd), abs=0.004)
    assert row[["n", "mean"]].tolist() == pytest.approx([100, 0.15])
    first = found.table.loc["2025-01"].drop(["n", "mean", "lower", "upper", "alarm", "status"])
    assert first.isna().all()
    assert found.alarms == ["2025-03"]


def test_two_calibrated_windows_are_equal_but_the_interval_does_not_collapse() -> None:
    row = bc.change(windows(0.10, 0.12, p_calibrated=1.0)).table.iloc[1]
    assert (row["baseline_mean"], row["baseline_prob_worse"], row["alarm"]) == (0, 0, False)
    ends = row[["baseline_lower", "baseline_upper"]].astype(float)
    np.testing.assert_allclose(
        ends, [-0.10 - 0.01 * norm.ppf(0.95), 0.12 + 0.01 * norm.ppf(0.95)], atol=1e-4
    )


def test_of_a_metric_of_which_more_is_better_less_is_worse() -> None:
    found = bc.change(windows(0.9, 0.8, 0.99, var=AUC))
    assert found.alarms == ["2025-02"]
    assert found.table["baseline_prob_worse"].tolist()[1:] == [1, 0]
    assert found.text == "In 2025-02 the AUC fell below that of 2025-01 (probability above 0.999)."


def test_where_no_draw_is_worse_the_probability_is_0() -> None:
    one, two = (Errors(low, low, low.mean()) for low in (np.arange(10.0), np.arange(10.0)))
    one.low[:7] += 1  # larger in .7 of the draws, equal in .3
    pair = Pair("one", "two", "auc", 0.9, None, None)
    assert _differ(pair, {"one": one, "two": two}, MORE)[-1] == 0


def test_groups_of_one_result_are_windows_paired_draw_by_draw() -> None:
    tree = result_of("ece by group")
    found = bc.change(tree, classifier="sharp")
    a, b = (tree["posterior/tce"].sel(classifier="sharp", group=name) for name in "ab")
    assert found.table.loc["b", "baseline_prob_worse"] == float((b > a).mean())
    assert found.table.loc["b", "baseline_mean"] == pytest.approx(float((b - a).mean()), abs=1e-12)


def test_the_baseline_is_chosen_and_a_sequence_has_numbers() -> None:
    results = list(windows(0.2, 0.1, 0.1).values())
    found = bc.change(results, baseline="2")
    assert found.alarms == ["1"]
    assert found.text == (
        "In 1 the calibration error rose above that of 2 (probability above 0.999)."
    )
    assert found.table.loc["2"].filter(like="baseline").isna().all()


def test_measures_of_the_curve_are_variables_too() -> None:
    scores = bc.datasets.ece.truth("over").scores(500, seed=1)
    tree = bc.fit(bc.ece, scores, method="direct", draws=500, chains=2, seed=1)
    found = bc.change([tree, tree], "e90")
    assert found.table["mean"].tolist() == [float(bc.measure(tree, "e90").mean())] * 2
    # Of two equal posteriors either may be the larger; four standard errors of 1000 draws.
    assert found.table["baseline_prob_worse"].iloc[1] == pytest.approx(0.5, abs=0.07)


def test_windows_of_one_label_have_no_auc_and_are_left_out() -> None:
    rng = np.random.default_rng(1)
    score = rng.random(300)
    label, group = rng.random(300) < score, np.repeat(["a", "b", "c"], 100)
    label[group == "b"] = True
    how: Any = {"method": "direct", "draws": 500, "seed": 1}
    of_group = bc.fit(bc.ece, bc.Scores(y_true=label, y_prob=score, group=group), **how)
    apart = {
        name: bc.fit(bc.ece, bc.Scores(label[group == name], score[group == name]), **how)
        for name in "abc"
    }
    for results in (of_group, apart):
        with pytest.warns(bc.core.errors.DataWarning, match="'b'.* left out of the change") as said:
            found = bc.change(results, "auc").table
        assert len(said) == 1
        assert list(found.index) == ["a", "c"]
        for name in "ac":
            own = group == name
            # The Bayesian bootstrap's mean; four standard errors of it.
            by_hand = roc_auc_score(label[own], score[own])
            assert found.loc[name, "mean"] == pytest.approx(by_hand, abs=0.01)
        with pytest.raises(bc.InputError, match="window 'b'"):
            bc.change(results, "auc", baseline="b")


def test_alarms_of_too_few_rows_are_warned_of() -> None:
    # Of one row the Brier score has two values, of which one is surely above that of all.
    score = np.linspace(0.01, 0.6, 80)
    label = np.random.default_rng(1).random(80) < score
    rows = {"long": slice(None), "one": slice(40, 41), "five": slice(0, 80, 16), "low": slice(30)}
    how: Any = {"method": "direct", "draws": 200, "seed": 1}
    fits = {w: bc.fit(bc.ece, bc.Scores(label[at], score[at]), **how) for w, at in rows.items()}
    for name, few in (("brier", "one and five"), ("net_benefit:0.25", "one, five and low")):
        with pytest.warns(bc.core.errors.DataWarning, match=f"too few in {few}. Join") as said:
            bc.change(fits, name)
        assert [one.filename for one in said] == [__file__]
    bc.change(fits)


def test_windows_of_ssme_have_their_labelled_rows() -> None:
    tree = result_of("ssme")
    assert bc.change([tree, tree], classifier="plain").table["n"].tolist() == [30, 30]


def test_the_same_results_give_the_same_numbers_whatever_the_other_windows() -> None:
    results = windows(0.10, 0.105, 0.11)
    whole = bc.change(results).table
    part = bc.change({name: results[name] for name in ("2025-01", "2025-03")}).table
    of_baseline = [name for name in whole if name.startswith("baseline")]
    assert whole.loc["2025-03", of_baseline].equals(part.loc["2025-03", of_baseline])


def test_windows_with_unequal_numbers_of_draws() -> None:
    found = bc.change({"a": window(0.10, draws=400), "b": window(0.11)}).table
    expected = norm.cdf(0.01 / (0.01 * np.sqrt(2)))
    # Four standard errors of 400 draws.
    assert found.loc["b", "baseline_prob_worse"] == pytest.approx(expected, abs=0.09)


@pytest.mark.parametrize(
    ("results", "said"),
    [
        (windows(0.1, 0.1), "No window's calibration error is above that of 2025-01 with "),
        (windows(0.1, 0.2, 0.2), "In 2025-02 and 2025-03 the calibration error rose above that of"),
        (windows(0.1, *[0.2] * 5), "In 5 windows, of which 2025-02 is the first, the calibration"),
        (
            {"old": window(0.1), "new": window(0.1, converged=False)},
            "or more. Not converged, so not to be relied on: new.",
        ),
    ],
)
def test_the_answer_in_words(results: dict[str, xr.DataTree], said: str) -> None:
    assert said in bc.change(results).text


FAILED = {"old": window(0.1)}
CLASSES = make_result(["a"], classes=["x", "y"])
WRONG = {
    "a change needs two windows or more; got 1": lambda: bc.change(FAILED),
    "windows must have different names; '1' is": lambda: bc.change(
        {1: window(0.1), "1": window(0.1), "2": window(0.1)}
    ),
    "a change needs two windows or more; got 0": lambda: bc.change(window(0.1)),
    "results must be Mapping; got int": lambda: bc.change(3),
    "window 'new': a result must be an xarray.DataTree; got NoneType": lambda: bc.change(
        {**FAILED, "new": None}
    ),
    "'b' failed: no rows. Leave it out": lambda: bc.change(_WithFailure()),
    "a word or a whole number; got .* Pass the windows of one series": lambda: bc.change(
        {("north", "old"): window(0.1), ("north", "new"): window(0.1)}
    ),
    "got datetime.date\\(2025, 1, 1\\). Name it by str": lambda: bc.change(
        {date(2025, 1, 1): None}
    ),
    "same classifier and class; they have 'a' \\(old\\), 'b' \\(new\\)": lambda: bc.change(
        {**FAILED, "new": window(0.1, classifier="b")}
    ),
    "same classifier and class; they have 'a, class x' \\(old\\), 'a, class y' \\(new\\)": lambda: (
        bc.change({time: CLASSES.sel({"class": one}) for time, one in (("old", "x"), ("new", "y"))})
    ),
    "the series has no baseline '2025-03'": lambda: bc.change(
        windows(0.1, 0.1), baseline="2025-03"
    ),
    "alarm must be a number in \\[0.5, 1\\]; got 0.05": lambda: bc.change(
        windows(0.1, 0.1), alarm=0.05
    ),
    "prob must be a number in": lambda: bc.change(windows(0.1, 0.1), prob=2),
    "a measure needs draws of a calibration curve": lambda: bc.change(windows(0.1, 0.1), "auc"),
    "window 'new': a measure needs draws": lambda: bc.change(
        {**FAILED, "new": window(0.1, var=AUC)}
    ),
    "needs to know whether more of 'bias' is better": lambda: bc.change(
        windows(0.1, 0.1, var=Variable("bias", "bias", role=METRIC))
    ),
    "undefined in every draw": lambda: bc.change({**FAILED, "new": window(np.nan)}),
    "Leave group out, or pass a result a window": lambda: bc.change(
        make_result(groups=["x", "y"]), classifier="a", group="x"
    ),
    "classifier must be one of the result's": lambda: bc.change(make_result(groups=["x", "y"])),
    "window '1': class_ must be one of the result's": lambda: bc.change(
        [make_result(["a"], classes=["p", "q"])] * 2
    ),
    "an error or a metric": lambda: bc.change([result_of("credal")] * 2),
    "got 'label_rate'. Choose from tce": lambda: bc.change([make_result()] * 2, "label_rate"),
}


class _WithFailure(dict):
    failures: ClassVar = {"b": SimpleNamespace(message="no rows")}


def test_whole_numbers_of_numpy_name_windows_as_others_do() -> None:
    one, two = windows(0.1, 0.2).values()
    found = bc.change({np.int64(7): one, np.int64(8): two}).table
    pd.testing.assert_frame_equal(found, bc.change({7: one, 8: two}).table)


@pytest.mark.parametrize("said", WRONG)
def test_what_is_wrong_is_refused(said: str) -> None:
    with pytest.raises(bc.InputError, match=said):
        WRONG[said]()
