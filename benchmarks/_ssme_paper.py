"""Every figure of the SSME paper's tables 1 and S3 to S11, and what its headlines are made of.

Mean absolute errors in percentage points and their standard deviations over 50 splits, as printed
in https://arxiv.org/abs/2501.11866.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

PRINTED = pd.read_csv(Path(__file__).with_name("ssme_paper.csv"))
# Tables S8 to S11, captioned errors: the estimates of each classifier, and its metrics ("Truth").
ESTIMATES = pd.read_csv(Path(__file__).with_name("ssme_paper_classifiers.csv"))
# The tasks whose predictions were published, by our names.
PAPER = {"civilcomments": "Toxicity Detection", "multinli": "MultiNLI"}
MULTICLASS = ("AG News", "ImagenetBG", "MultiNLI")
SPLITS = 50
# Labels of tables S8 to S11, which the text does not give: the standard deviation of Labeled's
# accuracy is that of 20.
BY_CLASSIFIER = 20


def printed(task: str, n_labeled: int, method: str, metric: str) -> tuple[float, float] | None:
    """Mean and standard deviation of one cell; None where the paper has none."""
    wanted = (PAPER[task], n_labeled, method, metric)
    rows = PRINTED.set_index(["task", "labels", "method", "metric"])[["mean", "sd"]]
    return tuple(rows.loc[wanted]) if wanted in rows.index else None


def gains(multiclass: bool) -> pd.DataFrame:
    """How many times smaller a method's error is than Labeled's, by task, labels and metric."""
    table = PRINTED[PRINTED["task"].isin(MULTICLASS) == multiclass]
    by_method = table.pivot_table("mean", ["labels", "metric", "task"], "method")
    return by_method.rdiv(by_method["Labeled"], axis=0)
