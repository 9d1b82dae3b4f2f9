"""Temperature scaling beside scikit-learn's, and seconds of a fit of class-wise temperatures.

python benchmarks/temperature_speed.py                    # seconds by the clock and of a core
python benchmarks/temperature_speed.py --scaling-only
"""

from __future__ import annotations

import argparse

import numpy as np
from _common import print_machine, print_table, time_best
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator

import bayescal as bc
from bayescal.quantities.temperature.data import Problem
from bayescal.quantities.temperature.model import model_of, temperatures_of
from bayescal.quantities.temperature.priors import Priors
from bayescal.quantities.temperature.simulator import LogitTruth

SIZES = ((5_000, 100), (1_000_000, 10))


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


def fits(n, n_classes):
    """Seconds of the table and NUTS alone, and of a whole fit, once compiled."""
    from bayescal.inference.sampler import compile_model

    alpha = np.exp(np.random.default_rng(0).normal(-0.3, 0.4, n_classes))
    scores = LogitTruth("classes", tuple(alpha)).scores(n, seed=1)
    problem = Problem.of(scores, "classifier")
    model = temperatures_of(problem, Priors())
    compiled = compile_model(model_of(problem, model))

    def sample():
        found = temperatures_of(problem, Priors())
        return compiled.sample(
            found.inputs(), seed=1, target_accept=model.target_accept, max_depth=model.max_depth
        )

    sample()
    alone = time_best(sample, 2)
    result = bc.fit(bc.temperature, scores, seed=1)
    whole = time_best(lambda: bc.fit(bc.temperature, scores, seed=2), 1)
    health = result["diagnostics"]
    ess, diverging = (float(health[name]) for name in ("ess_min", "divergences"))
    return n, n_classes, alone.wall, alone.cpu, whole.wall, whole.cpu, ess, diverging


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scaling-only", action="store_true")
    given = parser.parse_args()
    print_machine()
    columns = ("rows", "classes", "ours, CPU s", "scikit-learn", "ratio", "difference of alpha")
    print_table("Temperature scaling", columns, [scaling(1_000_000, 10)])
    if given.scaling_only:
        return
    columns = ("rows", "classes", "table and NUTS, s", "CPU s", "fit, s", "CPU s")
    columns += ("least ESS", "divergences")
    print_table("4 x 1000 draws, compiled", columns, [fits(*size) for size in SIZES])


if __name__ == "__main__":
    main()
