"""How the command line ends: one line on stderr and a code that a script can act on."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from typing import Final

import click

from bayescal.core.command import Option
from bayescal.core.errors import InputError
from bayescal.core.text_table import one_line

OK: Final = 0
FAILED: Final = 1
"""Something went wrong while running, such as a full disk."""
BAD_INPUT: Final = 2
"""The command or its data cannot be used as they are."""
NOT_CONVERGED: Final = 3
"""The answer was computed and written, but the sampler's diagnostics say not to trust it."""
INTERRUPTED: Final = 130
"""Ctrl-C, as shells number it."""


class Interrupted(Exception):  # noqa: N818  # no error: the user's wish
    """Ctrl-C, with words on what was kept."""


def guarded(run: Callable[[], object], *, debug: bool = False) -> int:
    """Run a command; turn whatever ends it into one line on stderr and an exit code."""
    try:
        code = run()
    except click.ClickException as error:
        return _say(_usage(error), BAD_INPUT)
    except InputError as error:
        return _say(str(error), BAD_INPUT)
    except Interrupted as error:
        return _say(str(error), INTERRUPTED)
    except (click.Abort, KeyboardInterrupt):
        return _say("interrupted", INTERRUPTED)
    except OSError as error:
        return _say(str(error), FAILED)
    except MemoryError:
        return _say("out of memory; pass fewer rows or classifiers at once.", FAILED)
    except Exception as error:  # a traceback only with --debug
        if debug:
            raise
        kind = type(error).__name__
        return _say(f"unexpected {kind}: {error} (bayescal --debug shows where)", FAILED)
    return code if isinstance(code, int) else OK


def warn(message: str) -> None:
    """Write one line to stderr, as a warning."""
    click.echo(f"bayescal: warning: {one_line(message)}", err=True)


def _say(message: str, code: int) -> int:
    print(f"bayescal: {one_line(message)}", file=sys.stderr)
    return code


def as_options(message: str, options: Iterable[Option]) -> str:
    """Put what a message says of Python's arguments in terms of a command's options."""
    for option in options:
        for phrase, words in option.phrases.items():
            message = message.replace(phrase, words)
        if option.is_flag:
            message = re.sub(rf"(?<![\w,]){option.name}=True\b", option.flag, message)
        # "draws=2000, tune=1000" loses its comma: options stand side by side.
        value = rf"(?<![\w,]){option.name}=('?)([^'\s]*[^'\s.,;])\1(,(?= \w+=))?"
        message = re.sub(value, rf"{option.flag} \2", message)
        message = re.sub(rf"^{option.name}(?= (must|has) )", option.flag, message)
    return message


def _usage(error: click.ClickException) -> str:
    message = error.format_message()
    if isinstance(error, click.UsageError) and error.ctx is not None:
        return f"{message} See '{error.ctx.command_path} --help'."
    return message
