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


def test_a_row_that_cannot_be_used_is_named_with_its_group(tmp_path):
    data = SOURCES[0](tmp_path, COLUMNS | {"p": np.where(COLUMNS["g"] == "b", 2.0, 0.5)}, (1000,))
    with pytest.raises(InputError, match=r"p.*, rows of group 'b' must lie in \[0, 1\]"):
        bc.count_rows(data, label="y", score="p", group="g")
    with pytest.raises(InputError, match="group must be"):
        bc.count_rows(data, label="y", score="q", group=3)
