"""Endings: one line on stderr, a code for each kind."""

import warnings

import click
import pytest

from bayescal.cli.options import fit_options
from bayescal.cli.output import Interrupted, as_options, guarded
from bayescal.core.errors import InputError, OutputError
from bayescal.quantities.ece.command import COMMAND


def raising(error: BaseException):
    def run() -> None:
        raise error

    return run


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (InputError("y_prob must lie in [0, 1]; got 1.03."), 2, "y_prob must lie in [0, 1]"),
        (click.UsageError("No such option: --foo"), 2, "No such option: --foo"),
        (OutputError("the folder of a.html must exist"), 1, "the folder of a.html must exist"),
        (PermissionError(13, "Permission denied", "a.html"), 1, "Permission denied"),
        (MemoryError(), 1, "out of memory"),
        (RuntimeError("no\nsuch thing"), 1, "unexpected RuntimeError: no such thing"),
        (Interrupted("interrupted; see /tmp/a"), 130, "interrupted; see /tmp/a"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (click.Abort(), 130, "interrupted"),
    ],
)
def test_each_ending_is_one_line_and_its_code(error, code, said, capsys) -> None:
    assert guarded(raising(error)) == code
    streams = capsys.readouterr()
    assert streams.out == ""
    assert streams.err.startswith("bayescal: ")
    assert said in streams.err
    assert streams.err.count("\n") == 1


OPTIONS = fit_options(COMMAND)


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("if these are logits, set from_logits=True.", "if these are logits, set --from-logits."),
        ("Say which, e.g. pos_label='yes'.", "Say which, e.g. --pos-label yes."),
        ("labels to pos_label='a b' and one", "labels to --pos-label 'a b' and one"),
        ("check the labels, and pos_label.", "check the labels, and --pos-label."),
        ("its complement, set pos_label, or", "its complement, set --pos-label, or"),
        ("Set pos_label to the one that", "Set --pos-label to the one that"),
        ("rows.csv: n_bins must be a whole", "rows.csv: --bins must be a whole"),
        ("or recode the labels to pos_label=1 and one other.", "labels to --pos-label 1 and one"),
        ("Sample longer: draws=2000, tune=1000; after", "longer: --draws 2000 --tune 1000; after"),
        ("after divergences also target_accept=0.99.", "also --target-accept 0.99."),
        ("try strategy='uniform'.", "try --strategy uniform."),
        ("n_bins must be a whole number >= 1; got 0.", "--bins must be a whole number >= 1"),
        ("got method='direct'. Pass method='nuts'.", "got --quick. Leave out --quick."),
        ("draws=4000; or sample by method='nuts'.", "--draws 4000; or leave out --quick."),
        ("or name every class in classes=[...].", "or name the columns of scores after the"),
        ("class_prior must lie in (0, 1)", "class_prior must lie in (0, 1)"),
        ("Choose result.sel(prior='a b').", "Choose result.sel(prior='a b')."),
        ("each with ,s=NUMBER", "each with ,s=NUMBER"),
    ],
)
def test_python_arguments_become_options_of_the_command(message, said) -> None:
    assert said in as_options(message, OPTIONS)


def test_a_warning_of_python_is_one_line_without_its_source(capsys) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert guarded(lambda: warnings.warn("rows look\nlike logits", stacklevel=1)) == 0
    assert capsys.readouterr().err == "bayescal: warning: rows look like logits\n"


def test_what_a_command_returns_is_the_code() -> None:
    assert guarded(lambda: 3) == 3
    assert guarded(lambda: None) == 0


def test_debug_lets_the_unexpected_through_but_not_bad_input() -> None:
    with pytest.raises(RuntimeError, match="deep"):
        guarded(raising(RuntimeError("deep")), debug=True)
    assert guarded(raising(InputError("bad")), debug=True) == 2
