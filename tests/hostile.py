"""Calls of every public function with arguments that are nearly right, and one that is hostile.

Arguments are made by the name and the type of the parameter, so that a new function is called
without an edit here, or fails the test that all parameters are known.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from hypothesis import strategies as st

import bayescal as bc
from bayescal.cli.main import main
from bayescal.core.errors import InputError, OutputError

DOCUMENTED = (InputError, OutputError)

# Numbers at which code breaks; all are floats, as a user's own mistake may make them.
FLOATS = (
    *(0.0, -0.0, 1.0, 0.5, 0.9, 0.25, 1e-300, 5e-324, 1e-12, 1 - 1e-16, 1 - 1e-12, 1 + 1e-15),
    *(-1.0, 2.0, 37.5, 1e6, 1e300, -1e300, float("nan"), float("inf"), float("-inf")),
)
UNIT = (0.0, 1.0, 0.5, 0.1, 0.25, 0.3, 0.7, 0.9, 1e-300, 1e-9, 1 - 1e-16, 1 - 1e-9, 5e-324)
INTS = (0, 1, 2, 3, 5, 10, 15, -1, 30, 1000)
WORDS = ("", "a", "b", "vit", "1", "NaN", "\ud800", "<b>", "\x00", "é" * 40, "tce", "ece", "log")
CHOICES = {
    "by": ("predicted", "true"),
    "closed": ("left", "right"),
    "correction": ("max", "abs"),
    "ece": (None, "bins", "debiased"),
    "labeling": ("random", "selected"),
    "loss": ("log", "brier", "logistic", "nll", "sigmoid"),
    "multiclass": ("top-label", "class-wise", "marginal"),
    "reading": ("hard", "soft", "drawn"),
    "guess": ("self", "ensemble"),
    "metric": ("accuracy", "ece", "auc"),
    "scale": ("logits", "probabilities"),
    "strategy": ("quantile", "uniform"),
    "var": ("ece", "tce", "accuracy", "prob", "c"),
}


class Case(NamedTuple):
    """One call: its name, what it does, and what may be NaN in what it returns."""

    name: str
    run: Callable[[], Any]


# Not called, with the reason.
LEFT_OUT = {
    "build_model": "compiles a model, for seconds",
    "bayesian_calibration": "compiles a model, for seconds",
    "estimate_flow": "trains a network on JAX",
    "self_learn": "trains networks",
    "self_learn_by_threshold": "trains networks",
    "train_on_rare_feature": "trains networks",
    "hidden_labels": "calls a function of the caller's",
    "plan": "is what fit calls",
    "fit": "is called quantity by quantity",
    "prior_sensitivity": "is fit, prior by prior",
    "fit_many": "collects what fit raises",
    "read_scores": "is called with files",
    "read_pu_scores": "is called with files",
    "load": "is called with files",
    "count_rows": "reads files and Dask collections",
    "interval_measure_of_rows": "reads files and Dask collections",
    "load_many": "is called with files",
    "save": "writes files",
    "report": "writes files",
    "write_rows": "writes files",
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
    return found


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
        "ssme": (two, {}),
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


def arrays() -> st.SearchStrategy[Any]:
    """Anything that may be handed in where an array belongs."""
    numbers = st.lists(st.sampled_from(FLOATS), max_size=6)
    return st.one_of(
        numbers,
        numbers.map(np.array),
        numbers.map(_single),
        numbers.map(lambda rows: np.array(rows)[:, None]),
        numbers.map(lambda rows: np.array([rows, rows])),
        numbers.map(lambda rows: np.array(rows)[::-1]),
        numbers.map(lambda rows: np.ma.masked_invalid(np.array(rows))),
        numbers.map(pd.Series),
        st.lists(st.sampled_from([0, 1, 2, -1, 2**62, 2**70]), max_size=6),
        st.lists(st.sampled_from([0, 1, 1, None, "1", "yes", True, float("nan")]), max_size=6),
        st.lists(st.sampled_from(WORDS), max_size=4),
        st.lists(numbers, max_size=3),
        st.lists(st.binary(max_size=2), max_size=3),
        st.lists(st.complex_numbers(max_magnitude=2), max_size=3),
        st.sampled_from(
            [None, 0.5, 1, True, "words", b"\xff", {}, {"a": [0.1]}, object(), set(), range(3)]
        ),
        st.sampled_from(
            [
                np.array(0.5),
                np.zeros((0, 2)),
                np.zeros((2, 0)),
                np.zeros((2, 2, 2)),
                np.array([0.1, 0.9], dtype=object),
                np.array([[0.1], None], dtype=object),
                np.array(["2020-01-01"], dtype="datetime64[D]"),
                np.array([(1, 2.0)], dtype=[("a", int), ("b", float)]),
                np.array([1 + 2j]),
                np.array([True, False]),
                np.array([0, 255], dtype=np.uint8),
                np.array([np.iinfo(np.int64).min, 1]),
                np.full(3, np.nan),
                np.float16([0.1, 0.9]),
                pd.Categorical(["a", "b"]),
                pd.Series([0.1, None], dtype="Float64"),
            ]
        ),
    )


def _single(rows: list[float]) -> Any:
    with np.errstate(over="ignore"):
        return np.array(rows, dtype=np.float32)


def scores(n: int) -> st.SearchStrategy[Any]:
    """Scores of n rows."""
    return st.lists(st.sampled_from(UNIT), min_size=n, max_size=n).map(np.array)


def labels(n: int, k: int = 2) -> st.SearchStrategy[Any]:
    """Labels of n rows."""
    return st.lists(st.integers(0, k - 1), min_size=n, max_size=n).map(np.array)


def tables(n: int, k: int) -> st.SearchStrategy[Any]:
    """Probabilities of k classes in n rows."""
    row = st.lists(st.integers(0, 5), min_size=k, max_size=k).map(_shares)
    return st.lists(row, min_size=n, max_size=n).map(lambda rows: np.array(rows).reshape(n, k))


def _shares(counts: list[int]) -> Any:
    whole = np.array(counts, dtype=float)
    return whole / whole.sum() if whole.sum() else np.full(len(counts), 1 / len(counts))


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
)
COUNTS = ("edges", "count", "positives", "mean_score", "mass", "rows")


@st.composite
def data_of(draw: st.DrawFn, quantity: str) -> Any:
    """Data of a quantity, sometimes of the wrong kind."""
    n = draw(st.integers(0, 8))
    k = draw(st.integers(2, 3))
    maybe = partial(_maybe, draw)
    y = maybe(labels(n, k))
    p = maybe(scores(n)) if k == 2 else maybe(tables(n, k))
    group = draw(st.one_of(st.none(), st.none(), labels(n)))
    weight = draw(st.one_of(st.none(), st.none(), st.none(), scores(n)))
    if quantity == "pu_ece":
        return bc.PUScores(positive=p, unlabeled=maybe(scores(draw(st.integers(0, 8)))))
    if draw(st.booleans()):
        made = bc.Scores.stack(
            {"a": p, "b": maybe(scores(n)) if k == 2 else maybe(tables(n, k))}, y_true=y
        )
    else:
        made = bc.Scores(y_true=y, y_prob=p, group=group, sample_weight=weight)
    if quantity == "credal":
        return bc.CalibrationSplit(calibration=made, target=p)
    return made


def _maybe(draw: st.DrawFn, strategy: st.SearchStrategy[Any]) -> Any:
    """Mostly what is right, one time in ten something hostile."""
    return draw(arrays()) if draw(st.integers(0, 9)) == 0 else draw(strategy)


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
    elif name == "rule":
        rule = bc.agnostic.bayes_rule({"act": (1.0, 0.0), "wait": (0.0, 0.5)})
        found = st.just(rule)
    elif name == "actions":
        value = st.tuples(st.sampled_from(FLOATS), st.sampled_from(FLOATS))
        found = st.dictionaries(st.sampled_from(["a", "b", ""]), value, max_size=3)
    elif base in ("float", "float | Floats"):
        found = st.sampled_from(FLOATS)
    elif base in ("int", "int | str", "Seed"):
        found = st.sampled_from(INTS)
    elif base == "bool":
        found = st.booleans()
    elif base.startswith(("str", "Strategy", "Correction")) or name == "pos_label":
        found = st.sampled_from((*CHOICES.get(name, ()), *CHOICES.get(name, ()), *WORDS))
    elif base == "Sequence[int]" and name == "rows":
        found = st.lists(st.sampled_from(INTS), max_size=3)
    elif base == "Sequence[str]":
        found = st.lists(st.sampled_from(WORDS), max_size=3)
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
            given[parameter.name] = _maybe(draw, strategy) if wanted else draw(strategy)
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
        data = _maybe(draw, data_of(name))
    except DOCUMENTED:
        return Case(f"fit {name}", lambda: None)
    settings = {"method": "direct", "draws": 25, "chains": 1, "seed": 1}
    run = partial(bc.fit, name, data, priors=direct(name), **settings)
    return Case(f"fit {name}", run)


CELLS = st.sampled_from(
    ["0", "1", "0.5", "", "NaN", "nan", "inf", "-1", "1e400", "yes", '"', '"a,b"', "\x00", "é", "#"]
)


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """Contents of a file that should be a table."""
    kind = draw(st.sampled_from(["text", "text", "text", "bytes", "cut", "head"]))
    if kind == "bytes":
        return draw(st.binary(max_size=200))
    header = draw(st.sampled_from(["y,p", "y,p", "y,p,g", "y;p", "y,y", "p", "", "y,p,"]))
    rows = draw(st.lists(st.lists(CELLS, min_size=1, max_size=3), max_size=8))
    end = draw(st.sampled_from(["\n", "\n", "\r\n", "\r"]))
    text = end.join([header, *(",".join(row) for row in rows)]) + end
    content = text.encode("utf-8")
    if kind == "head":
        return draw(st.sampled_from([b"PAR1", b"\xef\xbb\xbf", b"\x1f\x8b", b"\xff\xfe"])) + content
    if kind == "cut":
        table = io.BytesIO()
        pd.DataFrame({"y": [0, 1], "p": [0.1, 0.9]}).to_parquet(table)
        whole = table.getvalue()
        return whole[: draw(st.integers(0, len(whole)))]
    return content


def numbers(value: Any, at: str = "") -> Iterator[tuple[str, Any]]:
    """All floats of what a function returned, each with where it stands."""
    if isinstance(value, float | np.floating):
        yield at, np.array(value)
    elif isinstance(value, np.ndarray) and value.dtype.kind == "f":
        yield at, value
    elif hasattr(value, "_fields"):
        for name in value._fields:
            yield from numbers(getattr(value, name), f"{at}.{name}")
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from numbers(getattr(value, field.name), f"{at}.{field.name}")
    elif isinstance(value, Mapping):
        for name in value:
            yield from numbers(value[name], f"{at}.{name}")


def trouble(case: Case) -> str | None:
    """What is wrong with a call: an undocumented exception, or NaN as a number; None if nothing."""
    try:
        with warnings.catch_warnings():
            # Users see NumPy's warnings; here they are the start of a NaN.
            warnings.simplefilter("ignore")
            found = case.run()
    except DOCUMENTED as error:
        return None if str(error).strip() else "an empty message"
    except Exception as error:  # everything else is what is looked for
        return f"{type(error).__name__}: {error}"
    for at, values in numbers(found):
        if np.isnan(values).any() and not is_documented_nan(case.name, at):
            return f"NaN at {at or 'the result'}"
    return None


# Where the documentation says that NaN stands for "there is none".
RANKED = (".auc", ".auprc")
NAN_SAYS_NONE: Mapping[str, tuple[str, ...]] = {
    "ece.estimate": (".label_rate", ".gap"),  # of an empty bin
    "pu_ece.estimate": (".label_rate", ".gap"),
    "temperature.calibration_errors": (".class_ece", ".class_accuracy", ".class_confidence"),
    "agnostic.rule_difference": (".correlation",),
    "bayescal.difference": (".correlation",),
}


def is_documented_nan(name: str, at: str) -> bool:
    """Whether NaN stands for "there is none": a rate of no rows, an AUC of one class."""
    if name == "ssme.subgroup_metrics":
        return True
    of_metrics = name.startswith(("ssme.", "baselines.")) and at.endswith(RANKED)
    return of_metrics or at in NAN_SAYS_NONE.get(name, ())


COMMANDS = ("ece", "pu-ece", "ssme", "credal", "agnostic", "temperature", "report", "calibrate")
READERS = ("read_scores", "read_pu_scores", "load")


@st.composite
def commands(draw: st.DrawFn) -> Case:
    """A command on a hostile file, or a reader of such a file."""
    content = draw(files())
    suffix = draw(st.sampled_from([".csv", ".csv", ".parquet", ".nc", ".csv.gz", ""]))
    column = st.sampled_from(["y", "p", "p", "g", "p*", "", "\x00"])
    label, score = draw(st.just("y") | column), draw(st.just("p") | column)
    name = draw(st.sampled_from((*COMMANDS, *READERS)))
    return Case(f"command {name}", partial(_on_file, name, content, suffix, label, score))


def _on_file(name: str, content: bytes, suffix: str, label: str, score: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"table{suffix}")
        path.write_bytes(content)
        if name == "read_scores":
            bc.read_scores(path, label=label, score=score)
        elif name == "read_pu_scores":
            bc.read_pu_scores(path, positive_column=label, score=score)
        elif name == "load":
            bc.load(path)
        else:
            _command(name, path, label, score)


def _command(name: str, path: Path, label: str, score: str) -> None:
    files = [str(path)]
    options = ["--label", label, "--score", score]
    if name == "pu-ece":
        options = ["--positive-column", label, "--score", score, "--class-prior", "0.5"]
    elif name == "credal":
        files, options = [str(path), str(path)], options
    elif name == "calibrate":
        files, options = [str(path), str(path)], ["-o", str(path.with_name("out.csv"))]
    options += ["-o", str(path.with_name("o.html"))] if name == "report" else []
    options += ["--quick", "--draws", "25"] if name == "report" else []
    options += ["--estimate-only"] if name not in ("report", "calibrate") else []
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        code = main([name, *files, *options])
    text = said.getvalue()
    if code not in (0, 2, 3) or "unexpected" in text or "Traceback" in text:
        raise AssertionError(f"code {code}: {text}")
