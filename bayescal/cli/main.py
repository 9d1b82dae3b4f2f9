"""The command ``bayescal``; a subcommand's module is loaded only when it is asked for."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final

import click

from bayescal._version import __version__
from bayescal.cli.errors import guarded

_COMMANDS: Final = {
    "ece": "bayescal.cli.ece",
    "pu-ece": "bayescal.cli.pu_ece",
    "ssme": "bayescal.cli.ssme",
    "credal": "bayescal.cli.credal",
    "sensitivity": "bayescal.cli.sensitivity",
    "report": "bayescal.cli.report",
    "demo": "bayescal.cli.demo",
    "cite": "bayescal.cli.cite",
}


class _Commands(click.Group):
    """A group that loads subcommands late and ends as :mod:`bayescal.cli.errors` says."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command = import_module(_COMMANDS[cmd_name]).command
        assert isinstance(command, click.Command)
        return command

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        given = list(sys.argv[1:] if args is None else args)
        run = super().main

        def command() -> object:
            return run(given, prog_name or "bayescal", complete_var, standalone_mode=False, **extra)

        code = guarded(command, debug="--debug" in given)
        if standalone_mode:
            sys.exit(code)
        return code


@click.group(
    "bayescal",
    cls=_Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="bayescal", message="%(prog)s %(version)s")
@click.option("--debug", is_flag=True, help="Show the traceback of an unexpected error.")
@click.pass_context
def cli(ctx: click.Context, debug: bool) -> None:
    """Calibration of classifiers, with the posterior of every number.

    Exit codes: 0 done; 1 failed while running; 2 bad input or usage; 3 computed, but the sampler
    did not converge; 130 interrupted.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line."""
    return int(cli.main(argv, standalone_mode=False))
