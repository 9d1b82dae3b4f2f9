"""What the command line reads for the interval measure, costs and ROC curves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from bayescal.core import command as shared
from bayescal.core.command import Command, Estimates, Given, Option
from bayescal.core.errors import InputError

if TYPE_CHECKING:
    from bayescal.core.counts import Counts
    from bayescal.core.scores import Scores
    from bayescal.quantities.agnostic.decisions import DecisionRule
    from bayescal.quantities.agnostic.estimator import IntervalMeasure
    from bayescal.quantities.agnostic.priors import Priors

# Rows that are read at once; beyond it the file is read in batches.
MOST_ROWS: Final = 20_000_000


def rule_from_file(path: str) -> DecisionRule:
    """Read a rule from a TOML file with a table an action; without intervals the cheapest."""
    import tomllib

    from bayescal.quantities.agnostic.decisions import Action, DecisionRule, bayes_rule

    try:
        with open(path, "rb") as file:
            tables = tomllib.load(file)
    except OSError as error:
        raise InputError(f"--decision: cannot read {path}: {error.strerror}.") from None
    except UnicodeDecodeError as error:
        byte = f"the byte {error.object[error.start]:#x} at {error.start}"
        raise InputError(
            f"--decision: {path} must be UTF-8 text; got {byte}. Save it as such."
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"--decision: {path} is no TOML file: {error}.") from None
    if not tables:
        raise InputError(f"--decision: {path} must have a table an action; it has none.")
    for name, table in tables.items():
        costs = {"positive", "negative"}
        if not isinstance(table, dict) or not costs <= set(table) <= costs | {"setup", "interval"}:
            raise InputError(
                f"--decision: the table of action {name!r} in {path} must have positive and "
                "negative, and may have setup and interval. Write [keep], positive = 5, "
                "negative = 0, interval = [0, 0.4]."
            )
    parts = {name: one.pop("interval") for name, one in tables.items() if "interval" in one}
    try:
        actions = {name: Action(**one) for name, one in tables.items()}
        return DecisionRule(actions, parts) if parts else bayes_rule(actions)
    except InputError as error:
        raise InputError(f"--decision {path}: {error}") from None


def priors_from_text(text: str) -> Priors:
    """Read the prior of the curve from a word: curve or smooth, each with or without :SCALE."""
    from bayescal.quantities.agnostic.priors import CurveAverage, Priors, SmoothCurve

    def average(scale: str = "0.7", **weights: float) -> Priors:
        return Priors(CurveAverage(curve=SmoothCurve(scale=float(scale)), **weights))

    smooth: Callable[..., Priors] = partial(average, rough=0, segments=0, linear=0)
    known = "curve or smooth, each with or without :SCALE"
    return shared.in_words(text, {"curve": average, "smooth": smooth}, known)


def read(given: Given) -> Scores | Mapping[str, Counts]:
    """Read the file, or count its rows in batches where they are too many to hold."""
    if shared.are_counts(given):
        from bayescal.core.count_table import without_groups

        return without_groups(shared.sum_of(given), "agnostic")
    table, columns = shared.open_columns(given)
    whole = given["weight"] is not None or columns.classes is not None
    if whole or not shared.too_large(table, 1, MOST_ROWS):
        return shared.labeled_scores(given, table, columns)
    from bayescal.core.many_rows import count_rows

    return shared.counted(count_rows, given, table, columns.names)


def estimates(data: Scores | Mapping[str, Counts], given: Given) -> Estimates:
    """Estimate each classifier's measure, and the cost of the rule."""
    from bayescal.core.plausibility import signs_of_scores
    from bayescal.quantities.agnostic.data import data_warnings, problem_of
    from bayescal.quantities.agnostic.decisions import actual_cost
    from bayescal.quantities.agnostic.estimator import interval_measure

    rules = [rule_from_file(given["decision"])] if given["decision"] else []
    found: list[tuple[Mapping[str, str], int, IntervalMeasure, Sequence[float]]] = []
    signs: list[str] = []
    if isinstance(data, Mapping):
        for name, counts in data.items():
            problem = problem_of(name, counts, rules)
            rows = problem.figures
            found.append(({"classifier": name}, rows.n, rows.measure, rows.costs))
            signs += [f"{name}: {said}" for said in data_warnings(problem)]
    else:
        for task in data.tasks():
            score, label, weight = task.score, task.event, task.weight
            costs = [actual_cost(rule, score, label=label, weight=weight) for rule in rules]
            measure = interval_measure(score, label=label, weight=weight)
            found.append((task.coords, task.n, measure, costs))
        signs += signs_of_scores(data)
    lines = [
        shared.row_of(
            coords,
            n=n,
            c=measure.c,
            ks=measure.ks,
            lower=max(measure.lower, 0.0),
            upper=measure.upper,
            sign=measure.sign,
            **({"cost": costs[0]} if costs else {}),
        )
        for coords, n, measure, costs in found
    ]
    shown = {"case": "", "n": "rows", "c": "c_emp", "lower": "from", "upper": "to", "sign": "sign"}
    shown |= {"ks": "KS"} | ({"cost": "cost"} if rules else {})
    return Estimates(lines, shown, warnings=signs, spare=["KS", "sign"])


COMMAND = Command(
    help="Measure the calibration of the scores in FILE over all score intervals, with the costs "
    "of a decision rule and the ROC curve. FILE is CSV or Parquet. Rows without a label count as "
    "unlabelled ones. Files too large for memory are read in batches. FILE... may be counts of "
    "bayescal count, which are added up.",
    example="agnostic scores.csv --label y --score forest --decision costs.toml -o costs.html",
    options=(
        shared.LABEL,
        shared.SCORE,
        shared.POS_LABEL,
        shared.FROM_LOGITS,
        shared.ONE_CLASSIFIER,
        replace(
            shared.WEIGHT,
            help="Column of sample weights, for --estimate-only: the posterior refuses them.",
        ),
        Option(
            flags=("--decision",),
            metavar="TOML",
            help="File with a table for each action: positive and negative (costs), and its "
            "interval of scores.",
            read=rule_from_file,
        ),
    ),
    prior=shared.prior_by(
        priors_from_text,
        "curve",
        "curve (an average over descriptions of the calibration curve) or smooth (a smooth "
        "curve alone), with :SCALE for another scale than 0.7 logits.",
    ),
    read=read,
    estimates=estimates,
    counts=True,
    curve=True,
)
