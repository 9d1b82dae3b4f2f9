"""Files of scores that the commands are tried on, and fits that they share."""

import pickle
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from once import once
from pyarrow import csv, parquet

from bayescal.workflow import fit


@pytest.fixture(scope="session")
def table() -> pa.Table:
    """Two classifiers of one truth, two groups, some labels missing."""
    rng = np.random.default_rng(11)
    truth = rng.random(600)
    label = pa.array((rng.random(600) < truth).astype(int), mask=np.arange(600) % 20 == 0)
    return pa.table(
        {
            "y": label,
            "word": pa.array(["yes" if value else "no" for value in label.to_numpy(False)]),
            "honest": truth,
            "bold": 1 / (1 + np.exp(-3 * np.log(truth / (1 - truth)))),
            "region": rng.choice(["north", "south"], 600),
        }
    )


@pytest.fixture(scope="session")
def files(table: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the table as scores.csv and scores.parquet."""
    folder = tmp_path_factory.mktemp("scores")
    csv.write_csv(table, folder / "scores.csv")
    parquet.write_table(table, folder / "scores.parquet")
    return folder


_FITS: dict[bytes, Any] = {}


@pytest.fixture(scope="module", autouse=True)
def _each_fit_once() -> Iterator[None]:
    """Keep fits: many commands, and several modules, fit the same data with the same seed."""
    made = fit.fit_case

    def fit_case(*given: Any) -> Any:
        key = pickle.dumps(given)
        if key not in _FITS:
            _FITS[key] = once("fit", made, *given)
        return deepcopy(_FITS[key])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fit, "fit_case", fit_case)
        yield
