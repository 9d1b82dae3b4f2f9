"""Files of every row, against the bounds of the same rows."""

import csv

import numpy as np
import pyarrow.parquet as pq
import pytest

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.quantities.credal import row_lookup
from tests.synthetic_credal import make_credal_result


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_line_a_row_and_class_in_batches(ending, tmp_path, monkeypatch):
    monkeypatch.setattr(row_lookup, "BATCH_ROWS", 12)
    result = make_credal_result(("a", "b"), ("cat", "dog", "eel"))
    steps = []
    path = bc.credal.write_rows(
        result, tmp_path / f"rows.{ending}", progress=lambda *step: steps.append(step)
    )
    if ending == "csv":
        with path.open(newline="") as file:
            lines = list(csv.DictReader(file))
    else:
        lines = pq.read_table(path).to_pylist()
    found, frame = bc.credal.bounds_for(result), bc.row_table(result)
    assert len(lines) == 2 * 30 * 3
    lower = np.array([float(line["lower"]) for line in lines])
    np.testing.assert_allclose(lower, found.lower.ravel(), rtol=1e-12)
    for name in ("classifier", "class", "decision", "open"):
        assert [line[name] for line in lines] == list(frame[name])
    assert [int(line["row"]) for line in lines] == list(frame["row"])
    assert steps[2:4] == [("a", 30, 60), ("b", 42, 60)]
    assert steps[-1] == ("b", 60, 60)


def test_another_ending_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"must end in \.csv or \.parquet; got 'rows\.txt'"):
        bc.credal.write_rows(make_credal_result(), tmp_path / "rows.txt")
