"""Pictures of the front page, of credal, sensitivity and plans: python docs/pictures.py."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

import bayescal as bc

TARGET = Path(__file__).parent / "_static"


def rows() -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The data of the README: two classifiers of the same order, one overconfident."""
    rng = np.random.default_rng(20)
    x = rng.normal(size=500)
    y = rng.random(500) < 1 / (1 + np.exp(-2 * x))
    names = ("calibrated", "overconfident")
    return y, {n: 1 / (1 + np.exp(-k * x)) for n, k in zip(names, (2, 4), strict=True)}


def save(figure: plt.Figure, name: str) -> None:
    figure.savefig(TARGET / f"{name}.png", dpi=150, bbox_inches="tight")
    plt.close(figure)


def ece() -> None:
    """Labels of all rows: calibration curve of the overconfident classifier."""
    y, prob = rows()
    result = bc.fit(bc.ece, bc.Scores.stack(prob, y_true=y), seed=20)
    save(bc.plots.plot_reliability(result, "overconfident"), "front_ece")


def pu_ece() -> None:
    """Positives and unlabelled rows: the error as a function of the class prior."""
    data = bc.datasets.pu_ece.truth("over").scores((500, 5000), seed=20)
    priors = bc.pu_ece.Priors(class_prior=bc.Beta.from_interval(0.4, 0.6))
    result = bc.fit(bc.pu_ece, data, priors=priors, seed=20)
    save(bc.plots.plot_sensitivity_curve(result), "front_pu_ece")


def ssme() -> None:
    """Few labels: accuracy of several classifiers."""
    data = bc.datasets.ssme.truth("mixed").scores(40, 1000, seed=20)
    result = bc.fit(bc.ssme, data, seed=20)
    save(bc.plots.plot_metrics(result, "accuracy"), "front_ssme")


def credal() -> None:
    """Single rows: probability with bounds, and decisions."""
    y, prob = rows()
    calibration = bc.Scores(y_true=y, y_prob=prob["overconfident"], classifier="overconfident")
    grid = np.linspace(0.001, 0.999, 200)
    result = bc.fit(bc.credal, bc.CalibrationSplit(calibration=calibration, target=grid), seed=20)
    save(bc.plots.plot_probability(result), "front_credal")
    save(bc.plots.plot_decisions(result), "decisions")


def agnostic() -> None:
    """Decisions: the ROC curve of rows without labels, with its bands."""
    data = bc.datasets.agnostic.truth("over").scores(200, n_unlabeled=2000, seed=20)
    save(bc.plots.plot_roc(bc.fit(bc.agnostic, data, seed=20)), "front_agnostic")


def temperature() -> None:
    """Classes: reliability of three of ten classes before and after calibration."""
    data = bc.datasets.temperature.truth("heterogeneous").scores(1000, seed=20)
    result = bc.fit(bc.temperature, data, seed=20)
    save(bc.plots.plot_class_reliability(result, classes=("0", "4", "9")), "front_temperature")


def decision_curve() -> None:
    """Is acting on the scores worth it: two classifiers on the rows of the README."""
    y, prob = rows()
    result = bc.fit(bc.ece, bc.Scores.stack(prob, y_true=y), seed=20)
    save(bc.plots.plot_decision_curve(result), "decision_curve")


def sensitivity() -> None:
    """Four priors of one small sample, under one of which the conclusion differs."""
    data = bc.datasets.ece.truth("over").scores(300, seed=1)
    curve, bins = bc.ece.SmoothCurve, bc.ece.IndependentBins
    priors = {
        "default": bc.ece.Priors(),
        "tight": bc.ece.Priors(curve(scale=0.2)),
        "wide": bc.ece.Priors(curve(scale=1.4)),
        "jeffreys": bc.ece.Priors(bins(bc.Beta(0.5, 0.5))),
    }
    grid = bc.prior_sensitivity(bc.ece, data, priors, seed=20, method="direct")
    save(bc.plots.plot_sensitivity(grid), "sensitivity")


def label_plan() -> None:
    """How many labels: a plan from 300 rows of the overconfident classifier."""
    y, prob = rows()
    pilot = bc.Scores(y_true=y[:300], y_prob=prob["overconfident"][:300])
    save(bc.plots.plot_label_plan(bc.plan_labels(pilot, limit=0.05)), "label_plan")


if __name__ == "__main__":
    mpl.use("agg")
    makers = (ece, pu_ece, ssme, credal, agnostic, temperature)
    for make in (*makers, decision_curve, sensitivity, label_plan):
        make()
