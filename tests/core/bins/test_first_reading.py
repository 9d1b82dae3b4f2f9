"""What parts of the rows show adds up to what all of them show."""

import numpy as np
import pytest

from bayescal.core.bins.first_reading import FirstReading
from bayescal.core.bins.labeled_columns import LabeledColumns
from bayescal.core.bins.score_cells import cell_of
from bayescal.core.errors import InputError
from bayescal.core.partial_sums import numbered

COLUMNS = LabeledColumns("y", "p")
LABEL = np.array(["no", "yes", "yes", None, "no", "yes", None, "no"], object)
SCORE = np.array([0.1, 0.7, 0.9, 0.5, 0.2, 0.7, 0.4, 0.0])


def read(label, score, most_distinct=10, columns=COLUMNS, **more):
    rows = {"y": np.asarray(label, object), "p": np.asarray(score, float), **more}
    return FirstReading.of(numbered([rows]), columns, most_distinct)


@pytest.mark.parametrize("cut", range(1, 8))
def test_parts_add_up_whichever_label_they_begin_with(cut):
    whole = read(LABEL, SCORE)
    found = read(LABEL[:cut], SCORE[:cut]).plus(read(LABEL[cut:], SCORE[cut:]))
    assert set(found.labels) == {"no", "yes"}
    assert (found.n_read, found.n_obs, found.n_labeled) == (8, 8, 6)
    assert found.distinct.values.tolist() == [0.0, 0.1, 0.2, 0.7, 0.9]
    for one in (whole, found):
        assert one.classes(COLUMNS, "yes") == ("no", "yes")
        for positive, count in (("yes", [3, 3]), ("no", [3, 3])):
            assert one.sums_with(positive).count.sum(axis=0).tolist() == count
            assert one.sums_with(positive).score.sum() == pytest.approx(2.6)
        (of_yes,) = np.flatnonzero(one.sums_with("yes").count[:, 1] == 2)
        assert of_yes == cell_of(np.array([0.7]))


def test_parts_without_labels_and_without_rows_change_nothing():
    nothing, missing, one = read([], []), read([None], [0.3]), read(["yes"], [0.8])
    for parts in ([nothing, missing, one], [one, missing, nothing]):
        found = parts[0].plus(parts[1]).plus(parts[2])
        assert found.classes(COLUMNS, "yes")[1] == "yes"
        assert found.sums_with("yes").count.sum(axis=0).tolist() == [0, 1]
        assert found.sums_with("yes").score.sum() == 0.8


def test_distinct_scores_that_are_few_in_each_part_may_be_many():
    parts = [read(["no"] * 3, score, 4) for score in ([0.1, 0.2, 0.3], [0.4, 0.5, 0.6])]
    assert [part.distinct.few for part in parts] == [True, True]
    assert not parts[0].plus(parts[1]).distinct.few


def test_weights_add_up():
    columns = LabeledColumns("y", "p", "w")
    weight = np.array([1.0, 2.5, 0.0])
    parts = [
        read(["no", "yes", "no"], SCORE[:3], columns=columns, w=values)
        for values in (weight, weight[::-1])
    ]
    found = parts[0].plus(parts[1])
    assert (found.n_read, found.n_obs) == (6, 4)
    assert found.effective_n == pytest.approx(7.0**2 / (2 * 1 + 2 * 2.5**2))


def test_a_third_label_in_another_part_is_refused():
    with pytest.raises(InputError, match="must hold two labels"):
        read(["no", "yes"], [0.1, 0.2]).plus(read(["maybe"], [0.1])).classes(COLUMNS, "yes")
