"""Counts by group are those of the rows of each group alone, whatever the source."""

import numpy as np
import pytest

import bayescal as bc
from bayescal.core.errors import InputError
from tests.row_sources import ODD_CUTS, SOURCES

RNG = np.random.default_rng(0)
COLUMNS = {
    "y": np.where(RNG.random(2000) < 0.1, np.nan, RNG.random(2000) < 0.4),
    "p": RNG.random(2000),
    "q": RNG.beta(0.05, 0.05, 2000),
    "w": RNG.choice([0.0, 0.5, 2.0], 2000),
    "g": RNG.choice(np.array(["a", "b", "c"]), 2000),
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("weight", [None, "w"])
def test_groups(source, weight, tmp_path):
    data = source(tmp_path, COLUMNS, ODD_CUTS)
    table = bc.count_rows(data, label="y", score=["p", "q"], group="g", weight=weight)
    assert table.groups == ("a", "b", "c")
    for score in ("p", "q"):
        for group, found in table.groups_of(score).items():
            own = COLUMNS["g"] == group
            weights = None if weight is None else COLUMNS["w"][own]
            expected = bc.Counts.from_arrays(
                COLUMNS["y"][own], COLUMNS[score][own], sample_weight=weights
            )
            np.testing.assert_array_equal(found.cell, expected.cell)
            np.testing.assert_array_equal(found.sums, expected.sums)
            # Sums of quarters are exact.
            np.testing.assert_array_equal(found.weights, expected.weights)
            assert found.n_read == expected.n_read


def test_a_row_that_cannot_be_used_is_named_by_its_place_among_all_rows(tmp_path):
    score = COLUMNS["p"].copy()
    score[1234] = 2.0
    data = SOURCES[0](tmp_path, COLUMNS | {"p": score}, (1000,))
    place = r"column 'p' of 1\.parquet must lie in \[0, 1\]; got 2 at row 234\."
    with pytest.raises(InputError, match=place):
        bc.count_rows(data, label="y", score="p", group="g", weight="w")
    with pytest.raises(InputError, match="group must be"):
        bc.count_rows(data, label="y", score="q", group=3)


def test_no_rows_of_any_group_are_refused_by_the_label(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("y,p,g\n")
    with pytest.raises(InputError, match=r"^column 'y' of rows\.csv must have at least one row"):
        bc.count_rows(path, label="y", score="p", group="g")
