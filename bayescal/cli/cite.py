"""``bayescal cite``: the papers behind each quantity."""

from __future__ import annotations

import click

from bayescal.core.errors import InputError


@click.command()
@click.argument("room", required=False)
def command(room: str | None) -> None:
    """Print the papers behind a quantity (all of them, or one: ROOM)."""
    import bayescal.quantities as quantities

    rooms = {module.NAME: module for module in quantities.rooms()}
    if room is not None and room not in rooms:
        raise InputError(f"ROOM must be one of {', '.join(rooms)}; got {room!r}.")
    for name in [room] if room is not None else list(rooms):
        click.echo(f"{name}")
        for reference in rooms[name].REFERENCES:
            click.echo(f"  {reference['citation']}")
            click.echo(f"      {reference['where']}")
