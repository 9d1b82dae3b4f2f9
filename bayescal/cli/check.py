"""``bayescal check``: whether errors and measures keep to limits, with a given probability."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from bayescal.cli.options import SAMPLING, as_given, parameters
from bayescal.cli.output import print_json
from bayescal.cli.run import RESULT, in_terms_of, loaded_or_fitted, status_code
from bayescal.cli.terminal import FAILED, OK, say
from bayescal.core.checks import check_number
from bayescal.core.command import Given, Option
from bayescal.core.errors import InputError
from bayescal.quantities import quantities
from bayescal.results.text import decimals, ends, fixed

if TYPE_CHECKING:
    from xarray import DataTree

_QUANTITY: Final = next(found for found in quantities().values() if found.COMMAND.reports)
_AT_MOST: Final = "at most"
_PROB: Final = 0.9
"""Probability of the intervals that are printed."""


class Condition(NamedTuple):
    """A limit of one variable or measure."""

    var: str
    relation: str
    limit: float


def _condition(relation: str, flag: str, text: str) -> Condition:
    """Read ``tce=.05`` or ``cost:0.2=.1``."""
    name, _, value = text.rpartition("=")
    try:
        limit = float(value)
    except ValueError:
        limit = math.nan
    if not name.strip() or not math.isfinite(limit):
        raise InputError(
            f"{flag} must be NAME=VALUE with a finite number; got {text!r}. Write tce=0.05, say."
        )
    return Condition(name.strip(), relation, limit)


_MAX: Final = Option(
    flags=("--max",),
    multiple=True,
    metavar="NAME=VALUE",
    help="An error, metric or measure, and the most it may be: tce=.05 or cost:0.2=.1; 'bayescal "
    "measures' lists names. Repeat it for several.",
    read=partial(_condition, _AT_MOST, "--max"),
)
_MIN: Final = replace(
    _MAX,
    flags=("--min",),
    help="The same with the least it may be: auc=.8.",
    read=partial(_condition, "at least", "--min"),
)
_CHECK: Final = (
    _MAX,
    _MIN,
    Option(
        flags=("--with-probability",),
        type=float,
        default=0.9,
        help="Posterior probability with which each condition must hold.",
    ),
    *(option for option in SAMPLING if option.name in ("draws", "seed")),
    Option(flags=("--json",), is_flag=True, help="Print JSON instead of sentences."),
)
_OPTIONS: Final = (*_QUANTITY.COMMAND.options, _QUANTITY.COMMAND.prior, *_CHECK)


def _check(**given: Any) -> int:
    with in_terms_of(_OPTIONS):
        required = check_number(
            given["with_probability"], "with_probability", "(0, 1)", "Pass 0.9 for 90%."
        )
        conditions = _conditions(given)
        tree = loaded_or_fitted(_QUANTITY, given)
        rows = [row for condition in conditions for row in _judged(tree, condition, required)]
    holds = all(row["holds"] for row in rows)
    if given["json"]:
        head = {
            "file": as_given(given["file"]),
            "with_probability": required,
            "seed": tree.attrs["seed"],
        }
        head |= {"method": tree.attrs["method"], "status": tree.attrs["status"]}
        head |= {"bayescal_version": tree.attrs["bayescal_version"], "holds": holds}
        print_json(head, rows)
    else:
        for row in rows:
            say(row["text"], indent="  ")
    return status_code(tree, _OPTIONS) or (OK if holds else FAILED)


def _conditions(given: Given) -> list[Condition]:
    """What is to hold; names are checked before a table is read."""
    from bayescal.core.count_options import files_of
    from bayescal.measures import resolve

    found: list[Condition] = []
    for option in (_MAX, _MIN):
        assert option.read is not None
        found += map(option.read, given[option.name])
    if not found:
        raise click.UsageError("a check needs a condition: add --max tce=0.05, say.")
    known = {one.name for one in _QUANTITY.VARIABLES}
    for condition in found:
        if files_of(given)[0].suffix.casefold() != RESULT and condition.var not in known:
            resolve(condition.var)
    return found


def _judged(tree: DataTree, condition: Condition, required: float) -> Iterator[dict[str, Any]]:
    """Each classifier, class and group under a condition."""
    from bayescal.results import access, schema
    from bayescal.results.conclude import check_one_number
    from bayescal.results.intervals import interval
    from bayescal.results.limits import prob_above, prob_below
    from bayescal.results.measured import with_measure

    tree, var = with_measure(tree, condition.var)
    check_one_number(access.variable(tree, schema.POSTERIOR, var))
    # A draw at the limit keeps to it: AUC may be exactly 1.
    beyond = (prob_above if condition.relation == _AT_MOST else prob_below)(
        tree, var, condition.limit
    )
    bounds = interval(tree, var, _PROB)
    for case in access.cases(tree):
        chance = 1 - float(access.at(beyond, case))
        lower, upper = access.ends(bounds, case)
        held = f"{_PROB:.0%} interval {ends(lower, upper, decimals(lower, upper))}"
        yield {
            "case": case.label,
            **case.coords,
            **condition._replace(var=var)._asdict(),
            "probability": chance,
            "mean": access.posterior_mean(tree, var, case),
            "lower": lower,
            "upper": upper,
            "converged": access.case_converged(tree, case),
            "holds": chance >= required,
            "text": f"{'pass' if chance >= required else 'FAIL'}: {var} of {case.title} is "
            f"{condition.relation} {condition.limit:g} with probability {fixed(chance, 4)}, "
            f"{required:g} required; {held}.",
        }


check = click.Command(
    "check",
    params=parameters(_QUANTITY.COMMAND, _OPTIONS),
    callback=_check,
    help="Check that errors and measures keep to limits with a given posterior probability, as a "
    "step of a build. FILE is a table of scores, CSV or Parquet, or files of counts: its posterior "
    "is computed without NUTS, as with --quick, and the same seed gives the same answer. Or it is "
    "a result (.nc) that another command kept. Each classifier, class and group must keep to every "
    "limit. Exit codes: 0 all hold; 1 one does not; 2 wrong input; 3 not converged.",
    short_help="Limits of errors and measures, for a build: exit code 0 or 1.",
    epilog="Example: bayescal check scores.csv --label y --score p --max tce=.05 --min auc=.8",
)
