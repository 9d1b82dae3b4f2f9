"""``bayescal cite``: the papers behind each quantity."""

from __future__ import annotations

import click

from bayescal.core.errors import InputError


@click.command()
@click.argument("quantity", required=False, metavar="[QUANTITY]")
def command(quantity: str | None) -> None:
    """Print the papers behind a quantity, or behind all."""
    from bayescal.quantities import quantities

    known = quantities()
    chosen = list(known) if quantity is None else [quantity.replace("-", "_")]
    if chosen[0] not in known:
        raise InputError(f"QUANTITY must be one of {', '.join(known)}; got {quantity!r}.")
    for name in chosen:
        click.echo(f"{name}: {known[name].TITLE}")
        for reference in known[name].REFERENCES:
            click.echo(f"\n  {reference.citation}\n    {reference.where}")
