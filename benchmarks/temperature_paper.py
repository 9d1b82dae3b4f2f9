"""The paper's tables in kind: label noise and under-sampling of half of the classes, and CIFAR-10.

python benchmarks/temperature_paper.py                       # digits, 5 seeds
python benchmarks/temperature_paper.py --cifar cifar10.npz   # arrays probs (obs, class) and labels

Digits: scikit-learn's handwritten digits and a network of one hidden layer, trained on 700 rows in
which classes 0-4 have noisy labels (share rho replaced at random) or are under-sampled (share rho
kept); calibrated on 300 clean rows and tested on the other 797. Errors are plug-in, over 15 bins of
equal width, and biased upward by noise: some 80 rows a class.
"""

from __future__ import annotations

import argparse
import warnings
from typing import NamedTuple

import numpy as np
from _results import begun, write
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

import bayescal as bc

NAME = "temperature_paper"
COLUMNS = ("accuracy", "ece", "max_ece", "avg_ece")
HALVES = ("ece, 0-4", "ece, 5-9", "accuracy, 0-4", "accuracy, 5-9")
METHODS = ("uncalibrated", "TS", "CTS", "VS", "posterior")
TRAINED = 700
# Tables 1 and 2 of the paper: accuracy, ECE and max-ECE, 30% label noise on half of the classes,
# CIFAR-100 by WideResNet-28-10 and CIFAR-10 by ResNet-20.
PRINTED = {
    "uncalibrated": ((71.53, 3.78, 36.83), (86.98, 6.50, 21.09)),
    "VS": ((72.82, 3.26, 18.30), (87.27, 1.31, 4.37)),
    "TS": ((71.53, 3.64, 32.74), (86.98, 3.69, 13.85)),
    "CTS": ((71.53, 3.21, 23.70), (86.98, 1.19, 5.46)),
}


class Setting(NamedTuple):
    """What is wrong with the rows that the network is trained on."""

    noise: float = 0.0  # share of replaced labels in classes 0-4
    sampling: float = 1.0  # share of the rows of classes 0-4 that are kept
    rows: int = TRAINED

    @property
    def words(self):
        return f"noise {self.noise:g}, sampling {self.sampling:g}, {self.rows} rows"


class Trained(NamedTuple):
    """Errors by method, and accuracy and confidence of either half of the classes."""

    errors: dict[str, list[float]]
    halves: list[list[float]]


def methods(logits, label, new, seed):
    """Class probabilities of new rows by each method."""
    found = {"uncalibrated": softmax(new)}
    calibrators = {
        "TS": bc.temperature.TemperatureScaling(),
        "CTS": bc.temperature.ClassWiseTemperatureScaling(),
        "VS": bc.temperature.VectorScaling(),
    }
    for name, calibrator in calibrators.items():
        found[name] = calibrator.fit(logits, label).predict_proba(new)
    scores = bc.Scores(
        y_true=label, y_prob=logits, from_logits=True, classes=range(logits.shape[1])
    )
    result = bc.fit(bc.temperature, scores, method="direct", seed=seed)
    found["posterior"] = bc.temperature.calibrate(result, new)
    return found


def softmax(logits):
    weight = np.exp(logits - logits.max(axis=1, keepdims=True))
    return weight / weight.sum(axis=1, keepdims=True)


def measured(prob, label):
    """Accuracy and errors in per cent; those of either half of the classes last."""
    scores = bc.Scores(y_true=label, y_prob=prob, classes=range(prob.shape[1]))
    found = bc.temperature.calibration_errors(scores)
    true = bc.temperature.calibration_errors(scores, by="true")
    halves = [
        np.nanmean(values[at])
        for values in (found.class_ece, true.class_accuracy)
        for at in (slice(0, 5), slice(5, 10))
    ]
    return [100 * value for value in (*(getattr(found, name) for name in COLUMNS), *halves)]


def digits(setting, seed):
    """Train, calibrate and measure."""
    rng = np.random.default_rng(seed)
    images, digit = load_digits(return_X_y=True)
    split = {"stratify": digit, "random_state": seed}
    x, rest, y, y_rest = train_test_split(images / 16, digit, train_size=TRAINED, **split)
    x, y = x[: setting.rows], y[: setting.rows]
    kept = (y >= 5) | (rng.random(len(y)) < setting.sampling)
    x, y = x[kept], y[kept]
    replaced = (y < 5) & (rng.random(len(y)) < setting.noise)
    y = np.where(replaced, rng.integers(0, 10, len(y)), y)
    network = MLPClassifier((64,), alpha=1e-3, max_iter=150, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        network.fit(x, y)
    split = {"stratify": y_rest, "random_state": seed}
    known, new, y_known, y_new = train_test_split(rest, y_rest, train_size=300, **split)
    logits, logits_new = all_logits(network, known), all_logits(network, new)
    by_true = bc.temperature.calibration_errors(
        bc.Scores(y_true=y_new, y_prob=softmax(logits_new)), by="true"
    )
    halves = [
        [float(by_true.class_accuracy[at].mean()), float(by_true.class_confidence[at].mean())]
        for at in (slice(0, 5), slice(5, 10))
    ]
    found = methods(logits, y_known, logits_new, seed)
    return Trained({name: measured(prob, y_new) for name, prob in found.items()}, halves)


def all_logits(network, x):
    """Log probabilities of all ten classes; one that no row was trained on is never predicted."""
    found = np.full((len(x), 10), -50.0)
    found[:, network.classes_] = np.maximum(network.predict_log_proba(x), -50)
    return found


def show(title, runs):
    """Print and return mean and standard deviation over the runs."""
    print(title)
    table = {}
    for name in runs[0]:
        values = np.array([run[name] for run in runs])
        table[name] = {"mean": values.mean(axis=0).tolist(), "sd": values.std(axis=0).tolist()}
        cells = (
            f"{column} {m:6.2f} +- {s:4.2f}"
            for column, m, s in zip(
                COLUMNS + HALVES, values.mean(axis=0), values.std(axis=0), strict=True
            )
        )
        shown = "noise 0.3" in title and name in PRINTED
        printed = f"   printed in tables 1 and 2: {PRINTED[name]}" if shown else ""
        print(f"  {name:13}", "  ".join(cells), printed, flush=True)
    return table


def keep(title, table):
    """Add a table to those on disk."""
    kept = begun(NAME).get("tables", {})
    write(NAME, columns=COLUMNS + HALVES, tables={**kept, title: table})


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--cifar")
    given = parser.parse_args()
    if given.cifar:
        with np.load(given.cifar, allow_pickle=False) as held:
            logits, label = np.log(np.maximum(held["probs"], 1e-30)), held["labels"].astype(int)
        runs = []
        for seed in range(given.seeds):
            place = np.random.default_rng(seed).permutation(len(label))
            known, new = place[:1000], place[1000:]
            prob = methods(logits[known], label[known], logits[new], seed)
            runs.append({name: measured(each, label[new]) for name, each in prob.items()})
        title = "CIFAR-10, VGG-16, 1,000 rows to calibrate on"
        keep(title, show(title, runs))
        return
    for setting in (Setting(noise=0.3), Setting(sampling=0.1)):
        found = [digits(setting, seed) for seed in range(given.seeds)]
        title = f"digits, {setting.words}"
        table = show(title, [each.errors for each in found])
        halves = 100 * np.mean([each.halves for each in found], axis=0)
        print(f"  accuracy and confidence, classes 0-4 and 5-9: {halves.round(1)}", flush=True)
        keep(title, {**table, "accuracy and confidence": halves.tolist()})


if __name__ == "__main__":
    main()
