"""What a result keeps of rows that classifiers share, against the rows and their counts."""

import numpy as np
import pytest

import bayescal as bc
from bayescal.core.binning import fine_counts, part_counts
from bayescal.curves.cells import Problem
from bayescal.curves.shared_rows import MOST, shared_rows

RNG = np.random.default_rng(3)


def scores(n: int, k: int = 2, **more: object) -> bc.Scores:
    score = {f"c{i}": RNG.random(n).round(2) for i in range(k)}
    return bc.Scores.stack(score, y_true=RNG.integers(0, 2, n), **more)


def kept(data: bc.Scores, size: int = 30):
    tasks = data.tasks()
    cells = [fine_counts(task, [0.0, 0.3, 1.0], size) for task in tasks]
    parts = [part_counts(task, own) for task, own in zip(tasks, cells, strict=True)]
    problems = [Problem({}, own, own, part) for own, part in zip(cells, parts, strict=True)]
    return shared_rows(tasks, problems), tasks, cells


def test_rows_have_the_place_of_their_cell_among_those_with_rows() -> None:
    found, tasks, cells = kept(scores(300))
    for own, task, counts in zip(found, tasks, cells, strict=True):
        held = counts.count > 0
        np.testing.assert_array_equal(np.bincount(own["cell"]), counts.count[held])
        positives = np.bincount(own["cell"], own["label"])
        np.testing.assert_array_equal(positives, counts.positives[held])
        np.testing.assert_array_equal(own["label"], task.event)
        # Parts are of one cell each.
        assert len(np.unique([own["part"], own["cell"]], axis=1).T) == len(np.unique(own["part"]))
        assert own["cell"].dtype == np.uint8
        assert "weight" not in own


def test_more_cells_take_a_wider_type_and_weights_are_kept() -> None:
    weight = RNG.random(2000) + 0.5
    data = bc.Scores.stack(
        {"a": RNG.random(2000), "b": RNG.random(2000)},
        y_true=RNG.integers(0, 2, 2000),
        sample_weight=weight,
    )
    for own in kept(data, 400)[0]:
        assert own["cell"].dtype == np.uint16
        np.testing.assert_allclose(own["weight"], weight, rtol=1e-6)


def test_of_many_rows_the_same_ones_are_drawn_for_all_classifiers() -> None:
    n = 3 * MOST
    row = np.arange(n) / n
    data = bc.Scores.stack({"a": row, "b": 1 - row}, y_true=np.arange(n) % 2)
    (first, second), _, cells = kept(data)
    again = kept(data)[0][0]
    assert len(first["cell"]) == MOST
    for name, values in first.items():
        np.testing.assert_array_equal(values, again[name])
    np.testing.assert_array_equal(first["label"], second["label"])
    # Rising and falling scores: the cells of the same rows.
    assert np.corrcoef(first["cell"], second["cell"])[0, 1] < -0.99
    # Labels alternate, of which evenly spaced rows may see one kind alone; five standard errors.
    assert first["label"].mean() == pytest.approx(0.5, abs=5 * 0.5 / np.sqrt(MOST))
    share = np.bincount(first["cell"]) / MOST
    np.testing.assert_allclose(share, cells[0].count / n, atol=5 * np.sqrt(0.04 / MOST))


def test_a_result_does_not_grow_with_thousands_of_problems() -> None:
    task = scores(5000, 1).tasks()[0]
    counts = fine_counts(task, [0.0, 1.0], 20)
    found = shared_rows([task] * 400, [Problem({}, counts, counts)] * 400)
    assert sum(one["cell"].size for one in found) <= 500_000
    assert len(found[0]["cell"]) == 1250
