import numpy as np
import pytest

from bayescal.core.errors import InputError
from bayescal.core.scores import Task, binary_problems, top_label

TWO_ROWS = np.array([[0.7, 0.2, 0.1], [0.4, 0.4, 0.2]])


def test_a_task_counts_its_rows_and_events():
    task = Task({"classifier": "a"}, np.array([0.1, 0.2, 0.9]), np.array([0, 1, 1], np.uint8))
    assert (task.n, task.n_positive) == (3, 2)
    assert (task.group, task.groups) == (None, ())


def test_arrays_of_a_task_must_fit():
    with pytest.raises(InputError, match=r"one shape.*score \(2,\), event \(1,\)"):
        Task({}, np.array([0.1, 0.2]), np.array([1], np.uint8))
    with pytest.raises(InputError, match=r"group \(1,\)"):
        Task({}, np.zeros(2), np.zeros(2, np.uint8), np.zeros(1, np.int32))


def test_the_first_of_equal_classes_is_predicted():
    score, event = top_label(TWO_ROWS, np.array([0, 0], np.int32))
    assert score.tolist() == [0.7, 0.4]
    assert event.tolist() == [1, 1]


def test_a_missing_label_stays_missing():
    assert top_label(TWO_ROWS, np.array([-1, 1], np.int32))[1].tolist() == [-1, 0]


def test_class_wise_events_of_a_row_sum_to_one():
    y_true = np.array([2, 0], np.int32)
    problems = list(binary_problems(TWO_ROWS, y_true, "abc", "class-wise"))
    assert [coords for coords, _, _ in problems] == [{"class": label} for label in "abc"]
    np.testing.assert_array_equal(sum(event.astype(int) for _, _, event in problems), 1)
    np.testing.assert_array_equal(np.stack([score for _, score, _ in problems], axis=1), TWO_ROWS)


def test_a_binary_problem_is_one_whatever_is_asked():
    y_prob, y_true = np.array([0.2, 0.7]), np.array([0, 1], np.int32)
    for kind in ("top-label", "class-wise", "marginal"):
        ((coords, score, event),) = binary_problems(y_prob, y_true, (0, 1), kind)
        assert coords == {}
        assert score is y_prob
        assert event is y_true
