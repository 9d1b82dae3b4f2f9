"""Columns checked batch by batch, and which rows are looked at again."""

import numpy as np
import pytest

from bayescal.core.bins.labeled_columns import LabeledColumns
from bayescal.core.bins.score_cells import N_CELLS, cell_of
from bayescal.core.errors import InputError
from bayescal.core.partial_sums import numbered

LABEL = np.array(["no", None, "yes", "no"], object)
SCORE = np.array([0.25, 0.5, 0.75, 0.125])


def batches(score=SCORE, **more):
    return list(numbered([{"y": LABEL, "p": score, **more}], first=8))


def cells_of(*scores):
    cells = np.zeros(N_CELLS, bool)
    cells[cell_of(np.array(scores))] = True
    return cells


def test_rows_without_a_label_or_weight_are_left_out():
    columns = LabeledColumns("y", "p", "w")
    (rows,) = columns.rows(batches(w=np.array([1.0, 1.0, 0.0, 2.0])))
    assert (rows.n_read, rows.n_obs, rows.labels) == (4, 3, ("no", "yes"))
    assert rows.score.tolist() == [0.25, 0.125]
    assert rows.weight.tolist() == [1, 2]
    assert rows.is_label("no").tolist() == [1, 1]
    assert rows.is_label("yes").tolist() == rows.is_label("maybe").tolist() == [0, 0]


def test_only_rows_near_the_cells_are_looked_at_again():
    columns = LabeledColumns("y", "p")
    (near,) = columns.near(batches(), cells_of(0.75, 0.125))
    assert near.columns["p"].tolist() == [0.75, 0.125]
    assert near.columns["y"].tolist() == ["yes", "no"]
    assert list(columns.near(batches(), cells_of(0.9))) == []


@pytest.mark.parametrize(
    ("score", "logits"), [(SCORE, True), (SCORE.astype(object), False), (SCORE[:, None], False)]
)
def test_what_are_no_plain_scores_is_looked_at_whole(score, logits):
    columns = LabeledColumns("y", "p", from_logits=logits)
    (near,) = columns.near(batches(score), cells_of(0.9))
    assert len(near.columns["p"]) == 4


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"p": [0.1, 0.2, 7.0, 0.3]}, r"^p \(rows counted from row 8\) must lie .* 7 at row 2"),
        ({"y": [0, 1, 1.5, 1]}, r"^y \(rows counted from row 8\) must hold words.* 1.5 at row 2"),
    ],
)
def test_a_bad_row_is_named_with_its_place(columns, message):
    rows = {"y": LABEL, "p": SCORE} | {name: np.array(column) for name, column in columns.items()}
    with pytest.raises(InputError, match=message):
        list(LabeledColumns("y", "p").rows(numbered([rows], first=8)))
