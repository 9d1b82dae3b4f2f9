"""Finished cases on disk, so that a run that stops loses none of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bayescal._version import __version__
from bayescal.core.room import Case, Room
from bayescal.results.assemble import CaseResult, assemble, disassemble
from bayescal.results.io import load, save
from bayescal.workflow.settings import Settings


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A directory of finished cases, each under a name that says what it was computed from.

    Attributes
    ----------
    directory : Path or None
        None keeps nothing.
    room : Room
        The room.
    recipe : str
        Everything but the data that the results depend on.
    """

    directory: Path | None
    room: Room
    recipe: str

    @classmethod
    def at(
        cls, directory: str | Path | None, room: Room, priors: Any, settings: Settings
    ) -> Checkpoint:
        """Use a directory.

        Parameters
        ----------
        directory : path or None
            It may not exist yet.
        room : Room
            The room.
        priors : room.Priors
            Priors.
        settings : Settings
            How to sample.

        Returns
        -------
        Checkpoint
            The directory with the recipe.
        """
        recipe = [__version__, room.NAME, priors.to_json(), asdict(settings)]
        place = None if directory is None else Path(directory)
        return cls(place, room, json.dumps(recipe, sort_keys=True))

    def find(self, index: int, case: Case) -> CaseResult | None:
        """Look up a finished case.

        Parameters
        ----------
        index : int
            Number of the case.
        case : Case
            The case.

        Returns
        -------
        CaseResult or None
            None if this very case was not finished before.
        """
        path = self._path(index, case)
        if path is None or not path.is_file():
            return None
        return disassemble(load(path), dict(case.coords))

    def keep(self, index: int, case: Case, result: CaseResult) -> None:
        """Write a finished case.

        Parameters
        ----------
        index : int
            Number of the case.
        case : Case
            The case.
        result : CaseResult
            Its result.
        """
        path = self._path(index, case)
        if path is None:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        attrs: Mapping[str, Any] = {
            "bayescal_version": __version__,
            "quantity": self.room.NAME,
            "title": self.room.TITLE,
            "estimand": self.room.ESTIMAND,
            "seed": json.loads(self.recipe)[-1]["seed"],
            "status": "one case of a fit that was not finished",
            "converged": bool(result.diagnostics["converged"]),
        }
        coords = {"group": case.groups} if case.groups else {}
        save(assemble([result], dims=case.dims, attrs=attrs, coords=coords), path)

    def _path(self, index: int, case: Case) -> Path | None:
        if self.directory is None:
            return None
        key = f"{self.recipe}|{index}|{case.fingerprint()}"
        name = hashlib.sha256(key.encode()).hexdigest()[:16]
        return self.directory / f"{self.room.NAME}-{name}.nc"
