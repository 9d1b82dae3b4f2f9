"""The command, called with words as from a terminal."""

from typing import Any

from click.testing import CliRunner, Result

from bayescal.cli.main import cli


def run(*words: object, **how: Any) -> Result:
    """Run bayescal."""
    return CliRunner().invoke(cli, [*map(str, words)], **how)


def ran(*words: object) -> tuple[int, str, str]:
    """Run bayescal; the exit code, and what it printed."""
    found = run(*words)
    return found.exit_code, found.stdout, found.stderr
