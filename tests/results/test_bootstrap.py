"""The Bayesian bootstrap of rows with two rows added: closed forms, pairing, many rows, weights."""

from collections.abc import Callable

import numpy as np
import pytest
import xarray as xr
from scipy import stats
from scipy.special import expit
from sklearn.metrics import average_precision_score, brier_score_loss, log_loss, roc_auc_score

import bayescal as bc
from bayescal.measures.scores import accuracy, net_benefit, prevalence
from bayescal.results import access
from bayescal.results.bootstrap import Draws, Rows, draw_cells, joint_values, rows_of
from bayescal.results.measure import with_measures
from tests.several import result_of

RNG = np.random.default_rng(3)
# KS tests of some thousand draws: a right program fails one in a million.
LEAST = 1e-6


def fit(data: bc.Scores, **options: object) -> xr.DataTree:
    given = {"draws": 1000, "chains": 2, "seed": 20, **options}
    return bc.fit(bc.ece, data, method="direct", **given)


def paired(tree: xr.DataTree, function: Callable, cases: list) -> np.ndarray:
    return joint_values(tree, lambda cells: function(*cells[:3]), cases)


def panel(n: int, weight: np.ndarray | None = None) -> bc.Scores:
    rng = np.random.default_rng(8)
    score = rng.beta(1.5, 1.5, n)
    label = (rng.random(n) < score**1.3).astype(int)
    # The same calls and ranks as those of the first, and others.
    scores = {"first": score, "same": score**1.01, "other": np.clip(score + 0.2, 0, 0.999)}
    return bc.Scores.stack(scores, y_true=label, sample_weight=weight)


@pytest.fixture(scope="module")
def of_panel() -> xr.DataTree:
    return fit(panel(900))


def agrees(draws: np.ndarray, events: int, n: int) -> bool:
    """Whether a share of events is that of n rows and two with labels by a coin."""
    parts = [stats.beta(events + k, n - events + 2 - k) for k in range(3)]
    chance = np.array([0.25, 0.5, 0.25])
    proper = np.array([0 < events + k < n + 2 for k in range(3)])
    inside = draws[(draws > 1e-12) & (draws < 1 - 1e-12)]
    # Without either label among all rows the share is 0 or 1.
    of_ends = stats.binomtest(len(draws) - len(inside), len(draws), chance[~proper].sum())
    chance = np.where(proper, chance, 0) / chance[proper].sum()

    def distribution(x: np.ndarray) -> np.ndarray:
        return sum(p * one.cdf(x) for p, one in zip(chance, parts, strict=True) if p)

    return min(of_ends.pvalue, stats.kstest(inside, distribution).pvalue) > LEAST


@pytest.mark.parametrize("events", [(0.0, 3.0, 5.0), (0.0, 0.0, 0.0), (10.0, 7.0, 5.0)])
def test_the_overall_rate_is_a_mixture_of_beta_distributions(events: tuple[float, ...]) -> None:
    number, cell = np.array([10.0, 7.0, 5.0]), np.array([0, 1, 1])
    rows = Rows(np.array([0.1, 0.4, 0.8]), number, np.array(events), cell)
    cells = draw_cells(rows, Draws(4000, np.arange(4000)), RNG)
    np.testing.assert_allclose(cells.mass.sum(axis=1), 1)
    assert agrees(prevalence(*cells[:3]), int(sum(events)), 22)
    # Of ten rows of one label the next may have the other.
    assert np.ptp(cells.rate[:, 0]) > 0


def test_one_added_row_has_a_score_anywhere() -> None:
    rows = Rows(np.array([0.01, 0.9]), np.array([1000.0, 1.0]), np.zeros(2), np.arange(2))
    cells = draw_cells(rows, Draws(4000, np.arange(4000)), RNG)
    # .545 of [0, 1] is nearer to .9, and a coin makes it positive; the row at random hardly is.
    assert np.mean(cells.rate[:, 1] > 0) == pytest.approx(0.545 / 2, abs=4 * (0.25 / 4000) ** 0.5)


@pytest.mark.parametrize("name", ["ppv", "npv"])
def test_of_few_calls_that_are_right_the_next_may_be_wrong(name: str) -> None:
    """Two of 1,000 rows, in a range of scores that added rows hardly ever have."""
    n, draws = 1000, 4000
    score, label = np.repeat([0.985, 0.995], [n - 2, 2]), (np.arange(n) >= 15).astype(int)
    if name == "npv":
        score, label = 1 - score, 1 - label
    data = bc.Scores(y_true=label, y_prob=score)
    threshold = 0.99 if name == "ppv" else 0.01
    found = bc.measure(fit(data, draws=draws // 2), name, threshold=threshold).values.ravel()
    # A coin makes the added row a wrong one: then two of three are right, Beta(2, 1). Other added
    # rows are there in .01 of the draws.
    error = 4 * (0.25 / draws) ** 0.5 + 0.01
    for at in (0.3, 0.6, 0.9):
        assert np.mean(found < at) == pytest.approx(at**2 / 2, abs=error)


def test_what_classifiers_share_is_the_same_in_each_draw(of_panel: xr.DataTree) -> None:
    cases = access.cases(of_panel)
    first, same, other = paired(of_panel, prevalence, cases)
    np.testing.assert_allclose(first, same, atol=1e-12)
    np.testing.assert_allclose(first, other, atol=1e-12)
    events = int(np.sum(panel(900).y_true))
    assert agrees(first, events, 900)
    # Calls of cells that .5 cuts may differ: those of the exact rows are within one cell.
    alone = bc.measure(of_panel, "accuracy", threshold=0.5).sel(classifier="other").values.ravel()
    joint = paired(of_panel, accuracy, cases)[2]
    assert stats.ks_2samp(alone, joint).pvalue > LEAST


def test_classifiers_that_rank_alike_tie(of_panel: xr.DataTree) -> None:
    apart = bc.difference(of_panel, "first", "same", "auc")
    assert abs(apart.mean) < 1e-3
    assert apart.correlation > 0.999
    assert bc.best(of_panel, "auc").prob_best.values[:2] == pytest.approx(0.48, abs=0.1)


@pytest.mark.parametrize("name", ["auc", "auprc"])
def test_a_classifier_calibrated_anew_ranks_as_before(name: str) -> None:
    """The added rows have its scores, which lie elsewhere, but no row changes its rank."""
    x = np.random.default_rng(0).normal(size=600)
    label = np.random.default_rng(1).random(600) < expit(x)
    scores = {"first": expit(x), "sharper": expit(2 * x), "flatter": expit(x / 2)}
    tree = fit(bc.Scores.stack(scores, y_true=label), draws=400)
    assert bc.best(tree, name).prob_best.values == pytest.approx(1 / 3)
    apart = bc.difference(tree, "first", "sharper", name)
    assert (apart.lower, apart.upper, apart.prob_equal) == (0, 0, 1)
    assert bc.difference(tree, "first", "sharper", "brier").prob_equal == 0


def test_classifiers_that_call_the_same_rows_tie_and_others_do_not() -> None:
    x = np.random.default_rng(0).normal(size=400)
    label = np.random.default_rng(1).random(400) < expit(2 * x)
    # Odds to a power are above 1 where they were; a logit of .04 more calls three rows more.
    scores = {"first": expit(2 * x), "same": expit(5 * x), "more": expit(2 * x + 0.04)}
    tree = fit(bc.Scores.stack(scores, y_true=label), draws=400)
    for name in ("accuracy", "sensitivity", "specificity", "ppv", "cost:0.5,1e6,3e6"):
        same, other = (bc.difference(tree, "first", one, name) for one in ("same", "more"))
        assert (same.mean, same.prob_equal, other.prob_equal < 0.1) == (0, 1, True)
    found = bc.decision_curve(tree, [0.3, 0.5]).table.set_index(["classifier", "threshold"])
    at_half = found.xs(0.5, level="threshold")["p_best"]
    assert at_half["first"] == at_half["same"] > 0
    # At other thresholds they call other rows.
    assert found["p_best"]["first", 0.3] != found["p_best"]["same", 0.3]


def test_near_copies_that_call_fewer_events_are_no_copies_at_the_threshold() -> None:
    rng = np.random.default_rng(0)
    score = rng.uniform(size=2000)
    label = rng.random(2000) < score
    nearest = np.flatnonzero(label & (score > 0.5))
    moved = nearest[np.argsort(score[nearest])[:10]]
    fewer = np.where(np.isin(np.arange(2000), moved), 0.49, score)
    tree = fit(bc.Scores.stack({"first": score, "fewer": fewer}, y_true=label))
    assert bc.difference(tree, "first", "fewer", "brier").prob_equal == 1
    apart = bc.difference(tree, "first", "fewer", "sensitivity")
    # Every weight of the ten is above 0. A few rows of a cell count as spread over it.
    assert apart.mean == pytest.approx(10 / label.sum(), rel=0.2)
    assert apart.prob_first_larger > 0.95


def test_of_many_rows_some_are_kept_and_vary_as_all_do() -> None:
    n = 40_000
    data = panel(n)
    tree = fit(data)
    cases = access.cases(tree)
    assert tree["shared_rows"].sizes["shared_row"] < n
    values = paired(tree, prevalence, cases)
    share = np.mean(np.asarray(data.y_true))
    np.testing.assert_allclose(values.mean(axis=1), share, rtol=1e-9)
    # 2,000 draws of 5,000 rows: the standard deviation is known to 2 %.
    expected = np.sqrt(share * (1 - share) / n)
    np.testing.assert_allclose(values.std(axis=1), expected, rtol=0.1)


def test_of_many_rows_those_of_a_rare_event_are_kept() -> None:
    rng, n, events = np.random.default_rng(8), 40_000, 80
    label = (np.arange(n) < events).astype(int)
    called = {"first": rng.random(n) < 0.7, "other": rng.random(n) < 0.6}
    score = {name: np.where(label * own, 0.9, 0.1) for name, own in called.items()}
    tree = fit(bc.Scores.stack(score, y_true=label))
    expected = [own[:events].mean() for own in called.values()]
    apart = bc.difference(tree, "first", "other", "sensitivity")
    each = called["first"][:events].astype(int) - called["other"][:events]
    assert apart.mean == pytest.approx(expected[0] - expected[1], abs=0.002)
    # 2,000 draws know a standard deviation to 2 %.
    assert apart.draws.std() == pytest.approx(each.std() / np.sqrt(events), rel=0.1)


@pytest.fixture(scope="module")
def rare() -> bc.Scores:
    """An event of one row in a hundred, most of them in the highest of a hundred cells."""
    rng, n = np.random.default_rng(5), 200_000
    rate = rng.beta(0.1, 10, n)
    score = {f"c{i}": rate / (rate + (1 - rate) * np.exp(rng.normal(0, i, n))) for i in (1, 2)}
    return bc.Scores.stack(score, y_true=(rng.random(n) < rate).astype(int))


RARE = {
    "brier": brier_score_loss,
    "log_loss": log_loss,
    "auc": roc_auc_score,
    "auprc": average_precision_score,
    "sensitivity:0.3": lambda label, score: (score >= 0.3)[label == 1].mean(),
    "ppv:0.5": lambda label, score: label[score >= 0.5].mean(),
    "net_benefit:0.2": lambda label, score: np.mean((score >= 0.2) * np.where(label, 1, -0.25)),
}


@pytest.mark.parametrize("how", ["rows", "counts", "agnostic"])
def test_of_a_rare_event_numbers_are_those_of_the_rows(rare: bc.Scores, how: str) -> None:
    label, score = np.asarray(rare.y_true), rare.y_prob
    data = bc.Counts.from_scores(rare) if how == "counts" else rare
    quantity = bc.agnostic if how == "agnostic" else bc.ece
    tree = bc.fit(quantity, data, method="direct", draws=150, seed=20)
    found = with_measures(tree, list(RARE))
    for name, exact in RARE.items():
        expected = np.array([exact(label, own) for own in score])
        spread = found["posterior"][name].std(["chain", "draw"]).values
        # Parts hold a hundredth of the events, few beside the standard deviation of 600 draws.
        error = found["point_estimate"][name].values - expected
        assert (np.abs(error) < 0.4 * spread).all(), name
        if how == "rows":
            apart = bc.difference(tree, "c1", "c2", name)
            error = apart.mean - (expected[0] - expected[1])
            assert abs(error) < 0.5 * apart.draws.std(), name


@pytest.mark.parametrize("closed", ["right", "left"])
@pytest.mark.parametrize("score", [lambda p: p, lambda p: p.round(2), lambda p: p.round(3)])
def test_the_average_precision_of_many_rows_is_that_of_the_rows(score, closed: str) -> None:
    rng = np.random.default_rng(5)
    rate = expit(rng.normal(-3, 1.5, 100_000))
    label, score = (rng.random(len(rate)) < rate).astype(int), score(rate)
    data = bc.Scores(y_true=label, y_prob=score)
    tree = with_measures(fit(data, closed=closed, draws=250), ["auprc"])
    spread = tree["posterior"]["auprc"].std().item()
    error = tree["point_estimate"]["auprc"].item() - average_precision_score(label, score)
    # Parts hold a hundredth of the events: counted as tied, they took half a deviation off. The
    # deviation of 500 draws is known to 3 %.
    assert abs(error) < 0.15 * spread


@pytest.mark.parametrize("closed", ["right", "left"])
@pytest.mark.parametrize("tied", [0.0, 0.3])
def test_thresholds_part_cells(tied: float, closed: str) -> None:
    rng, n = np.random.default_rng(5), 20_000
    score = np.where(rng.random(n) < tied, 0.5, rng.beta(1.5, 1.5, n))
    label = (rng.random(n) < score).astype(int)
    tree = fit(bc.Scores(y_true=label, y_prob=score), closed=closed, draws=250)
    at = (0.31, 0.5, 0.74)
    curve = bc.decision_curve(tree, at).table
    for threshold, benefit in zip(at, curve["mean"], strict=True):
        called = score >= threshold
        names = [f"{name}:{threshold}" for name in ("sensitivity", "specificity", "accuracy")]
        found = bc.summary(tree, measures=names).iloc[0]
        exact = called[label == 1].mean(), 1 - called[label == 0].mean(), (called == label).mean()
        # A tenth of the .01 of the rows that a cell holds, with errors of rounding; a mean of 500
        # draws is known to .0003.
        for name, value in zip(names, exact, strict=True):
            assert found[f"{name}_point"] == pytest.approx(value, abs=0.002)
            assert found[f"{name}_mean"] == pytest.approx(value, abs=0.003)
        cost = threshold / (1 - threshold)
        expected = np.mean(called * np.where(label, 1, -cost))
        assert benefit == pytest.approx(expected, abs=0.004)


@pytest.mark.parametrize("closed", ["right", "left"])
@pytest.mark.parametrize("by_label", [1.0, 6.0])
def test_the_decision_curve_of_groups_is_that_of_their_rows(by_label: float, closed: str) -> None:
    """Of more scores than a group has cells, each a threshold: rows at it are all treated."""
    rng, scores = np.random.default_rng(5), np.arange(20, 80) / 100
    score, label = np.repeat(scores, 6), np.tile([0, 1, 1, 0, 0, 1], 60)
    group, weight = np.tile(list("aabbbb"), 60), np.where(label == 1, 1.0, by_label)
    data = bc.Scores(y_true=label, y_prob=score, group=group, sample_weight=weight)
    tree = fit(data, closed=closed)
    at = np.array([0.01, *scores, 0.99])
    for case in access.cases(tree):
        own = group == case.group
        gain = np.where(label[own] == 1, 1, -at[:, None] / (1 - at[:, None]))
        treated = gain * (score[own] >= at[:, None])
        exact = np.average(treated, weights=weight[own], axis=1)
        cells = rows_of(tree, case).cells
        found = [net_benefit(*cells.parted(one)[:3], one).item() for one in at]
        np.testing.assert_allclose(found, exact, atol=1e-6)  # scores are kept in single precision
        table = bc.decision_curve(tree, at, group=case.group).table
        drawn = rng.exponential(size=(4000, own.sum())) * weight[own]
        drawn /= drawn.sum(axis=1, keepdims=True)
        # Two rows are added to 120 or more, and 2,000 draws have a fortieth of the spread.
        of_all = np.average(gain, weights=weight[own], axis=1)
        spread = (drawn @ gain.T).std(axis=0)
        assert (np.abs(table["all_mean"] - of_all) < 0.2 * spread).all()
        draws = bc.measure(tree, "net_benefit_all:0.5").sel(group=case.group)
        assert float(draws.std()) == pytest.approx(spread[at == 0.5].item(), rel=0.1)


@pytest.mark.parametrize("closed", ["right", "left"])
@pytest.mark.parametrize("ends", [False, True])
def test_thresholds_part_the_first_and_the_last_cell(ends: bool, closed: str) -> None:
    rng, n = np.random.default_rng(5), 20_000
    score = np.where(rng.random(n) < 0.1 * ends, rng.integers(0, 2, n), rng.random(n))
    label = (rng.random(n) < score).astype(int)
    # Only what the rows themselves say is looked at.
    tree = fit(bc.Scores(y_true=label, y_prob=score), closed=closed, draws=250)
    for at in (0.002, 0.005, 0.995, 0.998):
        found = bc.summary(tree, measures=[f"sensitivity:{at}", f"specificity:{at}"]).iloc[0]
        called = score >= at
        # Most of what a part of a hundredth of the rows can be off by was .01.
        assert found[f"sensitivity:{at}_point"] == pytest.approx(
            called[label == 1].mean(), abs=1e-3
        )
        exact = 1 - called[label == 0].mean()
        assert found[f"specificity:{at}_point"] == pytest.approx(exact, abs=1e-3)


def test_weights_count_as_so_many_rows_as_they_are_worth() -> None:
    weight = np.where(np.arange(800) % 4 == 0, 3.0, 0.5)
    data = panel(800, weight)
    tree = fit(data)
    label = np.asarray(data.y_true)
    share, effective = np.average(label, weights=weight), weight.sum() ** 2 / (weight**2).sum()
    for values in (
        paired(tree, prevalence, access.cases(tree))[0],
        bc.measure(tree, "prevalence").sel(classifier="first").values,
    ):
        # Two rows are added to some 600, and the spread of 2,000 draws is known to 2 %.
        assert values.mean() == pytest.approx(share, abs=0.004)
        assert values.std() == pytest.approx(np.sqrt(share * (1 - share) / effective), rel=0.1)


def test_rows_without_labels_have_none() -> None:
    tree = result_of("pu_ece")
    assert rows_of(tree, access.cases(tree)[0]) is None
    assert "brier" not in with_measures(tree, ["brier"])["point_estimate"]
