"""What the labels leave open."""

from dataclasses import replace

import numpy as np

from bayescal.quantities.ssme.data import data_warnings
from tests.quantities.ssme.problems import grouped, many_classes, problem


def relabeled(made, y):
    y = np.asarray(y, dtype=np.int32)
    full = np.full(made.panel.n_obs, -1, dtype=np.int32)
    full[: len(y)] = y
    return replace(made.panel, y=full)


def test_full_labels_leave_nothing_open():
    assert data_warnings(relabeled(problem(), [0, 1])) == []
    assert data_warnings(relabeled(grouped(), [0, 1, 1])) == []


def test_no_labels_are_named_first_and_alone():
    (found,) = data_warnings(relabeled(grouped(), []))
    assert "no row is labeled" in found


def test_classes_and_groups_without_labels_are_named():
    (bare,) = data_warnings(relabeled(many_classes(k=4), [0, 2]))
    assert "no label of 1, 3" in bare
    # Not those that look like the class: labels chosen by score would be no random sample.
    assert "chosen as the others were" in bare
    class_, group = data_warnings(relabeled(grouped(), [0, 0]))
    assert "no label of 1" in class_
    assert "no label in group 'z'" in group
