"""``bayescal cite``: the papers behind each quantity."""

from __future__ import annotations

import click

from bayescal.core.errors import InputError


@click.command()
@click.argument("room", required=False)
def command(room: str | None) -> None:
    """Print the papers behind a quantity (all of them, or one: ROOM)."""
    from bayescal.quantities import ROOMS

    if room is not None and room not in ROOMS:
        raise InputError(f"ROOM must be one of {', '.join(ROOMS)}; got {room!r}.")
    for name in ROOMS if room is None else [room]:
        click.echo(f"{name}: {ROOMS[name].TITLE}")
        for reference in ROOMS[name].REFERENCES:
            click.echo(f"\n  {reference.citation}\n    {reference.where}")
