"""Small data of three classifiers for each quantity, and draws of their posteriors."""

import warnings
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import xarray as xr
from once import once
from scipy.special import expit, softmax

import bayescal as bc
from bayescal.core.errors import ConvergenceWarning

NAMES = ("plain", "rounded", "sharp")
"""Unequally calibrated; the scores of the second are rounded, so that it has fewer cells."""
# Of nine cases, without the description that takes half of the time; the others have it.
SMOOTHER = bc.credal.AveragedCurve(rough=0)
# So many labels that the model is that which tests of ssme compile.
_N, _LABELLED, _SEED = 240, 30, 20


def _rows() -> tuple[np.ndarray, dict[str, np.ndarray]]:
    rng = np.random.default_rng(_SEED)
    logit = rng.normal(size=_N)
    label = (rng.random(_N) < expit(logit)).astype(float)
    noise = rng.normal(0, 0.4, (3, _N))
    scores = (
        expit(logit + noise[0]),
        np.clip(np.round(expit(0.6 * logit + noise[1]), 1), 0.05, 0.95),
        expit(2.5 * logit + noise[2]),
    )
    return label, dict(zip(NAMES, scores, strict=True))


def _of_three_classes() -> tuple[np.ndarray, dict[str, np.ndarray]]:
    rng = np.random.default_rng(_SEED)
    logits = rng.normal(0, 1.5, (_N, 3))
    label = np.array([rng.choice(3, p=p) for p in softmax(logits, axis=1)])
    noise = rng.normal(0, 0.3, (3, _N, 3))
    scores = {
        name: softmax(power * logits + own, axis=1)
        for name, power, own in zip(NAMES, (1.0, 0.6, 2.0), noise, strict=True)
    }
    coarse = np.round(scores["rounded"], 1) + 0.05
    scores["rounded"] = coarse / coarse.sum(axis=1, keepdims=True)
    return label, scores


def _stacked(names: Sequence[str], label: Any, scores: Any, **more: Any) -> bc.Scores:
    return bc.Scores.stack({name: scores[name] for name in names}, y_true=label, **more)


def data_of(key: str, names: Sequence[str] = NAMES) -> tuple[Any, Any, dict[str, Any]]:
    """Quantity, data of the classifiers in this order, and options."""
    label, scores = _rows()
    if key == "pu_ece":
        half = _N // 2
        both = {
            name: (scores[name][:half][label[:half] == 1], scores[name][half:]) for name in names
        }
        priors = bc.pu_ece.Priors(bc.Beta(20, 20), bc.pu_ece.SmoothCurve())
        return bc.pu_ece, bc.PUScores.stack(both), {"priors": priors}
    if key == "ssme":
        known = np.where(np.arange(_N) < _LABELLED, label, np.nan)
        return bc.ssme, _stacked(names, known, scores), {}
    if key in ("credal", "credal of three classes"):
        if key != "credal":
            label, scores = _of_three_classes()
        parts = slice(None, _N - 12), slice(_N - 12, None)
        first, second = (
            _stacked(names, label[part], {name: scores[name][part] for name in names})
            for part in parts
        )
        split = bc.CalibrationSplit(calibration=first, target=second)
        return bc.credal, split, {} if key == "credal" else {"priors": bc.credal.Priors(SMOOTHER)}
    if key == "agnostic":
        return bc.agnostic, _stacked(names, label, scores), {}
    if key in ("temperature", "ece of three classes"):
        label, scores = _of_three_classes()
        if key == "temperature":
            return bc.temperature, _stacked(names, label, scores), {}
        options = {"priors": bc.ece.Priors(bc.ece.CurveAverage(rough=0, linear=0))}
        return bc.ece, _stacked(names, label, scores), {"multiclass": "class-wise"} | options
    group = np.where(np.arange(_N) % 3 == 0, "b", "a") if key == "ece by group" else None
    return bc.ece, _stacked(names, label, scores, group=group), {}


DIRECT = (
    "ece",
    "ece by group",
    "ece of three classes",
    "pu_ece",
    "credal",
    "credal of three classes",
    "agnostic",
    "temperature",
)
KEYS = (*DIRECT, "ssme")


@cache
def result_of(key: str, names: Sequence[str] = NAMES) -> xr.DataTree:
    """Draws, direct where there are any; one result for all tests, which must not change it."""
    return once("several", _fitted, key, names)


def _fitted(key: str, names: Sequence[str]) -> xr.DataTree:
    quantity, data, options = data_of(key, names)
    how = {"tune": 150} if key == "ssme" else {"method": "direct"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return bc.fit(quantity, data, draws=150, seed=_SEED, **how, **options)
