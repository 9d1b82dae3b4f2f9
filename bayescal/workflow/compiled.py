"""Compiled models, kept for as long as the process lives."""

from __future__ import annotations

from typing import Any

from bayescal.core.room import Case, Room
from bayescal.inference.sampler import CompiledModel, compile_model

_COMPILED: dict[tuple[Any, ...], CompiledModel] = {}


def compiled_model(room: Room, case: Case) -> CompiledModel:
    """Compile a case's model, or take the one compiled for another case of its structure."""
    key = (room.NAME, *case.structure)
    if key not in _COMPILED:
        _COMPILED[key] = compile_model(case.build_model())
    return _COMPILED[key]
