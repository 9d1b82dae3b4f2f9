"""Held-out calibration errors of calibrators, and coverage of the posterior, on simulated truths.

Each replication draws labelled rows, fits every calibrator, and measures the true calibration
errors of its probabilities on rows that stand for the population. The posterior is by quadrature.

python benchmarks/temperature_held_out.py --replications 40         # 4 truths, 3 sizes
python benchmarks/temperature_held_out.py --truths vector --per-class 10
python benchmarks/temperature_held_out.py --render                  # the figures on disk
"""

from __future__ import annotations

import argparse

import numpy as np
from _results import begun, print_provenance, read, write

import bayescal as bc
from bayescal.quantities.temperature.estimator import BINNING, top_class
from bayescal.quantities.temperature.priors import MODELS
from bayescal.results.intervals import interval

NAME = "temperature_held_out"
POPULATION = 20_000
COVERAGE, WEIGHTS = "coverage", "weights"
METRICS = ("ece", "max_ece", "avg_ece")


def replication(truth, per_class, pool, seed):
    """True errors by method and metric, and whether intervals cover."""
    n = per_class * truth.n_classes
    scores = truth.scores(n, np.random.default_rng([seed, per_class]), n_unlabeled=pool)
    # The logits of the scores: vector scaling is not invariant to a shift of a row.
    logits = truth.logits(n + pool, np.random.default_rng([seed, per_class]))[:n]
    label = scores.y_true[:n]
    held_out = truth.logits(POPULATION, np.random.default_rng([seed, per_class, 1]))
    predicted = held_out.argmax(axis=1)
    rows = np.arange(POPULATION)

    def errors(confidence):
        ece, each = truth.class_errors(held_out, confidence, BINNING)
        return dict(zip(METRICS, (ece, np.nanmax(each), np.nanmean(each)), strict=True))

    found = {"uncalibrated": errors(top_class(held_out)[0])}
    calibrators = {
        "TS": bc.temperature.TemperatureScaling(),
        "CTS": bc.temperature.ClassWiseTemperatureScaling(),
        "VS": bc.temperature.VectorScaling(),
    }
    for name, calibrator in calibrators.items():
        prob = calibrator.fit(logits, label).predict_proba(held_out)
        found[name] = of_predicted(truth, held_out, prob)
    result = bc.fit(bc.temperature, scores, method="direct", draws=250, seed=seed)
    prob = bc.temperature.calibrate(result, held_out)
    found["posterior"] = of_predicted(truth, held_out, prob)
    # The posterior is of the class that the logits predict.
    after = errors(prob[rows, predicted])
    covered = {}
    for metric in METRICS:
        for suffix in ("", "_uncalibrated"):
            low, high = interval(result, metric + suffix, 0.9).values
            true = (found["uncalibrated"] if suffix else after)[metric]
            covered[metric + suffix] = bool(low <= true <= high)
    if truth.coef is None:
        ends = interval(result, "log_alpha", 0.9).values
        alpha = np.log(truth.alpha)
        covered["log_alpha"] = float(np.mean((ends[..., 0] <= alpha) & (alpha <= ends[..., 1])))
    weight = result["model_average"]["weight"].values.ravel()
    return found, covered, dict(zip(MODELS, weight.tolist(), strict=True))


def of_predicted(truth, held_out, prob):
    """Errors of probabilities, by their own predicted class."""
    top = prob.argmax(axis=1)
    rate = truth.probability(held_out)[np.arange(len(top)), top]
    score = prob.max(axis=1)
    edges = np.linspace(0, 1, BINNING.n_bins + 1)[1:-1]
    cell = top * BINNING.n_bins + np.searchsorted(edges, score)
    total = np.bincount(cell, rate - score, truth.n_classes * BINNING.n_bins)
    total = total.reshape(truth.n_classes, -1)
    with np.errstate(invalid="ignore"):
        each = np.abs(total).sum(axis=1) / np.bincount(top, minlength=truth.n_classes)
    ece = np.abs(total.sum(axis=0)).sum() / len(top)
    return dict(zip(METRICS, (ece, np.nanmax(each), np.nanmean(each)), strict=True))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replications", type=int, default=20)
    parser.add_argument("--per-class", type=int, nargs="+", default=[10, 50, 200])
    parser.add_argument("--pool", type=int, default=2000, help="rows without a label")
    parser.add_argument(
        "--truths", nargs="+", default=["heterogeneous", "homogeneous", "vector", "calibrated"]
    )
    parser.add_argument("--render", action="store_true", help="only print the figures on disk")
    given = parser.parse_args()
    if given.render:
        render()
        return
    for name in given.truths:
        title, lines = f"{name}, {given.pool} rows without a label", []
        truth = bc.datasets.temperature.truth(name)
        for per_class in given.per_class:
            runs = [
                replication(truth, per_class, given.pool, seed)
                for seed in range(given.replications)
            ]
            for method in runs[0][0]:
                means = {m: np.mean([run[0][method][m] for run in runs]) for m in METRICS}
                lines.append({"per_class": per_class, "method": method, **means})
                show(title, lines[-1])
            cover = {key: np.mean([run[1][key] for run in runs]) for key in runs[0][1]}
            lines.append({"per_class": per_class, "method": COVERAGE, **cover})
            show(title, lines[-1])
            weight = {key: np.mean([run[2][key] for run in runs]) for key in MODELS}
            lines.append({"per_class": per_class, "method": WEIGHTS, **weight})
            show(title, lines[-1])
            keep(title, given.replications, lines)


def show(title, line):
    """Print the errors of a method in percent, or shares."""
    held = {key: value for key, value in line.items() if key not in ("per_class", "method")}
    of_errors = line["method"] not in (COVERAGE, WEIGHTS)
    words = (f"{key} {100 * v:.2f}" if of_errors else f"{key} {v:.2f}" for key, v in held.items())
    print(f"{title}: {line['per_class']:4} a class, {line['method']:13}", *words, flush=True)


def render():
    """Print the figures on disk."""
    content = read(NAME)
    print_provenance(content)
    for title, truth in content["truths"].items():
        for line in truth["rows"]:
            show(title, line)


def keep(title, replications, lines):
    """Add a truth to those on disk."""
    kept = begun(NAME).get("truths", {})
    write(NAME, truths={**kept, title: {"replications": replications, "rows": lines}})


if __name__ == "__main__":
    main()
