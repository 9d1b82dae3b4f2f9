"""One room a paper; a room is a module of the shape `bayescal.core.room.Room`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayescal.quantities import credal, ece, pu_ece, ssme

if TYPE_CHECKING:
    from bayescal.core.room import Room

ROOMS: dict[str, Room] = {room.NAME: room for room in (ece, pu_ece, ssme, credal)}
"""The rooms by name; tests, command line, report and docs read them from here."""
