"""From scores to the rows that estimate and model see."""

from dataclasses import replace

import numpy as np
import pymc as pm
import pytest
from scipy.special import log_softmax, softmax
from sklearn.metrics import average_precision_score, roc_auc_score

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.core.sums import numbered
from bayescal.quantities.ssme import data as ssme_data
from bayescal.quantities.ssme.data import (
    LEAST_OF_GROUP,
    MOST_UNLABELED,
    Problem,
    classes_at,
    count_rows,
    data_warnings,
    score_matrix,
    weighted_matrix,
    with_known_labels,
)
from bayescal.quantities.ssme.metrics import Metrics, expected_metrics, mean_over_draws, metrics
from bayescal.quantities.ssme.model import label_model, model_of
from bayescal.quantities.ssme.posterior import plan
from bayescal.quantities.ssme.priors import GaussianMixture, Priors, StudentTMixture, Tilt
from bayescal.quantities.ssme.tilt import _draw_classes, power_categorical
from tests.interpreted import PLAIN
from tests.quantities.ssme.made import binary, grouped, in_chains, many_classes, problem
from tests.row_sources import ODD_CUTS, SOURCES, data_set


def relabeled(made, y):
    y = np.asarray(y, dtype=np.int32)
    full = np.full(made.matrix.n_obs, -1, dtype=np.int32)
    full[: len(y)] = y
    return replace(made.matrix, y=full)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_equal_scores_of_several_classes_stay_equal(dtype):
    """Shares of three votes: rounded to 12 decimals, thirds do not sum to 1."""
    rng = np.random.default_rng(1)
    shares = (rng.multinomial(3, [0.2, 0.3, 0.5], 60) / 3).astype(dtype)
    y = rng.integers(3, size=60)
    scores = bc.Scores(y_true=y, y_prob=shares)
    assert len(np.unique(weighted_matrix(scores).probs)) == 4
    found = bc.ssme.baselines.labeled(scores)
    each = [(y == k, shares[:, k]) for k in range(3)]
    assert found.auc[0] == pytest.approx(np.mean([roc_auc_score(*one) for one in each]))
    precision = np.mean([average_precision_score(*one) for one in each])
    assert found.auprc[0] == pytest.approx(precision)


@pytest.mark.parametrize(("known", "bare"), [([0, 2, 0], "1"), ([], "0, 1, 2")])
def test_a_forced_label_of_every_class_must_be_there(known, bare):
    """A class that is missing cannot have been found first."""
    matrix = relabeled(many_classes(n=60, k=3), known)
    assert Problem.of(matrix, "random").labeling == "random"
    message = f"'one-per-class' needs a label of every class; got none of {bare}. Label a row"
    with pytest.raises(InputError, match=message):
        Problem.of(matrix, "one-per-class")


def test_full_labels_leave_nothing_open():
    assert data_warnings(relabeled(problem(), [0, 1])) == []
    assert data_warnings(relabeled(grouped(), [0, 1, 1])) == []


def test_no_labels_are_named_first_and_alone():
    (found,) = data_warnings(relabeled(grouped(), []))
    assert "no row is labelled" in found


def test_classes_and_groups_without_labels_are_named():
    (bare,) = data_warnings(relabeled(many_classes(k=4), [0, 2]))
    assert "no label of 1, 3" in bare
    # Not those that look like the class: labels chosen by score would be no random sample.
    assert "chosen as the others were" in bare
    class_, group = data_warnings(relabeled(grouped(), [0, 0]))
    assert "no label of 1" in class_
    assert "no label in group 'z'" in group


def test_a_group_of_weight_0_is_not_taken_to_be_like_the_others():
    scores = bc.Scores(
        y_true=[0, 1, 1], y_prob=[0.2, 0.7, 0.4], group=["x", "x", "y"], sample_weight=[1, 2, 0]
    )
    (said,) = data_warnings(weighted_matrix(scores))
    assert said == "all rows of group 'y' have weight 0: it has no metrics."


def test_binary_scores_as_one_column_or_two():
    s = np.array([0.0, 0.25, 1.0])
    one = score_matrix(bc.Scores(y_true=[0, None, 1], y_prob=s))
    two = score_matrix(bc.Scores(y_true=[0, None, 1], y_prob=np.stack([1 - s, s], axis=1)))
    np.testing.assert_array_equal(one.probs, [np.stack([1 - s, s], axis=1)])
    np.testing.assert_array_equal(two.probs, one.probs)
    np.testing.assert_array_equal(one.y, [0, -1, 1])
    assert (one.n_obs, one.n_labeled, one.n_classifiers, one.n_classes) == (3, 2, 1, 2)
    assert one.is_binary


def test_rows_of_float32_sum_to_one():
    prob = np.random.default_rng(1).dirichlet(np.ones(5), 50).astype(np.float32)
    matrix = score_matrix(bc.Scores(y_true=[0, *[None] * 49], y_prob=prob))
    assert matrix.probs.dtype == np.float64
    np.testing.assert_allclose(matrix.probs.sum(axis=2), 1, rtol=2e-7)  # a division in float32
    assert not matrix.is_binary


def test_take_keeps_names_and_groups():
    scores = bc.Scores.stack(
        {"a": [0.1, 0.2, 0.3], "b": [0.4, 0.5, 0.6]}, y_true=[None, 1, 0], group=["u", "v", "v"]
    )
    matrix = score_matrix(scores)
    part = matrix.take(np.array([2, 0]))
    np.testing.assert_allclose(part.probs[:, :, 1], [[0.3, 0.1], [0.6, 0.4]])
    assert part.y.tolist() == [0, -1]
    assert part.group.tolist() == [1, 0]
    assert part.groups == ("u", "v")
    assert matrix.select(1).classifiers == ("b",)
    np.testing.assert_array_equal(matrix.labeled, [False, True, True])


def matrix(**given):
    return score_matrix(binary(**given)[0])


def test_few_rows_all_stay():
    own = matrix(n=100)
    found = Problem.of(own, "random")
    assert found.matrix is own
    assert (found.weight == 1).all()
    np.testing.assert_array_equal(found.rows, np.arange(20))
    np.testing.assert_array_equal(found.labels, own.y[:20])


def test_of_many_rows_labeled_ones_stay_and_the_others_stand_for_all():
    own = matrix(n=MOST_UNLABELED + 3000, n_labeled=500)
    found = Problem.of(own, "random")
    unlabeled = own.n_obs - 500
    assert found.matrix.n_obs == MOST_UNLABELED + 500
    assert found.matrix.n_labeled == 500
    np.testing.assert_array_equal(found.labels, own.y[:500])
    np.testing.assert_array_equal(found.matrix.probs[:, found.rows], own.probs[:, :500])
    assert (found.weight[found.rows] == 1).all()
    assert found.weight.sum() == pytest.approx(500 + unlabeled)


def test_the_same_rows_are_taken_every_time():
    own = matrix(n=MOST_UNLABELED + 500)
    one, two = (Problem.of(own, "random").matrix.probs for _ in range(2))
    np.testing.assert_array_equal(one, two)


def test_the_rows_taken_have_the_mean_of_all():
    own = matrix(n=4 * MOST_UNLABELED)
    found = Problem.of(own, "random")
    mean = np.average(found.matrix.probs[..., 1], axis=1, weights=found.weight)
    error = own.probs[..., 1].std(axis=1) / np.sqrt(MOST_UNLABELED)
    assert (np.abs(mean - own.probs[..., 1].mean(axis=1)) < 4 * error).all()


def test_small_groups_keep_their_rows():
    """Ten rows in a hundred thousand would be left out of 5,000 taken from all."""
    n = 100_000
    group = np.where(np.arange(n) % 10_000 == 9_999, "few", "many")
    own = matrix(n=n, group=group)
    found = Problem.of(own, "random")
    for g in range(2):
        rows, every = found.matrix.group == g, own.group == g
        assert found.weight[rows].sum() == pytest.approx(every.sum())
        assert rows.sum() == min(every.sum(), MOST_UNLABELED // 2 + (own.labeled & every).sum())


def test_many_groups_keep_enough_each():
    own = matrix(n=60_000, group=[f"g{i % 50}" for i in range(60_000)])
    found = Problem.of(own, "random")
    unlabeled = ~found.matrix.labeled
    assert (np.bincount(found.matrix.group[unlabeled]) == LEAST_OF_GROUP).all()
    assert found.weight.sum() == pytest.approx(60_000)


@pytest.fixture
def made_matrix():
    score = np.array([0.1, 0.3, 0.45, 0.7, 0.9])
    scores = {"a": score, "b": score[::-1] ** 2}
    return score_matrix(bc.Scores.stack(scores, y_true=[0, *[None] * 4], group=list("uvuvu")))


PROB = np.array([[1, 0], [0.7, 0.3], [0.5, 0.5], [0.2, 0.8], [0.1, 0.9]])


def test_draws_in_blocks_are_the_same_draws(made_matrix, monkeypatch):
    whole = expected_metrics(made_matrix, PROB, 100, np.random.default_rng(2))
    monkeypatch.setitem(expected_metrics.__globals__, "_NUMBERS_AT_ONCE", 70)
    parts = expected_metrics(made_matrix, PROB, 100, np.random.default_rng(2))
    for one, two in zip(whole, parts, strict=True):
        np.testing.assert_allclose(one, two, rtol=0, atol=1e-12)


def test_without_draws_probabilities_are_labels(made_matrix):
    found = expected_metrics(made_matrix, PROB, None, np.random.default_rng(0))
    np.testing.assert_array_equal(found.auc, metrics(made_matrix.probs, PROB).auc)


def test_a_metric_that_no_draw_has(made_matrix):
    certain = np.tile([1.0, 0.0], (5, 1))
    found = expected_metrics(made_matrix, certain, 10, np.random.default_rng(4))
    assert np.isnan(found.auc).all()
    assert np.isfinite(found.ece).all()


def test_known_labels_are_certain():
    label = [2, None, 0, None]
    three = score_matrix(bc.Scores(y_true=label, y_prob=np.full((4, 3), 1 / 3), classes=[0, 1, 2]))
    draws = np.random.default_rng(0).dirichlet(np.ones(3), (5, 4))
    kept = draws.copy()
    found = with_known_labels(three, draws)
    np.testing.assert_array_equal(found[:, [0, 2]], np.tile(np.eye(3)[[2, 0]], (5, 1, 1)))
    np.testing.assert_array_equal(found[:, [1, 3]], draws[:, [1, 3]])
    np.testing.assert_array_equal(draws, kept)


def test_a_label_is_where_the_number_falls():
    """Classes own [0, .2), [.2, .7) and [.7, 1); of probabilities by draw, those of the draw."""
    prob = np.array([[0.2, 0.5, 0.3]])
    uniform = np.array([[0.0], [0.19], [0.2], [0.69], [0.7], [0.999]])
    expected = [[0], [0], [1], [1], [2], [2]]
    np.testing.assert_array_equal(classes_at(prob, uniform), expected)
    np.testing.assert_array_equal(classes_at(np.tile(prob, (6, 1, 1)), uniform), expected)
    turned = classes_at(np.stack([prob, prob[:, ::-1]]), np.array([[0.25], [0.25]]))
    np.testing.assert_array_equal(turned, [[1], [0]])


def test_draws_without_a_metric_are_left_out_of_its_mean():
    values = np.array([[0.2, np.nan], [0.4, np.nan]])
    found = mean_over_draws(Metrics(*[values] * 7))
    assert found.auc[0] == pytest.approx(0.3)
    assert np.isnan(found.auc[1])


LABELS = {"tilt": Tilt(), "normal": GaussianMixture(), "student": StudentTMixture()}


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("make", [problem, many_classes])
def test_every_model_keeps_its_promises(kind, make):
    made = make(n=60)
    own = label_model(made, Priors(label=LABELS[kind], power=0.5))
    flat = own.prior_draws(4, np.random.default_rng(1))
    draws = in_chains(flat)
    assert set(own.shown) <= set(own.variables) == set(flat)
    prob = own.label_probs(flat)
    assert prob.shape == (4, 60, made.matrix.n_classes)
    np.testing.assert_allclose(prob.sum(axis=-1), 1)
    assert own.log_likelihood(draws).shape == (2, 2, 20)
    log_prior = own.log_prior(draws)
    assert set(log_prior) == set(own.shown)
    assert {values.shape for values in log_prior.values()} == {(2, 2)}
    assert isinstance(hash(own.compile_key), int)
    assert 0 < own.target_accept < 1
    data = model_of(made, own).data_vars
    assert {v.name for v in data} == set(own.inputs())


ETA = np.random.default_rng(1).normal(size=(6, 3))


def log_density(power, observed):
    with pm.Model() as model:
        data = pm.Data("power", np.asarray(power, float))
        labels = pm.Data("labels", np.asarray(observed))
        power_categorical("label", pm.Data("eta", ETA), data, labels)
    return float(model.compile_logp(mode=PLAIN)({}))


def test_the_density_is_the_categorical_to_the_power():
    observed, power = np.array([0, 2, 1, 1, 0, 2]), np.array([1, 0.5, 0.3, 0, 0, 0.9])
    expected = (power * log_softmax(ETA, axis=1)[np.arange(6), observed]).sum()
    assert log_density(power, observed) == pytest.approx(expected)


def test_labels_are_drawn_as_they_come_whatever_the_power():
    at, rng = np.tile(ETA, (20_000, 1, 1)), np.random.default_rng(2)
    drawn = _draw_classes(at, np.full(6, 0.1), rng=rng, size=None)
    shares = np.stack([(drawn == k).mean(axis=0) for k in range(3)], axis=1)
    # A share of 20,000 has a standard error below .0036.
    np.testing.assert_allclose(shares, softmax(ETA, axis=1), atol=0.015)


@pytest.fixture
def few(monkeypatch):
    """Rows beyond 300 are many."""
    monkeypatch.setattr(ssme_data, "MOST_UNLABELED", 300)


def made(n_classes, seed=0):
    """Rows of two classifiers in memory, and as columns; the last class comes last."""
    rng = np.random.default_rng(seed)
    prob = {name: rng.dirichlet(np.ones(n_classes), 1400) for name in ("a", "b")}
    label = np.sort(rng.integers(0, n_classes, 1400)).astype(float)
    label[rng.random(1400) < 0.9] = np.nan
    if n_classes == 2:
        columns = {name: values[:, 1] for name, values in prob.items()}
        return bc.Scores.stack(columns, y_true=label), {"y": label, **columns}, list(columns)
    named = {name: [f"{name}{k}" for k in range(n_classes)] for name in prob}
    columns = {
        column: prob[name][:, k] for name, own in named.items() for k, column in enumerate(own)
    }
    return bc.Scores.stack(prob, y_true=label), {"y": label, **columns}, named


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_rows_are_those_that_are_taken_in_memory(source, n_classes, tmp_path, few):
    scores, columns, named = made(n_classes)
    found = count_rows(source(tmp_path, columns, ODD_CUTS), label="y", score=named)
    expected = Problem.of(score_matrix(scores), "random")
    (case,) = plan(found, bc.ssme.Priors()).cases
    matrix = case.problem.matrix
    np.testing.assert_array_equal(matrix.probs, expected.matrix.probs)
    np.testing.assert_array_equal(matrix.y, expected.matrix.y)
    np.testing.assert_allclose(case.problem.weight, expected.weight, rtol=1e-14)
    assert (matrix.classifiers, matrix.classes) == (("a", "b"), expected.matrix.classes)
    (whole,) = plan(scores, bc.ssme.Priors()).cases
    assert plan(found, bc.ssme.Priors()).attrs == plan(scores, bc.ssme.Priors()).attrs
    assert case.fingerprint() == whole.fingerprint()


def test_few_rows_of_a_file_all_stay(tmp_path, few):
    _, columns, named = made(2)
    rows = {name: values[:250] for name, values in columns.items()}
    found = count_rows(data_set(tmp_path, rows, (100,)), label="y", score=named)
    assert found.n_obs == found.scores.n_obs == 250
    assert (found.weight == 1).all()


def test_a_classifier_named_by_a_number_is_named_as_in_memory(tmp_path, few):
    _, columns, _ = made(2)
    data = data_set(tmp_path, columns, ODD_CUTS)
    assert count_rows(data, label="y", score={1: "b"}).scores.classifiers == ("1",)


def test_probabilities_of_rows_that_were_left_out_are_refused(tmp_path, few):
    _, columns, named = made(2)
    found = count_rows(data_set(tmp_path, columns, ODD_CUTS), label="y", score=named)
    with pytest.raises(InputError, match="prob_label"):
        plan(found, bc.ssme.Priors(), prob_label=True)
    with pytest.raises(InputError, match="labeling"):
        plan(found, bc.ssme.Priors(), labeling="none")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"y": {1000: 2.0}}, "column 'y' of .* must hold two labels"),
        (
            {"b": {1000: 7.0}},
            r"column 'b' of 6\.parquet must lie in \[0, 1\].*at row 50",
        ),
    ],
)
def test_bad_rows_are_named(changes, message, tmp_path, few):
    _, columns, named = made(2)
    for name, rows in changes.items():
        for row, value in rows.items():
            columns[name] = columns[name].copy()
            columns[name][row] = value
    with pytest.raises(InputError, match=message):
        count_rows(data_set(tmp_path, columns, ODD_CUTS), label="y", score=named)


def test_rows_that_change_after_their_labels_were_counted_are_refused(few):
    class Written:
        label = np.array([0.0, 1, np.nan, np.nan])

        def parts(self, columns, batch_rows):
            found = {"y": self.label, "p": np.array([0.2, 0.7, 0.4, 0.6])}
            self.label = np.array([0.0, 1, 1, np.nan])
            return [numbered([{name: found[name] for name in columns}])]

    with pytest.raises(bc.InputError, match="'y', 'p' must not change while they are read twice"):
        bc.ssme.count_rows(Written(), label="y", score="p")
