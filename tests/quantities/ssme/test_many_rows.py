"""Of many rows the model sees the same ones as of rows in memory."""

import numpy as np
import pytest

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.core.partial_sums import numbered
from bayescal.quantities.ssme import data as ssme_data
from bayescal.quantities.ssme import many_rows
from bayescal.quantities.ssme.data import Problem, score_matrix
from bayescal.quantities.ssme.many_rows import count_rows
from bayescal.quantities.ssme.posterior import plan
from tests.row_sources import ODD_CUTS, SOURCES, data_set


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Rows beyond 300 are many."""
    for module in (ssme_data, many_rows):
        monkeypatch.setattr(module, "MOST_UNLABELED", 300)


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
def test_the_rows_are_those_that_are_taken_in_memory(source, n_classes, tmp_path):
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


def test_few_rows_all_stay(tmp_path):
    _, columns, named = made(2)
    rows = {name: values[:250] for name, values in columns.items()}
    found = count_rows(data_set(tmp_path, rows, (100,)), label="y", score=named)
    assert found.n_obs == found.scores.n_obs == 250
    assert (found.weight == 1).all()


def test_probabilities_of_rows_that_were_left_out_are_refused(tmp_path):
    _, columns, named = made(2)
    found = count_rows(data_set(tmp_path, columns, ODD_CUTS), label="y", score=named)
    with pytest.raises(InputError, match="prob_label"):
        plan(found, bc.ssme.Priors(), prob_label=True)
    with pytest.raises(InputError, match="labeling"):
        plan(found, bc.ssme.Priors(), labeling="none")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"y": {1000: 2.0}}, "y must hold two labels"),
        ({"b": {1000: 7.0}}, r"b \(rows counted from row 950\) must lie in \[0, 1\].*at row 50"),
    ],
)
def test_bad_rows_are_named(changes, message, tmp_path):
    _, columns, named = made(2)
    for name, rows in changes.items():
        for row, value in rows.items():
            columns[name] = columns[name].copy()
            columns[name][row] = value
    with pytest.raises(InputError, match=message):
        count_rows(data_set(tmp_path, columns, ODD_CUTS), label="y", score=named)


def test_rows_that_change_after_their_labels_were_counted_are_refused():
    class Written:
        label = np.array([0.0, 1, np.nan, np.nan])

        def parts(self, columns, batch_rows):
            found = {"y": self.label, "p": np.array([0.2, 0.7, 0.4, 0.6])}
            self.label = np.array([0.0, 1, 1, np.nan])
            return [numbered([{name: found[name] for name in columns}])]

    with pytest.raises(bc.InputError, match="'y', 'p' must not change while they are read twice"):
        bc.ssme.count_rows(Written(), label="y", score="p")
