"""Every public callable, found by construction, with one right call of it.

A new function is swept without an edit here where its parameters have defaults or known names; else
the test that the right call works fails, and says so.
"""

import inspect
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import cache, partial, wraps
from pathlib import Path
from tempfile import mkdtemp
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression

import bayescal as bc
from hostile.objects import direct, quantities, results

# Kinds of public classes that nobody calls: their fields are what functions return, or say.
NOT_CALLED = {
    "exceptions": lambda kind: issubclass(kind, BaseException | Warning),
    "named tuples, which check nothing": lambda kind: hasattr(kind, "_fields"),
    "abstract classes": inspect.isabstract,
    "ManyFits, which fit_many makes": lambda kind: kind is bc.ManyFits,
}
# Callables that are not swept, with the reason; a test finds those that could be.
_MADE = "is made by a function, which is swept"
_INSIDE = "takes arrays of the package, which Scores has checked, in the inner loops"
LEFT_OUT = {
    **dict.fromkeys(
        [
            "bayescal.BinCounts.find",
            "bayescal.BinCounts.place_in",
            "bayescal.Binning.count",
            "bayescal.Binning.edges",
            "bayescal.Counts.plus",
            "bayescal.agnostic.SmoothCurve.kernel",
            "bayescal.datasets.temperature.LogitTruth.class_errors",
        ],
        _INSIDE,
    ),
    **dict.fromkeys(
        [
            "bayescal.Counts",
            "bayescal.LabelPlan",
            "bayescal.agnostic.Link",
            "bayescal.credal.CrossVennAbers",
            "bayescal.credal.InductiveVennAbers",
            "bayescal.credal.OneVsRest",
        ],
        _MADE,
    ),
}
# Methods of estimators that their users do not call.
_INNER = {
    *("check", "checked_again", "fit_logits", "split", "take_features_of"),
    *("centred", "chosen_estimator", "domain", "least_loss", "objective", "take"),
    "transform_logits",
}


def modules(module: ModuleType = bc, name: str = "bayescal") -> Iterator[tuple[str, ModuleType]]:
    """Public modules by the name a user writes."""
    yield name, module
    for inner in sorted(getattr(module, "__all__", ())):
        value = getattr(module, inner)
        if inspect.ismodule(value) and value.__name__.startswith("bayescal."):
            yield from modules(value, f"{name}.{inner}")


@cache
def objects() -> dict[str, Any]:
    """Public functions and classes, each once."""
    found: dict[int, tuple[str, Any]] = {}
    for where, module in modules():
        names = getattr(module, "__all__", None)
        for name in names or [name for name in dir(module) if not name.startswith("_")]:
            value = getattr(module, name)
            ours = getattr(value, "__module__", "").startswith("bayescal")
            if names is None and getattr(value, "__module__", "") != module.__name__:
                continue
            if ours and callable(value) and not inspect.ismodule(value):
                found.setdefault(id(value), (f"{where}.{name}", value))
    return dict(found.values())


def callables() -> dict[str, Callable[..., Any]]:
    """What is swept, by name, each to be called by keywords."""
    return {name: value for name, value in found().items() if name not in LEFT_OUT}


@cache
def found() -> dict[str, Callable[..., Any]]:
    """Public functions, classes and their own methods."""
    all_of: dict[str, Callable[..., Any]] = {f"fit {name}": _fit(name) for name in quantities()}
    for name, value in objects().items():
        if not inspect.isclass(value):
            all_of[name] = value
        elif not any(rule(value) for rule in NOT_CALLED.values()):
            all_of[name] = _fitted(value) if issubclass(value, BaseEstimator) else value
            for method in methods(value):
                all_of[f"{name}.{method}"] = _method(name, value, method)
    return all_of


def methods(kind: type) -> Iterator[str]:
    """Public methods that bayescal defines, but for those without parameters."""
    inner = _INNER if issubclass(kind, BaseEstimator) else ()
    for name in dir(kind):
        value = inspect.getattr_static(kind, name)
        value = getattr(value, "__func__", value)
        own = isinstance(value, FunctionType) and value.__module__.startswith("bayescal")
        if (
            own
            and not name.startswith("_")
            and name not in inner
            and inspect.signature(value).parameters.keys() - {"self"}
        ):
            yield name


def _method(name: str, kind: type, method: str) -> Callable[..., Any]:
    """A method of an object that is made when it is called first."""
    if isinstance(inspect.getattr_static(kind, method), classmethod | staticmethod):
        return getattr(kind, method)

    @wraps(getattr(kind, method))
    def call(**given: Any) -> Any:
        return getattr(deepcopy(instance(name)), method)(**given)

    return call


@cache
def instance(name: str) -> Any:
    """An object of a class whose methods are called; an estimator is fitted."""
    if name in INSTANCES:
        return INSTANCES[name]()
    kind = objects()[name]
    return (_fitted(kind) if issubclass(kind, BaseEstimator) else kind)(**right(name, kind))


def _fitted(kind: type[BaseEstimator]) -> Callable[..., Any]:
    """Make and fit an estimator: by scikit-learn's rules its parameters are checked in fit."""

    @wraps(kind)
    def fitted(**given: Any) -> Any:
        return kind(**given).fit(FEATURES, CODED if kind is bc.pu_ece.PUClassifier else LABEL)

    return fitted


def _fit(quantity: str) -> Callable[..., Any]:
    """Fit of one quantity: with the options of its plan."""
    module = quantities()[quantity]
    own = dict(inspect.signature(bc.fit).parameters)
    del own["quantity"], own["options"]
    options = list(inspect.signature(module.plan).parameters.values())[2:]

    def fit(**given: Any) -> Any:
        return bc.fit(quantity, **given)

    fit.__signature__ = inspect.Signature([*own.values(), *options])  # type: ignore[attr-defined]  # set here
    return fit


def parameters(call: Callable[..., Any]) -> dict[str, Any]:
    """Parameters of a callable with their defaults; fields of a binning are spelled out."""
    found = {}
    for name, one in inspect.signature(call).parameters.items():
        if one.kind is one.VAR_KEYWORD:
            found |= BINNING if "Binning" in str(one.annotation) else {}
        elif name != "self":
            found[name] = one.default
    return found


def right(name: str, call: Callable[..., Any] | None = None) -> dict[str, Any]:
    """Arguments that a callable takes: its own, then defaults, then those of every such name."""
    given = {}
    for parameter, default in parameters(call or callables()[name]).items():
        make = RIGHT.get(f"{name}.{parameter}") or QUICK.get(parameter)
        if make is None and default is inspect.Parameter.empty:
            make = of_quantity(name).get(parameter) or BY_NAME[parameter]
        given[parameter] = make() if make else default
    return given


def of_quantity(name: str) -> dict[str, Callable[[], Any]]:
    """Data, result and priors of the quantity that a callable belongs to, else of ece."""
    words = name.replace("fit ", ".").split(".")
    quantity = next((word for word in words if word in quantities()), "ece")
    made = {"result": lambda: results()[quantity], "data": lambda: data(quantity)}
    if quantity == "ssme" or name == "bayescal.bin_scores":
        made["scores"] = made["data"]
    return {**made, "tree": made["result"], "priors": lambda: priors(quantity)}


@cache
def data(quantity: str) -> Any:
    """Data of a quantity."""
    if quantity == "pu_ece":
        return bc.PUScores(positive=SCORE[LABEL == 1], unlabeled=SCORE)
    scores = bc.Scores(y_true=LABEL, y_prob=SCORE)
    if quantity == "credal":
        return bc.CalibrationSplit(calibration=scores, target=SCORE[:3])
    if quantity == "ssme":
        missing = np.where(np.arange(ROWS) % 3, LABEL, np.nan)
        return bc.Scores.stack({"a": SCORE, "b": SCORE / 2}, y_true=missing)
    return bc.Scores(y_true=CODED3, y_prob=PROBS) if quantity == "temperature" else scores


def priors(quantity: str) -> Any:
    """Priors of a quantity, under which fits are quick."""
    return direct(quantity) or quantities()[quantity].Priors()


_FAST = {"method": "direct", "chains": 1, "seed": 1}


@cache
def under_priors() -> Any:
    """A result under several priors."""
    return bc.prior_sensitivity("ece", data("ece"), draws=100, **_FAST)


@cache
def of_classes() -> Any:
    """Calibration errors of every class."""
    scores = bc.Scores(y_true=CODED3, y_prob=PROBS)
    return bc.fit("ece", scores, multiclass="class-wise", draws=20, **_FAST)


@cache
def long() -> Any:
    """A result of more draws."""
    return bc.fit("ece", data("ece"), draws=200, **_FAST)


@cache
def label_plan() -> Any:
    """A plan of labels."""
    return bc.plan_labels(data("ece"), n=20, replications=2)


@cache
def two_rules() -> Any:
    """Costs of two rules."""
    return bc.fit(
        "agnostic", data("agnostic"), decision={"a": _rule(), "b": _rule()}, draws=20, **_FAST
    )


def grouped() -> Any:
    """A panel with groups."""
    return bc.Scores.stack({"a": SCORE, "b": SCORE / 2}, y_true=LABEL, group=np.arange(ROWS) % 2)


def rows_of_results() -> Any:
    """The rows that `results` has fitted a panel to."""
    rng = np.random.default_rng(1)
    p = rng.random(40)
    return bc.Scores.stack({"a": p, "b": 0.5 + p / 3}, y_true=(rng.random(40) < p).astype(int))


@cache
def three_classes() -> Any:
    """A credal result of three classes."""
    scores = bc.Scores(y_true=CODED3, y_prob=PROBS)
    split = bc.CalibrationSplit(calibration=scores, target=PROBS[:4])
    return bc.fit("credal", split, priors=direct("credal"), method="direct", draws=20, seed=1)


@cache
def folder() -> Path:
    """Files to read, and a place to write to."""
    made = Path(mkdtemp())
    table = pd.DataFrame({"y": LABEL, "p": SCORE, "g": LABEL})
    table.to_csv(made / "rows.csv", index=False)
    bc.save(results()["ece"], made / "result.nc")
    bc.fit_many("ece", {"a": data("ece")}, method="direct", draws=20, seed=1, store=made / "store")
    return made


ROWS = 24
_RNG = np.random.default_rng(3)
SCORE = np.sort(_RNG.random(ROWS).round(3))
LABEL = (_RNG.random(ROWS) < SCORE).astype(int)
CODED = np.where(LABEL == 1, 1, 0)
CODED3 = np.arange(ROWS) % 3
PROBS = _RNG.dirichlet(np.ones(3), ROWS)
LOGITS = np.log(PROBS)
FEATURES = np.column_stack([SCORE, _RNG.normal(size=ROWS)])
LOWER, UPPER = 0.8 * PROBS, 0.8 * PROBS + 0.2
ACTIONS = {"act": (1.0, 0.0), "wait": (0.0, 0.5)}
BINNING = {"n_bins": 15, "strategy": "quantile", "closed": "right"}


_GROUPED = {"cell": [-8192, 0], "rows": [4, 5], "positives": [1, 4], "score_sum": [1.0758, 2.5001]}


def counts() -> bc.Counts:
    """Counts of rows."""
    return bc.Counts.from_arrays(LABEL, SCORE)


def _rule() -> Any:
    return bc.agnostic.bayes_rule(ACTIONS)


# In place of defaults, so that calls are quick and give the same every time.
QUICK: dict[str, Callable[[], Any]] = {
    "draws": lambda: 20,
    "tune": lambda: 20,
    "chains": lambda: 1,
    "method": lambda: "direct",
    "seed": lambda: 1,
    "random_state": lambda: 1,
    "n_draws": lambda: 20,
    "n_boot": lambda: 20,
    "max_iter": lambda: 20,
    "points": lambda: 100,
}
COUNTED = [
    "bayescal.count_rows",
    *(f"bayescal.{name}.count_rows" for name in ("credal", "pu_ece", "ssme")),
    "bayescal.temperature.count_rows",
    "bayescal.agnostic.interval_measure_of_rows",
]
PRIORS = ("Beta", "HalfNormal", "LogNormal", "Normal")


def _path(name: str) -> Path:
    return folder() / name


def _logit_mixture() -> Any:
    return bc.pu_ece.LogitMixture((0.5, 0.5), (0.0, 1.0), (1.0, 2.0))


def _rows() -> Any:
    return bc.credal.SelfLearningRows(
        FEATURES, LABEL, FEATURES[:5], FEATURES[:4], FEATURES[::-1], LABEL[::-1]
    )


# Where there is no default.
_D = "bayescal.datasets"
BY_NAME: dict[str, Callable[[], Any]] = {
    **dict.fromkeys(
        ("score", "scores", "probability", "y_prob", "p0", "q", "s", "x"), lambda: SCORE
    ),
    **dict.fromkeys(("label", "event", "y_true", "y"), lambda: LABEL),
    **dict.fromkeys(("prob", "probs", "p", "calibration_prob"), lambda: PROBS),
    **dict.fromkeys(("lower",), lambda: LOWER),
    **dict.fromkeys(("upper",), lambda: UPPER),
    **dict.fromkeys(("logits",), lambda: LOGITS),
    **dict.fromkeys(("X", "features"), lambda: FEATURES),
    **dict.fromkeys(("n", "n_labeled", "n_unlabeled", "n_positive", "n_calibration"), lambda: 50),
    **dict.fromkeys(("alpha", "beta", "sigma", "b1", "slope", "factor", "norm"), lambda: 2.0),
    **dict.fromkeys(("mu", "b0", "intercept", "value"), lambda: 0.5),
    **dict.fromkeys(("class_prior", "c_emp", "c", "precision", "fcmi", "rademacher"), lambda: 0.2),
    **dict.fromkeys(("n_classes", "vc_dimension", "n_values", "rows", "budget"), lambda: 3),
    **dict.fromkeys(("p_plus", "p_minus", "p_test"), lambda: 0.1),
    "p1": lambda: (1 + SCORE) / 2,
    "mass": lambda: 0.9,
    "positive": lambda: SCORE[LABEL == 1],
    "negative": lambda: SCORE[LABEL == 0],
    "unlabeled": lambda: SCORE,
    "low": lambda: 0.1,
    "high": lambda: 0.6,
    "calibration_label": lambda: CODED3,
    "cost": lambda: np.eye(3),
    "fold": lambda: np.arange(ROWS) % 2,
    "group": lambda: np.arange(ROWS) % 2,
    "target": lambda: SCORE[:3],
    "calibration": lambda: bc.Scores(y_true=LABEL, y_prob=SCORE),
    "classifier": lambda: "classifier",
    "name": lambda: "over",
    **dict.fromkeys(("measure", "spec"), lambda: "e90"),
    "first": lambda: "a",
    "second": lambda: "b",
    "actions": lambda: ACTIONS,
    "intervals": lambda: {"wait": (0.0, 0.5), "act": (0.5, 1.0)},
    "rule": _rule,
    "edges": lambda: np.array([0.0, 0.5, 1.0]),
    "logit_norm": lambda: 2.0,
    "binning": bc.Binning,
    "oracle": lambda: bc.Scores.stack({"a": SCORE, "b": SCORE / 2}, y_true=LABEL),
}
_PATHS = {"bayescal.read_scores": "rows.csv", "bayescal.read_pu_scores": "rows.csv"}
_PATHS |= {"bayescal.load": "result.nc", "bayescal.load_many": "store"}
_PATHS |= {"bayescal.save": "new.nc", "bayescal.report": "new.html"}
RIGHT: dict[str, Callable[[], Any]] = {
    **{f"{name}.path": partial(_path, file) for name, file in _PATHS.items()},
    "bayescal.credal.write_rows.path": partial(_path, "new.csv"),
    **{f"{where}.data": partial(_path, "rows.csv") for where in COUNTED},
    **{f"{where}.score": lambda: "p" for where in (*COUNTED, "bayescal.read_scores")},
    **{
        f"{where}.label": lambda: "y"
        for where in (*COUNTED, "bayescal.read_scores")
        if "pu_ece" not in where
    },
    "bayescal.pu_ece.count_rows.positive_column": lambda: "y",
    "bayescal.read_pu_scores.positive_column": lambda: "y",
    "bayescal.read_pu_scores.score": lambda: "p",
    f"{_D}.credal.truth.name": lambda: "logistic",
    f"{_D}.ssme.truth.name": lambda: "mixed",
    f"{_D}.temperature.truth.name": lambda: "vector",
    # Results of a kind.
    "bayescal.conclusions.tree": lambda: under_priors(),
    "bayescal.marginal.tree": lambda: of_classes(),
    "bayescal.power_scale.tree": lambda: long(),
    "bayescal.ece.Priors.from_json.text": lambda: bc.ece.Priors().to_json(),
    "bayescal.plan_labels.n": lambda: 20,
    "bayescal.plan_labels.replications": lambda: 2,
    "bayescal.plots.plot_label_plan.plan": lambda: label_plan(),
    "bayescal.LabelPlan.with_limit.limit": lambda: 0.1,
    "bayescal.row_table.tree": lambda: results()["credal"],
    "bayescal.calibration_band.result": lambda: long(),
    "bayescal.plots.plot_change.change": lambda: bc.change([long(), long()]),
    "bayescal.change.results": lambda: {"old": long(), "new": long()},
    "bayescal.report.results": lambda: results()["ece"],
    **{f"bayescal.{name}.var": lambda: "ece" for name in ("interval", "prob_below", "prob_above")},
    **{f"bayescal.prob_{side}.limit": lambda: 0.1 for side in ("below", "above")},
    "bayescal.agnostic.rule_difference.result": lambda: two_rules(),
    **{
        f"bayescal.plots.{name}.tree": made
        for name, made in {
            "plot_class_reliability": lambda: results()["temperature"],
            "plot_credal_sets": lambda: three_classes(),
            "plot_decisions": lambda: results()["credal"],
            "plot_metrics": lambda: results()["ssme"],
            "plot_probability": lambda: results()["credal"],
            "plot_ranks": lambda: results()["ssme"],
            "plot_roc": lambda: results()["agnostic"],
            "plot_sensitivity": lambda: under_priors(),
            "plot_sensitivity_curve": lambda: results()["pu_ece"],
        }.items()
    },
    # Fits.
    "fit ssme.method": lambda: "nuts",
    **{f"{name}.quantity": lambda: "ece" for name in ("bayescal.fit", "bayescal.fit_many")},
    "bayescal.fit_many.data": lambda: {"a": data("ece")},
    "bayescal.prior_sensitivity.quantity": lambda: "ece",
    # Single functions.
    **{f"bayescal.counts_sql.{name}": lambda: "t" for name in ("table", "label", "score")},
    "bayescal.BinCounts.count": lambda: [4, 6],
    "bayescal.BinCounts.positives": lambda: [1, 5],
    "bayescal.BinCounts.mean_score": lambda: [0.25, 0.75],
    "bayescal.Binning.of.binning": lambda: None,
    **{f"bayescal.Counts.{name}.binning": bc.Binning for name in ("bins_of", "cells_of")},
    "bayescal.Counts.cells_of.n_cells": lambda: 50,
    "bayescal.Counts.from_frame.frame": lambda: _GROUPED,
    "bayescal.Counts.from_scores.scores": lambda: grouped(),
    **{
        f"bayescal.{kind}.save.path": lambda: str(Path(mkdtemp(), "a.counts"))
        for kind in ("Counts", "CountTable")
    },
    "bayescal.Counts.load.path": lambda: counts().save(Path(mkdtemp(), "a.counts")),
    "bayescal.CountTable.parts": lambda: {"a": counts()},
    "bayescal.CountTable.each.change": lambda: lambda one: one,
    "bayescal.CountTable.groups_of.classifier": lambda: "a",
    "bayescal.PUScores.stack.scores": lambda: {"a": (SCORE[LABEL == 1], SCORE)},
    "bayescal.Scores.stack.y_prob": lambda: {"a": SCORE, "b": SCORE / 2},
    "bayescal.Scores.from_estimator.estimator": lambda: LogisticRegression().fit(FEATURES, LABEL),
    "bayescal.ReliabilityDisplay.result": lambda: long(),
    "bayescal.ReliabilityDisplay.from_estimator.estimator": lambda: LogisticRegression().fit(
        FEATURES, LABEL
    ),
    "bayescal.Scores.from_cv.models": LogisticRegression,
    "bayescal.Scores.from_frame.frame": lambda: {"y": LABEL, "p": SCORE},
    "bayescal.Scores.from_frame.label": lambda: "y",
    "bayescal.Scores.from_frame.score": lambda: "p",
    "bayescal.Scores.one_vs_rest.class_label": lambda: 0,
    **{f"bayescal.{kind}.quantile.probability": lambda: 0.5 for kind in PRIORS},
    "bayescal.agnostic.Action.positive": lambda: 1.0,
    "bayescal.agnostic.Action.negative": lambda: 0.5,
    "bayescal.agnostic.Action.expected.probability": lambda: 0.5,
    "bayescal.agnostic.hidden_labels.verifier": lambda: lambda feature, label: True,
    "bayescal.agnostic.interleaved_classifiers.n": lambda: 3,
    "bayescal.agnostic.half_plane_measure.label": lambda: CODED3,
    "bayescal.agnostic.minimise_measure.basis": lambda: np.ones((ROWS, 1)),
    "bayescal.agnostic.shattering_weights.features": lambda: np.eye(3),
    "bayescal.agnostic.shattering_weights.sign": lambda: [1, -1, 1],
    "bayescal.credal.CrossVennAbers.predict.score": lambda: np.array([SCORE, SCORE]),
    "bayescal.credal.OneVsRest.predict.score": lambda: PROBS,
    "bayescal.credal.fit_one_vs_rest.score": lambda: PROBS,
    "bayescal.credal.fit_one_vs_rest.label": lambda: CODED3,
    "bayescal.credal.SelfLearningRows.labels": lambda: LABEL,
    "bayescal.credal.SelfLearningRows.unlabeled": lambda: FEATURES[:5],
    "bayescal.credal.SelfLearningRows.target": lambda: FEATURES[:4],
    "bayescal.credal.SelfLearningRows.calibration_features": lambda: FEATURES,
    "bayescal.credal.SelfLearningRows.calibration_labels": lambda: LABEL,
    "bayescal.credal.SelfLearningSettings.method": lambda: "credal",
    "bayescal.credal.ThresholdSettings.method": lambda: "credal",
    "bayescal.credal.probability.event": lambda: [True, False, True],
    "bayescal.credal.self_learn.classifier": lambda: LogisticRegression(),
    **{f"bayescal.credal.{name}.rows": _rows for name in ("self_learn", "self_learn_by_threshold")},
    f"{_D}.credal.CurveTruth.kind": lambda: "smooth",
    f"{_D}.credal.CurveTruth.curve": lambda: np.square,
    f"{_D}.ece.Truth.event_probability": lambda: np.square,
    f"{_D}.pu_ece.PUTruth.scores.n": lambda: (20, 30),
    "bayescal.pu_ece.MixtureTruth.scores.n": lambda: (20, 30),
    "bayescal.pu_ece.MixtureTruth.positive": _logit_mixture,
    "bayescal.pu_ece.MixtureTruth.negative": _logit_mixture,
    "bayescal.pu_ece.LogitMixture.weight": lambda: (0.5, 0.5),
    "bayescal.pu_ece.LogitMixture.mean": lambda: (0.0, 1.0),
    "bayescal.pu_ece.LogitMixture.scale": lambda: (1.0, 2.0),
    "bayescal.pu_ece.PriorDraws.values": lambda: np.linspace(0.1, 0.4, 100),
    "bayescal.pu_ece.Priors.class_prior": lambda: 0.2,
    "fit pu_ece.priors": lambda: priors("pu_ece"),
    f"{_D}.ssme.PanelTruth.classifiers": lambda: {"a": bc.datasets.ssme.Distortion()},
    f"{_D}.ssme.PanelTruth.probability.scores": lambda: SCORE[None],
    **{
        f"bayescal.pu_ece.LogitMixture.{name}.logit": lambda: SCORE
        for name in ("density", "log_density")
    },
    "bayescal.ssme.estimate_by_group.scores": lambda: grouped(),
    "bayescal.ssme.baselines.labeled_by_group.scores": lambda: grouped(),
    "bayescal.ssme.effective_sample_size.error": lambda: 0.2,
    f"{_D}.temperature.LogitTruth.alpha": lambda: (1.0, 1.5, 2.0),
    "bayescal.ssme.all_wrong.scores": lambda: rows_of_results(),
    "bayescal.ssme.effective_sample_size.sizes": lambda: [10, 20, 40],
    "bayescal.ssme.effective_sample_size.labeled_error": lambda: [0.3, 0.2, 0.1],
    **{
        f"bayescal.ssme.{name}.probs": lambda: PROBS[None]
        for name in ("metrics", "subgroup_metrics")
    },
    **{f"bayescal.ssme.{name}.q": lambda: PROBS for name in ("metrics", "subgroup_metrics")},
    "bayescal.ssme.subgroup_metrics.n_groups": lambda: 2,
    "bayescal.ssme.rescaled_error.error": lambda: 0.1,
    "bayescal.ssme.rescaled_error.labeled_error": lambda: 0.2,
    "bayescal.temperature.train_on_rare_feature.rng": lambda: np.random.default_rng(1),
    "bayescal.temperature.train_on_rare_feature.rows": lambda: 100,
}
INSTANCES: dict[str, Callable[[], Any]] = {
    "bayescal.LabelPlan": lambda: label_plan(),
    "bayescal.Counts": lambda: counts(),
    "bayescal.CountTable": lambda: bc.CountTable({"a": {"x": counts(), "y": counts()}}),
    "bayescal.agnostic.Link": lambda: bc.agnostic.isotonic_calibration(SCORE, label=LABEL),
    "bayescal.credal.CrossVennAbers": lambda: bc.credal.fit_cross_venn_abers(
        SCORE, label=LABEL, fold=np.arange(ROWS) % 2
    ),
    "bayescal.credal.InductiveVennAbers": lambda: bc.credal.fit_ivap(SCORE, label=LABEL),
    "bayescal.credal.OneVsRest": lambda: bc.credal.fit_one_vs_rest(PROBS, label=CODED3),
}
