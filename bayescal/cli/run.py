"""The one runner of every command: read, check, fit, write, print, exit code."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from bayescal.cli.options import (
    MEASURE,
    RESULT,
    SAMPLING,
    as_given,
    check_required,
    check_share,
    fit_options,
    sensitivity_options,
)
from bayescal.cli.output import (
    FAILED,
    NOT_CONVERGED,
    OK,
    TABLES,
    Interrupted,
    as_options,
    outputs,
    print_estimates,
    print_json,
    print_table,
    say,
    say_written,
    warn,
    width,
    with_options,
    with_short_names,
    write,
    write_rows,
)
from bayescal.core.command import Command, Given, Option, files_of
from bayescal.core.errors import ConvergenceWarning, DataWarning, InputError, ScarWarning, ignored
from bayescal.core.shown import terminal_bar
from bayescal.core.text import capital
from bayescal.report import ENDINGS

if TYPE_CHECKING:
    from xarray import DataTree

    from bayescal.core.quantity import Quantity


def run_fit(quantity: Quantity, given: Given, title: str | None = None) -> int:
    """Run a quantity's own command."""
    command: Command = quantity.COMMAND

    def begin(data: Any) -> Any:
        from bayescal.workflow.fit import fit

        return partial(fit, quantity, data, priors=command.priors_of(given, data))

    return _run(quantity, given, fit_options(command), begin, title)


def run_sensitivity(quantity: Quantity, given: Given) -> int:
    """Run a quantity's subcommand of ``sensitivity``."""
    command: Command = quantity.COMMAND
    if given["threshold"] is not None:
        check_share(given["var"] or quantity.VARIABLES[0].name, given["threshold"], "--threshold")

    def begin(data: Any) -> Any:
        from bayescal.workflow.fit import prior_sensitivity

        priors = _several(command, given, data)
        on = {name: given[name] for name in ("var", "threshold")}
        return partial(prior_sensitivity, quantity, data, priors, **on)

    return _run(quantity, given, sensitivity_options(command), begin)


def _run(
    quantity: Quantity,
    given: Given,
    options: Sequence[Option],
    begin: Callable[[Any], Callable[..., DataTree]],
    title: str | None = None,
) -> int:
    """Check, read, and carry out what `begin` makes of the data."""
    command: Command = quantity.COMMAND
    with in_terms_of(options):
        files = outputs(given, options)
        # Words that an option does not know are refused before a file is read.
        for option in options:
            value = given[option.name]
            if option.read is not None and value is not None:
                for word in value if option.multiple else [value]:
                    option.read(word)
        check_required(command, given)
        if given.get("estimate_only"):
            return _estimates(quantity, given, files)
        settings = settings_of(given)
        compute = begin(command.read(given))
        compute = partial(compute, **settings, **plan_options(quantity, given))
        return carry_out(quantity, compute, files, given, title)


# What the status of a result says.
_SAID: Final = (ConvergenceWarning, DataWarning, ScarWarning)


def loaded_or_fitted(
    quantity: Quantity,
    given: Given,
    *of_fit: Option,
    check: Callable[[Callable[[str], Sequence[str]]], object] | None = None,
) -> DataTree:
    """Load the result that FILE is, which `of_fit` does not go with; or fit by direct draws.

    `check` takes the names of the cases along a dimension, and refuses them before the fit.
    """
    command: Command = quantity.COMMAND
    first, *others = sorted(files_of(given), key=lambda path: path.suffix.casefold() != RESULT)
    if first.suffix.casefold() == RESULT:
        from bayescal.results.io import load

        if others:
            raise click.UsageError(f"a result comes alone; got {others[0].name!r} beside it.")
        check_of_result(command, given, *of_fit)
        return load(first)
    check_required(command, given)
    data = command.read({**given, "estimate_only": False})
    from bayescal.workflow.fit import fit, plan_of, priors_of

    settings = {name: given[name] for name in ("draws", "seed") if name in given}
    options = plan_options(quantity, given)
    with terminal_bar("Fitting") as update, ignored(*_SAID):
        priors = command.priors_of(given, data)
        if check is not None:
            check(plan_of(quantity, data, priors_of(quantity, priors), options).names)
        settings = {"method": "direct", **settings, **options}
        return fit(quantity, data, priors=priors, progress=update, **settings)


def check_of_result(command: Command, given: Given, *others: Option) -> None:
    """Refuse options of a table, and of its fit, beside a result."""
    fit = (option for option in SAMPLING if option.name not in ("prob", "seed"))
    for option in (*command.options, command.prior, *fit, *others):
        if option.is_given(given):
            about = "names a column of a table" if option.metavar == "COLUMN" else "is of a fit"
            raise click.UsageError(f"{option.flag} {about}, and FILE is a result. Leave it out.")


def plan_options(quantity: Quantity, given: Given) -> dict[str, Any]:
    """Values of the options that `plan` takes under the same name."""
    from bayescal.workflow.fit import known_options

    known = known_options(quantity)
    found = {}
    for option in quantity.COMMAND.options:
        value = given[option.name]
        if option.name in known and not option.is_flag and value is not None:
            found[option.name] = value if option.read is None else option.read(value)
    return found


def _several(command: Command, given: Given, data: Any) -> Any:
    """Priors under the words they were given in; one alone is what a grid is made around."""
    option = command.prior
    texts = [" ".join(text.split()) for text in given[option.name]] or [option.default]
    folded = [text.casefold() for text in texts]
    if twice := next((one for one in folded if folded.count(one) > 1), None):
        raise InputError(f"{option.flag} must name each prior once; got {twice!r} twice.")
    named = {text: command.priors_of({**given, option.name: text}, data) for text in texts}
    return named if len(named) > 1 else named[texts[0]]


def carry_out(
    quantity: Quantity,
    compute: Callable[..., DataTree],
    files: Sequence[Path],
    given: Given,
    title: str | None = None,
) -> int:
    """Fit, of which progress and checkpoint are open, write the files, and print."""
    with checkpoint(given.get("checkpoint"), files[0] if files else None) as directory:
        with terminal_bar("Fitting") as update, ignored(*_SAID):
            tree = compute(progress=update, checkpoint=directory)
        wanted = given.get(MEASURE.name, ())
        tree, kept = _measured(tree, wanted)
        for path in files:
            _write(quantity.COMMAND, tree, path, given["prob"], title)
    as_json = given.get("json", False)
    if as_json:
        _print_json(quantity, tree, given, kept)
    else:
        _print_result(quantity, tree, given, kept)
    say_written(files, err=as_json)
    code = status_code(tree, fit_options(quantity.COMMAND))
    return code if kept == list(wanted) else max(code, FAILED)


def _measured(tree: DataTree, wanted: Sequence[str]) -> tuple[DataTree, list[str]]:
    """A result with measures, and which of those wanted have a value."""
    from bayescal.results.measure import with_each

    found, lost = with_each(tree, wanted)
    for name, error in lost:
        warn(f"--measure {name} is left out: {error}")
    return found, [name for name in wanted if name not in dict(lost)]


def _write(
    command: Command, tree: DataTree, path: Path, prob: float, title: str | None = None
) -> None:
    """Write a file; a table of rows has every row, of a fit under one prior."""
    from bayescal.results.access import is_prior_grid

    if path.suffix.casefold() in ENDINGS:
        tree = with_options(tree, fit_options(command))
    if command.write_rows is None or path.suffix.casefold() not in TABLES or is_prior_grid(tree):
        write(tree, path, prob, title)
        return
    with terminal_bar("Writing rows") as update:
        command.write_rows(tree, path, prob, update)


def status_code(tree: DataTree, options: Sequence[Option], name: str = "") -> int:
    """Warn of what is wrong with a result, in terms of options, and give the exit code."""
    status = as_options(str(tree.attrs["status"]), options)
    if str(tree.attrs["converged"]) != "true":
        warn(f"{name}NOT CONVERGED, do not use these numbers: {status}")
        return NOT_CONVERGED
    if status != "ok":
        warn(f"{name}{status}")
    return OK


def _print_result(
    quantity: Quantity, tree: DataTree, given: Given, measures: Sequence[str]
) -> None:
    from bayescal.results import access
    from bayescal.results.summary import measure_table
    from bayescal.results.summary import table as result_table

    prob, verbose = given["prob"], given["verbose"]
    table = result_table(tree, prob)
    columns, rows = table.columns, table.rows
    words: Sequence[int] = (0, len(columns) - 1)
    apart = [(access.name_over_priors(case), str(case.prior)) for case in access.cases(tree)]
    grid = access.is_prior_grid(tree)
    if grid and any(name for name, _ in apart):
        # Joined, they would be cut in the middle. Means over classes come last, under each prior.
        for label, *_ in rows[len(apart) :]:
            name, _, mean = label.rpartition(" / ")
            own = max((one for _, one in apart if name.endswith(one)), key=len)
            apart.append((name.removesuffix(own) + mean, own))
        columns, words = ("", "prior", *columns[1:]), (0, 1, len(columns))
        rows = [(*names, *row[1:]) for names, row in zip(apart, rows, strict=True)]
    print_table(columns, rows, words=words, spare=table.spare, verbose=verbose, whole=grid)
    if details := quantity.COMMAND.details:
        print_estimates(details(tree, prob), verbose=verbose)
    asked = tree.attrs.get("conclusion_var")
    if asked and asked not in {one.name for one in access.answers(tree)}:
        measures = [*measures, asked]
    if further := measure_table(tree, prob, measures):
        print_table(further.columns, further.rows, words=(0, 1), verbose=verbose)
    sentences = [*table.notes, f"Posterior: {access.sampler_in_words(tree)}."]
    sentences += _about_prior(quantity.COMMAND, tree, given)
    names = access.classifier_names(tree)
    note = "" if "conclusion" in tree.attrs else quantity.COMMAND.note
    for sentence in (*sentences, note):
        say(sentence if verbose else with_short_names(sentence, names), verbose=verbose)


def _about_prior(command: Command, tree: DataTree, given: Given) -> list[str]:
    """What is concluded of several priors, case by case; or the one, in a line or in full."""
    from bayescal.results.robustness import conclusions

    if "conclusion" in tree.attrs:
        var, at = tree.attrs["conclusion_var"], given["threshold"]
        return [one.text for one in conclusions(tree, var, given["prob"], at)]
    if given["verbose"]:
        return [str(tree.attrs["prior_text"])]
    name = capital(command.prior.name.replace("_", " "))
    line = f"{name}: {given.get(command.prior.name, command.prior.default)} (-v: in full)."
    full = f"{line} {str(tree.attrs['prior_text']).split('. ')[-1]}"
    return [full if len(full) <= width() else line]


def _print_json(quantity: Quantity, tree: DataTree, given: Given, measures: Sequence[str]) -> None:
    from bayescal.results.access import json_attribute, sampler
    from bayescal.results.compare import best_records
    from bayescal.results.summary import records, row_records

    attrs = tree.attrs
    head = _head(quantity, given)
    head |= {str(name): attrs[name] for name in attrs if str(name).startswith("n_")}
    head |= {"method": attrs["method"], "sampler": sampler(tree)}
    head |= {name: attrs[name] for name in ("seed", "status", "bayescal_version")}
    head["classes"] = json_attribute(tree, "classes")
    head |= {"prob": given["prob"], "converged": attrs["converged"] == "true"}
    if "conclusion" in attrs:
        head |= {"robust": attrs["robust"] == "true", "conclusion": attrs["conclusion"]}
    else:
        best = best_records(tree)
        head |= {"best": best} if best else {}
    if rows := row_records(tree, given["prob"]):
        head["rows"] = rows
    if details := quantity.COMMAND.details:
        head["details"] = details(tree, given["prob"]).rows
    print_json(head, records(tree, given["prob"], measures))


def _head(quantity: Quantity, given: Given) -> dict[str, Any]:
    """What was given: files, and the options of the quantity."""
    command: Command = quantity.COMMAND
    names = [name.lower() for name in command.arguments]
    names += [option.name for option in (*command.options, command.prior)]
    return {"quantity": quantity.NAME} | {name: as_given(given[name]) for name in names}


def _estimates(quantity: Quantity, given: Given, files: Sequence[Path]) -> int:
    command: Command = quantity.COMMAND
    found = command.estimates(command.read(given), given)
    for path in files:
        write_rows(found.rows, path)
    if given["json"]:
        print_json(_head(quantity, given), found.rows)
    else:
        print_estimates(found, verbose=given["verbose"])
        for sentence in found.notes:
            say(sentence)
    say_written(files, err=given["json"])
    for sentence in found.warnings:
        warn(as_options(sentence, command.options))
    return OK


@contextmanager
def in_terms_of(options: Sequence[Option]) -> Iterator[None]:
    """Let messages name options where they name Python's arguments."""
    try:
        yield
    except InputError as error:
        raise InputError(as_options(str(error), options)) from error


def settings_of(given: Given) -> Mapping[str, Any]:
    """Settings of the fit, checked before a file is read."""
    from bayescal.workflow.sampling import Settings

    for option in SAMPLING:
        if given["quick"] and option.name in ("tune", "target_accept") and option.is_given(given):
            raise click.UsageError(
                f"{option.flag} is of NUTS, and --quick does without. Leave one out."
            )
    settings = {name: given[name] for name in ("prob", "draws", "tune", "target_accept", "seed")}
    settings["method"] = "direct" if given["quick"] else "nuts"
    Settings(**settings)
    return settings


@contextmanager
def checkpoint(chosen: Path | None, output: Path | None) -> Iterator[Path]:
    """Keep finished results over Ctrl-C; clear them away once all is done."""
    from bayescal.workflow.store import finished, remove

    directory = chosen
    if directory is None and output is not None:
        directory = output.with_name(f"{output.name}.partial")
    directory = directory or Path(tempfile.mkdtemp(prefix="bayescal-"))
    try:
        yield directory
    except KeyboardInterrupt as interrupt:
        kept = finished(directory)
        if not kept:
            remove(directory)
            raise Interrupted("interrupted before the first result was finished") from interrupt
        repeats = output is not None or chosen is not None
        raise Interrupted(
            f"interrupted; finished results ({kept}) are in {directory.resolve()}. "
            + ("The same command goes" if repeats else f"Add --checkpoint {directory} to go")
            + " on from there."
        ) from interrupt
    except BaseException:
        if chosen is None and not finished(directory):
            remove(directory)
        raise
    if chosen is None:
        remove(directory)
