"""``bayescal check``: whether limits are kept; ``bayescal plan``: how many labels would show it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from bayescal.cli import options, output
from bayescal.cli.options import JSON, OUTPUT, RESULT, ROWS, SAMPLING, SEED, VERBOSE
from bayescal.cli.output import FAILED, OK
from bayescal.cli.run import in_terms_of, loaded_or_fitted, status_code
from bayescal.core.checks import check_number, listing
from bayescal.core.command import Given, Option
from bayescal.core.errors import InputError
from bayescal.core.shown import terminal_bar
from bayescal.core.text import decimals, ends, fixed, in_words, probability
from bayescal.quantities import of_tables, quantities

if TYPE_CHECKING:
    from xarray import DataTree

    from bayescal.results.answers import LabelPlan


_DIMS: Final = {"classifier": "classifier", "class_": "class", "group": "group"}
_FIGURES: Final = (".png", ".pdf", ".svg")
_TABLE: Final = ".csv"
_ENDINGS: Final = ".png, .pdf or .svg (a figure), or .csv (the numbers)"
_SPARE: Final = ("prob se", "width se", "width lower", "width upper")
_QUANTITY: Final = of_tables()
_OWN: Final = (*_QUANTITY.COMMAND.options, _QUANTITY.COMMAND.prior)
_PLAN: Final = (
    Option(
        flags=("--n",),
        type=int,
        multiple=True,
        metavar="NUMBER",
        help="A number of labelled rows; repeat it. 100 to 10,000 if left out.",
    ),
    Option(
        flags=("--limit",),
        type=float,
        help="A value that the interval should lie wholly below, or above.",
    ),
    Option(
        flags=("--var",),
        default="tce",
        metavar="NAME",
        help="What the interval is of: tce, ece, mce or what 'bayescal measures' lists.",
        phrases={"bayescal.measures.measures() lists": "'bayescal measures' lists"},
    ),
    Option(
        flags=("--replications",),
        type=int,
        default=50,
        help="Simulated samples for each number of rows.",
    ),
    Option(
        flags=("--case",),
        multiple=True,
        metavar="NAME",
        help="Which classifier, class or group, where there are several; repeat it.",
    ),
    *(option for option in SAMPLING if option.name in ("prob", "seed")),
    replace(OUTPUT, help="A figure (.png, .pdf, .svg) or the numbers (.csv); repeat it for both."),
    JSON,
    VERBOSE,
)
_PLAN_OPTIONS: Final = (*(replace(option, required=False) for option in _OWN), *_PLAN)


def _plan(file: Path, **given: Any) -> int:
    for path in given["output"]:
        output.check_target(path, (*_FIGURES, _TABLE), _ENDINGS)
    output.check_different(given["output"])
    from bayescal.workflow.simulation import SIZES, check_planned, plan_labels

    with in_terms_of(_PLAN_OPTIONS):
        check_planned(given["var"])
        if given["limit"] is not None:
            options.check_share(given["var"], given["limit"], "--limit")
        tree = loaded_or_fitted(
            _QUANTITY,
            {**given, "file": file},
            check=lambda names_of: _case(names_of, given["case"]),
        )
        from bayescal.results.access import names_of_cases

        with terminal_bar("Planning") as update:
            found = plan_labels(
                tree,
                given["var"],
                given["n"] or SIZES,
                given["limit"],
                replications=given["replications"],
                prob=given["prob"],
                seed=given["seed"],
                progress=update,
                **_case(partial(names_of_cases, tree), given["case"]),
            )
    for path in given["output"]:
        _write(found, path)
    _print(found, file, given)
    output.say_written(given["output"], err=given["json"])
    return status_code(tree, (*_PLAN_OPTIONS, *SAMPLING))


def _case(names_of: Callable[[str], Sequence[str]], names: tuple[str, ...]) -> dict[str, str]:
    """What each name is of: a classifier, a class or a group."""
    known = {name: names_of(dim) for name, dim in _DIMS.items()}
    found: dict[str, str] = {}
    for name in names:
        dims = [dim for dim, own in known.items() if name in own]
        if not dims:
            raise InputError(
                f"--case must be one of {listing(chain(*known.values()))}; got {name!r}."
            )
        # A classifier and a group may have one name.
        dim = next((dim for dim in dims if dim not in found), dims[0])
        if dim in found:
            given = f"{found[dim]!r} and {name!r}"
            raise InputError(f"--case must name one {_DIMS[dim]}; got {given}. Leave one out.")
        found[dim] = name
    several = [listing(own) for dim, own in known.items() if len(own) > 1 and dim not in found]
    if several:
        raise InputError(
            f"--case must name one of {'; and one of '.join(several)}. Give --case once for each."
        )
    return found


def _write(found: LabelPlan, path: Path) -> None:
    if path.suffix.casefold() == _TABLE:
        output.write_rows(found.table.to_dict("records"), path)
        return
    from bayescal.core.writing import replacing
    from bayescal.plots.answers import plot_label_plan

    with replacing(path) as draft:
        plot_label_plan(found).savefig(draft, dpi=200, format=path.suffix[1:].casefold())


def _print(found: LabelPlan, file: Path, given: Mapping[str, Any]) -> None:
    rows = found.table.to_dict("records")
    if given["json"]:
        names = ("var", "limit", "replications", "prob", "seed")
        head = {"file": options.as_given(file), **{name: given[name] for name in names}}
        output.print_json({**head, "enough": found.enough, "text": found.text}, rows)
        return
    output.print_table(
        ["labels", *(name.replace("_", " ") for name in list(rows[0])[1:])],
        [[f"{row['n']:,}", *(f"{one:.4f}" for one in list(row.values())[1:])] for row in rows],
        words=(),
        spare=_SPARE,
        verbose=given["verbose"],
    )
    output.say(found.text)


plan = click.Command(
    "plan",
    params=[
        click.Argument(["file"], type=ROWS, metavar="FILE"),
        *(options.click_option(option) for option in _PLAN_OPTIONS),
    ],
    callback=_plan,
    help="Say how many labels are needed. FILE is a table of scores with some labels, CSV or "
    "Parquet, or a result (.nc) that holds a calibration curve. Samples of more rows are simulated "
    "from its posterior and fitted: how wide will the interval be, and will it exclude --limit?",
    epilog="Example: bayescal plan pilot.csv --label y --score forest --limit 0.05 -o plan.png",
)


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
    if name.strip() == "p_calibrated":
        raise InputError(
            f"{flag} must be of a number with draws; p_calibrated is the share of those in which "
            "the error is 0. Write --max tce=0 --with-probability 0.5, say."
        )
    options.check_share(name.strip(), limit, flag)
    return Condition(name.strip(), relation, limit)


_MAX: Final = Option(
    flags=("--max",),
    multiple=True,
    metavar="NAME=VALUE",
    phrases={"var must": "NAME must"},
    help="An error, metric or measure, and the most it may be: tce=.05 or cost:0.2=.1; 'bayescal "
    "measures' lists names. Repeat it for several.",
)
_MIN: Final = replace(_MAX, flags=("--min",), help="The same with the least it may be: auc=.8.")
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
    replace(JSON, help="Print JSON instead of sentences."),
)
_CHECK_OPTIONS: Final = (*_OWN, *_CHECK)


def _check(**given: Any) -> int:
    with in_terms_of(_CHECK_OPTIONS):
        required = check_number(
            given["with_probability"], "with_probability", "(0, 1)", "Pass 0.9 for 90%."
        )
        conditions = _conditions(given)
        tree = loaded_or_fitted(_QUANTITY, given, SEED)
        rows = [row for condition in conditions for row in _judged(tree, condition, required)]
    holds = all(row["holds"] for row in rows)
    if given["json"]:
        names = ("seed", "method", "status", "bayescal_version")
        head = {"file": options.as_given(given["file"]), "with_probability": required}
        head |= {name: tree.attrs[name] for name in names} | {"holds": holds}
        output.print_json(head, rows)
    else:
        for row in rows:
            output.say(row["text"], indent="  ")
    return status_code(tree, (*_CHECK_OPTIONS, *SAMPLING)) or (OK if holds else FAILED)


def _conditions(given: Given) -> list[Condition]:
    """What is to hold; names are checked before a table is read."""
    from bayescal.core.command import files_of

    known = {one.name for one in _QUANTITY.VARIABLES}
    of_result = files_of(given)[0].suffix.casefold() == RESULT
    found: list[Condition] = []
    for option, relation in ((_MAX, _AT_MOST), (_MIN, "at least")):
        for text in given[option.name]:
            condition = _condition(relation, option.flag, text)
            if not of_result and condition.var not in known:
                _check_of_table(condition.var, option.flag)
            found.append(condition)
    if not found:
        raise click.UsageError("a check needs a condition: add --max tce=0.05, say.")
    return found


def _check_of_table(var: str, flag: str) -> None:
    """Refuse what the fit of a table lacks, and name the quantities whose results have it."""
    try:
        options.check_measure(var, flag)
    except InputError:
        has = [one.NAME for one in quantities().values() if var in {v.name for v in one.VARIABLES}]
        if not has:
            raise
        raise InputError(
            f"{flag} {var}: results of {listing(has)} have it, the fit of a table has not. "
            "Keep such a result with -o RESULT.nc, and check that file."
        ) from None


def _judged(tree: DataTree, condition: Condition, required: float) -> Iterator[dict[str, Any]]:
    """Each classifier, class and group under a condition."""
    from bayescal.results import access, schema
    from bayescal.results.intervals import interval, prob_above, prob_below
    from bayescal.results.measure import with_measure
    from bayescal.results.robustness import check_one_number

    tree, var = with_measure(tree, condition.var)
    check_one_number(var, access.variable(tree, schema.POSTERIOR, var).dims)
    # A draw at the limit keeps to it: AUC may be exactly 1.
    beyond = (prob_above if condition.relation == _AT_MOST else prob_below)(
        tree, var, condition.limit
    )
    bounds = interval(tree, var, _PROB)
    for case in access.cases(tree):
        # A share of draws: 1 - 0.07 is less than 0.93.
        chance = round(1 - float(access.at(beyond, case)), 12)
        # As finely as draws tell it; that of about none or all as elsewhere.
        fine = 0.0001 <= chance <= 0.9999
        said = fixed(chance, 4) if fine else in_words(probability(chance))
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
            f"{condition.relation} {condition.limit:g} with probability {said}, "
            f"{required:g} required; {held}.",
        }


check = click.Command(
    "check",
    params=options.parameters(_QUANTITY.COMMAND, _CHECK_OPTIONS, ROWS),
    callback=_check,
    help="Check that errors and measures keep to limits with a given posterior probability, as a "
    "step of a build. FILE is a table of scores, CSV or Parquet, or files of counts: its posterior "
    "is computed without NUTS, as with --quick, and the same seed gives the same answer. Or it is "
    "a result (.nc) that another command kept. Each classifier, class and group must keep to every "
    "limit. Exit codes: 0 all hold; 1 one does not; 2 wrong input; 3 not converged.",
    short_help="Limits of errors and measures, for a build: exit code 0 or 1.",
    epilog="Example: bayescal check scores.csv --label y --score p --max tce=.05 --min auc=.8",
)
