"""What the command line reads for the interval measure, costs and ROC curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayescal.core.command import Command, Estimates, Given, Option
from bayescal.core.errors import InputError
from bayescal.core.score_options import (
    FROM_LOGITS,
    LABEL,
    ONE_CLASSIFIER,
    POS_LABEL,
    SCORE,
    read_labeled,
)

if TYPE_CHECKING:
    from bayescal.core.scores import Scores
    from bayescal.quantities.agnostic.decisions.rule import DecisionRule
    from bayescal.quantities.agnostic.priors import Priors


def rule_from_file(path: str) -> DecisionRule:
    """Read a rule from a TOML file with a table for each action.

    A table has ``positive`` and ``negative``, and may have ``setup`` and ``interval``; without any
    interval the rule is the cheapest one for calibrated scores.
    """
    import tomllib

    from bayescal.quantities.agnostic.decisions.best import bayes_rule
    from bayescal.quantities.agnostic.decisions.rule import Action, DecisionRule

    try:
        with open(path, "rb") as file:
            tables = tomllib.load(file)
    except OSError as error:
        raise InputError(f"--decision: cannot read {path}: {error.strerror}.") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"--decision: {path} is no TOML file: {error}.") from None
    actions = {}
    for name, table in tables.items():
        costs = {"positive", "negative"}
        if not isinstance(table, dict) or not costs <= set(table) <= costs | {"setup", "interval"}:
            raise InputError(
                f"--decision: the table of action {name!r} in {path} must have positive and "
                "negative, and may have setup and interval. Write [keep], positive = 5, "
                "negative = 0, interval = [0, 0.4]."
            )
        actions[name] = Action(**{key: table[key] for key in table if key != "interval"})
    intervals = {name: table["interval"] for name, table in tables.items() if "interval" in table}
    return DecisionRule(actions, intervals) if intervals else bayes_rule(actions)


def priors_from_text(text: str) -> Priors:
    """Read the prior of the curve from a word: curve, or curve:SCALE."""
    from bayescal.quantities.agnostic.priors import CurveAverage, Priors, SmoothCurve

    word, colon, number = (part.strip() for part in text.casefold().partition(":"))
    try:
        scale = float(number) if colon else 0.7
    except ValueError:
        word = ""
    if word != "curve":
        raise InputError(f"--prior must be curve or curve:SCALE; got {text!r}.")
    return Priors(CurveAverage(curve=SmoothCurve(scale=scale)))


def estimates(data: Scores, given: Given) -> Estimates:
    """Estimate each classifier's measure, and the cost of the rule."""
    from bayescal.quantities.agnostic.decisions.costs import actual_cost
    from bayescal.quantities.agnostic.estimator import estimate

    rule = rule_from_file(given["decision"]) if given["decision"] else None
    rows = []
    for task in data.tasks():
        found = estimate(task)
        row = {
            "case": " / ".join(task.coords.values()),
            **task.coords,
            "n": task.n,
            "c": float(found.c),
            "ks": float(found.ks),
            "sign": int(found.sign),
        }
        if rule is not None:
            row["cost"] = actual_cost(rule, task.score, task.event)
        rows.append(row)
    shown = {"case": "", "n": "rows", "c": "c_emp", "ks": "KS", "sign": "sign"}
    return Estimates(rows, shown | ({} if rule is None else {"cost": "cost"}))


def _plan_options(given: Given) -> dict[str, Any]:
    return {"decision": rule_from_file(given["decision"])} if given["decision"] else {}


COMMAND = Command(
    help="Measure the calibration of the scores in FILE over all score intervals, with the costs "
    "of a decision rule and the ROC curve. FILE is CSV or Parquet. Rows without a label count as "
    "unlabelled ones.",
    example="agnostic scores.csv --label y --score forest --decision costs.toml -o costs.html",
    options=(
        LABEL,
        SCORE,
        POS_LABEL,
        FROM_LOGITS,
        ONE_CLASSIFIER,
        Option(
            flags=("--decision",),
            metavar="TOML",
            help="File with a table for each action: positive and negative (costs), and its "
            "interval of scores.",
            check=rule_from_file,
        ),
    ),
    prior=Option(
        flags=("--prior",),
        default="curve",
        metavar="PRIOR",
        help="curve (an average over descriptions of the calibration curve), or "
        "curve:SCALE for another scale than 0.7.",
        check=priors_from_text,
    ),
    read=read_labeled,
    priors=lambda given, data: priors_from_text(given["prior"]),
    plan_options=_plan_options,
    estimates=estimates,
)
