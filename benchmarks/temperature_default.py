"""Log loss of scikit-learn classifiers after calibrators: what to calibrate with by default.

Half of the rows are for training, calibration included, and half for the test. A calibrator gets
the classifier's probabilities of a quarter of the training rows held out, or of all of them, each
row by a classifier trained on the other folds; the classifier is then trained on all.

python benchmarks/temperature_default.py --first-seed 1000    # other seeds than those reported
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from _common import print_table
from _results import write
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import bayescal as bc

NAME = "temperature_default"
DATA = {
    "breast cancer": load_breast_cancer,
    "digits": load_digits,
    "iris": load_iris,
    "wine": load_wine,
}
ESTIMATORS = {
    "logistic": lambda seed: LogisticRegression(max_iter=1000),
    "naive Bayes": lambda seed: GaussianNB(),
    "forest": lambda seed: RandomForestClassifier(100, random_state=seed),
    "network": lambda seed: MLPClassifier(32, max_iter=300, random_state=seed),
}
GAMMAS = (0.03, 0.1, 0.3, 1.0, np.inf)
CALIBRATORS = {"TS": bc.temperature.TemperatureScaling(scale="probabilities")} | {
    f"CTS {gamma:g}": bc.temperature.ClassWiseTemperatureScaling(gamma, scale="probabilities")
    for gamma in GAMMAS
}


def replication(load, make, seed):
    """Log loss by method."""
    x, y = load(return_X_y=True)
    x, x_test, y, y_test = train_test_split(x, y, test_size=0.5, stratify=y, random_state=seed)
    cut = train_test_split(x, y, test_size=0.25, stratify=y, random_state=seed)
    x_train, x_held, y_train, y_held = cut

    def trained(rows, labels):
        return make_pipeline(StandardScaler(), make(seed)).fit(rows, labels)

    every, part = trained(x, y), trained(x_train, y_train)
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    crossed = cross_val_predict(every, x, y, cv=folds, method="predict_proba")
    # As HeldOutCalibration has it: half of the least other one stands for a probability of 0.
    least = 0.0 if (crossed > 0).all() else crossed[crossed > 0].min() / 2
    crossed, prob = (at_least(least, each) for each in (crossed, every.predict_proba(x_test)))
    found = {"none": loss(y_test, every.predict_proba(x_test))}
    for name, calibrator in CALIBRATORS.items():
        held = calibrator.fit(part.predict_proba(x_held), y_held)
        found[f"{name}, held out"] = loss(y_test, held.predict_proba(part.predict_proba(x_test)))
        cross = calibrator.fit(crossed, y)
        found[f"{name}, crossed"] = loss(y_test, cross.predict_proba(prob))
    return found


def at_least(least, prob):
    """Probabilities raised to a least one, (obs, class)."""
    raised = np.maximum(prob, least)
    return raised / raised.sum(axis=1, keepdims=True)


def loss(label, prob):
    """Log loss; a probability of 0 counts as the least double."""
    return float(log_loss(label, np.maximum(prob, np.finfo(float).tiny)))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replications", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=0)
    given = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.filterwarnings("ignore", "the label of a row should have a probability above 0")
    seeds = range(given.first_seed, given.first_seed + given.replications)
    lines = []
    for data, load in DATA.items():
        for estimator, make in ESTIMATORS.items():
            runs = [replication(load, make, seed) for seed in seeds]
            means = {name: float(np.mean([run[name] for run in runs])) for name in runs[0]}
            lines.append({"data": data, "classifier": estimator, **means})
            print(data, estimator, {k: round(v, 3) for k, v in means.items()}, flush=True)
    names = [name for name in lines[0] if name not in ("data", "classifier")]
    rows = [[name, *(line[name] for line in lines)] for name in names]
    head = ["", *(f"{line['data']} {line['classifier']}" for line in lines)]
    print_table(f"Log loss, {given.replications} splits", head, rows)
    if given.first_seed == 0:
        write(NAME, replications=given.replications, rows=lines)


if __name__ == "__main__":
    main()
