"""Decision curves: against rows, the conjugate answer of a binary test, and the bootstrap."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayescal as bc
from bayescal.measures.measure import ROWS
from bayescal.results import access
from bayescal.results.answers import Benefit, DecisionCurve, benefit, chances
from bayescal.results.measure import curve_cells
from tests.synthetic import make_result

BINS = bc.ece.Priors(label_rate=bc.ece.IndependentBins(bc.Beta(1, 1)))
RNG = np.random.default_rng(4)
X = RNG.normal(size=600)
LABEL = (RNG.random(600) < 1 / (1 + np.exp(1 - 1.5 * X))).astype(int)
SCORES = {
    "sharp": 1 / (1 + np.exp(1 - 1.5 * X)),
    "noisy": 1 / (1 + np.exp(1 - X - RNG.normal(size=600))),
}
SHIFTS = {"one": 0.0, "two": 0.4}
TESTS = {k: np.where(X + RNG.normal(0, 0.7, 600) > s, 0.7, 0.2) for k, s in SHIFTS.items()}
QUICK: dict[str, Any] = {"method": "direct", "seed": 20}


@pytest.fixture(scope="module")
def two() -> xr.DataTree:
    return bc.fit(bc.ece, bc.Scores.stack(SCORES, y_true=LABEL), draws=250, **QUICK)


@pytest.fixture(scope="module")
def tests() -> xr.DataTree:
    """Two binary tests whose posterior is nearly the Bayesian bootstrap."""
    return bc.fit(bc.ece, bc.Scores.stack(TESTS, y_true=LABEL), priors=BINS, **QUICK)


def test_a_draw_is_the_net_benefit_of_its_rows(two: xr.DataTree) -> None:
    rate, score, mass, *_ = curve_cells(two, access.cases(two)[0], ROWS)
    rate, mass, thresholds = rate[1, 7], mass[1, 7], np.arange(1, 100) / 100
    label, weight = np.repeat([1, 0], len(score)), np.concatenate([mass * rate, mass * (1 - rate)])
    of_row = np.tile(score, 2)
    found = benefit(rate[None], score, mass[None], thresholds)
    for k, t in enumerate(thresholds):
        gain = weight * np.where(label == 1, 1, -t / (1 - t))
        assert found.own[k, 0] == pytest.approx(gain[of_row >= t].sum(), abs=1e-12)
        assert found.everyone[k, 0] == pytest.approx(gain.sum(), rel=1e-12, abs=1e-12)


def test_figures_are_those_of_the_measure(two: xr.DataTree) -> None:
    found = bc.decision_curve(two, [0.25, 0.5], 0.8).table
    row = found.set_index(["classifier", "threshold"]).loc[("noisy", 0.25)]
    draws = bc.measure(two, "net_benefit", threshold=0.25).sel(classifier="noisy")
    of_each = bc.measure(two, "net_benefit_all", threshold=0.25)
    everyone = of_each.sel(classifier="noisy")
    ends = bc.interval(two, "net_benefit:0.25", 0.8).sel(classifier="noisy").values
    np.testing.assert_allclose(row[["lower", "upper"]].astype(float), ends, atol=1e-12)
    assert row["mean"] == pytest.approx(float(draws.mean()))
    # Both classifiers are of the same rows.
    assert row["all_mean"] == pytest.approx(float(of_each.mean()))
    useful = (draws > everyone.clip(min=0)).mean()
    assert row["p_useful"] == pytest.approx(float(useful))


def test_a_binary_test_has_the_conjugate_posterior() -> None:
    """Rates Beta, shares of the results Dirichlet: their draws are made directly."""
    tp, fp, fn, tn = 30, 50, 14, 206
    y, score = np.repeat([1, 0, 1, 0], [tp, fp, fn, tn]), np.repeat([0.5, 0.1], [80, 220])
    result = bc.fit(bc.ece, bc.Scores(y_true=y, y_prob=score), priors=BINS, **QUICK)
    rng, n = np.random.default_rng(1), 400_000
    share = rng.beta(tp + fp, fn + tn, n)
    ppv, missed = rng.beta(tp + 1, fp + 1, n), rng.beta(fn + 1, tn + 1, n)
    for _, row in bc.decision_curve(result, [0.12, 0.2, 0.35]).table.iterrows():
        odds = row["threshold"] / (1 - row["threshold"])
        own = share * (ppv - odds * (1 - ppv))
        everyone = (1 + odds) * (share * ppv + (1 - share) * missed) - odds
        p = float((own > np.maximum(everyone, 0)).mean())
        # Four standard errors of 4,000 draws; an end's is about twice the mean's.
        error = 4 * own.std() / np.sqrt(4000)
        assert row["mean"] == pytest.approx(own.mean(), abs=error)
        np.testing.assert_allclose(
            row[["lower", "upper"]].astype(float), np.quantile(own, [0.05, 0.95]), atol=2.1 * error
        )
        assert row["p_useful"] == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / 4000) + 1e-3)


def test_the_best_of_several_is_that_of_the_bootstrap(tests: xr.DataTree) -> None:
    thresholds = np.array([0.21, 0.25, 0.3, 0.4, 0.5])
    weight = np.random.default_rng(2).dirichlet(np.ones(600), 40_000)
    table = bc.decision_curve(tests, thresholds).table
    for t, own in table.groupby("threshold"):
        gain = np.where(LABEL == 1, 1, -t / (1 - t))
        treated = [(score >= t) * gain for score in TESTS.values()]
        values = weight @ np.stack([*treated, gain, 0 * gain]).T
        shares = np.bincount(values.argmax(axis=1), minlength=4) / len(values)
        first = own.iloc[0]
        found = [*own["p_best"], first["p_best_all"], first["p_best_none"]]
        # Monte Carlo error, and the prior of a rate, worth two rows of some hundred.
        np.testing.assert_allclose(found, shares, atol=0.05)
        evpi = values.max(axis=1).mean() - values.mean(axis=0).max()
        assert first["evpi"] == pytest.approx(evpi, abs=max(2e-4, 0.15 * evpi))


def test_weights_count_as_rows_do() -> None:
    weight = np.where(np.arange(600) % 3, 1.0, 3.0)
    scores = bc.Scores.stack(TESTS, y_true=LABEL, sample_weight=weight)
    result = bc.fit(bc.ece, scores, priors=BINS, **QUICK)
    row = bc.decision_curve(result, [0.4]).table.iloc[0]
    drawn = np.random.default_rng(2).dirichlet(np.ones(600), 40_000) * weight
    gain = np.where(LABEL == 1, 1, -0.4 / 0.6)
    one, two = (drawn @ ((score >= 0.4) * gain) for score in TESTS.values())
    assert row["p_best"] == pytest.approx(float((one > two).mean()), abs=0.06)


@pytest.mark.parametrize("weighted", [False, True])
def test_treating_all_is_one_number_of_the_rows(weighted: bool) -> None:
    """Whatever the classifiers and their order: 200 parts, or two, of the same rows."""
    weight = np.random.default_rng(5).lognormal(size=300) if weighted else None
    scores = {"fine": SCORES["sharp"][:300], "test": TESTS["two"][:300]}
    tables = []
    for names in (("fine", "test"), ("test", "fine")):
        ordered = {name: scores[name] for name in names}
        data = bc.Scores.stack(ordered, y_true=LABEL[:300], sample_weight=weight)
        found = bc.decision_curve(bc.fit(bc.ece, data, draws=250, **QUICK), [0.1, 0.2, 0.4])
        tables.append(found.table.set_index(["classifier", "threshold"]).sort_index())
    first, second = (table.drop(columns="status") for table in tables)
    np.testing.assert_allclose(first, second, rtol=1e-9, atol=1e-12)
    everyone = first[["all_mean", "all_lower", "all_upper"]]
    assert (everyone.loc["fine"] == everyone.loc["test"]).all(axis=None)


def test_who_treats_all_or_none_ties_with_that(two: xr.DataTree) -> None:
    low, high = 0.001, 0.999
    found = bc.decision_curve(two, [low, high])
    assert found.text.endswith("at each threshold: more rows would hardly change the choice.")
    table = found.table.set_index(["threshold", "classifier"])
    np.testing.assert_allclose(table["p_useful"], 0)
    np.testing.assert_allclose(table.loc[low, ["p_best", "p_best_all"]], 1 / 3)
    np.testing.assert_allclose(table.loc[high, ["p_best", "p_best_none"]], 1 / 3)
    np.testing.assert_allclose(table["evpi"], 0, atol=1e-12)


def test_probabilities_of_all_strategies_sum_to_one(two: xr.DataTree) -> None:
    table = bc.decision_curve(two).table
    sums = table.groupby("threshold")["p_best"].sum()
    rest = table.drop_duplicates("threshold").set_index("threshold")
    np.testing.assert_allclose(sums + rest["p_best_all"] + rest["p_best_none"], 1)
    assert (table["evpi"] >= 0).all()


def test_without_shared_rows_nothing_is_said_of_the_best(two: xr.DataTree) -> None:
    apart = two.filter(lambda node: node.name != "shared_rows")
    found, whole = bc.decision_curve(apart), bc.decision_curve(two)
    np.testing.assert_array_equal(found.table["p_useful"], whole.table["p_useful"])
    assert found.table[["p_best", "p_best_all", "p_best_none", "evpi"]].isna().all(axis=None)
    assert "Which strategy is best is not known" in found.text
    one = bc.decision_curve(apart.sel(classifier="noisy"))
    assert one.table["p_best"].notna().all()


@pytest.mark.parametrize(
    ("top", "first", "last", "number"),
    [(0.3, 0.01, 0.3, 30), (1.0, 0.01, 0.99, 99), (0.042, 0.001, 0.042, 42)],
)
def test_thresholds_go_up_to_the_highest_score(
    top: float, first: float, last: float, number: int
) -> None:
    y = np.arange(60) % 2
    scores = bc.Scores(y_true=y, y_prob=np.where(y == 1, top, top / 2))
    at = bc.decision_curve(bc.fit(bc.ece, scores, **QUICK)).table["threshold"]
    assert (at.iloc[0], at.iloc[-1], len(at)) == (first, last, number)


def test_the_sentence_names_ranges_of_thresholds(two: xr.DataTree) -> None:
    text = bc.decision_curve(two, [0.001, 0.2, 0.1 + 0.2, 0.7, 0.8]).text
    noisy = "noisy at thresholds from 0.20 to 0.30. Useful"
    assert f"0.95 or more, sharp is useful at thresholds from 0.20 to 0.70; {noisy}" in text
    both = "more, sharp and noisy are useful at"
    assert f"{both} the threshold of 0.20." in bc.decision_curve(two, [0.001, 0.2, 0.999]).text
    none = bc.decision_curve(two, [0.001]).text
    assert f"{both} no threshold (the highest probability is below 0.001, at 0.001)." in none
    lost = make_result(("vit",), converged=False)
    if "curve" in lost.children:
        assert bc.decision_curve(lost).text.startswith("Unreliable")


def test_the_sentence_tells_of_six_sets_of_thresholds_at_most() -> None:
    n = 30
    at = np.tile(np.arange(1, 100) / 100, n)
    name = np.repeat([f"m{k:02d}" for k in range(n)], 99)
    useful = at > np.repeat(np.arange(n) // 2, 99) / 100
    numbers = {"threshold": at, "p_useful": useful, "evpi": 0.01}
    table = pd.DataFrame({"classifier": name, "status": "ok", **numbers})
    text = DecisionCurve(0.9, table).text
    assert "m10 and m11 at thresholds from 0.06 to 0.99; for 18 more classifiers see the" in text
    assert "m12" not in text


def test_classes_are_taken_one_at_a_time() -> None:
    prob = np.random.default_rng(3).dirichlet(np.ones(3), 90)
    rows = bc.Scores.stack({"a": prob, "b": prob[:, [0, 2, 1]]}, y_true=np.arange(90) % 3)
    by_class = bc.fit(bc.ece, rows, multiclass="class-wise", draws=300, **QUICK)
    found = bc.decision_curve(by_class, [0.3], class_="1").table
    draws = bc.measure(by_class.sel({"class": "1"}), "net_benefit", threshold=0.3)
    np.testing.assert_allclose(found["mean"], draws.mean(("chain", "draw")))
    top = bc.fit(bc.ece, rows, multiclass="top-label", draws=150, **QUICK)
    with pytest.raises(bc.InputError, match="for one event"):
        bc.decision_curve(top, [0.3])


WRONG: dict[str, Callable[[xr.DataTree], Any]] = {
    "thresholds must hold 1 or more numbers": lambda tree: bc.decision_curve(tree, []),
    "thresholds must hold 1 or more numbers in .*; got 'half'": lambda tree: bc.decision_curve(
        tree, "half"
    ),
    r"thresholds\[1\] must be a number in \(0, 1\); got 1": lambda tree: bc.decision_curve(
        tree, [0.5, 1]
    ),
    "thresholds must increase; got 0.5, 0.5": lambda tree: bc.decision_curve(tree, [0.5, 0.5]),
    "prob must be a number": lambda tree: bc.decision_curve(tree, prob=2),
    "class must be one in the result": lambda tree: bc.decision_curve(tree, class_="cat"),
    "group must be one in the result": lambda tree: bc.decision_curve(tree, group=3),
    "a measure needs draws of a calibration curve": lambda tree: bc.decision_curve(
        tree.filter(lambda node: node.name != "curve")
    ),
    "a result must be an xarray.DataTree": lambda tree: bc.decision_curve([tree]),
}


@pytest.mark.parametrize("message", WRONG)
def test_bad_input(two: xr.DataTree, message: str) -> None:
    with pytest.raises(bc.InputError, match=message) as refused:
        WRONG[message](two)
    assert "\n" not in str(refused.value)


def test_groups_must_be_named() -> None:
    scores = bc.Scores.stack(SCORES, y_true=LABEL, group=np.arange(600) % 2)
    result = bc.fit(bc.ece, scores, draws=150, **QUICK)
    with pytest.raises(bc.InputError, match="group must be one of the result's"):
        bc.decision_curve(result)
    assert len(bc.decision_curve(result, [0.2], group="1").table) == 2


def test_ties_share_a_draw() -> None:
    """Of one classifier that treats all rows in every draw."""
    both = Benefit(np.array([[0.2, 0.3]]), np.array([[0.2, 0.3]]))
    found = chances(xr.DataTree(), [object()], [both], np.array([0.1]))  # type: ignore[list-item]  # any will do
    np.testing.assert_allclose(found.best, [[0.5, 0.5, 0]])


def test_of_positive_and_unlabelled_rows() -> None:
    truth = bc.datasets.ece.truth("over")
    rows = truth.scores(4000, seed=3)
    score, label = np.ravel(rows.y_prob), np.asarray(rows.y_true)
    data = bc.PUScores(positive=score[:2000][label[:2000] == 1], unlabeled=score[2000:])
    known = bc.pu_ece.Priors(0.5, bc.pu_ece.SmoothCurve())
    result = bc.fit(bc.pu_ece, data, priors=known, method="direct", seed=3)
    found = bc.decision_curve(result, [0.25, 0.5], 0.98).table
    for _, row in found.iterrows():
        odds = row["threshold"] / (1 - row["threshold"])
        # The labels that the model does not see: a sample of the truth, to two standard errors.
        gain = np.where(label == 1, 1, -odds) * (score >= row["threshold"])
        error = 2 * gain.std() / len(gain) ** 0.5
        assert row["lower"] - error <= gain.mean() <= row["upper"] + error
