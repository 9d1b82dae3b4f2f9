"""Calls of every public function with arguments that are nearly right, and one that is hostile.

Arguments are made by the name and the type of the parameter, so that a new function is called
without an edit here, or fails the test that all parameters are known.
"""

import inspect
from collections.abc import Callable
from functools import cache, partial
from types import FunctionType, MethodType
from typing import Any

import numpy as np
from hypothesis import strategies as st

import bayescal as bc
from hostile.judge import DOCUMENTED, Case
from hostile.objects import direct, objects, quantities, results
from hostile.values import CHOICES, FLOATS, INTS, WORDS, arrays, labels, maybe, scores, tables

# Not called, with the reason.
LEFT_OUT = {
    "build_model": "compiles a model, for seconds",
    "bayesian_calibration": "compiles a model, for seconds",
    "estimate_flow": "trains a network on JAX",
    "self_learn": "trains networks",
    "self_learn_by_threshold": "trains networks",
    "train_on_rare_feature": "trains networks",
    "hidden_labels": "calls a function of the caller's",
    "Scores.from_estimator": "calls an estimator of the caller's",
    "Scores.from_cv": "trains an estimator of the caller's",
    "Scores.from_frame": "takes names of columns",
    "ece.Truth.score": "takes a simulator's feature",
    "ece.Truth.event_probability": "takes a simulator's feature",
    "pu_ece.PUTruth.score": "takes a simulator's feature",
    "pu_ece.PUTruth.event_probability": "takes a simulator's feature",
    "credal.CurveTruth.curve": "is a field of the simulator",
    "temperature.LogitTruth.class_errors": "takes what a simulator drew",
    "plan": "is what fit calls",
    "fit": "is called quantity by quantity",
    "prior_sensitivity": "is fit, prior by prior",
    "fit_many": "collects what fit raises",
    "read_scores": "is called with files",
    "read_pu_scores": "is called with files",
    "load": "is called with files",
    "count_rows": "is called with files",
    "counts_sql": "takes names",
    "interval_measure_of_rows": "is called with files",
    "load_many": "is called with files",
    "save": "writes files",
    "report": "writes files",
    "write_rows": "writes files",
    "plan_labels": "fits simulated data many times",
    "plot_label_plan": "takes what plan_labels returns",
    "plot_change": "takes what change returns",
}
PLAIN_CLASSES = (bc.Scores, bc.PUScores, bc.CalibrationSplit, bc.BinCounts, bc.Binning)
PRIOR_CLASSES = (bc.Beta, bc.HalfNormal, bc.LogNormal, bc.Normal)


@cache
def functions() -> dict[str, Callable[..., Any]]:
    """Public functions and data classes by name."""
    found = {}
    for module in (bc, bc.plots, bc.ssme.baselines, *quantities().values()):
        where = module.__name__.rpartition(".")[2]
        for name in getattr(module, "__all__", dir(module)):
            value = getattr(module, name)
            if not name.startswith("_") and inspect.isfunction(value) and name not in LEFT_OUT:
                found[f"{where}.{name}"] = value
    for kind in (*PLAIN_CLASSES, *PRIOR_CLASSES):
        found[f"bayescal.{kind.__name__}"] = kind
    return found | methods()


def methods() -> dict[str, Callable[..., Any]]:
    """Public methods of objects, by the name of their class; a Link is called itself."""
    found = {}
    for owner, value in objects().items():
        for name in dir(value):
            public = not name.startswith("_") and f"{owner}.{name}" not in LEFT_OUT
            if public and isinstance(member := getattr(value, name), MethodType | FunctionType):
                found[f"{owner}.{name}"] = member
    return {**found, "Link": objects()["Link"]}


ROWS = (
    "score",
    "scores",
    "p0",
    "p1",
    "positive",
    "negative",
    "unlabeled",
    "probability",
    "q",
    "values",
)
TABLES = ("prob", "probs", "p", "calibration_prob", "lower", "upper", "y_prob", "cost", "logits")
LABELS = ("label", "y_true", "calibration_label", "event", "fold", "group", "sign", "sizes")
OTHER = (
    "errors_q",
    "weight",
    "weights",
    "sample_weight",
    "basis",
    "features",
    "error",
    "labeled_error",
    "logit",
    "x",
    "s",
    "confidence",
)
COUNTS = ("edges", "count", "positives", "mean_score", "mass", "rows", "positive_rows")


@st.composite
def data_of(draw: st.DrawFn, quantity: str) -> Any:
    """Data of a quantity, sometimes of the wrong kind."""
    n = draw(st.integers(0, 8))
    k = draw(st.integers(2, 3))
    given = partial(maybe, draw)
    y = given(labels(n, k))
    p = given(scores(n)) if k == 2 else given(tables(n, k))
    group = draw(st.one_of(st.none(), st.none(), labels(n)))
    weight = draw(st.one_of(st.none(), st.none(), st.none(), scores(n)))
    if quantity == "pu_ece":
        return bc.PUScores(positive=p, unlabeled=given(scores(draw(st.integers(0, 8)))))
    if draw(st.booleans()):
        made = bc.Scores.stack(
            {"a": p, "b": given(scores(n)) if k == 2 else given(tables(n, k))}, y_true=y
        )
    else:
        made = bc.Scores(y_true=y, y_prob=p, group=group, sample_weight=weight)
    if quantity == "credal":
        return bc.CalibrationSplit(calibration=made, target=p)
    return made


def known(parameter: inspect.Parameter) -> bool:
    """Whether arguments can be made for a parameter."""
    try:
        argument(parameter, 2, 2, "ece")
    except LookupError:
        return False
    return True


def argument(parameter: inspect.Parameter, n: int, k: int, where: str) -> st.SearchStrategy[Any]:
    """A strategy for one parameter, of n rows and k classes."""
    name, kind = parameter.name, str(parameter.annotation).replace("'", "")
    optional = "None" in kind
    base = kind.replace(" | None", "")
    found: st.SearchStrategy[Any]
    if "DataTree" in base:
        found = st.sampled_from(sorted(results())).map(results().__getitem__)
    elif base.startswith(("Scores", "PUScores", "CalibrationSplit")):
        quantity = {"PUScores": "pu_ece", "CalibrationSplit": "credal"}.get(base, where)
        found = data_of(quantity)
    elif base in ("Binning", "Unpack[BinningFields]"):
        found = st.builds(bc.Binning, st.sampled_from([1, 2, 15, 0, "optimal"]))
    elif name == "ax":
        found = st.none()
    elif name == "rule":
        rule = bc.agnostic.bayes_rule({"act": (1.0, 0.0), "wait": (0.0, 0.5)})
        found = st.just(rule)
    elif name == "actions":
        value = st.tuples(st.sampled_from(FLOATS), st.sampled_from(FLOATS))
        found = st.dictionaries(st.sampled_from(["a", "b", ""]), value, max_size=3)
    elif base in ("float", "float | Floats"):
        found = st.sampled_from(FLOATS)
    elif base in ("int", "int | str", "Seed", "int | np.random.Generator"):
        found = st.sampled_from(INTS)
    elif base == "tuple[int, int]":
        found = st.tuples(st.sampled_from(INTS), st.sampled_from(INTS))
    elif base == "bool":
        found = st.booleans()
    elif base.startswith(("str", "Strategy", "Correction")) or name in ("pos_label", "class_label"):
        found = st.sampled_from((*CHOICES.get(name, ()), *CHOICES.get(name, ()), *WORDS))
    elif base == "Sequence[int]" and name == "rows":
        found = st.lists(st.sampled_from(INTS), max_size=3)
    elif base == "Sequence[str]":
        found = st.lists(st.sampled_from(WORDS), max_size=3)
    elif name == "thresholds":
        found = st.lists(st.sampled_from(FLOATS), max_size=3)
    elif name == "measures":
        found = st.lists(st.sampled_from((*CHOICES["measure"], *WORDS)), max_size=2)
    elif name == "classes":
        found = st.lists(st.sampled_from([0, 1, "a"]), max_size=3)
    elif name in ROWS:
        found = scores(n)
    elif name in TABLES:
        found = tables(n, k)
    elif name in LABELS:
        found = labels(n, k)
    elif name in (*OTHER, *COUNTS, "target"):
        found = arrays()
    elif name == "class_prior":
        found = tables(1, k).map(np.ravel)
    elif name == "settings":
        found = st.just("paper")
    else:
        raise LookupError(f"{name}: {kind}")
    return st.one_of(st.none(), found) if optional else found


@st.composite
def calls(draw: st.DrawFn) -> Case:
    """A call of a public function."""
    name = draw(st.sampled_from(sorted(functions())))
    function = functions()[name]
    n, k = draw(st.integers(0, 8)), draw(st.integers(2, 3))
    given = {}
    for parameter in inspect.signature(function).parameters.values():
        left_out = parameter.default is not parameter.empty and draw(st.booleans())
        if left_out or parameter.kind is parameter.VAR_KEYWORD:
            continue
        try:
            strategy = argument(parameter, n, k, name.partition(".")[0])
            wanted = _is_array(parameter)
            given[parameter.name] = maybe(draw, strategy) if wanted else draw(strategy)
        except DOCUMENTED:
            return Case(name, lambda: None)
    return Case(name, partial(function, **given))


def _is_array(parameter: inspect.Parameter) -> bool:
    kind = str(parameter.annotation)
    return any(word in kind for word in ("Array", "Any", "Floats", "Scores", "DataTree"))


@st.composite
def fits(draw: st.DrawFn) -> Case:
    """A fit without NUTS."""
    name = draw(st.sampled_from(sorted(quantities())))
    try:
        data = maybe(draw, data_of(name))
    except DOCUMENTED:
        return Case(f"fit {name}", lambda: None)
    settings = {"method": "direct", "draws": 25, "chains": 1, "seed": 1}
    run = partial(bc.fit, name, data, priors=direct(name), **settings)
    return Case(f"fit {name}", run)
