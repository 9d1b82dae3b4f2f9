"""``bayescal cite``: the papers behind each quantity."""

from __future__ import annotations

import click

from bayescal.core.errors import InputError


@click.command()
@click.argument("quantity", required=False)
def command(quantity: str | None) -> None:
    """Print the papers behind a quantity (all of them, or one: ROOM)."""
    from bayescal.quantities import quantities

    if quantity is not None and quantity not in quantities():
        raise InputError(f"QUANTITY must be one of {', '.join(quantities())}; got {quantity!r}.")
    for name in quantities() if quantity is None else [quantity]:
        click.echo(f"{name}: {quantities()[name].TITLE}")
        for reference in quantities()[name].REFERENCES:
            click.echo(f"\n  {reference.citation}\n    {reference.where}")
