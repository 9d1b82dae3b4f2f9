"""The estimate against its formula, other libraries, and numbers worked out in fractions."""

import json
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayescal as bc
from bayescal.core.bin_counts import BinCounts
from bayescal.core.binning import bin_scores
from bayescal.core.errors import InputError
from bayescal.core.scores import Scores, Task
from bayescal.quantities.ece.estimator import Estimate, estimate

KEPT = Path(__file__).parents[2] / "golden"
GOLDEN = json.loads((KEPT / "ece_ties.json").read_text())
# Made by make_netcal.py beside it.
NETCAL = json.loads((KEPT / "netcal.json").read_text())


def make(n=400, seed=0, decimals=None):
    rng = np.random.default_rng(seed)
    score = rng.random(n)
    if decimals is not None:
        score = score.round(decimals)
    return Task({}, score, (rng.random(n) < score**1.4).astype(np.uint8))


@pytest.mark.parametrize("case", NETCAL["cases"], ids=str)
def test_netcal(case):
    task, n_bins = make(decimals=case["decimals"]), case["n_bins"]
    options = {"strategy": np.linspace(0, 1, n_bins + 1), "closed": "left"}
    if case["decimals"] is None:
        options = {"strategy": "uniform", "n_bins": n_bins}
    found = estimate(task, **options)
    assert found.ece == pytest.approx(case["ece"], rel=1e-12)
    assert found.mce == pytest.approx(case["mce"], rel=1e-12)


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["name"])
def test_worked_out_in_fractions(case):
    scores = Scores(y_true=GOLDEN["y_true"], y_prob=[float(Fraction(p)) for p in GOLDEN["y_prob"]])
    options = {"n_bins": case["n_bins"], "strategy": case["strategy"], "closed": case["closed"]}
    found = estimate(scores, **options)
    assert found.count.tolist() == case["count"]
    assert found.positives.tolist() == case["positives"]
    for name in ("ece", "mce"):
        assert getattr(found, name) == pytest.approx(float(Fraction(case[name])), rel=1e-13)
    for name in ("l2", "l2_debiased"):
        squared = float(Fraction(case[f"{name}_squared"]))
        assert getattr(found, name) ** 2 == pytest.approx(squared, rel=1e-12, abs=1e-15)


def test_debiased_l2_of_a_negative_square_is_0():
    bins = BinCounts([0, 1], [2], [1], [0.5])
    assert estimate(bins).l2_debiased == 0.0


@pytest.mark.parametrize("weights", [{}, {"mass": [9, 1], "rows": [1, 1]}])
def test_bins_of_one_row_add_nothing_to_the_debiased_l2(weights):
    found = estimate(BinCounts([0, 0.5, 1], [1, 1], [1, 0], [0.1, 0.9], **weights))
    assert found.l2 == pytest.approx(0.9)
    assert found.l2_debiased == 0.0


def test_empty_bins():
    bins = BinCounts([0, 0.25, 0.5, 1], [2, 0, 2], [1, 0, 2], [0.2, np.nan, 0.9])
    found = estimate(bins)
    np.testing.assert_array_equal(found.label_rate, [0.5, np.nan, 1.0])
    np.testing.assert_allclose(found.gap, [0.3, np.nan, 0.1])
    np.testing.assert_allclose(found.confidence, [0.2, 0.375, 0.9])
    assert found.bin_mass.tolist() == [0.5, 0.0, 0.5]
    assert found.ece == pytest.approx(0.2)
    assert found.mce == pytest.approx(0.3)


def test_bins_or_their_scores_make_no_difference():
    task = make()
    options = {"n_bins": 7, "strategy": "quantile", "closed": "left"}
    for one, other in zip(
        estimate(bin_scores(task, **options)), estimate(task, **options), strict=True
    ):
        np.testing.assert_array_equal(one, other)


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=40),
    st.integers(1, 50),
    st.sampled_from(["uniform", "quantile"]),
    st.sampled_from(["right", "left"]),
)
def test_equation_1_and_its_range(rows, n_bins, strategy, closed):
    task = Task({}, np.array([s for s, _ in rows]), np.array([e for _, e in rows], np.uint8))
    found = estimate(task, n_bins=n_bins, strategy=strategy, closed=closed)
    place = np.searchsorted(
        found.bin_edges[1:-1], task.score, side="left" if closed == "right" else "right"
    )
    by_bin = np.bincount(place, weights=task.event - task.score, minlength=n_bins) / task.n
    assert found.ece == pytest.approx(np.abs(by_bin).sum(), abs=1e-12)
    assert 0 <= found.ece <= found.mce + 1e-12 <= 1 + 2e-12
    assert abs(task.event.mean() - task.score.mean()) <= found.ece + 1e-12


def three_classes(n=300, seed=1):
    rng = np.random.default_rng(seed)
    y_prob = rng.dirichlet([1, 2, 0.5], n).round(12)
    label = np.array(["cat", "dog", "fox"])[[rng.choice(3, p=p) for p in y_prob]]
    return label, y_prob


def test_top_label_is_the_binary_problem_of_being_right():
    label, y_prob = three_classes()
    scores = Scores(y_true=label, y_prob=y_prob, classes=["cat", "dog", "fox"])
    found = estimate(scores)
    right = np.array(["cat", "dog", "fox"])[y_prob.argmax(1)] == label
    expected = estimate(Task({}, y_prob.max(1), right.astype(np.uint8)))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_class_wise_and_marginal():
    label, y_prob = three_classes()
    scores = Scores(y_true=label, y_prob=y_prob, classes=["cat", "dog", "fox"])
    class_wise = estimate(scores, multiclass="class-wise", n_bins=10)
    marginal = estimate(scores, multiclass="marginal", n_bins=10)
    each = [estimate(scores.one_vs_rest(name), n_bins=10) for name in ("cat", "dog", "fox")]
    assert class_wise.ece.shape == (3,)
    assert class_wise.label_rate.shape == (3, 10)
    assert class_wise.bin_edges.shape == (3, 11)
    for field in Estimate._fields:
        parts = np.stack([getattr(one, field) for one in each])
        np.testing.assert_array_equal(getattr(class_wise, field), parts)
        averaged = field in ("ece", "mce", "l2", "l2_debiased")
        np.testing.assert_allclose(
            getattr(marginal, field), parts.mean(axis=0) if averaged else parts
        )


def test_several_classifiers():
    label, y_prob = three_classes()
    panel = Scores.stack(
        {"a": y_prob, "b": y_prob[:, ::-1]}, y_true=label, classes=["cat", "dog", "fox"]
    )
    found = estimate(panel, multiclass="class-wise", n_bins=4)
    assert found.ece.shape == (2, 3)
    assert found.count.shape == (2, 3, 4)
    assert found.count.dtype == np.int64
    second = estimate(panel.select("b"), multiclass="class-wise", n_bins=4)
    np.testing.assert_array_equal(found.ece[1], second.ece)
    assert estimate(panel, multiclass="marginal").ece.shape == (2,)
    assert estimate(panel).ece.shape == (2,)


def test_two_classes_are_one_problem_in_every_mode():
    scores = Scores.stack({"a": [0.1, 0.8], "b": [0.2, 0.7]}, y_true=[0, 1])
    for multiclass in ("top-label", "class-wise", "marginal"):
        assert estimate(scores, multiclass=multiclass).ece.shape == (2,)


@pytest.mark.parametrize(
    "call",
    [bc.ece.estimate, bc.ece.build_model, bc.ece.expected_if_calibrated, partial(bc.fit, bc.ece)],
)
def test_counts_too_check_how_classes_are_taken(call: Callable[..., object]) -> None:
    counts = bc.Counts.from_arrays([0, 1, 1, 0], [0.1, 0.4, 0.8, 0.6])
    with pytest.raises(bc.InputError, match=r"multiclass must be one of .*; got 'each'"):
        call(counts, multiclass="each")


def test_one_case_is_a_number():
    found = estimate(make())
    assert isinstance(found.ece, float)
    assert isinstance(found.l2_debiased, float)


def test_missing_labels_are_left_out():
    with_missing = Scores(y_true=[0, 1, None, 1], y_prob=[0.2, 0.6, 0.5, 0.9])
    without = Scores(y_true=[0, 1, 1], y_prob=[0.2, 0.6, 0.9])
    assert estimate(with_missing).ece == estimate(without).ece


def test_no_row():
    with pytest.raises(InputError, match="at least one row"):
        estimate(BinCounts([0, 1], [0], [0], [0.5]))
