"""Small results of every quantity, and objects whose methods are called."""

import warnings
from functools import cache
from typing import Any

import numpy as np
import xarray as xr
from once import once

import bayescal as bc


def quantities() -> dict[str, Any]:
    """Modules of the quantities by name."""
    return {
        name: getattr(bc, name)
        for name in ("ece", "pu_ece", "ssme", "credal", "agnostic", "temperature")
    }


def direct(name: str) -> Any:
    """Priors of a quantity under which, where there are any, no NUTS is needed."""
    if name == "pu_ece":
        return bc.pu_ece.Priors(class_prior=bc.Beta(5, 5))
    return bc.credal.Priors(bc.credal.ImpreciseDirichlet()) if name == "credal" else None


@cache
def results() -> dict[str, xr.DataTree]:
    """A small result of each quantity, and one of several classifiers with groups."""
    return once("small results", _fitted)


def _fitted() -> dict[str, xr.DataTree]:
    rng = np.random.default_rng(1)
    n = 40
    p = rng.random(n)
    y = (rng.random(n) < p).astype(int)
    one = bc.Scores(y_true=y, y_prob=p, classifier="a")
    two = bc.Scores.stack({"a": p, "b": 0.5 + p / 3}, y_true=y)
    three = rng.dirichlet(np.ones(3), n)
    classes = bc.Scores(y_true=rng.integers(0, 3, n), y_prob=three, classifier="a")
    grouped = bc.Scores.stack({"a": p, "b": 0.5 + p / 3}, y_true=y, group=np.arange(n) % 2)
    rule = bc.agnostic.bayes_rule({"act": (1.0, 0.0), "wait": (0.0, 0.5)})
    data: dict[str, tuple[Any, dict[str, Any]]] = {
        "ece": (two, {}),
        "pu_ece": (bc.PUScores(positive=p[y == 1], unlabeled=p), {}),
        "ssme": (two, {"prob_label": True}),
        "credal": (bc.CalibrationSplit(calibration=one, target=p[:9]), {}),
        "agnostic": (one, {"decision": rule}),
        "temperature": (classes, {}),
    }
    settings = {"draws": 20, "chains": 2, "seed": 1}
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, (given, options) in data.items():
            method = "nuts" if name == "ssme" else "direct"
            options |= {"priors": direct(name), "method": method}
            found[name] = bc.fit(name, given, **settings, **options)
        bins = bc.ece.Priors(label_rate=bc.ece.IndependentBins())
        found["groups"] = bc.fit("ece", grouped, priors=bins, method="direct", **settings)
    return found


@cache
def objects() -> dict[str, Any]:
    """One object of each public class with methods for users, by name."""
    rng = np.random.default_rng(2)
    p = rng.random(30).round(1)
    y = (rng.random(30) < p).astype(int)
    scores = bc.Scores.stack({"a": p, "b": p / 2}, y_true=y, group=np.arange(30) % 2)
    logits = bc.pu_ece.LogitMixture((0.5, 0.5), (0.0, 1.0), (1.0, 2.0))
    return {
        "Scores": scores,
        "PUScores": bc.PUScores(positive=p[y == 1], unlabeled=p),
        "CalibrationSplit": bc.CalibrationSplit(
            calibration=scores.select("a").without_group(), target=p
        ),
        "Beta": bc.Beta(2, 3),
        "HalfNormal": bc.HalfNormal(1.0),
        "LogNormal": bc.LogNormal(0.0, 1.0),
        "Normal": bc.Normal(0.0, 1.0),
        "DecisionRule": bc.agnostic.bayes_rule({"act": (1.0, 0.0), "wait": (0.0, 0.5)}),
        "Action": bc.agnostic.Action(1.0, 0.0),
        "Link": bc.agnostic.Link(np.array([0.25, 0.75]), np.array([0.5, 1.0])),
        "InductiveVennAbers": bc.credal.fit_ivap(p, label=y),
        "CrossVennAbers": bc.credal.fit_cross_venn_abers(p, label=y, fold=np.arange(30) % 2),
        "LogitMixture": logits,
        "MixtureTruth": bc.pu_ece.MixtureTruth(logits, logits, 0.5),
        "ssme.Priors": bc.ssme.Priors(),
        "ece.Truth": bc.datasets.ece.truth("over"),
        "pu_ece.PUTruth": bc.datasets.pu_ece.truth("over"),
        "credal.CurveTruth": bc.datasets.credal.truth("logistic"),
        "ssme.PanelTruth": bc.datasets.ssme.truth("mixed"),
        "agnostic.Truth": bc.datasets.agnostic.truth("over"),
        "temperature.LogitTruth": bc.datasets.temperature.truth("heterogeneous"),
    }
