"""Make `adult.npz`: scores of a classifier on rows of Adult that it was not trained on.

    python notebooks/make_adult.py adult.csv.gz

The data are UCI Adult (Becker and Kohavi, 1996, https://doi.org/10.24432/C5XW20, CC BY 4.0), as a
table with a header. Gradient boosting is trained on 5,000 rows; 12,000 others are kept: label
(income above 50,000 dollars), score, age, sex and race.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import GradientBoostingClassifier

TRAIN, KEPT = 5_000, 12_000

table = pd.read_csv(sys.argv[1], skipinitialspace=True)
table.columns = [name.strip().replace("-", "_") for name in table.columns]
order = np.random.default_rng(20).permutation(len(table))[: TRAIN + KEPT]
table = table.iloc[order]
label = table["income"].str.startswith(">50K").to_numpy()
features = pd.get_dummies(table.drop(columns=["income", "fnlwgt"]), dtype=float)
model = GradientBoostingClassifier(n_estimators=300, max_depth=4, random_state=20)
model.fit(features[:TRAIN], label[:TRAIN])
score = model.predict_proba(features[TRAIN:])[:, 1]
kept = table[TRAIN:]
np.savez_compressed(
    Path(__file__).with_name("adult.npz"),
    label=label[TRAIN:],
    score=np.round(score * 10_000).astype(np.uint16),
    age=kept["age"].to_numpy(np.uint8),
    sex=pd.Categorical(kept["sex"]).codes,
    race=pd.Categorical(kept["race"]).codes,
    sexes=np.array(sorted(kept["sex"].unique()), dtype=np.str_),
    races=np.array(sorted(kept["race"].unique()), dtype=np.str_),
)
