"""Adult: small classifiers of income, trained on parts by age, and who its rows are of."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from _ssme_tasks import Task, binary
from numpy.typing import NDArray
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import OneHotEncoder, StandardScaler

type Rows = NDArray[np.intp]

PARTS = ("young", "middle", "old")
_AGES = (30, 45, 60)


class Adult(NamedTuple):
    """Features, labels, thirds by age, and divisions of the rows into groups."""

    features: NDArray[np.float64]
    label: NDArray[np.int64]
    thirds: Sequence[Rows]
    divisions: dict[str, NDArray[Any]]


@cache
def adult(data: Path) -> Adult:
    table = pd.read_csv(data / "adult.csv.gz", skipinitialspace=True)
    label = table.pop(table.columns[-1]).str.contains(">50K").to_numpy(dtype=np.int64)
    words = table.select_dtypes(exclude="number").columns
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), list(words)),
        (StandardScaler(), list(table.columns.difference(words))),
    )
    age = table["age"].to_numpy()
    race = table["race"].where(table["race"].isin(["White", "Black"]), "other")
    divisions = {
        "age": np.digitize(age, _AGES).astype(str),
        "sex": table["sex"].to_numpy(dtype=str),
        "race": race.to_numpy(dtype=str),
    }
    thirds = np.array_split(np.argsort(age, kind="stable"), len(PARTS))
    return Adult(encode.fit_transform(table), label, thirds, divisions)


def training_rows(source: Adult, per_third: int, size: int, seed: int) -> list[Rows]:
    """Rows to train on, third after third until each has so many sets, none twice."""
    rng = np.random.default_rng(seed)
    drawn = [rng.choice(third, (per_third, size), replace=False) for third in source.thirds]
    return [rows[i] for i in range(per_third) for rows in drawn]


def trained(source: Adult, sets: Sequence[Rows], rows: Rows, name: str) -> Task:
    """Logistic regressions with scikit-learn's penalty, and what they say of other rows."""
    models = [
        LogisticRegression(max_iter=2000).fit(source.features[one], source.label[one])
        for one in sets
    ]
    positive = np.stack([m.predict_proba(source.features[rows])[:, 1] for m in models])
    names = [f"{PARTS[i % 3]} {i // 3}" for i in range(len(sets))]
    return Task(name, binary(positive), source.label[rows], names)
