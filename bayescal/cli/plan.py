"""``bayescal plan``: how many labels an interval needs, from a pilot sample or a result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from bayescal.cli.options import ROWS, SAMPLING, VERBOSE, as_given, click_option
from bayescal.cli.output import print_json, progress, say_written, write_rows
from bayescal.cli.run import in_terms_of, loaded_or_fitted, status_code
from bayescal.cli.terminal import print_table, say
from bayescal.core.checks import listing
from bayescal.core.command import Option
from bayescal.core.errors import InputError
from bayescal.core.writing import check_writable
from bayescal.quantities import quantities

if TYPE_CHECKING:
    from xarray import DataTree

    from bayescal.results.label_plan import LabelPlan

_DIMS: Final = {"class_": "class", "group": "group"}
_FIGURES: Final = (".png", ".pdf", ".svg")
_TABLE: Final = ".csv"
_SPARE: Final = ("prob se", "width se", "width lower", "width upper")
_QUANTITY: Final = next(found for found in quantities().values() if found.COMMAND.reports)
_OWN: Final = tuple(
    replace(option, required=False)
    for option in (*_QUANTITY.COMMAND.options, _QUANTITY.COMMAND.prior)
)
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
    Option(flags=("--var",), default="tce", metavar="NAME", help="What the interval is of."),
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
    Option(
        flags=("-o", "--output"),
        type=Path,
        multiple=True,
        metavar="FILE",
        help="A figure (.png, .pdf, .svg) or the numbers (.csv); repeat it for both.",
    ),
    Option(flags=("--json",), is_flag=True, help="Print JSON instead of a table."),
    VERBOSE,
)
_OPTIONS: Final = (*_OWN, *_PLAN)


def _plan(file: Path, **given: Any) -> int:
    _check_outputs(given["output"])
    with in_terms_of(_OPTIONS):
        tree = loaded_or_fitted(_QUANTITY, {**given, "file": file})
        from bayescal.workflow.plan_labels import SIZES, plan_labels

        with progress("Planning") as update:
            found = plan_labels(
                tree,
                given["var"],
                given["n"] or SIZES,
                given["limit"],
                replications=given["replications"],
                prob=given["prob"],
                seed=given["seed"],
                progress=update,
                **_case(tree, given["case"]),
            )
    for path in given["output"]:
        _write(found, path)
    _print(found, file, given)
    say_written(given["output"], err=given["json"])
    return status_code(tree, _OPTIONS)


def _check_outputs(paths: tuple[Path, ...]) -> None:
    for path in paths:
        if path.suffix.casefold() not in (*_FIGURES, _TABLE):
            raise click.UsageError(
                "--output must end in .png, .pdf or .svg (a figure), or .csv (the numbers); got "
                f"{path.name!r}."
            )
        check_writable(path)


def _case(tree: DataTree, names: tuple[str, ...]) -> dict[str, str]:
    """What each name is of: a classifier, a class or a group."""
    from bayescal.results.access import classifier_names, names_along

    known = {"classifier": classifier_names(tree)}
    known |= {name: names_along(tree, dim) for name, dim in _DIMS.items()}
    found = {}
    for name in names:
        dim = next((dim for dim, own in known.items() if name in own), None)
        if dim is None:
            raise InputError(
                f"--case must be one of {listing(chain(*known.values()))}; got {name!r}."
            )
        found[dim] = name
    for dim, own in known.items():
        if len(own) > 1 and dim not in found:
            raise InputError(
                f"--case must name one of the result's; got none. Choose from {listing(own)}."
            )
    return found


def _write(found: LabelPlan, path: Path) -> None:
    if path.suffix.casefold() == _TABLE:
        write_rows(_rows(found), path)
        return
    from bayescal.core.writing import replacing
    from bayescal.plots.labels import plot_label_plan

    with replacing(path) as draft:
        plot_label_plan(found).savefig(draft, dpi=200, format=path.suffix[1:].casefold())


def _rows(found: LabelPlan) -> list[dict[str, Any]]:
    return [*found.table.to_dict("records")]


def _print(found: LabelPlan, file: Path, given: Mapping[str, Any]) -> None:
    rows = _rows(found)
    if given["json"]:
        names = ("var", "limit", "replications", "prob", "seed")
        head = {"file": as_given(file), **{name: given[name] for name in names}}
        print_json({**head, "enough": found.enough, "text": found.text}, rows)
        return
    print_table(
        ["labels", *(name.replace("_", " ") for name in list(rows[0])[1:])],
        [[f"{row['n']:,}", *(f"{one:.4f}" for one in list(row.values())[1:])] for row in rows],
        words=(),
        spare=_SPARE,
        verbose=given["verbose"],
    )
    say(found.text)


plan = click.Command(
    "plan",
    params=[
        click.Argument(["file"], type=ROWS, metavar="FILE"),
        *(click_option(option) for option in _OPTIONS),
    ],
    callback=_plan,
    help="Say how many labels are needed. FILE is a table of scores with some labels, CSV or "
    "Parquet, or a result (.nc) that holds a calibration curve. Samples of more rows are simulated "
    "from its posterior and fitted: how wide will the interval be, and will it exclude --limit?",
    epilog="Example: bayescal plan pilot.csv --label y --score forest --limit 0.05 -o plan.png",
)
