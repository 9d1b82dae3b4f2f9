"""The command ``bayescal``: a subcommand for each quantity of the registry, made when called."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import click

from bayescal._version import __version__
from bayescal.cli.options import KEPT, fit_options, parameters, sensitivity_options
from bayescal.cli.output import guarded, print_anywhere

if TYPE_CHECKING:
    from bayescal.core.command import Option
    from bayescal.core.quantity import Quantity

_OTHERS: Final = {
    "calibrate": "extras",
    "count": "extras",
    "count-sql": "extras",
    "check": "limits",
    "report": "report",
    "plan": "limits",
    "demo": "extras",
    "measures": "extras",
    "cite": "extras",
}


class _Quantities(click.Group):
    """A group with a command for each quantity, named with - for _; typed with either."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if self.get_command(ctx, args[0]) is None and not ctx.resilient_parsing:
            for near in get_close_matches(args[0], self.list_commands(ctx), n=1):
                ctx.fail(f"No such command {args[0]!r}; did you mean {near!r}?")
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_by_command())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        cmd_name = cmd_name.replace("_", "-")
        quantity = _quantity(cmd_name)
        if quantity is None:
            return None
        from bayescal.cli.run import run_sensitivity

        about = f"{quantity.TITLE}, prior by prior."
        options = sensitivity_options(quantity.COMMAND)
        return _command(cmd_name, quantity, options, run_sensitivity, about, "sensitivity ")


class _Commands(_Quantities):
    """All commands, ending as `bayescal.cli.output` says."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*super().list_commands(ctx), "sensitivity", *_OTHERS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        cmd_name = cmd_name.replace("_", "-")
        if cmd_name in _OTHERS:
            module = import_module(f"bayescal.cli.{_OTHERS[cmd_name]}")
            command = getattr(module, cmd_name.replace("-", "_"))
            assert isinstance(command, click.Command)
            return command
        if cmd_name == "sensitivity":
            return _sensitivity
        quantity = _quantity(cmd_name)
        if quantity is None:
            return None
        from bayescal.cli.run import run_fit

        command = quantity.COMMAND
        return _command(cmd_name, quantity, fit_options(command), run_fit, command.help)

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        given = list(sys.argv[1:] if args is None else args)
        print_anywhere()
        run = super().main

        def command() -> object:
            return run(given, prog_name or "bayescal", complete_var, standalone_mode=False, **extra)

        with KEPT:
            code = guarded(command, debug="--debug" in given)
        if standalone_mode:
            sys.exit(code)
        return code


def _by_command() -> dict[str, Quantity]:
    from bayescal.quantities import quantities

    return {name.replace("_", "-"): quantity for name, quantity in quantities().items()}


def _quantity(command: str) -> Quantity | None:
    """The quantity of a command; of the package's own no other is loaded."""
    from bayescal.quantities import OWN, quantity_named

    own = {name.replace("_", "-"): name for name in OWN}
    return quantity_named(own[command]) if command in own else _by_command().get(command)


def _command(
    name: str,
    quantity: Quantity,
    options: Sequence[Option],
    run: Callable[..., int],
    about: str,
    before: str = "",
) -> click.Command:
    return click.Command(
        name,
        params=parameters(quantity.COMMAND, options),
        callback=lambda **given: run(quantity, given),
        help=about,
        short_help=quantity.TITLE,
        epilog=f"Example: bayescal {before}{quantity.COMMAND.example}",
    )


@click.pass_context
def _help_alone(ctx: click.Context) -> None:
    """Say what the commands are where none is given."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


_sensitivity = _Quantities(
    "sensitivity",
    invoke_without_command=True,
    callback=_help_alone,
    help="Fit the same data under several priors, and say whether the conclusion depends on "
    "them. Bins are chosen and draws are made alike under every prior. The first prior is what "
    "the others are compared with.",
    short_help="Refit under other priors and compare.",
)


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

    Exit codes: 0 done; 1 failed while running, or a check that does not hold; 2 bad input or usage;
    3 computed, but the sampler did not converge; 130 interrupted.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line."""
    if argv is None:
        # A process of its own: xarray would load Dask, which no command uses, where it finds it.
        sys.modules.setdefault("dask", None)  # type: ignore[arg-type]  # None: not there
        # A process ended from outside is interrupted: files are kept or cleared as after Ctrl-C.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    return int(cli.main(argv, standalone_mode=False))
