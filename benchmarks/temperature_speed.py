"""Temperature scaling beside scikit-learn's, in seconds of a core; fits are in speed.py."""

from __future__ import annotations

import numpy as np
from _common import print_machine, print_table, time_best
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator

import bayescal as bc
from bayescal.quantities.temperature.simulator import LogitTruth


class Given(ClassifierMixin, BaseEstimator):
    """Classifier whose features are its logits."""

    def fit(self, x, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, x):
        return x

    def predict(self, x):
        return self.classes_[x.argmax(axis=1)]


def scaling(n, n_classes):
    """Seconds of ours and of scikit-learn's on the same rows, and the numbers' difference."""
    truth = LogitTruth("one", (0.6,) * n_classes)
    logits = truth.logits(n, seed=1)
    label = truth.scores(n, seed=1).y_true
    given = Given().fit(logits[:1000], np.arange(1000) % n_classes)
    ours, theirs = (
        bc.temperature.TemperatureScaling(),
        CalibratedClassifierCV(FrozenEstimator(given), method="temperature"),
    )
    own = time_best(lambda: ours.fit(logits, label), 3)
    other = time_best(lambda: theirs.fit(logits, label), 2)
    beta = theirs.calibrated_classifiers_[0].calibrators[0].beta_
    return n, n_classes, own.cpu, other.cpu, other.cpu / own.cpu, abs(ours.alpha_ - beta)


def main():
    print_machine()
    columns = ("rows", "classes", "ours, CPU s", "scikit-learn", "ratio", "difference of alpha")
    print_table("Temperature scaling", columns, [scaling(1_000_000, 10)])


if __name__ == "__main__":
    main()
